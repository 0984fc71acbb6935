// Instructions that move data between lanes and scalar registers, or that address registers relative to M0.
#pragma once

#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

void execute_no_operation(const Instruction& instruction, Wavefront& wave);
/// v_readfirstlane_b32: reads the lowest active lane, or lane 0 if EXEC is zero.
void execute_readfirstlane(const Instruction& instruction, Wavefront& wave);
/// v_swap_b32.
void execute_swap(const Instruction& instruction, Wavefront& wave);
/// v_accvgpr_mov_b32, v_accvgpr_read_b32, v_accvgpr_write_b32.
void execute_accumulator_move(const Instruction& instruction, Wavefront& wave);
/// v_readlane_b32, v_writelane_b32: ignore EXEC; the lane is source 1 modulo 64.
void execute_readlane(const Instruction& instruction, Wavefront& wave);
void execute_writelane(const Instruction& instruction, Wavefront& wave);
/// v_movrel*: M0 is added to the register number of the destination (d), the source (s) or both. Beyond the allocation a source
/// is VGPR 0 and a destination is not written (GCN3 ISA manual, "GPR indexing").
void execute_movreld(const Instruction& instruction, Wavefront& wave);
void execute_movrels(const Instruction& instruction, Wavefront& wave);
void execute_movrelsd(const Instruction& instruction, Wavefront& wave);

}  // namespace lacuna::isa
