// The matrix pipe of a compute unit: issue of matrix instructions to the SIMDs' matrix units, and the interlock with
// instructions that depend on their results (models/compute/matrix/matrix_results.h).
//
// A unit without extensions and with `mfma.interlock = extended` has no interlock: programs wait for results.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/matrix/matrix_parameters.h"
#include "models/compute/matrix/matrix_results.h"
#include "models/compute/matrix/matrix_unit.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/analysis/execution_profile.h"

namespace lacuna {

class MatrixPipe {
 public:
  using Passes = std::array<std::uint64_t, isa::kMatrixOperations>;

  MatrixPipe(const ComputeUnitParameters& unit, const MatrixParameters& parameters, TimingMode mode);

  /// Whether the wavefront's next instruction must wait for a matrix instruction. If so, the slot is delayed and published.
  bool stalls(WavefrontSlot& slot, Cycles cycle) { return results_ != nullptr && waits_for_result(slot, cycle); }
  /// Cycle in which the unit of a SIMD accepts its next instruction.
  Cycles free_from(unsigned simd) const { return units_.free_from(simd); }
  /// Issues a matrix instruction. Returns the cycles for which the vector ALU issues no other instruction.
  std::uint64_t issue(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  /// Call it when the wavefront has ended or is dropped.
  void depart(const WavefrontSlot& slot) {
    if (results_ != nullptr) results_->depart(slot);
  }
  /// Makes the pipe idle; counters are kept.
  void reset();

  const MatrixParameters& parameters() const { return parameters_; }
  const MatrixUnits& units() const { return units_; }
  /// Number of passes so far, by operation.
  const Passes& passes() const { return passes_; }

 private:
  bool waits_for_result(WavefrontSlot& slot, Cycles cycle);

  std::unique_ptr<MatrixResults> results_;  ///< null: no interlock
  MatrixUnits units_;
  const MatrixParameters parameters_;
  const std::uint64_t pass_;  ///< cycles of a plain vector instruction in the vector ALU
  Passes passes_{};
};

}  // namespace lacuna
