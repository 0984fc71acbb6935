#include "platform/sida/run_statistics.h"

#include "models/sida/machine/area.h"
#include "models/sida/machine/count_statistics.h"
#include "models/sida/machine/energy.h"
#include "models/sida/matrix/occupancy.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_report.h"
#include "platform/run/run_results.h"
#include "platform/sida/jobs_csv.h"

namespace lacuna {
namespace {

constexpr double kPercent = 100;

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

/// Names and descriptions of energies: as they are, or with all energies at one end of their intervals.
struct EnergyTexts {
  std::string prefix;
  StaticText part;
  StaticText total;
  StaticText of_kind;
};

void describe_energy(const sida::EnergyCounts& counts, const EnergyParameters& energy, const EnergyTexts& texts,
                     StatisticsGroup& group) {
  const auto add = [](StatisticsGroup& to, const std::string& name, double joules, StaticText description) {
    to.add_derived(
        name, [joules] { return joules; }, description, "J");
  };
  const auto parts = sida::joules(counts, energy);
  double total = 0;
  for (std::size_t p = 0; p < sida::kEnergyParts; ++p) {
    total += parts[p];
    add(group, texts.prefix + sida::kEnergyPartNames[p], parts[p], texts.part);
  }
  add(group, texts.prefix + "total", total, texts.total);
  const auto kinds = sida::buffer_joules(counts, energy);
  StatisticsGroup& buffer = group.group(texts.prefix + "buffer_by_kind");
  for (std::size_t k = 0; k < sida::kBufferKinds; ++k) add(buffer, sida::kBufferKindNames[k], kinds[k], texts.of_kind);
}

void describe_energy(const SidaRun& run, const SidaParameters& parameters, StatisticsGroup& group) {
  const sida::EnergyCounts& counts = run.totals.energy;
  describe_energy(counts, parameters.energy(),
                  {"", "energy of this part", "energy of all parts", "energy of these bytes in the buffer"}, group);
  describe_energy(counts, parameters.energy(EnergyBound::low),
                  {"low_", "energy of this part with all numbers at their low ends",
                   "energy of all parts with all numbers at their low ends",
                   "energy of these bytes in the buffer with all numbers at their low ends"},
                  group);
  describe_energy(counts, parameters.energy(EnergyBound::high),
                  {"high_", "energy of this part with all numbers at their high ends",
                   "energy of all parts with all numbers at their high ends",
                   "energy of these bytes in the buffer with all numbers at their high ends"},
                  group);
}

/// Number of entries in the lower triangle if the pattern is symmetric, otherwise number of all entries.
std::uint64_t stored_entries(const sida::SparseMatrix& matrix) {
  if (!matrix.is_square()) return matrix.entries();
  const sida::SparseMatrix other = transposed_pattern(matrix);
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
  sida::describe_ratios(run.totals.sums, group);
  sida::describe_counts(run.totals.sums, group);
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
  if (!run.totals.by_pass.empty()) {
    output.write("passes.csv", [&](std::ostream& out) {
      write_passes_csv_header(out);
      for (const SidaPassRecord& pass : run.totals.by_pass) write_passes_csv("sida", pass, out);
    });
  }
  output.write("statistics.json", [&](std::ostream& out) { write_statistics_json(summary, kernels, statistics, out); });
}

}  // namespace lacuna
