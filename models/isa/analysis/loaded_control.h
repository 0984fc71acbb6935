// Finds control flow that depends on data in memory: branches, and changes of EXEC, whose condition has been computed from
// loaded values. Kernel arguments are not data: a bound such as `i < n` is known before the kernel runs.
#pragma once

#include <optional>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/analysis/control_flow.h"

namespace lacuna::isa {

/// The first instruction, by address, whose condition depends on loaded data. nullopt: there is none, or the control flow of
/// the kernel is unknown (ControlFlow::known()). Values pass through registers, SCC and, as a whole, LDS and private memory; of
/// a register that is partly overwritten only the new value counts.
std::optional<CodeProblem> find_loaded_control(const ControlFlow& flow);

}  // namespace lacuna::isa
