#include "models/cache/cache.h"

namespace lacuna {

void CacheParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock", {.range = {1e6, 1e12}});
  section.add("size", size, "Capacity", {.range = {64, 1e12}});
  section.add("ways", ways, "Associativity", {.range = {1, 256}});
  section.add("line", line, "Line size: bytes that a tag covers", {.range = {16, 1024}, .power_of_two = true});
  section.add("sector", sector, "Bytes that are filled and written back together; limited to the line",
              {.range = {16, ByteMask::kBytes}, .power_of_two = true});
  section.add(
      "set_hash", set_hash,
      "Whether higher address bits are XORed onto a line's set and bank; if the number of sets is not a power of two, onto the "
      "largest power of two that divides it",
      {{"none", static_cast<int>(AddressHash::none)}, {"xor", static_cast<int>(AddressHash::fold)}},
      {.source = "Liu et al., Get Out of the Valley (ISCA '18); models/common/transport/address_hash.h"});
  section.add(
      "scatter", scatter,
      "Size of physical pages that lie anywhere in memory, as far as sets are concerned: with set_hash, the pages of a buffer "
      "use the sets unevenly. 0: a buffer's addresses are consecutive",
      {.range = {0, 1e9}});
  section.add("set_lines", set_lines, "Number of neighbouring lines that are in the same set",
              {.range = {1, 64}, .power_of_two = true});
  section.add("replacement", replacement, "Which line of a set is replaced", replacement_policies());
  section.add("seed", seed, "Seed of random replacement");
  section.add("banks", banks, "Banks, interleaved by line", {.range = {1, 256}});
  section.add("ports", ports, "Requests that a bank accepts per cycle", {.range = {1, 64}});
  section.add("transactions", transactions, "Requests in flight, hits included; 0 = no limit", {.range = {0, 4096}});
  section.add("mshrs", mshrs, "Outstanding primary misses", {.range = {1, 4096}});
  section.add("write_policy", write_policy, "Write policy",
              {{"write_around", static_cast<int>(WritePolicy::write_around)},
               {"write_back", static_cast<int>(WritePolicy::write_back)}});
  section.add("hit_latency", hit_latency, "From the access to the data", {.range = {0, 1e5}});
  section.add("tag_latency", tag_latency, "From the access to the request of a missing line", {.range = {0, 1e5}});
  section.add("fill_latency", fill_latency, "From the arrival of a missing line to the data", {.range = {0, 1e5}});
  section.add("lock_cycles", lock_cycles,
              "Cycles for which a line's way stays locked while the line is written into the bank, after its arrival and after "
              "a write that hits; 0 = unlocked as soon as the line has arrived",
              {.range = {0, 1e5}, .source = "choice: a bank stores a line as it arrives; MGPUSim v3.0.3: the bank's latency"});
  section.add("in_order", in_order, "Whether a request that waits for a way or an MSHR blocks later requests of its bank",
              {.source = "L2: blocks, as in MGPUSim v3.0.3 and GPGPU-Sim; other caches: choice, later requests pass"});
  section.add("write_latency", write_latency, "From a write to its acceptance (write_back)", {.range = {0, 1e5}});
  section.add("atomic_cycles", atomic_cycles, "Cycles for which an atomic occupies its bank (write_back)", {.range = {1, 1e5}});
  section.add("invalidate_latency", invalidate_latency, "Time of an invalidation, write-backs not counted",
              {.range = {0, 1e6}});
}

void CacheStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "sectors read, atomics performed here included", "accesses");
  group.add("writes", writes, "sectors written", "accesses");
  group.add("atomics", atomics, "read-modify-writes, performed here or passed on", "accesses");
  group.add("bypasses", bypasses, "reads that bypass this cache", "accesses");
  group.add("read_hits", read_hits, "reads of a sector that was present", "accesses");
  group.add("read_misses", read_misses, "reads that fetched a sector", "accesses");
  group.add("secondary_misses", secondary_misses, "reads of a sector that was already being fetched", "accesses");
  group.add("write_hits", write_hits, "writes to a line that was present", "accesses");
  group.add("write_misses", write_misses, "writes that allocated a line", "accesses");
  group.add("evictions", evictions, "lines replaced", "lines");
  group.add("write_backs", write_backs, "dirty sectors written downstream", "sectors");
  group.add("invalidations", invalidations, "times that all lines were dropped", "events");
  group.add("errors", errors, "requests answered with an error", "transactions");
  group.add("bank_stall", bank_stall, "time that accesses waited for their bank");
  group.add("mshr_stall", mshr_stall, "time that misses waited for an MSHR");
  group.add("way_stall", way_stall, "time that accesses waited for a way that was being filled or written");
  group.add("write_back_stall", write_back_stall, "time that misses waited until their victim's write-back was accepted");
  group.add("read_latency", read_latency, "time from request to data, summed over reads");
  group.add_derived(
      "hit_rate", [this] { return reads == 0 ? 0.0 : static_cast<double>(read_hits) / static_cast<double>(reads); },
      "reads that hit", "fraction");
  group.add_derived(
      "mean_read_latency",
      [this] { return reads == 0 ? 0.0 : static_cast<double>(read_latency.ps) / static_cast<double>(reads); },
      "mean time from request to data", "ps");
}

}  // namespace lacuna
