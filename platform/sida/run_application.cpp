#include "platform/sida/run_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <utility>

#include "models/sida/machine/machine_parameters.h"
#include "models/sida/machine/pass_shapes.h"
#include "models/sida/machine/roofline.h"
#include "models/sida/matrix/names.h"
#include "models/sida/matrix/orders.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/pass_pipeline.h"
#include "platform/configuration.h"
#include "platform/picture/pass_timeline.h"
#include "platform/run/text_table.h"
#include "platform/run/whole_file.h"
#include "platform/sida/application_job.h"
#include "platform/sida/named_matrix.h"

namespace lacuna {
namespace {

const lacuna_sida_application& application_named(const std::string& name) {
  if (const lacuna_sida_application* application = lacuna_sida_application_named(name.c_str())) return *application;
  std::vector<std::string> names;
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) names.emplace_back(a->name);
  throw ConfigurationError("program \"" + name + "\" is unknown" + sida::nearest_or_all(names, name));
}

sida::MachineParameters machine_parameters(const std::vector<std::string>& settings) {
  sida::MachineParameters machine;
  ParameterSection section("sida");
  machine.describe(section);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    std::vector<std::string> names;
    for (const auto& parameter : section.parameters()) names.push_back(parameter->name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (equals == std::string::npos || found == names.end()) {
      throw ConfigurationError("--set " + setting + ": " +
                               (equals == std::string::npos ? "must be sida.NAME=VALUE" : "unknown parameter") +
                               sida::nearest_or_all(names, name));
    }
    const auto& parameter = section.parameters()[static_cast<std::size_t>(found - names.begin())];
    if (const auto problem = parameter->parse(setting.substr(equals + 1)))
      throw ConfigurationError("--set " + setting + ": " + *problem);
  }
  return machine;
}

/// A matrix in the order that was asked for, and its rows.
struct Matrix {
  sida::SparseMatrix by_columns;
  std::string order = "natural";

  Matrix(const SidaRunOptions& options, std::ostream& warnings) {
    by_columns = sida_matrix(options.matrix, options.as_stored, warnings).matrix;
    if (!options.order) return;
    order = *options.order;
    by_columns = permuted(by_columns, sida::order_of(by_columns, order));
  }
};

ApplicationJob::Options job_options(const SidaRunOptions& options) {
  return {.fusion = options.fusion,
          .blocked = options.blocked,
          .block_side = options.block_side,
          .limit = options.iterations,
          .source = options.source,
          .features = options.features,
          .tolerance = options.tolerance};
}

/// Time and bytes of a whole job.
struct Totals {
  double cycles = 0;
  std::uint64_t passes = 0, bytes = 0;
  std::array<std::uint64_t, sida::kMemoryKinds> read{}, written{};
  std::array<std::uint64_t, sida::kBounds> bound{};
  std::uint64_t steps = 0, sub_tensor = 0, evicted = 0, reloaded = 0, r_given = 0, r_used = 0, spilled = 0;
  std::uint64_t waiting_peak = 0, buffer_peak = 0;
  std::vector<sida::Work> operators;
  // Of the longest pass:
  std::vector<sida::StepTrace> trace;
  sida::Time longest = 0;
  std::uint32_t traced = 0;  ///< its number in the program
};

void add_counts(const sida::PassCounts& counts, Totals& totals) {
  totals.cycles += static_cast<double>(counts.cycles);
  for (std::size_t k = 0; k < sida::kMemoryKinds; ++k) {
    totals.read[k] += counts.read_bytes[k];
    totals.written[k] += counts.written_bytes[k];
  }
  for (std::size_t b = 0; b < sida::kBounds; ++b) totals.bound[b] += counts.bound[b];
  totals.bytes += counts.bytes();
  totals.steps += counts.steps;
  totals.evicted += counts.evicted;
  totals.reloaded += counts.reloaded;
  totals.r_given += counts.r_given;
  totals.r_used += counts.r_used;
  totals.waiting_peak = std::max(totals.waiting_peak, counts.waiting_peak);
  totals.buffer_peak = std::max(totals.buffer_peak, counts.buffer_peak);
}

Totals time_on_sida(ApplicationJob& job, const sida::SparseMatrix& by_columns, const sida::MachineParameters& machine,
                    bool trace) {
  const sida::SparseMatrix by_rows = transposed(by_columns);
  const sida::MatrixOrders orders{{by_columns.offsets, by_columns.indices}, {by_rows.offsets, by_rows.indices}};
  sida::PipelineParameters pipeline = machine.pipeline();
  pipeline.trace = trace;
  Totals totals;
  std::map<std::pair<std::uint32_t, bool>, sida::PassCounts> timed;  // by number in the program, and whether with IS
  job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
    const sida::Pass& pass = program.passes[outcome.pass];
    ++totals.passes;
    if (pass.has_os() && !outcome.has_os) {
      // The loop ended after load: its vectors were read.
      const sida::Work work = oracle_work(program, pass, outcome);
      totals.cycles += std::ceil(work.cycles(machine.control.bytes_per_cycle, machine.pes)) + machine.control.memory_latency;
      totals.read[static_cast<std::size_t>(sida::MemoryKind::x)] += work.bytes;
      totals.bytes += work.bytes;
      return;
    }
    if (!pass.has_os() && program.elements(pass, sida::Phase::ewise) == 0) return;
    // A pass that repeats itself has the same shape, and nothing else is at the memory: it takes what the first one took.
    auto known = timed.find({outcome.pass, outcome.has_is});
    if (known == timed.end()) {
      const sida::PassShape shape = shape_of(program, pass, outcome, orders);
      if (pass.has_os()) totals.sub_tensor = sub_tensor_of(shape, pipeline);
      sida::IdealMemory memory(machine.control.bytes_per_cycle, machine.control.memory_latency);
      sida::PassPipeline timing(shape, pipeline, memory);
      known = timed.insert({{outcome.pass, outcome.has_is}, timing.run()}).first;
      if (trace && known->second.cycles > totals.longest) {
        totals.longest = known->second.cycles;
        totals.trace = timing.trace();
        totals.traced = outcome.pass;
      }
    }
    add_counts(known->second, totals);
  });
  return totals;
}

Totals time_by_formula(ApplicationJob& job, SidaMachine which, const sida::MachineParameters& machine) {
  Totals totals;
  const auto add = [&](const sida::Work& work) {
    totals.cycles += work.cycles(machine.control.bytes_per_cycle, machine.pes);
    totals.bytes += work.bytes;
  };
  job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
    ++totals.passes;
    if (which == SidaMachine::oracle) add(oracle_work(program, program.passes[outcome.pass], outcome));
  });
  if (which == SidaMachine::oracle) return totals;
  totals.operators = sida::operators_of(job.graph(), job.stored());
  for (std::uint64_t iteration = 0; iteration < job.iterations(); ++iteration) {
    for (const sida::Work& work : totals.operators) add(work);
  }
  return totals;
}

std::string in_megabytes(double bytes) { return fixed(bytes / 1e6, 3); }

void print_bytes(const Totals& totals, std::ostream& out) {
  std::vector<TextRow> rows{{"bytes", "read, MB", "written, MB", "share"}};
  for (std::size_t k = 0; k < sida::kMemoryKinds; ++k) {
    if (totals.read[k] + totals.written[k] == 0) continue;
    rows.push_back(
        {sida::kMemoryKindNames[k], in_megabytes(static_cast<double>(totals.read[k])),
         in_megabytes(static_cast<double>(totals.written[k])),
         fixed(100 * static_cast<double>(totals.read[k] + totals.written[k]) / static_cast<double>(totals.bytes), 1) + " %"});
  }
  out << '\n';
  write_aligned(rows, out);
}

void print_operators(const Totals& totals, const sida::MachineParameters& machine, std::ostream& out) {
  std::vector<TextRow> rows{{"operators of an iteration", "MB", "operations", "cycles"}};
  for (const sida::Work& work : totals.operators) {
    rows.push_back(
        {work.name, in_megabytes(static_cast<double>(work.bytes)), grouped(work.operations),
         grouped(static_cast<std::uint64_t>(std::llround(work.cycles(machine.control.bytes_per_cycle, machine.pes))))});
  }
  out << '\n';
  write_aligned(rows, out);
}

void print_steps(const Totals& totals, std::ostream& out) {
  out << "steps          " << grouped(totals.steps) << ", sub-tensors of " << grouped(totals.sub_tensor)
      << " columns; bound by memory " << grouped(totals.bound[0]) << ", OS " << grouped(totals.bound[1]) << ", E-wise "
      << grouped(totals.bound[2]) << ", IS " << grouped(totals.bound[3]) << '\n'
      << "buffer         at most " << in_megabytes(static_cast<double>(totals.buffer_peak)) << " MB, "
      << grouped(totals.waiting_peak) << " entries waiting; " << grouped(totals.evicted) << " evicted, "
      << grouped(totals.reloaded) << " loaded again\n";
  if (totals.r_given != 0) {
    out << "eager          " << grouped(totals.r_used) << " entries loaded by row ahead of their columns, of "
        << grouped(totals.r_given) << " that the traffic estimator allowed\n";
  }
}

}  // namespace

bool run_application(const std::string& program, const SidaRunOptions& options, std::ostream& out, std::ostream& warnings) {
  const lacuna_sida_application& application = application_named(program);
  const sida::MachineParameters machine = machine_parameters(options.parameters);
  const Matrix matrix(options, warnings);
  ApplicationJob job(application, matrix.by_columns, job_options(options));
  const Totals totals = options.machine == SidaMachine::sida
                            ? time_on_sida(job, matrix.by_columns, machine, options.timeline.has_value())
                            : time_by_formula(job, options.machine, machine);
  constexpr const char* kMachines[]{"sida", "roofline", "oracle"};
  const unsigned fused = lacuna_sida_fused_products(&job.plan());
  const double gigabytes = static_cast<double>(totals.bytes) / totals.cycles * static_cast<double>(machine.clock.hz) / 1e9;
  const double peak = static_cast<double>(machine.control.bytes_per_cycle) * static_cast<double>(machine.clock.hz) / 1e9;
  out << "program        " << application.name << ": " << application.text << '\n'
      << "matrix         " << options.matrix << ", order " << matrix.order << ", " << grouped(matrix.by_columns.rows)
      << " rows, " << grouped(matrix.by_columns.entries()) << " entries, " << (options.blocked ? "blocked" : "dual")
      << " storage\n"
      << "machine        " << kMachines[static_cast<std::size_t>(options.machine)] << ", " << grouped(machine.pes)
      << " PEs a core, " << fixed(peak, 0) << " GB/s, " << fixed(static_cast<double>(machine.clock.hz) / 1e9, 2) << " GHz";
  if (options.machine == SidaMachine::sida)
    out << ", buffer of " << in_megabytes(static_cast<double>(machine.buffer.n)) << " MB";
  out << "\nfusion         "
      << (fused == 0 ? std::string("none")
                     : fmt::format("{} of {} products share a pass", fused, lacuna_sida_products(&job.plan())))
      << '\n'
      << "iterations     " << grouped(job.iterations()) << ", " << grouped(totals.passes) << " passes\n"
      << "time           "
      << readable_time(Tick{static_cast<std::uint64_t>(totals.cycles * 1e12 / static_cast<double>(machine.clock.hz))}) << ", "
      << grouped(static_cast<std::uint64_t>(std::llround(totals.cycles))) << " cycles\n"
      << "memory         " << in_megabytes(static_cast<double>(totals.bytes)) << " MB, " << fixed(gigabytes, 1) << " GB/s ("
      << fixed(100 * gigabytes / peak, 1) << " % of the bandwidth)\n";
  if (options.machine == SidaMachine::sida) print_steps(totals, out);
  if (options.timeline) {
    write_file(*options.timeline, [&](std::ostream& picture) {
      write_pass_timeline(totals.trace, machine.control.bytes_per_cycle, machine.buffer.n,
                          fmt::format("{} on {}, pass {}", application.name, options.matrix, totals.traced), picture);
    });
  }
  bool right = true;
  if (options.check) {
    const auto [iterations, expected] = job.reference();
    right = iterations == job.iterations() && expected == job.result();
    out << "result         "
        << (right ? "as one operation after the other computes it, to the bit"
                  : "DIFFERS from what one operation after the other computes")
        << '\n';
  }
  if (options.machine == SidaMachine::sida) print_bytes(totals, out);
  if (options.machine == SidaMachine::roofline) print_operators(totals, machine, out);
  return right;
}

void explain_application(const std::string& program, const SidaRunOptions& options, std::ostream& out, std::ostream& warnings) {
  const lacuna_sida_application& application = application_named(program);
  SidaRunOptions used = options;
  // What is fused does not depend on the matrix.
  if (used.matrix.empty()) used.matrix = "power:rows=64,entries=256";
  const Matrix matrix(used, warnings);
  ApplicationJob job(application, matrix.by_columns, job_options(used));
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
