// Text of operands and immediates, as llvm-objdump prints them for AMDGPU. Internal to the disassembler.
#pragma once

#include <cstdint>
#include <string>

#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

std::string hexadecimal(std::uint64_t value);

/// Text such as "s5", "s[4:5]", "vcc", "exec_lo", "ttmp[0:3]"; `encoding` is the operand encoding, 0 to 127.
std::string scalar_register(unsigned encoding, unsigned words, Target target);
/// Text such as "v5" or "v[4:5]".
std::string vector_register(unsigned index, unsigned words);

/// Text of an inline constant or of `literal`: printed by its value, not by its encoding.
std::string constant_text(const Operand& operand, std::uint32_t literal);

std::string waitcnt_text(unsigned simm16, Target target);
std::string hwreg_text(unsigned simm16, Target target);
std::string sendmsg_text(unsigned simm16, Target target);
std::string gpr_index_text(unsigned modes);
/// Text of ds_swizzle_b32's offset; "" for 0.
std::string swizzle_text(unsigned offset);
std::string dpp_control_text(unsigned control);
/// Text of MTBUF's DATA_FORMAT and NUM_FORMAT.
std::string buffer_format_text(unsigned data, unsigned number);

}  // namespace lacuna::isa
