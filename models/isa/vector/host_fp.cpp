#include "models/isa/vector/host_fp.h"

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace lacuna::isa::detail {

#if defined(__SSE2__)

void load_fp_setting(FpSetting setting) {
  // MXCSR (Intel SDM volume 1, 10.2.3): exceptions masked; rounding in bits 14:13 (nearest, -inf, +inf, zero), FTZ in bit 15,
  // DAZ in bit 6.
  constexpr std::uint32_t kMasked = 0x1f80;
  constexpr std::uint32_t kRounding[4] = {0x0000, 0x4000, 0x2000, 0x6000};
  const std::uint32_t mxcsr =
      kMasked | kRounding[setting & 3] | ((setting & 4) != 0 ? 0x0040U : 0U) | ((setting & 8) != 0 ? 0x8000U : 0U);
  _mm_setcsr(mxcsr);
  asm volatile("" ::: "memory");  // the compiler must not move computations on loaded lanes above the change of MXCSR
  current_fp_setting = setting;
}

#else

void load_fp_setting(FpSetting setting) {
  constexpr int kRounding[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(kRounding[setting & 3]);
  current_fp_setting = setting;
}

#endif

}  // namespace lacuna::isa::detail
