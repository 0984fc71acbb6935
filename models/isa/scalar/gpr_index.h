// VGPR indexing (GCN3 and Vega ISA manuals, "VGPR indexing"): while MODE.gpr_idx_en is set, M0 is added to the VGPR numbers
// that vector ALU instructions name. M0[7:0] is the distance; M0[12], [13], [14] and [15] enable the addition for source 0, 1,
// 2 and the destination.
#pragma once

#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// Executes an instruction under VGPR indexing or VSKIP. A source beyond the allocation reads v0, a destination beyond it is
/// not written; with VSKIP the instruction has no effect (GCN3 and Vega ISA manuals, "MODE register": VALU, LDS and vector
/// memory are skipped).
void execute_altered(const Instruction& instruction, Wavefront& wave);

/// Executes one decoded instruction: the entry point for owners of wavefronts.
inline void execute_instruction(const Instruction& instruction, Wavefront& wave) {
  if (wave.mode.alters_vector()) [[unlikely]] {
    execute_altered(instruction, wave);
  } else {
    instruction.execute(instruction, wave);
  }
}

// -- scalar instructions that control VGPR indexing
void execute_set_gpr_idx_on(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_off(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_mode(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_idx(const Instruction& instruction, Wavefront& wave);

}  // namespace lacuna::isa
