// The matrix units of a compute unit, one for each SIMD: a unit executes MFMA instructions, one after the other, beside the
// vector ALU, which only issues them.
//
// An instruction keeps it for a number of passes that its table row tells (2, 4, 8 or 16; CDNA2 ISA manual, "Matrix Arithmetic
// Instructions"), or its code of an extension (models/isa/matrix_extensions.h). Vector instructions that do not depend on its
// result may follow at once; programs keep the distance to those that do by s_nop, whose wait states take their time
// (cu.wait_state_cycles).
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/units.h"
#include "models/isa/execution_profile.h"
#include "models/isa/instruction.h"

namespace lacuna {

class MatrixUnits {
 public:
  /// `pass_percent`: time of a pass relative to `pass_cycles`; an instruction takes whole cycles.
  MatrixUnits(unsigned simds, Cycles pass_cycles, unsigned pass_percent = 100)
      : pass_hundredths_(pass_cycles.n * pass_percent), free_from_(simds) {}

  /// How long an instruction keeps its unit.
  Cycles busy(unsigned passes) const { return Cycles{(passes * pass_hundredths_ + 99) / 100}; }

  /// When the unit of a SIMD takes its next instruction.
  Cycles free_from(unsigned simd) const { return free_from_[simd]; }
  /// An instruction of `passes` (Instruction::passes, not 0) issues in `cycle`, not before free_from().
  void issue(unsigned simd, unsigned passes, Cycles cycle) {
    const Cycles length = busy(passes);
    free_from_[simd] = cycle + length;
    busy_cycles_ += length.n;
    ++instructions_;
  }
  /// Cycles in which units executed and instructions that they took, summed over SIMDs.
  const std::uint64_t& busy_cycles() const { return busy_cycles_; }
  const std::uint64_t& instructions() const { return instructions_; }
  /// Idle; the counts stay.
  void reset() { free_from_.assign(free_from_.size(), Cycles{}); }

 private:
  std::uint64_t pass_hundredths_;  ///< of a cycle
  std::vector<Cycles> free_from_;  // by SIMD
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace lacuna
