#include "models/dram/dram_parameters.h"

#include <algorithm>

namespace lacuna {

Cycles DramParameters::column_gap() const { return std::max(burst, bank_groups > 1 ? tCCDS : tCCDL); }

std::uint64_t DramParameters::reachable_bytes(Cycles cycles, Bytes request) const {
  const std::uint64_t useful = std::min(burst.n * bytes_per_cycle, request.n);
  // The pseudo channels share the column bus, which carries one command per cycle.
  return std::min(cycles.n * pseudo_channels * useful / column_gap().n, cycles.n * useful);
}

void DramParameters::describe(ParameterSection& section) {
  const ParameterTraits timing{.range = {0, 1e5}};
  section.add("clock", clock, "Command clock", {.range = {1e6, 1e12}});
  section.add("frontend_latency", frontend_latency, "Controller and interface, both ways together", {.range = {0, 1e5}});
  section.add("bytes_per_cycle", bytes_per_cycle,
              "Width of a pseudo channel's data bus per cycle. A wider bus alone gives no more bandwidth: column commands stay "
              "as far apart, and a burst longer than l2.sector is used in part. Also shorten `burst`, `tCCDS` and `tCCDL`",
              {.range = {1, 4096}, .power_of_two = true, .unit = "bytes"});
  section.add("burst", burst, "Data bus cycles of a column command (half the burst length at double data rate)",
              {.range = {1, 64}, .power_of_two = true});
  section.add("pseudo_channels", pseudo_channels, "Pseudo channels, which share the command buses",
              {.range = {1, 16}, .power_of_two = true});
  section.add("bank_groups", bank_groups, "Bank groups of a pseudo channel", {.range = {1, 64}, .power_of_two = true});
  section.add("banks_per_group", banks_per_group, "Banks of a group", {.range = {1, 1024}, .power_of_two = true});
  section.add("row_size", row_size, "Bytes of a row of a bank", {.range = {64, 1 << 20}, .power_of_two = true});
  section.add(
      "address_map", address_map,
      "Fields of a burst's number in the channel from the top: row, bank, group, column, pseudo; name:bits splits a field, "
      "name^row XORs the folded row onto it");
  section.add("scheduler", scheduler, "Which commands go first: the oldest request's, or those of row hits and ready banks",
              {{"fcfs", static_cast<int>(DramScheduler::fcfs)}, {"frfcfs", static_cast<int>(DramScheduler::frfcfs)}});
  section.add("page_policy", page_policy, "Whether rows stay open after an access",
              {{"open", static_cast<int>(DramPagePolicy::open)}, {"closed", static_cast<int>(DramPagePolicy::closed)}});
  section.add("read_queue", read_queue, "Reads among which the scheduler chooses", {.range = {1, 4096}});
  section.add("write_queue", write_queue, "Posted writes of the channel that may wait", {.range = {1, 4096}});
  section.add("write_high", write_high, "Part of the write queue above which waiting writes go before reads",
              {.range = {0, 1}, .source = "Ramulator2: wr_high_watermark"});
  section.add("write_low", write_low, "Part of the write queue below which reads go first again",
              {.range = {0, 1}, .source = "Ramulator2: wr_low_watermark"});
  section.add("activate_cycles", activate_cycles, "Command bus cycles of an activate; timing counts from its last",
              {.range = {1, 16}});
  section.add("tCL", tCL, "Read command to data", timing);
  section.add("tCWL", tCWL, "Write command to data", timing);
  section.add("tRCDRD", tRCDRD, "Activate to read", timing);
  section.add("tRCDWR", tRCDWR, "Activate to write", timing);
  section.add("tRP", tRP, "Precharge to activate", timing);
  section.add("tRAS", tRAS, "Activate to precharge", timing);
  section.add("tRC", tRC, "Activate to activate of a bank", timing);
  section.add("tRTP", tRTP, "Read to precharge", timing);
  section.add("tWR", tWR, "End of write data to precharge", timing);
  section.add("tCCDS", tCCDS, "Column command to column command, different groups", {.range = {1, 64}});
  section.add("tCCDL", tCCDL, "Column command to column command of a group", {.range = {1, 64}});
  section.add("tRRDS", tRRDS, "Activate to activate, different groups", {.range = {1, 64}});
  section.add("tRRDL", tRRDL, "Activate to activate of a group", {.range = {1, 64}});
  section.add("tFAW", tFAW, "Window of four activates", timing);
  section.add("tWTR", tWTR, "End of write data to read of the same group", timing);
  section.add("tWTRS", tWTRS, "End of write data to read of another group; at most tWTR counts", timing);
  section.add("tRTRS", tRTRS, "Bubble between read and write data", timing);
  section.add("tRFC", tRFC, "Refresh of all banks", timing);
  section.add("tREFI", tREFI, "Refresh interval; 0 = no refresh", {.range = {0, 1e7}});
  section.add(
      "refresh_stagger", refresh_stagger,
      "Whether all channels of a device are refreshed at the same time, or channel i of n i / n of tREFI later",
      {{"none", static_cast<int>(DramRefreshStagger::none)}, {"channels", static_cast<int>(DramRefreshStagger::channels)}},
      {.source = "DRAMsim3: RANK_LEVEL_STAGGERED does so with ranks"});
}

void DramStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "reads", "transactions");
  group.add("writes", writes, "writes", "transactions");
  group.add("bytes_read", bytes_read, "data read", "bytes");
  group.add("bytes_written", bytes_written, "data written", "bytes");
  group.add("row_hits", row_hits, "bursts of an open row", "bursts");
  group.add("row_empty", row_empty, "bursts of a bank without open row", "bursts");
  group.add("row_conflicts", row_conflicts, "bursts of a bank with another row open", "bursts");
  group.add("refreshes", refreshes, "refreshes up to the last request, of every pseudo channel", "commands");
  group.add("write_drains", write_drains, "turnarounds of a data bus from reads to writes", "turns");
  group.add("forwarded", forwarded, "reads answered from the write queue", "bursts");
  group.add("errors", errors, "refused transactions", "transactions");
  group.add("bus_busy", bus_busy, "time that the data buses carried data, summed over pseudo channels");
  group.add("queueing", queueing, "time that reads waited for queue, banks and buses");
  group.add("write_stall", write_stall, "time that writes waited to enter the write queue");
  group.add("read_latency", read_latency, "time from request to data, summed over reads");
}

}  // namespace lacuna
