// Environment variables that ROCm's own libhsakmt reads. Variables of the runtime (HSA_ENABLE_SDMA, ROCR_VISIBLE_DEVICES, ...)
// have their usual effect, because this library does not read them. Of the thunk's variables, Topology checks
// HSA_OVERRIDE_GFX_VERSION, and the others have no effect.
#pragma once

#include <string>
#include <vector>

namespace lacuna::rocm {

/// A message for each variable that is set to a value that would affect ROCm's thunk (5.2.3) and has no effect here.
std::vector<std::string> ignored_thunk_variables();

}  // namespace lacuna::rocm
