// Instructions by the unit that executes them: what two parts of a kernel are compared by.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/instruction.h"

namespace lacuna {

/// Wavefront instructions by isa::Unit.
using InstructionMix = std::array<std::uint64_t, isa::kUnits>;

/// Instructions of `later` that are not in `earlier`, which counts from the same start.
InstructionMix difference(const InstructionMix& later, const InstructionMix& earlier);

/// Whether instructions have nearly the mix of a sample: the shares of each unit differ by at most a quarter of the larger one
/// and half a per cent.
bool is_alike(const InstructionMix& sample, const InstructionMix& instructions);

}  // namespace lacuna
