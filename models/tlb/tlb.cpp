#include "models/tlb/tlb.h"

#include <bit>
#include <stdexcept>

namespace lacuna {
namespace {

std::uint32_t sets_of(const TlbParameters& p) {
  if (p.ways == 0 || p.entries == 0 || p.entries % p.ways != 0 || !std::has_single_bit(p.entries / p.ways)) {
    throw std::invalid_argument("TLB: the number of entries is not the ways times a power of two");
  }
  if (!std::has_single_bit(p.page.n) || p.ports == 0 || p.mshrs == 0) {
    throw std::invalid_argument("TLB: the page is not a power of two, or there is no port or MSHR");
  }
  return p.entries / p.ways;
}

}  // namespace

void TlbParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock", {.range = {1e6, 1e12}});
  section.add("entries", entries, "Entries, one for each page", {.range = {1, 1 << 20}});
  section.add("ways", ways, "Associativity", {.range = {1, 4096}});
  section.add("page", page, "Bytes that an entry covers", {.range = {4096, 1 << 30}, .power_of_two = true});
  section.add("ports", ports, "Translations started per cycle", {.range = {1, 1024}});
  section.add("mshrs", mshrs, "Outstanding primary misses", {.range = {1, 4096}});
  section.add("hit_latency", hit_latency, "From the request to the response", {.range = {0, 1e5}});
  section.add("replacement", replacement, "Which entry of a set is replaced", replacement_policies());
}

void TlbStatistics::describe(StatisticsGroup& group) const {
  group.add("hits", hits, "translations that were present", "translations");
  group.add("misses", misses, "translations requested from the next level", "translations");
  group.add("secondary_misses", secondary_misses, "translations that had already been requested", "translations");
  group.add("invalidations", invalidations, "invalidations of all entries", "events");
  group.add("waiting", waiting, "time that requests waited for a port or an MSHR");
  group.add("miss_latency", miss_latency, "time from request to response, summed over misses");
}

void Tlb::describe_energy(EnergyMeter& meter, std::string_view block, const TlbEnergy& energy) const {
  meter.add(block, "lookup", statistics_.hits, energy.lookup);
  meter.add(block, "lookup", statistics_.misses, energy.lookup);
  meter.add(block, "lookup", statistics_.secondary_misses, energy.lookup);
  meter.add_static(block, energy.leakage, StaticPower::leakage);
  meter.add_static(block, energy.clock, StaticPower::clock);
}

Tlb::Tlb(const TlbParameters& parameters, TranslationLevel& next)
    : next_(next),
      clock_(parameters.clock),
      port_time_{(parameters.clock.period().ps + parameters.ports - 1) / (parameters.ports == 0 ? 1 : parameters.ports)},
      hit_(parameters.clock.period() * parameters.hit_latency.n),
      page_shift_(static_cast<unsigned>(std::countr_zero(parameters.page.n))),
      tags_(sets_of(parameters), parameters.ways, 1, parameters.replacement),
      ports_(port_time_),
      mshrs_(parameters.mshrs) {}

Tick Tlb::fetch(std::uint64_t address, Tick at, Tick& requested) {
  ++statistics_.misses;
  requested = mshrs_.acquire(at);
  statistics_.waiting += requested - at;
  const Tick ready = next_.translate(address, requested) + hit_;
  mshrs_.occupy(requested, ready);
  return ready;
}

TagArray::Slot Tlb::install(std::uint64_t page) {
  const TagArray::Slot slot = tags_.victim(static_cast<std::uint32_t>(page & (tags_.sets() - 1)));
  if (tags_.valid(slot)) tags_.drop(slot);
  tags_.install(slot, page);
  last_ = slot;
  return slot;
}

Tick Tlb::translate(std::uint64_t address, Tick at) {
  const Tick start = admit(at);
  const std::uint64_t page = address >> page_shift_;
  if (const TagArray::Slot slot = find(page); slot != TagArray::kNone) {
    TagArray::Sector& entry = tags_.sector(slot, 0);
    const Tick known = start + hit_;
    if (entry.requested() > known) {
      // The current request is earlier in simulated time than the request that started the walk, although it was made later in
      // host time: the walk is attributed to the current request (as in Cache::read).
      entry.ready -= entry.requested() - known;
    }
    if (entry.ready <= known) {
      ++statistics_.hits;
      return known;
    }
    ++statistics_.secondary_misses;
    return entry.ready;
  }
  Tick requested;
  const Tick ready = fetch(address, start + hit_, requested);
  TagArray::Sector& entry = tags_.sector(install(page), 0);
  entry = {.complete = true};
  entry.filled(requested, ready);
  statistics_.miss_latency += ready - at;
  return ready;
}

void Tlb::install_page(std::uint64_t address) {
  const std::uint64_t page = address >> page_shift_;
  const auto set = static_cast<std::uint32_t>(page & (tags_.sets() - 1));
  if (const TagArray::Slot present = tags_.find(set, page); present != TagArray::kNone) {
    tags_.touch(present);
    return;
  }
  const TagArray::Slot slot = tags_.victim(set);
  if (tags_.valid(slot)) tags_.drop(slot);
  tags_.install(slot, page);
  tags_.sector(slot, 0).complete = true;
  last_ = TagArray::kNone;
}

void Tlb::invalidate() {
  ++statistics_.invalidations;
  tags_.drop_all();
  last_ = TagArray::kNone;
}

void Tlb::reset() {
  tags_.drop_all();
  last_ = TagArray::kNone;
  ports_.reset();
  mshrs_.reset();
  retired_ = {};
}

void Tlb::retire(Tick horizon) {
  // Each of the levels above calls a shared level with the same horizon: only the first call has work to do.
  if (horizon == retired_) return;
  retired_ = horizon;
  ports_.retire(horizon);
  mshrs_.retire(horizon);
  next_.retire(horizon);
}

void PageWalkerParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock", {.range = {1e6, 1e12}});
  section.add("walks", walks, "Concurrent page walks", {.range = {1, 4096}});
  section.add("latency", latency, "Time of a walk", {.range = {0, 1e6}});
}

PageWalker::PageWalker(const PageWalkerParameters& parameters)
    : latency_(parameters.clock.period() * parameters.latency.n), walkers_(parameters.walks) {}

Tick PageWalker::translate(std::uint64_t, Tick at) {
  ++walks_;
  const Tick start = walkers_.acquire(at);
  waiting_ += start - at;
  walkers_.occupy(start, start + latency_);
  return start + latency_;
}

void PageWalker::reset() { walkers_.reset(); }

void PageWalker::retire(Tick horizon) { walkers_.retire(horizon); }

void PageWalker::describe(StatisticsGroup& group) const {
  group.add("walks", walks_, "page walks", "walks");
  group.add("waiting", waiting_, "time that walks waited for a walker");
}

}  // namespace lacuna
