// Correctly rounded arithmetic in the formats of the instruction sets, by MPFR. Shares nothing with the executors.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <initializer_list>

namespace lacuna::isa::test {

/// An IEEE binary format. Exponents are MPFR's: a significand lies in [1/2, 1).
struct BinaryFormat {
  int width;
  int precision;     ///< significand bits, including the hidden bit
  mpfr_exp_t least;  ///< exponent of the smallest denormal
  mpfr_exp_t least_normal;
  mpfr_exp_t greatest;
  /// Whether flushing applies to the result before it is rounded to denormal precision (f32, f64) or after (f16):
  /// docs/deviations/instructions.md.
  bool tiny_before_denormal_rounding;

  std::uint64_t sign() const { return std::uint64_t{1} << (width - 1); }
  std::uint64_t hidden() const { return std::uint64_t{1} << (precision - 1); }
  std::uint64_t infinity() const { return sign() - hidden(); }
  std::uint64_t quiet_bit() const { return hidden() >> 1; }
  /// Result of invalid operations: a negative quiet NaN ([Vega] V_DIV_FIXUP, V_LOG, V_RSQ).
  std::uint64_t default_nan() const { return sign() | infinity() | quiet_bit(); }
  std::uint64_t magnitude(std::uint64_t v) const { return v & (sign() - 1); }
  bool nan(std::uint64_t v) const { return magnitude(v) > infinity(); }
  bool signalling(std::uint64_t v) const { return nan(v) && (v & quiet_bit()) == 0; }
  bool infinite(std::uint64_t v) const { return magnitude(v) == infinity(); }
  bool zero(std::uint64_t v) const { return magnitude(v) == 0; }
  bool negative(std::uint64_t v) const { return (v & sign()) != 0; }
  bool denormal(std::uint64_t v) const { return !zero(v) && magnitude(v) < hidden(); }
  std::uint64_t flushed(std::uint64_t v) const { return denormal(v) ? v & sign() : v; }
  /// Biased exponent field.
  int exponent(std::uint64_t v) const { return static_cast<int>(magnitude(v) >> (precision - 1)); }
  std::uint64_t one() const { return infinity() >> 1 & ~(hidden() - 1); }
};

inline constexpr BinaryFormat kHalf16{16, 11, -23, -13, 16, false};
inline constexpr BinaryFormat kSingle{32, 24, -148, -125, 128, true};
inline constexpr BinaryFormat kDouble{64, 53, -1073, -1021, 1024, true};

/// Rounding of a result: MODE's code (0 even, 1 up, 2 down, 3 zero), and whether denormal results are flushed.
struct RoundingRule {
  unsigned mode = 0;
  bool flush = false;
};

/// A number in one of the formats, or an exact intermediate result.
class Number {
 public:
  explicit Number(int precision = 64) { mpfr_init2(value_, precision); }
  /// The value of a finite number of a format.
  Number(std::uint64_t bits, const BinaryFormat& format);
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

mpfr_rnd_t mpfr_mode(unsigned mode);

/// Bits of `value`, which has the format's precision and was rounded by `rule` with the ternary result `ternary` at unbounded
/// exponents.
std::uint64_t pack(Number& value, int ternary, const BinaryFormat& format, const RoundingRule& rule);
/// Rounds an exact number.
std::uint64_t round_exact(const Number& exact, const BinaryFormat& format, const RoundingRule& rule);

/// The first NaN among the operands, quieted; otherwise the default NaN. No document defines which of several NaNs is returned:
/// docs/deviations/instructions.md.
std::uint64_t propagated_nan(const BinaryFormat& format, std::initializer_list<std::uint64_t> operands);

// Operations on bits, including NaNs, infinities and signed zeros. Inputs are not flushed.
std::uint64_t add(std::uint64_t a, std::uint64_t b, const BinaryFormat& format, const RoundingRule& rule);
std::uint64_t multiply(std::uint64_t a, std::uint64_t b, const BinaryFormat& format, const RoundingRule& rule);
std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, const BinaryFormat& format, const RoundingRule& rule);
/// v * 2^exponent.
std::uint64_t scaled(std::uint64_t v, std::int64_t exponent, const BinaryFormat& format, const RoundingRule& rule);
/// Converts to another format; NaN payloads keep their upper bits.
std::uint64_t converted(std::uint64_t v, const BinaryFormat& from, const BinaryFormat& to, const RoundingRule& rule);
std::uint64_t from_integer(std::int64_t v, const BinaryFormat& to, const RoundingRule& rule);
/// Rounds to an integral value in a direction (MPFR's mode; MPFR_RNDN: ties to even); the sign of zeros is kept.
std::uint64_t integral(std::uint64_t v, mpfr_rnd_t direction, const BinaryFormat& format);
/// Compares two numbers: -1, 0, 1; 2 if unordered.
int compare(std::uint64_t a, std::uint64_t b, const BinaryFormat& format);

}  // namespace lacuna::isa::test
