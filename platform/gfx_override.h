// HSA_OVERRIDE_GFX_VERSION: ROCm's thunk reports its value as the version of every GPU, so that the runtime loads code for
// another instruction set. A virtual GPU executes only code for its own target (gpu.target or rocm.gpus).
#pragma once

#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna {

inline constexpr const char* kGfxOverride = "HSA_OVERRIDE_GFX_VERSION";

/// Returns the reason why GPUs of these targets cannot have the version `value` ("MAJOR.MINOR.STEPPING"), as a sentence that
/// begins with the variable and names a solution; empty if the GPUs have that version, or if `value` is null. `option`: the
/// option that sets the targets, "gpu.target" or "rocm.gpus".
std::string gfx_override_problem(const char* value, const std::vector<isa::Target>& targets, const std::string& option);

}  // namespace lacuna
