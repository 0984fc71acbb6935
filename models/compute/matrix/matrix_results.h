// Scoreboard of registers that matrix instructions in flight read and write: an instruction that uses such a register too early
// is delayed.
//
// CDNA2 leaves these delays to programs. Compilers insert s_nop, whose wait states take cu.wait_state_cycles each, between an
// MFMA and dependent instructions; they know the passes of plain instructions, but not codes of extensions
// (models/isa/matrix/matrix_extensions.h), units with a longer cycle, or shorter passes. Such units need a scoreboard, which
// enforces the distances that compilers keep for plain instructions:
//
//   reads D as A or B, or not by MFMA   `mfma.result_passes` after the instruction has left the unit
//   overwrites D, not by MFMA           `mfma.result_passes` after the instruction has left the unit
//   reads exactly D as C                when the unit is free: accumulators are forwarded
//   reads a part of D as C              a pass after the instruction has left the unit
//   overwrites C, not by MFMA           when the instruction has left the unit
//   overwrites A or B                   immediately: a unit reads A and B when it begins an instruction, into buffers if the
//                                       instruction has several steps (section 2.4.1 of the thesis cited in
//                                       models/isa/matrix/matrix_extensions.h)
//
// A unit with a separate stage for the assignment of data completes M3XU's codes MatrixParameters::stage_cycles() later; C is
// needed only after the stage, so accumulation does not wait for the stage.
//
// Source: distances of LLVM's hazard recogniser between instructions of gfx90a (GCNHazardRecognizer.cpp, checkMAIHazards90A and
// checkMAIVALUHazards). After 2, 8 and 16 passes, the hazard recogniser requires 5, 11 and 19 wait states before D is used, 2,
// 8 and 16 before a part of D is read as C, and 1, 7 and 15 before C is overwritten. An instruction issues one wait state after
// the last required wait state. After f64's 16x16x4 of 8 passes, it also requires 11 wait states before D is used, but 18
// before memory instructions read D, 9 before an f64 instruction reads a part of D as C, and none before C is overwritten. This
// model treats all types alike. CDNA3 also leaves these delays to programs: Table 37 of its ISA manual (section 7.5) requires
// the same 5, 11 and 19 wait states before D is used, and 3, 9 and 17 before a part of D is read as C.
#pragma once

#include <vector>

#include "models/common/time/units.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/analysis/register_masks.h"

namespace lacuna {

class MatrixResults {
 public:
  /// `pass`: duration of a pass, in whole cycles.
  MatrixResults(const ComputeUnitParameters& unit, Cycles pass, unsigned result_passes)
      : pass_(pass),
        result_delay_{pass.n * result_passes},
        slots_(unit.wavefronts_per_simd),
        wavefronts_(std::size_t{unit.simds} * unit.wavefronts_per_simd) {}

  /// Cycle from which the wavefront's next instruction may issue; `cycle` or earlier: no stall.
  Cycles ready(const WavefrontSlot& slot, const isa::DecodedInstruction& next, Cycles cycle) const {
    const Wavefront& w = wavefronts_[index_of(slot)];
    if (w.until <= cycle) return cycle;
    if (slot.wave.mode.alters_vector()) [[unlikely]]  // VGPR indexing: the instruction uses other registers than those it names
      return w.until;
    return next.registers.uses_any(w.registers) ? find(w, next, cycle) : cycle;
  }
  /// Adds a matrix instruction that issues in `cycle` and leaves its unit at `done`.
  /// `stage`: cycles in a stage in front of the unit, by which the result is delayed.
  void add(const WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle, Cycles done, Cycles stage = {});
  /// Call it when the wavefront has ended or is dropped.
  void depart(const WavefrontSlot& slot) { wavefronts_[index_of(slot)].until = Cycles{}; }
  void reset();

 private:
  struct Pending {
    isa::RegisterRange d;
    isa::RegisterRange c;  ///< count 0: a constant
    Cycles done{};         ///< cycle in which the instruction leaves the unit, without the stage: for accumulation on D
    Cycles late{};         ///< cycle in which the instruction leaves the unit, with the stage: for other uses of D and C
  };
  struct Wavefront {
    Cycles until{};  ///< cycle from which no instruction waits
    isa::RegisterSet registers;
    std::vector<Pending> pending;
  };

  std::size_t index_of(const WavefrontSlot& slot) const { return std::size_t{slot.simd->number} * slots_ + slot.number; }
  Cycles find(const Wavefront& w, const isa::DecodedInstruction& next, Cycles cycle) const;
  Cycles allowed(const Pending& pending, const isa::DecodedInstruction& next) const;

  const Cycles pass_;
  const Cycles result_delay_;
  const unsigned slots_;  ///< wavefront slots of a SIMD
  std::vector<Wavefront> wavefronts_;
};

}  // namespace lacuna
