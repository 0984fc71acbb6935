#include "tests/rocm/rocrand/mtgp32_parameters.h"

// The header is meant for device code, but its table can be used on the host.
#define FQUALIFIERS inline
#include <rocrand/rocrand_mtgp32_11213.h>

namespace lacuna::reference {

static_assert(kMtgp32ParameterSets == mtgpdc_params_11213_num);

Mtgp32::Parameters mtgp32_parameters(unsigned set) {
  const mtgp32_params_fast_t& p = mtgp32dc_params_fast_11213[set];
  return {.position = static_cast<unsigned>(p.pos),
          .shift1 = static_cast<unsigned>(p.sh1),
          .shift2 = static_cast<unsigned>(p.sh2),
          // All sets have the mask of the first one, which depends only on the exponent.
          .mask = mtgp32dc_params_fast_11213[0].mask,
          .recursion = std::span<const std::uint32_t, 16>(p.tbl),
          .tempering = std::span<const std::uint32_t, 16>(p.tmp_tbl)};
}

}  // namespace lacuna::reference
