#include "models/compute/reports/fault_reports.h"

#include <fmt/format.h>
#include <bit>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/isa/decode/decoder.h"

namespace lacuna {

namespace {

constexpr std::uint64_t kApertureBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kNearAperture = std::uint64_t{1} << 20;

const char* access_text(isa::Access wanted) { return wanted == isa::Access::read ? "load" : "store or atomic"; }

/// Text of a set of lanes: "lane 5", "64 lanes, the first is lane 0".
std::string lanes_text(std::uint64_t lanes) {
  if (lanes == 0) return "no active lane";
  const int first = std::countr_zero(lanes);
  const int count = std::popcount(lanes);
  return count == 1 ? fmt::format("lane {}", first) : fmt::format("{} lanes, the first is lane {}", count, first);
}

}  // namespace

void FaultReports::fault(WavefrontSlot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc,
                         const std::string& what, Cycles cycle, const std::string& remark) {
  slot.hold(StallReason::fault);
  slot.publish();
  reports_.fault(*slot.group->dispatch, describe(slot, code, address, pc, what, remark), clock_.ticks(cycle));
}

std::unique_ptr<WavefrontFault> FaultReports::describe(const WavefrontSlot& slot, std::uint32_t code, std::uint64_t address,
                                                       std::uint64_t pc, const std::string& what,
                                                       const std::string& remark) const {
  const auto& id = slot.group->id;
  auto made = std::make_unique<WavefrontFault>();
  made->code = code;
  made->address = address;
  made->pc = pc;
  made->what = what;
  std::string instruction;
  if (slot.next != nullptr) {
    const std::string_view extension = isa::extension_name(*slot.next);
    instruction = fmt::format(" ({}{}{})", isa::disassemble(*slot.next, target_), extension.empty() ? "" : ", ", extension);
  }
  made->where = fmt::format("{}, workgroup ({}, {}, {}), wavefront {}, compute unit {} SIMD {}{}", instruction, id[0], id[1],
                            id[2], slot.wave_in_group, place_.index, slot.simd->number, remark);
  return made;
}

// abort(), failed assertions and __builtin_trap() are trap 2.
void FaultReports::trap(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  fault(slot, LACUNA_FAULT_TRAP, 0, pc, fmt::format("trap {}, {}", slot.wave.event_value, lanes_text(slot.wave.exec())), cycle);
}

void FaultReports::private_fault(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  const isa::MemoryFault& f = slot.wave.fault;
  const std::uint32_t bytes = slot.wave.private_segment.lane_bytes;
  const auto offset = static_cast<std::int64_t>(f.address);
  const std::string where =
      offset < 0 ? fmt::format("{} bytes before its beginning", -offset) : fmt::format("at its byte {}", offset);
  fault(slot, LACUNA_FAULT_PRIVATE_RANGE, f.address, pc,
        fmt::format("private memory of {} bytes a lane exceeded: {} of {} bytes {}, lane {}", bytes, access_text(f.wanted),
                    f.bytes, where, f.lane),
        cycle,
        "; the limit is private_segment_size of the dispatch packet, which runtimes take from the kernel's "
        ".private_segment_fixed_size; for recursion and calls through pointers that is what the compiler assumes "
        "(-mllvm -amdgpu-assume-external-call-stack-size=BYTES)");
}

// An address next to an aperture is usually a pointer to private memory or LDS with an offset out of range.
std::string FaultReports::nearest(std::uint64_t address) const {
  const struct {
    std::uint64_t base;
    const char* what;
  } apertures[] = {{private_aperture_, "private memory"}, {shared_aperture_, "LDS"}};
  for (const auto& [base, what] : apertures) {
    if (base == 0) continue;
    if (address - base < kApertureBytes)
      return fmt::format("inside the aperture of {}, which only flat instructions know", what);
    if (base - address <= kNearAperture) return fmt::format("{} bytes before the aperture of {}", base - address, what);
    const std::uint64_t past = address - base - kApertureBytes;
    if (past < kNearAperture) return fmt::format("{} bytes past the end of the aperture of {}", past, what);
  }
  return vm_.nearest(address);
}

void FaultReports::memory_fault(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  const isa::MemoryFault& f = slot.wave.fault;
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
    case isa::MemoryFault::Reason::private_out_of_range:
      return private_fault(slot, pc, cycle);
  }
  const std::string lane = instruction.unit == isa::Unit::smem ? std::string("scalar") : fmt::format("lane {}", f.lane);
  fault(slot, code, f.address, pc,
        fmt::format("memory fault: {} of {} bytes at {:#x}, {}, {}; {}", access_text(f.wanted), f.bytes, f.address, lane,
                    reason, nearest(f.address)),
        cycle);
}

void FaultReports::fetch_fault(WavefrontSlot& slot, Cycles cycle) {
  const std::uint64_t pc = slot.wave.pc;
  const isa::CodeError error = code_.explain(pc);
  const bool undecodable = error.kind == isa::CodeError::Kind::undecodable;
  fault(slot, undecodable ? LACUNA_FAULT_ILLEGAL_INSTRUCTION : LACUNA_FAULT_FETCH, pc, pc,
        undecodable ? error.text : fmt::format("instruction fetch: {}; {}", error.text, vm_.nearest(pc)), cycle);
}

void FaultReports::illegal_instruction(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc,
                                       Cycles cycle) {
  const std::string reason = isa::not_executed_reason(instruction);
  fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc,
        reason.empty() ? "illegal instruction" : "illegal instruction: " + reason, cycle);
}

void FaultReports::registers_exceeded(WavefrontSlot& slot, Cycles cycle) {
  const isa::Instruction& instruction = *slot.next;
  const isa::Wavefront& wave = slot.wave;
  fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, wave.pc,
        fmt::format("instruction uses {} VGPRs, {} AGPRs and {} SGPRs, the kernel descriptor allocates {}, {} and {}",
                    instruction.max_vgpr, instruction.max_agpr, instruction.max_sgpr, wave.vgpr_count, wave.agpr_count,
                    wave.sgpr_count),
        cycle);
}

void FaultReports::warn_of_fine_grained_atomic(const WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  const isa::Wavefront& wave = slot.wave;
  const isa::MemoryFault& first = wave.fault;
  fine_grained_lanes_ += wave.event_value;
  if (!warned_.emplace(slot.group->dispatch->entry, pc).second) return;
  const isa::MemoryWindow window = vm_.find(first.address);
  const std::string_view memory = window.sharing == isa::Sharing::device ? "GPU" : "host";
  const bool applied = fine_grained_float_atomics_ == isa::FineGrainedFloatAtomics::apply;
  const std::string what = fmt::format(
      "float atomic of {} bytes at {:#x}, lane {} ({} of the wavefront's lanes), in fine-grained {} memory [{:#x}, {:#x}): {}",
      first.bytes, first.address, first.lane, wave.event_value, memory, window.base, window.base + window.size,
      applied ? "lost on MI200, performed here (gpu.fine_grained_float_atomics = apply)"
              : "lost, as on MI200 (gpu.fine_grained_float_atomics = drop)");
  reports_.warning(*slot.group->dispatch, describe(slot, 0, first.address, pc, what), clock_.ticks(cycle));
}

}  // namespace lacuna
