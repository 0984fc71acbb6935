// What a compute unit says of wavefronts that cannot go on, and of where the others are.

#include <fmt/format.h>

#include <bit>
#include <ostream>

#include "models/common/gpu_registers.h"
#include "models/compute/compute_unit.h"
#include "models/compute/windows.h"
#include "models/isa/decoder.h"

namespace lacuna {

namespace {

/// "lane 5", "64 lanes, the first is lane 0".
std::string lanes_text(std::uint64_t lanes) {
  if (lanes == 0) return "no active lane";
  const int first = std::countr_zero(lanes);
  const int count = std::popcount(lanes);
  return count == 1 ? fmt::format("lane {}", first) : fmt::format("{} lanes, the first is lane {}", count, first);
}

}  // namespace

void ComputeUnit::fault(WavefrontSlot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc,
                        const std::string& what, Cycles cycle) {
  slot.hold(kHoldFault);
  slot.publish();
  const auto& id = slot.group->id;
  ComputeUnitReport& made = report(ComputeUnitReport::Kind::fault, *slot.group->dispatch, clock_.ticks(cycle));
  made.fault = std::make_unique<WavefrontFault>();
  made.fault->code = code;
  made.fault->address = address;
  made.fault->pc = pc;
  made.fault->what = what;
  std::string instruction;
  if (slot.next != nullptr) {
    const std::string_view extension = isa::extension_name(*slot.next);
    instruction = fmt::format(" ({}{}{})", isa::disassemble(*slot.next, target_), extension.empty() ? "" : ", ", extension);
  }
  made.fault->where = fmt::format("{}, workgroup ({}, {}, {}), wavefront {}, compute unit {} SIMD {}", instruction, id[0],
                                  id[1], id[2], slot.wave_in_group, place_.index, slot.simd->number);
  reported();
}

// abort(), failed assertions and __builtin_trap() are trap 2.
void ComputeUnit::trap(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  fault(slot, LACUNA_FAULT_TRAP, 0, pc, fmt::format("trap {}, {}", slot.wave.event_value, lanes_text(slot.wave.exec())), cycle);
}

void ComputeUnit::memory_fault(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  const isa::MemoryFault& f = slot.wave.fault;
  const bool reading = f.wanted == isa::Access::read;
  std::uint32_t code = LACUNA_FAULT_NOT_MAPPED;
  std::string_view reason = "address not mapped";
  switch (f.reason) {
    case isa::MemoryFault::Reason::not_mapped:
      break;
    case isa::MemoryFault::Reason::not_permitted:
      code = LACUNA_FAULT_NOT_PERMITTED;
      reason = "access not permitted";
      break;
    case isa::MemoryFault::Reason::misaligned:
      code = LACUNA_FAULT_MISALIGNED;
      reason = "misaligned";
      break;
    case isa::MemoryFault::Reason::lds_out_of_range:
      code = LACUNA_FAULT_LDS_RANGE;
      reason = "outside the workgroup's LDS";
      break;
  }
  const std::string lane = instruction.unit == isa::Unit::smem ? std::string("scalar") : fmt::format("lane {}", f.lane);
  fault(slot, code, f.address, pc,
        fmt::format("memory fault: {} of {} bytes at {:#x}, {}, {}; {}", reading ? "load" : "store or atomic", f.bytes,
                    f.address, lane, reason, vm_.nearest(f.address)),
        cycle);
}

void ComputeUnit::fetch_fault(WavefrontSlot& slot, Cycles cycle) {
  const std::uint64_t pc = slot.wave.pc;
  const isa::CodeError error = fetch_.code().explain(pc);
  const bool undecodable = error.kind == isa::CodeError::Kind::undecodable;
  fault(slot, undecodable ? LACUNA_FAULT_ILLEGAL_INSTRUCTION : LACUNA_FAULT_FETCH, pc, pc,
        undecodable ? error.text : fmt::format("instruction fetch: {}; {}", error.text, vm_.nearest(pc)), cycle);
}

void ComputeUnit::diagnose(std::ostream& out) const {
  windows_->start_launched(group_);
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      const WavefrontSlot* slot = simd->issue.slots[i];
      const char* state = slot->held_by(kHoldFault)                              ? "faulted"
                          : slot->held_by(kHoldBarrier)                          ? "waits at a barrier"
                          : slot->held_by(kHoldSync)                             ? "waits for global wave sync"
                          : (slot->holds & (kHoldVmcnt | kHoldLgkmcnt)) != 0     ? "waits for memory (s_waitcnt)"
                          : (slot->holds & (kHoldVmLimit | kHoldLgkmLimit)) != 0 ? "waits for room in a wait counter"
                          : slot->held_by(kHoldRegisters)                        ? "waits for registers of a held load"
                          : slot->held_by(kHoldFetch)                            ? "waits for its next instruction"
                                                                                 : "runs";
      out << fmt::format("  compute unit {} SIMD {} slot {}: kernel {}, workgroup {}, wavefront {}, PC {:#x}, {}\n",
                         place_.index, simd->number, slot->number, slot->group->dispatch->kernel, slot->group->linear_id,
                         slot->wave_in_group, slot->wave.pc, state);
    }
  }
}

}  // namespace lacuna
