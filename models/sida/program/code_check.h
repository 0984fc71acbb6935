// Static check of a pass and its code: registers are defined before use and have matching kinds, and the pass does not read
// data that it stores.
#pragma once

#include <span>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Fills pass.code and pass.scalar from pass.description. Throws ProgramError: its address is 0 if the pass itself is invalid,
/// otherwise 1 + the byte offset of the invalid instruction in the table of instructions.
void check_pass(const Program& program, std::span<const lacuna_sida_instruction> instructions, Pass& pass);

}  // namespace lacuna::sida
