// LLVM's assembler within the process: its library is loaded once, whereas starting llvm-mc and llvm-objdump takes a quarter of
// a second for each program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna::isa::test {

/// The words of each instruction of `source`, which may have labels. Throws std::runtime_error with LLVM's message.
std::vector<std::vector<std::uint32_t>> assembled_words(const std::string& source, Target target);

}  // namespace lacuna::isa::test
