#include "platform/sida/run_statistics.h"

#include "models/sida/machine/area.h"
#include "models/sida/machine/energy.h"
#include "models/sida/matrix/occupancy.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_report.h"
#include "platform/run/run_results.h"

namespace lacuna {
namespace {

constexpr double kPercent = 100;

void describe_counts(const sida::PassCounts& counts, StatisticsGroup& group) {
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
  for (std::size_t k = 0; k < sida::kMemoryKinds; ++k) {
    read.add(sida::kMemoryKindNames[k], counts.read_bytes[k], "bytes of this kind read", "bytes");
    written.add(sida::kMemoryKindNames[k], counts.written_bytes[k], "bytes of this kind written", "bytes");
  }
  constexpr const char* kBoundNames[]{"memory", "os", "ewise", "is"};
  for (std::size_t b = 0; b < sida::kBounds; ++b) bound.add(kBoundNames[b], counts.bound[b], "steps that it bound", "steps");
  StatisticsGroup &busy = group.group("busy"), &stalled = group.group("stalled");
  for (std::size_t c = 0; c < sida::kCores; ++c) {
    busy.add(kBoundNames[c + 1], counts.busy[c], "cycles in which the core computed", "cycles");
    stalled.add(kBoundNames[c + 1], counts.stalled[c], "cycles in which it had work and waited for memory", "cycles");
  }
}

void describe_matrix(const SidaMatrixFacts& matrix, StatisticsGroup& group) {
  group.add("rows", matrix.rows, "rows", "rows");
  group.add("entries", matrix.entries, "entries", "entries");
  group.add("stored_entries", matrix.stored_entries, "entries of a file: of a symmetric pattern the lower triangle", "entries");
  group.add("dual_bytes", matrix.dual_bytes, "bytes of dual storage", "bytes");
  group.add("blocked_bytes", matrix.blocked_bytes, "bytes of blocked storage", "bytes");
  group.add("kept_peak", matrix.kept_peak, "most entries kept for IS, sub-tensors of one column", "entries");
  const auto share = [&matrix](double kept) { return kPercent * kept / static_cast<double>(matrix.stored_entries); };
  group.add_derived(
      "peak_share", [&matrix, share] { return share(static_cast<double>(matrix.kept_peak)); },
      "the same, of the entries of a file", "%");
  group.add_derived(
      "mean_share", [&matrix, share] { return share(matrix.kept_mean); }, "its mean over all steps", "%");
}

void describe_energy(const SidaRun& run, const SidaParameters& parameters, StatisticsGroup& group) {
  const sida::EnergyCounts& counts = run.totals.energy;
  const auto parts = sida::joules(counts, parameters.energy());
  double total = 0;
  for (std::size_t p = 0; p < sida::kEnergyParts; ++p) {
    total += parts[p];
    group.add_derived(
        sida::kEnergyPartNames[p], [joules = parts[p]] { return joules; }, "energy of this part", "J");
  }
  group.add_derived(
      "total", [total] { return total; }, "energy of all parts", "J");
  const auto kinds = sida::buffer_joules(counts, parameters.energy());
  StatisticsGroup& buffer = group.group("buffer_by_kind");
  for (std::size_t k = 0; k < sida::kBufferKinds; ++k) {
    buffer.add_derived(
        sida::kBufferKindNames[k], [joules = kinds[k]] { return joules; }, "energy of these bytes in the buffer", "J");
  }
}

/// Entries of the lower triangle if the pattern is symmetric, else all.
std::uint64_t stored_entries(const sida::SparseMatrix& matrix) {
  if (!matrix.is_square()) return matrix.entries();
  const sida::SparseMatrix other = transposed(matrix);
  if (other.offsets != matrix.offsets || other.indices != matrix.indices) return matrix.entries();
  std::uint64_t below = 0;
  for (sida::Index c = 0; c < matrix.columns; ++c) {
    for (const sida::Index r : matrix.column(c)) below += r >= c ? 1 : 0;
  }
  return below;
}

}  // namespace

SidaMatrixFacts::SidaMatrixFacts(const sida::SparseMatrix& matrix, unsigned block_side, unsigned value_bytes)
    : rows(matrix.rows),
      entries(matrix.entries()),
      stored_entries(lacuna::stored_entries(matrix)),
      dual_bytes(sida::dual_bytes(matrix, value_bytes)),
      blocked_bytes(sida::blocks(matrix, block_side, value_bytes).bytes) {
  if (!matrix.is_square()) return;
  const sida::Occupancy kept = sida::occupancy(matrix, 1);
  kept_peak = kept.peak();
  kept_mean = kept.mean();
}

void describe_run(const SidaRun& run, const SidaParameters& parameters, StatisticsGroup& statistics) {
  const sida::MachineParameters& machine = parameters.machine();
  StatisticsGroup& group = statistics.group("sida");
  group.add("cycles", run.cycles, "time in cycles of sida.clock", "cycles");
  group.add("iterations", run.iterations, "iterations of the program", "iterations");
  group.add("passes", run.totals.passes, "passes over the matrix, and element-wise ones", "passes");
  group.add("products", run.products, "products of the repeated part of the program", "products");
  group.add("fused_products", run.fused, "of these, how many share a pass with another one", "products");
  group.add("bytes", run.totals.bytes, "bytes read and written", "bytes");
  group.add("sub_tensor", run.totals.sub_tensor, "columns of a sub-tensor", "columns");
  group.add_derived(
      "utilisation",
      [&run, &machine] {
        return kPercent * static_cast<double>(run.totals.bytes) /
               (run.totals.cycles * static_cast<double>(machine.control.bytes_per_cycle));
      },
      "share of the bandwidth that is used", "%");
  group.add_derived(
      "waiting_mean", [&run] { return run.totals.sums.waiting_mean(); }, "mean of the entries that waited for IS", "entries");
  describe_counts(run.totals.sums, group);
  describe_matrix(run.matrix, group.group("matrix"));
  describe_energy(run, parameters, group.group("energy"));
  StatisticsGroup& area = group.group("area");
  for (const CostLine& line : sida::area_lines(machine.pes, machine.buffer.n)) {
    area.add_derived(
        line.name, [value = line.value] { return value; }, line.meaning, line.unit);
  }
}

void write_run(const std::string& folder, const std::string& program, int exit_code, double wall_seconds, const SidaRun& run,
               const SidaParameters& parameters) {
  const OutputFolder output = OutputFolder::at(folder);
  output.write("effective.cfg", [&](std::ostream& out) { parameters.write(out); });
  StatisticsGroup statistics("platform");
  describe_run(run, parameters, statistics);
  const KernelLog kernels;
  constexpr double kPicoseconds = 1e12;
  const double clock = static_cast<double>(parameters.machine().clock.hz);
  RunSummary summary{.program = program,
                     .end = RunEnd::guest,
                     .exit_code = exit_code,
                     .simulated = Tick{static_cast<std::uint64_t>(run.totals.cycles * kPicoseconds / clock)},
                     .wall_seconds = wall_seconds,
                     .peak_host_memory_bytes = peak_host_memory(),
                     .hart_instructions = 0,
                     .guest_mistakes = {},
                     .run_hash = {},
                     .output_folder = folder};
  summary.run_hash = run_hash(summary, "", kernels, statistics);
  output.write("statistics.json", [&](std::ostream& out) { write_statistics_json(summary, kernels, statistics, out); });
}

}  // namespace lacuna
