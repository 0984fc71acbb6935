// VGPR indexing (GCN3 and Vega ISA manuals, "VGPR indexing"): while MODE.gpr_idx_en is set, M0 moves the VGPRs that vector ALU
// instructions name. M0[7:0] is the distance; M0[12], [13], [14] and [15] say whether source 0, 1, 2 and the destination move.
#pragma once

#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// An instruction under VGPR indexing or VSKIP. A source beyond the allocation reads v0, a destination beyond it takes nothing;
/// with VSKIP nothing happens (GCN3 and Vega ISA manuals, "MODE register": VALU, LDS and vector memory are skipped).
void execute_altered(const Instruction& instruction, Wavefront& wave);

/// Executes one decoded instruction: what an owner of wavefronts calls.
inline void execute_instruction(const Instruction& instruction, Wavefront& wave) {
  if (wave.mode.alters_vector()) [[unlikely]] {
    execute_altered(instruction, wave);
  } else {
    instruction.execute(instruction, wave);
  }
}

// -- the scalar instructions for it
void execute_set_gpr_idx_on(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_off(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_mode(const Instruction& instruction, Wavefront& wave);
void execute_set_gpr_idx_idx(const Instruction& instruction, Wavefront& wave);

}  // namespace lacuna::isa
