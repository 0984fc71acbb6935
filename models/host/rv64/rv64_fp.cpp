#include "models/host/rv64/rv64_fp.h"

#include <bit>

#include "models/host/rv64/rv64_fp_soft.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#define LACUNA_RV64_HOST_FLOAT 1
#else
#define LACUNA_RV64_HOST_FLOAT 0
#endif
#if LACUNA_RV64_HOST_FLOAT && defined(__FMA__)
#define LACUNA_RV64_HOST_FMA 1
#else
#define LACUNA_RV64_HOST_FMA 0
#endif

namespace lacuna::rv64 {
namespace {

template <FloatBits Bits>
bool is_special(Bits value) {
  return (value & kInfinity<Bits>) == kInfinity<Bits>;
}

#if LACUNA_RV64_HOST_FLOAT

template <FloatBits Bits>
using HostFloat = std::conditional_t<sizeof(Bits) == 4, float, double>;

/// MXCSR with all exceptions masked, no flags, denormals honoured, and the rounding mode in bits 14:13 (Intel SDM volume 1,
/// section 10.2.3). SSE detects tininess after rounding, as RISC-V does.
constexpr std::uint32_t kControl = 0x1f80;

constexpr std::uint32_t control_word(Rounding rounding) {
  constexpr std::uint32_t kDown = 1u << 13;
  constexpr std::uint32_t kUp = 2u << 13;
  constexpr std::uint32_t kToZero = 3u << 13;
  switch (rounding) {
    case Rounding::down:
      return kControl | kDown;
    case Rounding::up:
      return kControl | kUp;
    case Rounding::to_zero:
      return kControl | kToZero;
    default:
      return kControl;
  }
}

std::uint64_t risc_v_flags(std::uint32_t mxcsr) {
  // MXCSR: 0 invalid, 1 denormal, 2 divide by zero, 3 overflow, 4 underflow, 5 inexact.
  return (mxcsr >> 5 & 1) * kInexact | (mxcsr >> 4 & 1) * kUnderflow | (mxcsr >> 3 & 1) * kOverflow |
         (mxcsr >> 2 & 1) * kDivideByZero | (mxcsr & 1) * kInvalid;
}

/// Evaluates `operation` in a rounding mode and collects its exceptions. The empty assembly statements keep the compiler from
/// moving the operation out of the region in which the mode is set.
template <FloatBits Bits, class Operation, class... Operands>
Bits on_host(Rounding rounding, std::uint64_t& flags, Operation operation, Operands... operands) {
  _mm_setcsr(control_word(rounding));
  (..., [](auto& operand) { asm volatile("" : "+x"(operand)); }(operands));
  HostFloat<Bits> result = operation(operands...);
  asm volatile("" : "+x"(result));
  flags |= risc_v_flags(_mm_getcsr());
  if (rounding != Rounding::nearest_even) _mm_setcsr(kControl);
  const Bits bits = std::bit_cast<Bits>(result);
  return is_nan(bits) ? kCanonicalNan<Bits> : bits;
}

template <FloatBits Bits>
HostFloat<Bits> host(Bits bits) {
  return std::bit_cast<HostFloat<Bits>>(bits);
}

constexpr bool host_can(Rounding rounding) { return rounding != Rounding::nearest_max_magnitude; }

#endif

/// Whether a < b, for numbers that are not NaN.
template <FloatBits Bits>
bool ordered_less(Bits a, Bits b) {
  const bool a_negative = (a & kSign<Bits>) != 0;
  const bool b_negative = (b & kSign<Bits>) != 0;
  if (a_negative != b_negative) return a_negative && ((a | b) & ~kSign<Bits>) != 0;
  return a_negative ? b < a : a < b;
}

template <FloatBits Bits>
bool ordered_equal(Bits a, Bits b) {
  return a == b || ((a | b) & ~kSign<Bits>) == 0;
}

}  // namespace

template <FloatBits Bits>
Bits add(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
#if LACUNA_RV64_HOST_FLOAT
  if (host_can(rounding)) {
    return on_host<Bits>(
        rounding, flags, [](auto x, auto y) { return x + y; }, host(a), host(b));
  }
#endif
  return soft::add(a, b, rounding, flags);
}

template <FloatBits Bits>
Bits subtract(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
  return add<Bits>(a, b ^ kSign<Bits>, rounding, flags);
}

template <FloatBits Bits>
Bits multiply(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
#if LACUNA_RV64_HOST_FLOAT
  if (host_can(rounding)) {
    return on_host<Bits>(
        rounding, flags, [](auto x, auto y) { return x * y; }, host(a), host(b));
  }
#endif
  return soft::multiply(a, b, rounding, flags);
}

template <FloatBits Bits>
Bits divide(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
#if LACUNA_RV64_HOST_FLOAT
  if (host_can(rounding)) {
    return on_host<Bits>(
        rounding, flags, [](auto x, auto y) { return x / y; }, host(a), host(b));
  }
#endif
  return soft::divide(a, b, rounding, flags);
}

template <FloatBits Bits>
Bits square_root(Bits a, Rounding rounding, std::uint64_t& flags) {
#if LACUNA_RV64_HOST_FLOAT
  if (host_can(rounding) && (a & kSign<Bits>) == 0) {
    const auto root = [](auto x) {
      if constexpr (sizeof(Bits) == 4) {
        return __builtin_sqrtf(x);
      } else {
        return __builtin_sqrt(x);
      }
    };
    return on_host<Bits>(rounding, flags, root, host(a));
  }
#endif
  return soft::square_root(a, rounding, flags);
}

template <FloatBits Bits>
Bits multiply_add(Bits a, Bits b, Bits c, Rounding rounding, std::uint64_t& flags) {
#if LACUNA_RV64_HOST_FMA
  // The host does not report infinity * 0 + quiet NaN as invalid: special operands use `soft`.
  if (host_can(rounding) && !is_special(a) && !is_special(b) && !is_special(c)) {
    const auto fused = [](auto x, auto y, auto z) {
      if constexpr (sizeof(Bits) == 4) {
        return __builtin_fmaf(x, y, z);
      } else {
        return __builtin_fma(x, y, z);
      }
    };
    return on_host<Bits>(rounding, flags, fused, host(a), host(b), host(c));
  }
#endif
  return soft::multiply_add(a, b, c, rounding, flags);
}

template <FloatBits Bits>
bool equal(Bits a, Bits b, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) {
    if (is_signalling(a) || is_signalling(b)) flags |= kInvalid;
    return false;
  }
  return ordered_equal(a, b);
}

template <FloatBits Bits>
bool less(Bits a, Bits b, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) {
    flags |= kInvalid;
    return false;
  }
  return ordered_less(a, b);
}

template <FloatBits Bits>
bool less_or_equal(Bits a, Bits b, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) {
    flags |= kInvalid;
    return false;
  }
  return ordered_less(a, b) || ordered_equal(a, b);
}

template <FloatBits Bits>
Bits minimum(Bits a, Bits b, std::uint64_t& flags) {
  if (is_signalling(a) || is_signalling(b)) flags |= kInvalid;
  if (is_nan(a)) return is_nan(b) ? kCanonicalNan<Bits> : b;
  if (is_nan(b)) return a;
  if (ordered_equal(a, b)) return a | b;  // -0 and +0 are equal: the minimum is -0
  return ordered_less(a, b) ? a : b;
}

template <FloatBits Bits>
Bits maximum(Bits a, Bits b, std::uint64_t& flags) {
  if (is_signalling(a) || is_signalling(b)) flags |= kInvalid;
  if (is_nan(a)) return is_nan(b) ? kCanonicalNan<Bits> : b;
  if (is_nan(b)) return a;
  if (ordered_equal(a, b)) return a & b;
  return ordered_less(a, b) ? b : a;
}

template <FloatBits Bits>
std::uint64_t classify(Bits a) {
  const bool negative = (a & kSign<Bits>) != 0;
  const Bits magnitude = a & ~kSign<Bits>;
  if (is_nan(a)) return is_signalling(a) ? 1u << 8 : 1u << 9;
  if (magnitude == kInfinity<Bits>) return negative ? 1u << 0 : 1u << 7;
  if (magnitude == 0) return negative ? 1u << 3 : 1u << 4;
  if (magnitude <= kMantissa<Bits>) return negative ? 1u << 2 : 1u << 5;
  return negative ? 1u << 1 : 1u << 6;
}

#define LACUNA_RV64_FLOAT(Bits)                                           \
  template Bits add(Bits, Bits, Rounding, std::uint64_t&);                \
  template Bits subtract(Bits, Bits, Rounding, std::uint64_t&);           \
  template Bits multiply(Bits, Bits, Rounding, std::uint64_t&);           \
  template Bits divide(Bits, Bits, Rounding, std::uint64_t&);             \
  template Bits square_root(Bits, Rounding, std::uint64_t&);              \
  template Bits multiply_add(Bits, Bits, Bits, Rounding, std::uint64_t&); \
  template bool equal(Bits, Bits, std::uint64_t&);                        \
  template bool less(Bits, Bits, std::uint64_t&);                         \
  template bool less_or_equal(Bits, Bits, std::uint64_t&);                \
  template Bits minimum(Bits, Bits, std::uint64_t&);                      \
  template Bits maximum(Bits, Bits, std::uint64_t&);                      \
  template std::uint64_t classify(Bits);
LACUNA_RV64_FLOAT(std::uint32_t)
LACUNA_RV64_FLOAT(std::uint64_t)
#undef LACUNA_RV64_FLOAT

}  // namespace lacuna::rv64
