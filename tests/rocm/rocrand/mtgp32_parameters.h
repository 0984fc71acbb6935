// The parameter sets of MTGP32 that rocRAND uses, from its installed header.
#pragma once

#include "tests/rocm/rocrand/reference_generators.h"

namespace lacuna::reference {

inline constexpr unsigned kMtgp32ParameterSets = 512;
Mtgp32::Parameters mtgp32_parameters(unsigned set);

}  // namespace lacuna::reference
