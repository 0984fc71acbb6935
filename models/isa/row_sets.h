// The rows of each encoding format: one function per format, from whose rows table.cpp builds the index.
#pragma once

#include <span>

#include "models/isa/decode/table.h"

namespace lacuna::isa {

std::span<const InstructionRow> sop1_rows();
std::span<const InstructionRow> sop2_rows();
std::span<const InstructionRow> sopk_rows();
std::span<const InstructionRow> sopc_rows();
std::span<const InstructionRow> sopp_rows();
std::span<const InstructionRow> smem_rows();
std::span<const InstructionRow> vop1_rows();
std::span<const InstructionRow> vop2_rows();
std::span<const InstructionRow> vopc_rows();
std::span<const InstructionRow> vop3_rows();  ///< VOP3-only instructions: formats vop3a and vop3b mixed
std::span<const InstructionRow> vop3p_rows();
std::span<const InstructionRow> mai_rows();
std::span<const InstructionRow> ds_rows();
std::span<const InstructionRow> flat_rows();
std::span<const InstructionRow> global_rows();
std::span<const InstructionRow> scratch_rows();
std::span<const InstructionRow> mubuf_rows();
std::span<const InstructionRow> mtbuf_rows();

}  // namespace lacuna::isa
