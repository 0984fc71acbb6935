// Functional execution of a wavefront's next instruction and of the event that it raises, in both timing modes.
//
//   may_execute()?  -- no --> refuse(): a fault
//   execute()       changes registers, memory and PC
//   complete()      handles the event, fetches the next instruction
#pragma once

#include "models/common/time/units.h"
#include "models/compute/compute_unit_context.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/reports/fault_reports.h"
#include "models/compute/wavefront_events.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/scalar/gpr_index.h"

namespace lacuna {

class InstructionExecution {
 public:
  /// The referenced objects must outlive this object.
  InstructionExecution(const ComputeUnitContext& context, InstructionFetch& fetch, WavefrontEvents& events,
                       FaultReports& faults)
      : clock_(context.clock), timestamp_(context.timestamp), fetch_(fetch), events_(events), faults_(faults) {}

  /// Whether the wavefront has a next instruction, and its allocation contains the registers of that instruction.
  static bool may_execute(const WavefrontSlot& slot) { return slot.next != nullptr && slot.allocation.holds(*slot.next); }
  /// Reports why the next instruction may not execute.
  void refuse(WavefrontSlot& slot, Cycles cycle) {
    if (slot.next == nullptr) {
      faults_.fetch_fault(slot, cycle);
    } else {
      faults_.registers_exceeded(slot, cycle);
    }
  }
  void execute(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    isa::Wavefront& wave = slot.wave;
    if (instruction.unit == isa::Unit::smem) {  // s_memtime, s_memrealtime
      wave.clock = cycle.n;
      wave.real_time = timestamp_.floor(clock_.ticks(cycle)).n;
    }
    wave.pc = instruction.end;
    isa::execute_instruction(instruction, wave);
  }
  /// Handles the event of an executed instruction and fetches the next instruction. slot.when is the end of the instruction.
  void complete(WavefrontSlot& slot, const isa::DecodedInstruction& executed, Cycles cycle) {
    if (slot.wave.event == isa::Event::none) {
      slot.account(StallCause::dependency, slot.when);
    } else if (!events_.handle(slot, executed, cycle)) {
      return;
    }
    fetch_.fetch(slot, cycle);
  }

 private:
  const Clock clock_;
  const Clock timestamp_;
  InstructionFetch& fetch_;
  WavefrontEvents& events_;
  FaultReports& faults_;
};

}  // namespace lacuna
