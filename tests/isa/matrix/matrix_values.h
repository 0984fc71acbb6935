// Operands for tests of matrix arithmetic: random operands, and operands at the limits of rounding.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

#include "tests/isa/reference/mpfr_float.h"

namespace lacuna::isa::test {

/// Generates numbers of a format, as bits.
class MatrixValues {
 public:
  MatrixValues(const BinaryFormat& format, std::mt19937_64& random) : f_(format), random_(random) {}

  /// Denormals and both ends of the range, zeros, infinities, NaNs of both kinds.
  std::uint64_t special() {
    const std::uint64_t specials[] = {0,
                                      1,
                                      f_.hidden() - 1,
                                      f_.hidden(),
                                      f_.hidden() + 1,
                                      f_.infinity() - 1,
                                      f_.infinity(),
                                      f_.infinity() | 1,
                                      f_.infinity() | f_.quiet_bit() | 5,
                                      f_.one()};
    return specials[random_() % std::size(specials)] | sign();
  }
  /// A finite number whose exponent differs from that of 1.0 by at most `spread`, with a significand in which random, few or
  /// nearly all bits are set.
  std::uint64_t moderate(unsigned spread) {
    const std::uint64_t exponent = f_.one() + (random_() % (2 * spread + 1) - spread) * f_.hidden();
    return (exponent & f_.infinity()) | fraction() | sign();
  }
  std::uint64_t denormal() { return fraction() | sign(); }
  /// Arbitrary bits.
  std::uint64_t any() { return random_() & ((f_.sign() << 1) - 1); }
  std::uint64_t mixed() {
    switch (random_() % 8) {
      case 0:
        return special();
      case 1:
        return any();
      case 2:
        return denormal();
      case 3:
        return moderate(static_cast<unsigned>(f_.greatest) - 2);
      default:
        return moderate(3);
    }
  }
  std::uint64_t fraction() {
    const std::uint64_t bits = random_() & (f_.hidden() - 1);
    const unsigned place = static_cast<unsigned>(random_() % static_cast<unsigned>(f_.precision - 1));
    switch (random_() % 5) {
      case 0:
        return std::uint64_t{1} << place;
      case 1:
        return f_.hidden() - (std::uint64_t{1} << place);  // a long carry
      case 2:
        return 0;
      case 3:
        return bits >> place << place;
      default:
        return bits;
    }
  }

 private:
  std::uint64_t sign() { return random_() % 2 == 0 ? f_.sign() : 0; }
  const BinaryFormat& f_;
  std::mt19937_64& random_;
};

}  // namespace lacuna::isa::test
