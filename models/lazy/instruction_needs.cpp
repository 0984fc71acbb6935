#include "models/lazy/instruction_needs.h"

#include <bit>
#include <utility>

#include "models/isa/analysis/irrelevant_lanes.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

using isa::LatencyClass;
using isa::Unit;

constexpr std::uint64_t bit(LatencyClass latency) { return std::uint64_t{1} << static_cast<unsigned>(latency); }
constexpr bool is_in(LatencyClass latency, std::uint64_t set) { return (set >> static_cast<unsigned>(latency) & 1) != 0; }

constexpr std::uint64_t kMatrix = bit(LatencyClass::mfma_2_pass) | bit(LatencyClass::mfma_4_pass) |
                                  bit(LatencyClass::mfma_8_pass) | bit(LatencyClass::mfma_16_pass);

/// Whether an instruction reads registers of lanes outside of EXEC, or writes a part of a register's lanes.
bool reads_all_lanes(const isa::Instruction& instruction) {
  constexpr std::uint64_t kAcrossLanes = kMatrix | bit(LatencyClass::valu_lane) | bit(LatencyClass::lds_permute);
  return instruction.vop.dpp || is_in(instruction.latency, kAcrossLanes);
}

}  // namespace

InstructionNeeds::Lanes InstructionNeeds::written_lanes(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  return is_in(instruction.latency, kMatrix) ? isa::kAllLanes : wave.exec();
}

bool InstructionNeeds::needs_everything(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  constexpr std::uint64_t kOrdering = bit(LatencyClass::barrier) | bit(LatencyClass::vmem_control) |
                                      bit(LatencyClass::smem_control) | bit(LatencyClass::smem_store) |
                                      bit(LatencyClass::vmem_atomic);
  if (is_in(instruction.latency, kOrdering)) return true;
  if (instruction.unit == Unit::vmem) return instruction.mem.glc || instruction.mem.slc;
  if (instruction.unit == Unit::lds) return instruction.mem.gds;
  return instruction.unit == Unit::valu && wave.mode.alters_vector();
}

void InstructionNeeds::touch(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, bool everything) {
  touched_.clear();
  const auto add = [this](HeldLoad& load) {
    if (std::exchange(load.touched, true)) return;
    load.need = {};
    load.written = 0;
    touched_.push_back(load.number);
  };
  if (everything) {
    for (const std::uint16_t number : w.loads) add(loads_[number]);
  } else {
    for (unsigned i = 0; i < instruction.registers.reads(); ++i)
      loads_.for_busy(w, instruction.registers.read(i), [&](HeldLoad& load, unsigned) { add(load); });
    for (unsigned i = 0; i < instruction.registers.writes(); ++i) {
      loads_.for_busy(w, instruction.registers.write(i), [&](HeldLoad& load, unsigned) {
        if (load.registers.count > 1) add(load);
      });
    }
  }
  for (const std::uint16_t number : touched_) loads_[number].touched = false;
}

void InstructionNeeds::find(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave,
                            bool everything) {
  spared_.clear();
  if (everything) {
    for (const std::uint16_t number : w.loads) loads_[number].need = loads_[number].busy;
    return;
  }
  const Lanes wanted = reads_all_lanes(instruction) ? isa::kAllLanes : wave.exec();
  for (unsigned i = 0; i < instruction.registers.reads(); ++i) {
    loads_.for_busy(w, instruction.registers.read(i),
                    [wanted](HeldLoad& load, unsigned r) { load.need[r] |= load.busy[r] & wanted; });
  }
  keep_addresses(w, instruction, wave);
  if (has_otimes_ && instruction.unit == Unit::valu && isa::has_irrelevant_sources(instruction)) spare(w, instruction, wave);
}

// If the instruction overwrites the first register of a load, which holds the load's address, adds to the needed lanes the
// overwritten lanes in which the load's other registers are busy, unless the instruction overwrites these, too.
void InstructionNeeds::keep_addresses(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction,
                                      const isa::Wavefront& wave) {
  const auto for_written = [&](auto&& body) {
    for (unsigned i = 0; i < instruction.registers.writes(); ++i) loads_.for_busy(w, instruction.registers.write(i), body);
  };
  for_written([](HeldLoad& load, unsigned r) { load.written |= 1U << r; });
  for_written([&](HeldLoad& load, unsigned r) {
    if (r != 0) return;
    for (unsigned other = 1; other < load.registers.count; ++other) {
      if ((load.written >> other & 1) == 0) load.need[other] |= load.busy[other] & written_lanes(instruction, wave);
    }
  });
}

// Removes from the needed lanes of an operand those in which the operand does not affect the result: its load stays held there.
void InstructionNeeds::spare(HeldLoads::OfWavefront& w, const isa::DecodedInstruction& instruction,
                             const isa::Wavefront& wave) {
  isa::SourceLanes busy{};
  const auto range_of = [](const isa::Operand& operand) {
    return isa::RegisterRange{operand.kind, operand.index, operand.words};
  };
  for (unsigned s = 0; s < instruction.sources; ++s) {
    loads_.for_busy(w, range_of(instruction.src[s]), [&busy, s](HeldLoad& load, unsigned r) { busy[s] |= load.busy[r]; });
  }
  unsigned sources = isa::irrelevant_sources(instruction, ieee_);
  for (; sources != 0; sources &= sources - 1) {
    const auto s = static_cast<unsigned>(std::countr_zero(sources));
    if ((busy[s] & wave.exec()) == 0) continue;
    const Lanes lanes = isa::irrelevant_lanes(instruction, wave, s, busy, ieee_) & busy[s];
    if (lanes == 0) continue;
    loads_.for_busy(w, range_of(instruction.src[s]), [&](HeldLoad& load, unsigned r) {
      load.need[r] &= ~lanes;
      spared_.push_back({load.number, static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s), lanes});
    });
  }
}

}  // namespace lacuna
