#include "platform/sida/run_application.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>

#include "models/sida/machine/area.h"
#include "models/sida/machine/energy.h"
#include "models/sida/matrix/names.h"
#include "models/sida/matrix/orders.h"
#include "platform/command_line.h"
#include "platform/configuration.h"
#include "platform/picture/pass_timeline.h"
#include "platform/run/text_table.h"
#include "platform/run/whole_file.h"
#include "platform/sida/application_job.h"
#include "platform/sida/device_run.h"
#include "platform/sida/named_matrix.h"
#include "platform/sida/run_statistics.h"
#include "platform/sida/sida_parameters.h"
#include "platform/sida/timed_run.h"

namespace lacuna {
namespace {

const lacuna_sida_application& application_named(const std::string& name) {
  if (const lacuna_sida_application* application = lacuna_sida_application_named(name.c_str())) return *application;
  std::vector<std::string> names;
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) names.emplace_back(a->name);
  throw ConfigurationError("program \"" + name + "\" is unknown" + sida::nearest_or_all(names, name));
}

/// A matrix in the requested order.
struct Matrix {
  sida::SparseMatrix by_columns;
  std::string order = "natural";
  std::vector<sida::Index> places;  ///< position of each row of the original matrix; empty: not reordered
  bool has_values = false;          ///< of the original matrix; the values that the application does not use are dropped
  std::uint64_t rows = 0, entries = 0;

  Matrix(const lacuna_sida_application& application, const SidaRunOptions& options, std::ostream& warnings) {
    by_columns = sida_matrix(options.matrix, options.as_stored, warnings).matrix;
    has_values = !by_columns.is_pattern();
    rows = by_columns.rows;
    entries = by_columns.entries();
    if (!application.uses_values) by_columns.values = std::vector<double>();  // unlike {}, this frees its memory
    if (!options.order) return;
    order = *options.order;
    const std::vector<sida::Index> in_order = sida::order_of(by_columns, order);
    by_columns = permuted(by_columns, in_order);
    places.resize(in_order.size());
    for (std::size_t place = 0; place < in_order.size(); ++place) places[in_order[place]] = static_cast<sida::Index>(place);
  }

  /// Returns the position of a row of the original matrix, so that a program starts at the same vertex in any order. Rows
  /// beyond the matrix are not mapped, and are rejected later.
  std::uint32_t place_of(std::uint32_t row) const { return row < places.size() ? places[row] : row; }
};

ApplicationJob::Options job_options(const SidaRunOptions& options, const Matrix& matrix) {
  // On the CPU, products do not share a pass: the CPU reads the matrix once per product.
  const bool one_product = options.machine == SidaMachine::cpu && options.fusion == LACUNA_SIDA_FUSION_AUTO;
  return {.fusion = one_product ? LACUNA_SIDA_FUSION_PRODUCER_CONSUMER : options.fusion,
          .blocked = options.blocked,
          .block_side = options.block_side,
          .limit = options.iterations,
          .source = matrix.place_of(options.source),
          .features = options.features,
          .tolerance = options.tolerance};
}

std::string in_megabytes(double bytes) { return fixed(bytes / 1e6, 3); }

void print_bytes(const SidaTotals& totals, std::ostream& out) {
  std::vector<TextRow> rows{{"bytes", "read, MB", "written, MB", "share"}};
  for (std::size_t k = 0; k < sida::kMemoryKinds; ++k) {
    if (totals.sums.read_bytes[k] + totals.sums.written_bytes[k] == 0) continue;
    rows.push_back({sida::kMemoryKindNames[k], in_megabytes(static_cast<double>(totals.sums.read_bytes[k])),
                    in_megabytes(static_cast<double>(totals.sums.written_bytes[k])),
                    fixed(100 * static_cast<double>(totals.sums.read_bytes[k] + totals.sums.written_bytes[k]) /
                              static_cast<double>(totals.bytes),
                          1) +
                        " %"});
  }
  out << '\n';
  write_aligned(rows, out);
}

void print_operators(const char* what, const SidaTotals& totals, const sida::MachineParameters& machine, std::ostream& out) {
  std::vector<TextRow> rows{{what, "MB", "operations", "cycles"}};
  for (const sida::Work& work : totals.operators) {
    rows.push_back(
        {work.name, in_megabytes(static_cast<double>(work.bytes)), grouped(work.operations),
         grouped(static_cast<std::uint64_t>(std::llround(work.cycles(machine.control.bytes_per_cycle, machine.pes))))});
  }
  out << '\n';
  write_aligned(rows, out);
}

void print_steps(const SidaTotals& totals, std::ostream& out) {
  const sida::PassCounts& sums = totals.sums;
  out << "steps          " << grouped(sums.steps) << ", sub-tensors of " << grouped(totals.sub_tensor)
      << " columns; bound by memory " << grouped(sums.bound[0]) << ", OS " << grouped(sums.bound[1]) << ", E-wise "
      << grouped(sums.bound[2]) << ", IS " << grouped(sums.bound[3]) << '\n'
      << "buffer         at most " << in_megabytes(static_cast<double>(sums.buffer_peak)) << " MB, "
      << grouped(sums.waiting_peak) << " entries waiting; " << grouped(sums.evicted) << " evicted, " << grouped(sums.reloaded)
      << " loaded again\nreuse          " << fixed(sums.reuse(), 2) << " products by entry fetched\n";
  if (sums.r_given != 0) {
    out << "eager          " << grouped(sums.r_used) << " entries loaded by row ahead of their columns, of "
        << grouped(sums.r_given) << " that the traffic estimator allowed\n";
  }
}

void print_energy(const SidaTotals& totals, const SidaParameters& parameters, std::ostream& out) {
  struct Lines {
    std::vector<std::pair<std::string, double>> joules;
    double total = 0;
  };
  const auto lines_of = [&totals](const EnergyParameters& energy) {
    Lines lines;
    const auto parts = sida::joules(totals.energy, energy);
    const auto kinds = sida::buffer_joules(totals.energy, energy);
    for (std::size_t p = 0; p < parts.size(); ++p) lines.joules.emplace_back(sida::kEnergyPartNames[p], parts[p]);
    for (std::size_t k = 0; k < kinds.size(); ++k)
      lines.joules.emplace_back(std::string("  buffer: ") + sida::kBufferKindNames[k], kinds[k]);
    for (const double part : parts) lines.total += part;
    return lines;
  };
  const Lines energy = lines_of(parameters.energy());
  const Lines low = lines_of(parameters.energy(EnergyBound::low));
  const Lines high = lines_of(parameters.energy(EnergyBound::high));
  const auto millijoules = [](double joules) { return fixed(1e3 * joules, 3); };
  std::vector<TextRow> rows{{"energy", "mJ", "low", "high", "share"}};
  for (std::size_t i = 0; i < energy.joules.size(); ++i) {
    const auto& [name, joules] = energy.joules[i];
    if (joules != 0)
      rows.push_back({name, millijoules(joules), millijoules(low.joules[i].second), millijoules(high.joules[i].second),
                      fixed(100 * joules / energy.total, 1) + " %"});
  }
  rows.push_back({"total", millijoules(energy.total), millijoules(low.total), millijoules(high.total), ""});
  out << '\n';
  write_aligned(rows, out);
}

/// Prints the energy of a GPU with the accelerator, by block.
void print_device_energy(const std::vector<std::pair<std::string, double>>& energy, std::ostream& out) {
  double total = 0;
  for (const auto& [block, joules] : energy) total += joules;
  if (total == 0) return;
  std::vector<TextRow> rows{{"energy of the GPU", "mJ", "share"}};
  for (const auto& [block, joules] : energy) {
    if (joules != 0) rows.push_back({block, fixed(1e3 * joules, 3), fixed(100 * joules / total, 1) + " %"});
  }
  rows.push_back({"total", fixed(1e3 * total, 3), ""});
  out << '\n';
  write_aligned(rows, out);
}

void print_machine(SidaMachine which, const sida::MachineParameters& machine, const sida::CpuParameters& cpu,
                   std::ostream& out) {
  const double hz = static_cast<double>(machine.clock.hz);
  out << kSidaMachineNames[static_cast<std::size_t>(which)] << ", ";
  if (which == SidaMachine::cpu) {
    out << fmt::format("{:g} GB/s, cache of {} MB with {:g} GB/s", cpu.bandwidth,
                       in_megabytes(static_cast<double>(cpu.cache.n)), cpu.cache_bandwidth);
    return;
  }
  out << grouped(machine.pes) << " PEs a core, " << fixed(static_cast<double>(machine.control.bytes_per_cycle) * hz / 1e9, 0)
      << " GB/s, " << fixed(hz / 1e9, 2) << " GHz";
  if (which == SidaMachine::sida || which == SidaMachine::device)
    out << ", buffer of " << in_megabytes(static_cast<double>(machine.buffer.n)) << " MB";
}

void print_run(const lacuna_sida_application& application, const Matrix& matrix, const SidaRunOptions& options,
               const sida::MachineParameters& machine, const sida::CpuParameters& cpu, const SidaRun& run, std::ostream& out) {
  const double hz = static_cast<double>(machine.clock.hz);
  const double gigabytes = static_cast<double>(run.totals.bytes) / run.totals.cycles * hz / 1e9;
  const double peak = static_cast<double>(machine.control.bytes_per_cycle) * hz / 1e9;
  out << "program        " << application.name << ": " << application.text << '\n'
      << "matrix         " << options.matrix << ", order " << matrix.order << ", " << grouped(matrix.rows) << " rows, "
      << grouped(matrix.entries) << " entries, " << (options.blocked ? "blocked" : "dual") << " storage\nmachine        ";
  print_machine(options.machine, machine, cpu, out);
  out << "\nfusion         "
      << (run.fused == 0 ? std::string("none") : fmt::format("{} of {} products share a pass", run.fused, run.products)) << '\n'
      << "iterations     " << grouped(run.iterations) << ", " << grouped(run.totals.passes) << " passes\n"
      << "time           " << readable_time(Tick{static_cast<std::uint64_t>(run.totals.cycles * 1e12 / hz)}) << ", "
      << grouped(run.cycles) << " cycles\n"
      << "memory         " << in_megabytes(static_cast<double>(run.totals.bytes)) << " MB, " << fixed(gigabytes, 1) << " GB/s";
  // A CPU's traffic has no share of the bandwidth, because its cache serves part of the traffic.
  if (options.machine != SidaMachine::cpu) out << " (" << fixed(100 * gigabytes / peak, 1) << " % of the bandwidth)";
  out << '\n';
  if (options.machine == SidaMachine::sida || options.machine == SidaMachine::device) print_steps(run.totals, out);
}

/// Prints and returns whether a result equals the reference.
bool print_check(const ApplicationImage::Result& result, const ApplicationImage::Result& expected, bool quiet,
                 std::ostream& out) {
  const bool right = result.iterations == expected.iterations && result.bytes == expected.bytes;
  if (!quiet || !right)
    out << "result         "
        << (right ? "as one operation after the other computes it, to the bit"
                  : "DIFFERS from executing one operation at a time")
        << '\n';
  return right;
}

/// Runs the application on the accelerator of a GPU, and prints the results. Returns false if a check was requested and the
/// result is wrong.
bool run_on_gpu(const lacuna_sida_application& application, const SidaRunOptions& options,
                const std::vector<ConfigurationSource>& configuration, std::ostream& out, std::ostream& warnings) {
  Matrix matrix(application, options, warnings);
  DeviceRunResult done = run_on_device(application, matrix.by_columns, job_options(options, matrix), configuration,
                                       options.folder, options.addresses, options.check);
  SidaRun run;
  run.totals = std::move(done.totals);
  run.cycles = static_cast<std::uint64_t>(std::llround(run.totals.cycles));
  run.iterations = done.result.iterations;
  run.products = done.products;
  run.fused = done.fused;
  if (!options.quiet) print_run(application, matrix, options, done.machine, {}, run, out);
  const bool right = !done.reference || print_check(done.result, *done.reference, options.quiet, out);
  if (options.quiet) return right;
  print_bytes(run.totals, out);
  print_device_energy(done.energy, out);
  return right;
}

}  // namespace

bool run_application(const std::string& program, const SidaRunOptions& options,
                     const std::vector<ConfigurationSource>& configuration, std::ostream& out, std::ostream& warnings) {
  const auto begin = std::chrono::steady_clock::now();
  const lacuna_sida_application& application = application_named(program);
  if (options.machine == SidaMachine::device) return run_on_gpu(application, options, configuration, out, warnings);
  const SidaParameters parameters(configuration);
  const Matrix matrix(application, options, warnings);
  ApplicationJob job(application, matrix.by_columns, job_options(options, matrix));
  SidaRun run;
  run.totals = time_application(job, matrix.by_columns, options.machine, {parameters.machine(), parameters.cpu()},
                                {.trace = options.timeline.has_value(), .passes = options.folder.has_value()});
  run.cycles = static_cast<std::uint64_t>(std::llround(run.totals.cycles));
  run.iterations = job.iterations();
  run.products = lacuna_sida_products(&job.plan());
  run.fused = lacuna_sida_fused_products(&job.plan());
  if (!options.quiet) print_run(application, matrix, options, parameters.machine(), parameters.cpu(), run, out);
  if (options.timeline) {
    write_file(*options.timeline, [&](std::ostream& picture) {
      write_pass_timeline(run.totals.trace, parameters.machine().control.bytes_per_cycle, parameters.machine().buffer.n,
                          fmt::format("{} on {}, pass {}", application.name, options.matrix, run.totals.traced), picture);
    });
  }
  bool right = true;
  if (options.check) right = print_check({job.iterations(), job.result()}, job.image().reference(), options.quiet, out);
  if (!options.quiet) {
    if (options.machine == SidaMachine::sida) print_bytes(run.totals, out);
    if (options.machine == SidaMachine::roofline)
      print_operators("operators of an iteration", run.totals, parameters.machine(), out);
    if (options.machine == SidaMachine::oracle) print_operators("passes of the program", run.totals, parameters.machine(), out);
    if (parameters.energy().on() && options.machine != SidaMachine::cpu) print_energy(run.totals, parameters, out);
  }
  if (options.folder) {
    constexpr unsigned kValueBytes = 8;
    run.matrix = SidaMatrixFacts(matrix.by_columns, options.block_side, matrix.has_values ? kValueBytes : 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    write_run(*options.folder, program, right ? 0 : kExitDifferent, took.count(), run, parameters);
  }
  return right;
}

void describe_machine(const std::vector<ConfigurationSource>& configuration, std::ostream& out) {
  const SidaParameters parameters(configuration);
  const sida::MachineParameters& machine = parameters.machine();
  print_machine(SidaMachine::sida, machine, parameters.cpu(), out);
  std::vector<TextRow> rows{{"area", "mm2"}};
  for (const CostLine& line : sida::area_lines(machine.pes, machine.buffer.n))
    rows.push_back({std::string(line.meaning), fixed(line.value, 1)});
  rows.push_back({"published (thesis, section 4.6.7): buffer of 64 MB", fixed(sida::kPublishedBufferMm2, 0)});
  rows.push_back({"published: all of it", fixed(sida::kPublishedMm2, 0)});
  out << "\n\n";
  write_aligned(rows, out);
}

void explain_application(const std::string& program, const SidaRunOptions& options, std::ostream& out, std::ostream& warnings) {
  const lacuna_sida_application& application = application_named(program);
  SidaRunOptions used = options;
  // Any matrix is suitable, since fusion does not depend on the matrix.
  if (used.matrix.empty()) used.matrix = "power:rows=64,entries=256";
  const Matrix matrix(application, used, warnings);
  ApplicationJob job(application, matrix.by_columns, job_options(used, matrix));
  out << lacuna_sida_explain(&job.plan());
  std::vector<TextRow> rows{
      {"pass", "products", "vectors of load", "of ewise", "of finish", "stored", "scalars by load", "after it"}};
  std::vector<bool> seen;
  job.run([&](const sida::Program& p, const sida::PassOutcome&) {
    if (!seen.empty()) return;
    seen.assign(p.passes.size(), true);
    for (std::size_t i = 0; i < p.passes.size(); ++i) {
      const sida::Pass& pass = p.passes[i];
      const auto count = [](const auto& list) { return std::to_string(list.size()); };
      const sida::Code &load = pass.of(sida::Phase::load), &ewise = pass.of(sida::Phase::ewise),
                       &finish = pass.of(sida::Phase::finish);
      rows.push_back({std::to_string(i),
                      pass.has_is()   ? "2"
                      : pass.has_os() ? "1"
                                      : "0",
                      count(load.loads), count(ewise.loads), count(finish.loads),
                      std::to_string(ewise.stores.size() + finish.stores.size()), count(load.reductions),
                      pass.description.next == LACUNA_SIDA_NONE ? "end" : std::to_string(pass.description.next)});
    }
  });
  out << '\n';
  write_aligned(rows, out);
}

}  // namespace lacuna
