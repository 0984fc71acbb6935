// Finds control flow that depends on data in memory: branches, and changes of EXEC, whose condition has been computed from
// loaded values. Kernel arguments are not data: a bound such as `i < n` is known before the kernel runs.
#pragma once

#include <optional>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/analysis/control_flow.h"

namespace lacuna::isa {

/// The first instruction, by address, whose condition depends on loaded data. nullopt: there is none, or the control flow of
/// the kernel is unknown (ControlFlow::known()). Values are followed through registers, SCC and LDS, which is treated as one
/// value. Every vector load is treated as a load of data, even from private memory. Lanes that EXEC excludes during a write of
/// a vector register keep their value, which counts again when EXEC includes them; if EXEC excludes lanes in several steps,
/// this is followed for the innermost one.
std::optional<CodeProblem> find_loaded_control(const ControlFlow& flow);

}  // namespace lacuna::isa
