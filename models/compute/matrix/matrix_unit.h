// The matrix units of a compute unit, one per SIMD: a unit executes MFMA instructions, one after the other, in parallel with
// the vector ALU, which only issues them.
//
// An instruction keeps its unit for a number of passes: those of its table row (2, 4, 8 or 16; CDNA2 ISA manual, "Matrix
// Arithmetic Instructions"), or of the extension's code that it carries (models/isa/matrix/matrix_extensions.h). Vector
// instructions that do not depend on its result may follow immediately; models/compute/matrix/matrix_results.h has the others.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class MatrixUnits {
 public:
  /// `pass_percent`: time of a pass relative to `pass_cycles`. A unit whose cycle is another than the core's takes an
  /// instruction into its input registers up to `accepts_early` before it begins with it, so that it loses no time to the
  /// turns in which its SIMD issues.
  explicit MatrixUnits(unsigned simds, Cycles pass_cycles, unsigned pass_percent = 100, Cycles accepts_early = {})
      : pass_parts_(pass_cycles.n * pass_percent), accepts_early_(accepts_early), free_from_(simds) {}

  /// When the unit of a SIMD takes its next instruction.
  Cycles free_from(unsigned simd) const {
    const Cycles free = whole(free_from_[simd]);
    return free > accepts_early_ ? Cycles{free.n - accepts_early_.n} : Cycles{};
  }
  /// An instruction of `passes` (Instruction::passes, not 0) issues in `cycle`, not before free_from(). Returns when it will
  /// have left the unit.
  Cycles issue(unsigned simd, unsigned passes, Cycles cycle) {
    const std::uint64_t busy = passes * pass_parts_;
    const std::uint64_t at = cycle.n * kParts;
    free_from_[simd] = (at > free_from_[simd] ? at : free_from_[simd]) + busy;
    busy_parts_ += busy;
    busy_cycles_ = busy_parts_ / kParts;
    ++instructions_;
    return whole(free_from_[simd]);
  }
  /// Cycles in which units executed and instructions that they took, summed over SIMDs.
  const std::uint64_t& busy_cycles() const { return busy_cycles_; }
  const std::uint64_t& instructions() const { return instructions_; }
  /// Idle; the counts stay.
  void reset() { free_from_.assign(free_from_.size(), 0); }

 private:
  static constexpr std::uint64_t kParts = 100;  // of a cycle
  static Cycles whole(std::uint64_t parts) { return Cycles{(parts + kParts - 1) / kParts}; }

  std::uint64_t pass_parts_;
  Cycles accepts_early_;
  std::vector<std::uint64_t> free_from_;  // by SIMD, in parts
  std::uint64_t busy_parts_ = 0;
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace lacuna
