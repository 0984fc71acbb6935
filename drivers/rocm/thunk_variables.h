// Environment variables that ROCm's own libhsakmt reads. The runtime's (HSA_ENABLE_SDMA, ROCR_VISIBLE_DEVICES, ...) are read
// above this library and work; of the thunk's, HSA_OVERRIDE_GFX_VERSION is seen to by Topology and the others change nothing
// here.
#pragma once

#include <string>
#include <vector>

namespace lacuna::rocm {

/// One line for each variable that is set to something that would change ROCm's thunk (5.2.3) and changes nothing here.
std::vector<std::string> ignored_thunk_variables();

}  // namespace lacuna::rocm
