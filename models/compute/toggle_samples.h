// Switching of data, measured by samples: how many bits change between words that follow one another on the same wires.
//
// A vector instruction's 64 lanes pass through the lanes of a SIMD in consecutive cycles, so a lane's register word follows
// that of the lane `lanes_per_simd` below it. A memory access moves beats of 32 bytes. Sampling costs little, and nothing
// without energy.toggles = measured.
#pragma once

#include <bit>
#include <cstdint>

#include "models/energy/energy_meter.h"
#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna {

class ToggleSamples {
 public:
  /// Enables sampling of one in kPeriod instructions. `stride`: lanes_per_simd.
  void enable(unsigned stride) {
    stride_ = stride;
    operands_left_ = memory_left_ = 1;
  }

  /// Call it for each issued instruction: samples the VGPRs that one in kPeriod vector ALU instructions reads.
  void operands(const isa::Instruction& instruction, isa::Wavefront& wave) {
    if (operands_left_ == 0 || instruction.unit != isa::Unit::valu || --operands_left_ != 0) return;
    operands_left_ = kPeriod;
    for (unsigned i = 0; i < instruction.sources; ++i) sample(instruction.src[i], wave, stride_, operands_);
  }
  /// Call it for each performed memory instruction: samples the data that one in kPeriod vector memory instructions has loaded
  /// or stored.
  void memory(const isa::Instruction& instruction, isa::Wavefront& wave) {
    if (memory_left_ == 0 || instruction.unit != isa::Unit::vmem || --memory_left_ != 0) return;
    memory_left_ = kPeriod;
    if (instruction.destinations != 0) {
      sample(instruction.dst[0], wave, kBeatWords, memory_);
    } else if (instruction.sources != 0) {
      sample(instruction.src[instruction.sources - 1U], wave, kBeatWords, memory_);
    }
  }

  const ToggleCount& operands() const { return operands_; }
  const ToggleCount& memory() const { return memory_; }

 private:
  static constexpr unsigned kPeriod = 16;
  static constexpr unsigned kBeatWords = 8;

  static void sample(const isa::Operand& operand, isa::Wavefront& wave, unsigned stride, ToggleCount& count) {
    if (operand.kind != isa::OperandKind::vgpr && operand.kind != isa::OperandKind::agpr) return;
    const std::uint32_t* const words = wave.planes(operand);
    const std::uint64_t exec = wave.exec();
    for (unsigned lane = stride; lane < isa::kLanes; ++lane) {
      if ((exec >> lane & exec >> (lane - stride) & 1) == 0) continue;
      count.bits += static_cast<std::uint64_t>(std::popcount(words[lane] ^ words[lane - stride]));
      ++count.words;
    }
  }

  unsigned stride_ = 16;
  unsigned operands_left_ = 0;  ///< vector ALU instructions up to and including the next sampled one; 0: disabled
  unsigned memory_left_ = 0;
  ToggleCount operands_;
  ToggleCount memory_;
};

}  // namespace lacuna
