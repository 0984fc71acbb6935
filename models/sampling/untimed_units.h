// Compute units that execute workgroups without timing, in addition to the timed units: whole workgroups of a sampled kernel
// run here while the state of the timed units does not change.
//
// Several host threads execute a part of a kernel together. Its workgroups are divided into chunks, and each chunk among
// kUnits units. Within a chunk a unit sees memory as it was at the beginning of the chunk, and its own later stores. At the end
// of a chunk,
//   1. stores are written to memory, unit after unit;
//   2. unit after unit, reports are delivered, and wavefronts that have been held before an atomic operation, or before an
//      access that must follow an atomic operation, run to their end on memory itself.
// The unit that executes a workgroup, and the order of these steps, do not depend on the number of threads: results are equal
// bit by bit on any host, even if workgroups race for data.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "models/command/dispatcher.h"
#include "models/common/host/worker_threads.h"
#include "models/compute/compute_unit.h"
#include "models/compute/compute_unit_context.h"
#include "models/sampling/instruction_mix.h"

namespace lacuna {

class UntimedUnits final : public sc_core::sc_module {
 public:
  /// Instructions, relative to the expected number, after which workgroups are assumed to wait for an event outside of their
  /// unit.
  static constexpr double kMostInstructions = 4;

  /// `context`: that of the timed units; its mode, LDS banks, listener and stages are not used. `first_group`: number of groups
  /// of the timed units (Dispatch::work_of()). Faults are reported to `dispatcher`. `threads` null: all units run on the
  /// caller's thread.
  UntimedUnits(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, const ComputeUnitContext& context,
               unsigned first_group, Dispatcher& dispatcher, WorkerThreads* threads);
  ~UntimedUnits() override;

  /// Executes the dispatch's next `count` workgroups, which have not been launched, and counts them as finished. The dispatch
  /// must use no scratch memory. `instructions_of_each`: expected number of instructions of a workgroup. Returns the number of
  /// workgroups that have ended: fewer if a workgroup waits, if a unit has executed over kMostInstructions times the expected
  /// instructions plus a million, or if the dispatch has failed; 0 if workgroups of an earlier call have not ended. Workgroups
  /// that wait continue in simulated time, and are counted when they end.
  std::uint64_t execute(Dispatch& dispatch, std::uint64_t count, double instructions_of_each);
  /// Drops the workgroups of a dispatch.
  void abort(const Dispatch& dispatch);
  void reset();
  std::vector<ComputeUnit*> units() const;
  /// Instructions that the units have executed, by isa::Unit.
  InstructionMix issued() const;

 private:
  class Unit;

  std::uint64_t run_chunk(Dispatch& dispatch, std::uint64_t count, std::uint64_t most_instructions);
  bool idle() const;

  Dispatcher& dispatcher_;
  const unsigned first_group_;
  WorkerThreads* threads_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<unsigned> numbers_;  ///< 0, 1, ...: the units as items of work for threads
};

}  // namespace lacuna
