// HSA_OVERRIDE_GFX_VERSION: ROCm's thunk reports the version that it holds for every GPU, so that the runtime loads code of
// another instruction set. A virtual GPU executes gpu.target and nothing else.
#pragma once

#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna {

inline constexpr const char* kGfxOverride = "HSA_OVERRIDE_GFX_VERSION";

/// Why GPUs of these targets cannot have the version `value`, "MAJOR.MINOR.STEPPING", in a sentence that starts with the
/// variable and says what helps; empty when they have it, or `value` is null. `option` sets the targets: "gpu.target" or
/// "rocm.gpus".
std::string gfx_override_problem(const char* value, const std::vector<isa::Target>& targets, const std::string& option);

}  // namespace lacuna
