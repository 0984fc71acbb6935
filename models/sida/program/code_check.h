// Static check of a pass and its code: registers are defined and of matching kinds, and no stored data are read again in the
// pass.
#pragma once

#include <span>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Fills pass.code and pass.scalar from pass.description. Throws ProgramError; its address is 0 for the pass itself, or 1 + the
/// instruction's byte offset in the table of instructions.
void check_pass(const Program& program, std::span<const lacuna_sida_instruction> instructions, Pass& pass);

}  // namespace lacuna::sida
