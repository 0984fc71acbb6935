#include "models/sida/machine/count_statistics.h"

namespace lacuna::sida {

void describe_counts(const PassCounts& counts, StatisticsGroup& group) {
  group.add("requests", counts.requests, "requests to memory", "requests");
  group.add("entries", counts.entries, "entries of the matrix, of all passes", "entries");
  group.add("os_used", counts.os_used, "entries that OS has used", "entries");
  group.add("is_used", counts.is_used, "entries that IS has used", "entries");
  group.add("fetched", counts.fetched, "entries fetched: by column, eagerly and again", "entries");
  group.add("converted_to_rows", counts.converted_to_rows, "entries kept for their row", "entries");
  group.add("converted_to_columns", counts.converted_to_columns, "eagerly fetched entries kept for their column", "entries");
  group.add("discarded", counts.discarded, "eagerly fetched entries that were not the next of their column", "entries");
  group.add("evicted", counts.evicted, "entries that left the buffer before IS had used them", "entries");
  group.add("reloaded", counts.reloaded, "entries that were loaded again for IS", "entries");
  group.add("repacks", counts.repacks, "times that the rows were repacked", "repacks");
  group.add("repack_moved", counts.repack_moved, "entries moved by repacking", "entries");
  group.add("r_given", counts.r_given, "entries that the traffic estimator allowed to be fetched eagerly", "entries");
  group.add("r_used", counts.r_used, "entries that were fetched eagerly", "entries");
  group.add("conflicts", counts.conflicts, "products of IS that met another of their group for their sum", "products");
  group.add("conflict_cycles", counts.conflict_cycles, "cycles of IS for them", "cycles");
  group.add("steps", counts.steps, "steps of all passes", "steps");
  group.add("waiting_peak", counts.waiting_peak, "most entries that waited for IS after a step", "entries");
  group.add("rows_peak", counts.rows_peak, "most entries that the rows had room for", "entries");
  group.add("buffer_peak", counts.buffer_peak, "most bytes in the buffer after a step", "bytes");
  group.add("x_fetched", counts.lines.x_fetched, "lines of x, the first time", "lines");
  group.add("x_refetched", counts.lines.x_refetched, "lines of x, again", "lines");
  group.add("sums_spilled", counts.lines.sums_spilled, "lines of sums of IS written before they were finished", "lines");
  group.add("sums_read_back", counts.lines.sums_read_back, "lines of sums of IS read back", "lines");
  group.add("w_spilled", counts.lines.w_spilled, "lines of w written", "lines");
  group.add("w_read_back", counts.lines.w_read_back, "lines of w read back", "lines");
  StatisticsGroup &read = group.group("read"), &written = group.group("written"), &bound = group.group("bound");
  for (std::size_t k = 0; k < kMemoryKinds; ++k) {
    read.add(kMemoryKindNames[k], counts.read_bytes[k], "bytes of this kind read", "bytes");
    written.add(kMemoryKindNames[k], counts.written_bytes[k], "bytes of this kind written", "bytes");
  }
  constexpr const char* kBoundNames[]{"memory", "os", "ewise", "is"};
  for (std::size_t b = 0; b < kBounds; ++b) bound.add(kBoundNames[b], counts.bound[b], "steps that it bound", "steps");
  StatisticsGroup &busy = group.group("busy"), &stalled = group.group("stalled");
  for (std::size_t c = 0; c < kCores; ++c) {
    busy.add(kBoundNames[c + 1], counts.busy[c], "cycles in which the core computed", "cycles");
    stalled.add(kBoundNames[c + 1], counts.stalled[c], "cycles in which it had work and waited for memory", "cycles");
  }
}

void describe_ratios(const PassCounts& counts, StatisticsGroup& group) {
  group.add_derived(
      "waiting_mean", [&counts] { return counts.waiting_mean(); }, "mean of the entries that waited for IS", "entries");
  group.add_derived(
      "reuse", [&counts] { return counts.reuse(); }, "products of OS and IS by entry fetched", "products");
}

}  // namespace lacuna::sida
