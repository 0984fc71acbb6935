// Static check of a pass and of its code: registers have values and kinds that fit, and nothing is stored that is still read.
#pragma once

#include <span>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Fills pass.code and pass.scalar from pass.description. Throws ProgramError; its address is 0 for the pass itself, or for an
/// instruction 1 + its distance in bytes from the table of instructions.
void check_pass(const Program& program, std::span<const lacuna_sida_instruction> instructions, Pass& pass);

}  // namespace lacuna::sida
