// The matrix units of a compute unit, one for each SIMD: a unit executes MFMA instructions, one after the other, beside the
// vector ALU, which only issues them.
//
// An instruction keeps it for a number of passes that its table row tells (2, 4, 8 or 16; CDNA2 ISA manual, "Matrix Arithmetic
// Instructions"). Vector instructions that do not depend on its result may follow at once; programs keep the distance to those
// that do by s_nop, whose wait states take their time (cu.wait_state_cycles).
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/units.h"
#include "models/isa/execution_profile.h"
#include "models/isa/instruction.h"

namespace lacuna {

class MatrixUnits {
 public:
  /// Passes of an instruction; 0: it is not for these units.
  static constexpr unsigned passes(isa::LatencyClass latency) { return isa::matrix_passes(latency); }

  MatrixUnits(unsigned simds, Cycles pass_cycles) : pass_cycles_(pass_cycles), free_from_(simds) {}

  /// When the unit of a SIMD takes its next instruction.
  Cycles free_from(unsigned simd) const { return free_from_[simd]; }
  /// An instruction of `passes` issues in `cycle`, not before free_from().
  void issue(unsigned simd, unsigned passes, Cycles cycle) {
    const Cycles busy{passes * pass_cycles_.n};
    free_from_[simd] = cycle + busy;
    busy_cycles_ += busy.n;
    ++instructions_;
  }
  /// Cycles in which units executed and instructions that they took, summed over SIMDs.
  const std::uint64_t& busy_cycles() const { return busy_cycles_; }
  const std::uint64_t& instructions() const { return instructions_; }
  /// Idle; the counts stay.
  void reset() { free_from_.assign(free_from_.size(), Cycles{}); }

 private:
  Cycles pass_cycles_;
  std::vector<Cycles> free_from_;  // by SIMD
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace lacuna
