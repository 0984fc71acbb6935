#include "platform/sida/timed_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "models/sida/machine/pass_shapes.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/pass_pipeline.h"

namespace lacuna {
namespace {

void add_counts(const sida::PassCounts& counts, SidaTotals& totals) {
  totals.cycles += static_cast<double>(counts.cycles);
  totals.bytes += counts.bytes();
  totals.sums += counts;
  totals.by_pass.back().counts = counts;
}

void time_on_sida(ApplicationJob& job, const sida::SparseMatrix& by_columns, const sida::MachineParameters& machine,
                  const SidaDetails& details, SidaTotals& totals) {
  const sida::SparseMatrix by_rows = transposed_pattern(by_columns);
  const sida::MatrixOrders orders{{by_columns.offsets, by_columns.indices}, {by_rows.offsets, by_rows.indices}};
  sida::PipelineParameters pipeline = machine.pipeline();
  pipeline.trace = details.trace;
  struct TimedPass {
    sida::PassCounts counts;
    sida::EnergyCounts energy;
  };
  std::map<std::pair<std::uint32_t, bool>, TimedPass> timed;  // key: pass in the program, and whether IS was executed
  job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
    const sida::Pass& pass = program.passes[outcome.pass];
    ++totals.passes;
    if (!details.passes) totals.by_pass.clear();
    totals.by_pass.push_back(
        {.pass = outcome.pass,
         .iteration = outcome.iteration,
         .products = static_cast<std::uint64_t>(outcome.has_os) + static_cast<std::uint64_t>(outcome.has_is)});
    if (pass.has_os() && !outcome.has_os) {
      // The load code has read the vectors of the pass and ended the loop, so OS does not run.
      const sida::Work work = oracle_work(program, pass, outcome);
      const double cycles =
          std::ceil(work.cycles(machine.control.bytes_per_cycle, machine.pes)) + machine.control.memory_latency;
      totals.cycles += cycles;
      for (sida::PassCounts* const counts : {&totals.sums, &totals.by_pass.back().counts}) {
        counts->cycles += static_cast<std::uint64_t>(cycles);
        counts->read_bytes[static_cast<std::size_t>(sida::MemoryKind::x)] += work.bytes;
      }
      totals.bytes += work.bytes;
      totals.energy += work.energy;
      return;
    }
    if (!pass.has_os() && program.elements(pass, sida::Phase::ewise) == 0) return;
    // A repeated pass has the same shape and no other user of the memory, so it takes as long as the first pass.
    auto known = timed.find({outcome.pass, outcome.has_is});
    const bool is_repeated = known != timed.end();
    if (!is_repeated) {
      const sida::PassShape shape = shape_of(program, pass, outcome, orders);
      if (pass.has_os()) totals.sub_tensor = sub_tensor_of(shape, pipeline);
      sida::IdealMemory memory(machine.control.bytes_per_cycle, machine.control.memory_latency);
      sida::PassPipeline timing(shape, pipeline, memory);
      TimedPass made{timing.run(), {}};
      made.energy = energy_counts(shape, made.counts, pipeline.line_bytes);
      made.energy.operations = operations_of(program, pass, outcome);
      known = timed.insert({{outcome.pass, outcome.has_is}, made}).first;
      if (details.trace && made.counts.cycles > totals.longest) {
        totals.longest = made.counts.cycles;
        totals.trace = timing.trace();
        totals.traced = outcome.pass;
      }
    }
    add_counts(known->second.counts, totals);
    totals.by_pass.back().in_bulk = is_repeated;
    totals.energy += known->second.energy;
  });
  if (!details.passes) totals.by_pass.clear();
}

void time_by_formula(ApplicationJob& job, SidaMachine which, const sida::MachineParameters& machine, SidaTotals& totals) {
  const auto add = [&](const sida::Work& work) {
    totals.cycles += work.cycles(machine.control.bytes_per_cycle, machine.pes);
    totals.bytes += work.bytes;
    totals.energy += work.energy;
  };
  std::set<std::pair<std::uint32_t, std::string>> seen;
  job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
    ++totals.passes;
    if (which != SidaMachine::oracle) return;
    sida::Work work = oracle_work(program, program.passes[outcome.pass], outcome);
    add(work);
    if (!seen.insert({outcome.pass, work.name}).second) return;
    work.name = "pass " + std::to_string(outcome.pass) + ", " + work.name;
    totals.operators.push_back(std::move(work));
  });
  if (which == SidaMachine::oracle) return;
  totals.operators = sida::operators_of(job.graph(), job.stored());
  for (std::uint64_t iteration = 0; iteration < job.iterations(); ++iteration) {
    for (const sida::Work& work : totals.operators) add(work);
  }
}

void time_on_cpu(ApplicationJob& job, const SidaMachines& machines, SidaTotals& totals) {
  const lacuna_sida_matrix& matrix = job.stored().front();
  double working_set = static_cast<double>(matrix.entries) * sida::entry_bytes(matrix) +
                       static_cast<double>(matrix.columns) * matrix.offset_bytes;
  for (unsigned v = 0; v < lacuna_sida_vectors(&job.plan()); ++v)
    working_set += static_cast<double>(lacuna_sida_storage_of(&job.plan(), v).bytes);
  std::set<std::uint32_t> seen;
  job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
    ++totals.passes;
    const sida::Work work = oracle_work(program, program.passes[outcome.pass], outcome);
    const bool first = seen.insert(outcome.pass).second;
    totals.cycles += machines.cpu.time(static_cast<double>(work.bytes), working_set, first) *
                     static_cast<double>(machines.accelerator.clock.hz);
    totals.bytes += work.bytes;
  });
}

}  // namespace

SidaTotals time_application(ApplicationJob& job, const sida::SparseMatrix& by_columns, SidaMachine which,
                            const SidaMachines& machines, const SidaDetails& details) {
  SidaTotals totals;
  if (which == SidaMachine::sida) {
    time_on_sida(job, by_columns, machines.accelerator, details, totals);
  } else if (which == SidaMachine::cpu) {
    time_on_cpu(job, machines, totals);
  } else {
    time_by_formula(job, which, machines.accelerator, totals);
  }
  return totals;
}

}  // namespace lacuna
