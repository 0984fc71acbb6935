// The matrix units of a compute unit, one per SIMD. A unit executes MFMA instructions in order, in parallel with the vector
// ALU, which only issues them.
//
// An instruction occupies its unit for a number of passes: those of its table row (2, 4, 8 or 16; CDNA2 ISA manual, "Matrix
// Arithmetic Instructions"), or those of the extension's code in that row (models/isa/matrix/matrix_extensions.h). Vector
// instructions that do not depend on its result may issue immediately; dependent instructions wait
// (models/compute/matrix/matrix_results.h).
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class MatrixUnits {
 public:
  /// `pass_percent`: duration of a pass relative to `pass_cycles`. `issue_lead`: maximum time by which an instruction may
  /// issue, into the unit's input registers, before it executes. Without this lead, a unit whose cycle differs from the core's
  /// would wait for the next issue turn of its SIMD.
  explicit MatrixUnits(unsigned simds, Cycles pass_cycles, unsigned pass_percent = 100, Cycles issue_lead = {})
      : pass_parts_(pass_cycles.n * pass_percent), issue_lead_(issue_lead), free_from_(simds) {}

  /// Earliest cycle in which the next instruction can issue to the unit of a SIMD.
  Cycles free_from(unsigned simd) const {
    const Cycles free = whole(free_from_[simd]);
    return free > issue_lead_ ? Cycles{free.n - issue_lead_.n} : Cycles{};
  }
  /// Issues an instruction of `passes` (Instruction::passes, not 0) in `cycle`, not before free_from(). Returns the cycle in
  /// which the unit completes it.
  Cycles issue(unsigned simd, unsigned passes, Cycles cycle) {
    const std::uint64_t busy = passes * pass_parts_;
    const std::uint64_t at = cycle.n * kParts;
    free_from_[simd] = (at > free_from_[simd] ? at : free_from_[simd]) + busy;
    busy_parts_ += busy;
    busy_cycles_ = busy_parts_ / kParts;
    ++instructions_;
    return whole(free_from_[simd]);
  }
  /// Busy cycles, summed over SIMDs.
  const std::uint64_t& busy_cycles() const { return busy_cycles_; }
  /// Number of issued instructions, summed over SIMDs.
  const std::uint64_t& instructions() const { return instructions_; }
  /// Makes all units idle; counters are kept.
  void reset() { free_from_.assign(free_from_.size(), 0); }

 private:
  static constexpr std::uint64_t kParts = 100;  // number of time units per cycle, for the members below
  static Cycles whole(std::uint64_t parts) { return Cycles{(parts + kParts - 1) / kParts}; }

  std::uint64_t pass_parts_;
  Cycles issue_lead_;
  std::vector<std::uint64_t> free_from_;  // end of each SIMD's latest instruction, in units of 1 / kParts cycle
  std::uint64_t busy_parts_ = 0;
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace lacuna
