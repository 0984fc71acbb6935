// Effect of MODE on a format, for the reference functions.
#pragma once

#include "tests/isa/reference/mpfr_float.h"
#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {

/// MODE has one pair of rounding and denormal fields for f32, and one pair for f64 and f16.
inline unsigned rounding_of(const Context& x, const BinaryFormat& f) { return (f.width == 32 ? x.mode : x.mode >> 2) & 3; }
inline bool keeps_inputs(const Context& x, const BinaryFormat& f) {
  return ((f.width == 32 ? x.mode >> 4 : x.mode >> 6) & 1) != 0;
}
inline bool keeps_results(const Context& x, const BinaryFormat& f) {
  return ((f.width == 32 ? x.mode >> 5 : x.mode >> 7) & 1) != 0;
}
inline RoundingRule rule_of(const Context& x, const BinaryFormat& f) { return {rounding_of(x, f), !keeps_results(x, f)}; }
/// Flushes an operand according to MODE before arithmetic.
inline std::uint64_t input(std::uint64_t v, const Context& x, const BinaryFormat& f) {
  return keeps_inputs(x, f) ? v : f.flushed(v);
}

}  // namespace lacuna::isa::test
