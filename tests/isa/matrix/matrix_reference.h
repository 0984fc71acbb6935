// Reference results of the matrix unit for all its formats, computed element by element with MPFR.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "models/isa/matrix/m3xu_steps.h"
#include "tests/isa/matrix/matrix_values.h"
#include "tests/isa/reference/mpfr_float.h"

namespace lacuna::isa::test {

inline const BinaryFormat& result_format(m3xu::Format format) { return format == m3xu::Format::fp64 ? kDouble : kSingle; }

/// Converts an input to the result's format, which represents every input exactly.
inline std::uint64_t widened_input(m3xu::Format format, std::uint64_t v) {
  switch (format) {
    case m3xu::Format::fp16:
      return kHalf16.nan(v) ? kSingle.default_nan() : converted(kHalf16.flushed(v), kHalf16, kSingle, {});
    case m3xu::Format::bf16:
      return kSingle.flushed(v << 16);
    case m3xu::Format::tf32:
      return kSingle.nan(v) ? v : v & ~std::uint64_t{0x1fff};
    default:
      return v;
  }
}

/// Dot product over ascending k: fused multiply-adds, rounded to nearest even, denormals kept. For f16 and bf16, each product
/// and each sum is rounded, and denormals are flushed.
inline std::uint64_t dot_reference(m3xu::Format format, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                                   std::uint64_t c) {
  const BinaryFormat& f = result_format(format);
  const bool narrow = format == m3xu::Format::fp16 || format == m3xu::Format::bf16;
  const RoundingRule flushing{0, true};
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::uint64_t x = widened_input(format, a[k]);
    const std::uint64_t y = widened_input(format, b[k]);
    c = narrow ? add(multiply(x, y, f, flushing), f.flushed(c), f, flushing) : fused(x, y, c, f, {});
  }
  return f.nan(c) ? f.default_nan() : c;
}

inline m3xu::Complex complex_reference(std::span<const m3xu::Complex> a, std::span<const m3xu::Complex> b, m3xu::Complex c) {
  std::uint64_t re = c.re;
  std::uint64_t im = c.im;
  for (std::size_t k = 0; k < a.size(); ++k) {
    re = fused(a[k].re, b[k].re, re, kSingle, {});
    re = fused(a[k].im ^ kSingle.sign(), b[k].im, re, kSingle, {});
    im = fused(a[k].re, b[k].im, im, kSingle, {});
    im = fused(a[k].im, b[k].re, im, kSingle, {});
  }
  const auto settled = [](std::uint64_t v) { return static_cast<std::uint32_t>(kSingle.nan(v) ? kSingle.default_nan() : v); };
  return {settled(re), settled(im)};
}

/// Zero, the least and the greatest denormal, the least normal number, one, the greatest finite number, infinity and both kinds
/// of NaN, with both signs.
inline std::vector<std::uint64_t> special_values(const BinaryFormat& f) {
  std::vector<std::uint64_t> values;
  for (const std::uint64_t sign : {std::uint64_t{0}, f.sign()}) {
    for (const std::uint64_t v : {std::uint64_t{0}, std::uint64_t{1}, f.hidden() - 1, f.hidden(), f.one(), f.infinity() - 1,
                                  f.infinity(), f.infinity() | 1, f.infinity() | f.quiet_bit()}) {
      values.push_back(sign | v);
    }
  }
  return values;
}
inline std::vector<std::uint64_t> special_inputs(m3xu::Format format) {
  if (format == m3xu::Format::fp16) return special_values(kHalf16);
  std::vector<std::uint64_t> values = special_values(result_format(format));
  if (format != m3xu::Format::bf16) return values;
  for (std::uint64_t& v : values) v = v == 0x80000001 || v == 1 ? v >> 31 << 15 | 1 : v >> 16;
  return values;
}

/// Random elements of A, B and C. Half of C's elements are chosen so that the sum nearly vanishes, or is exactly or nearly the
/// middle between two results.
class MatrixOperands {
 public:
  MatrixOperands(m3xu::Format format, std::mt19937_64& random)
      : format_(format),
        in_(format == m3xu::Format::fp16 ? kHalf16 : result_format(format)),
        out_(result_format(format)),
        random_(random),
        inputs_(in_, random),
        sums_(out_, random) {
    change_style();
  }

  /// Changes the range of exponents. Sometimes allows special values everywhere, which make nearly all results NaN.
  void change_style() {
    tame_ = random_() % 4 != 0;
    spread_ = random_() % 3 == 0 ? 1 : static_cast<unsigned>(random_() % static_cast<unsigned>(in_.greatest - 2));
  }
  std::uint64_t input() {
    const bool denormal = random_() % 16 == 0;
    return (!tame_ ? inputs_.mixed() : denormal ? inputs_.denormal() : inputs_.moderate(spread_)) >> dropped();
  }
  /// An element of A or B whose product cancels the product with `v`.
  std::uint64_t negated(std::uint64_t v) const { return v ^ in_.sign() >> dropped(); }
  /// An element of C; `a` and `b`: factors of the first product.
  std::uint64_t addend(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t all = (out_.sign() << 1) - 1;
    const std::uint64_t product = multiply(widened_input(format_, a), widened_input(format_, b), out_, {});
    switch (random_() % 4) {
      case 0:
        return tame_ ? sums_.moderate(spread_) : sums_.mixed();
      case 1:  // the negated product, changed by at most 1 in its last bit
        return ((product ^ out_.sign()) + random_() % 3 - 1) & all;
      case 2: {  // the product is about half a unit in C's last place
        const auto up = static_cast<std::int64_t>(static_cast<std::uint64_t>(out_.precision) - random_() % 3);
        const std::uint64_t power = scaled(product & ~(out_.hidden() - 1), up, out_, {});
        return (power ^ (random_() % 2 == 0 ? out_.sign() : 0)) | random_() % 2;
      }
      default:
        return sums_.denormal();
    }
  }

 private:
  unsigned dropped() const { return format_ == m3xu::Format::bf16 ? 16 : 0; }  // number of low bits of an f32 that bf16 drops
  m3xu::Format format_;
  const BinaryFormat& in_;
  const BinaryFormat& out_;
  std::mt19937_64& random_;
  MatrixValues inputs_, sums_;
  bool tame_ = true;
  unsigned spread_ = 1;
};

/// A row of A, a column of B and C's element.
struct DotOperands {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};
inline DotOperands dot_operands(m3xu::Format format, unsigned length, std::mt19937_64& random) {
  MatrixOperands source(format, random);
  DotOperands o;
  for (unsigned k = 0; k < length; ++k) {
    o.a.push_back(source.input());
    o.b.push_back(source.input());
  }
  o.c = source.addend(o.a[0], o.b[0]);
  if (length > 1 && random() % 4 == 0) {
    o.a[1] = source.negated(o.a[0]);
    o.b[1] = o.b[0] ^ random() % 2;
  }
  return o;
}

}  // namespace lacuna::isa::test
