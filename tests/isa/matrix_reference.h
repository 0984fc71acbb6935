// What the formats of the matrix unit compute, by MPFR, element by element.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "models/isa/m3xu_steps.h"
#include "tests/isa/matrix_values.h"
#include "tests/isa/reference/mpfr_float.h"

namespace lacuna::isa::test {

inline const BinaryFormat& result_format(m3xu::Format format) { return format == m3xu::Format::fp64 ? kDouble : kSingle; }

/// An input in the result's format, which has room for all of them.
inline std::uint64_t widened_input(m3xu::Format format, std::uint64_t v) {
  switch (format) {
    case m3xu::Format::fp16:
      return kHalf16.nan(v) ? kSingle.default_nan() : converted(kHalf16.flushed(v), kHalf16, kSingle, {});
    case m3xu::Format::bf16:
      return kSingle.flushed(v << 16);
    case m3xu::Format::tf32:
      return v & ~std::uint64_t{0x1fff};
    default:
      return v;
  }
}

/// Over ascending k: fused, to nearest even, denormals kept. Of halves and bfloat16, products and sums are rounded and flushed.
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

/// Both signs of the least and greatest denormal, normal and finite numbers, one, infinity, both kinds of NaN.
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

/// A row of A, a column of B and C's element.
struct DotOperands {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

/// Half of them are made so that the sum nearly vanishes, or lies on or beside the middle between two results.
inline DotOperands dot_operands(m3xu::Format format, unsigned length, std::mt19937_64& random) {
  const BinaryFormat& in = format == m3xu::Format::fp16 ? kHalf16 : result_format(format);
  const BinaryFormat& out = result_format(format);
  const unsigned dropped = format == m3xu::Format::bf16 ? 16 : 0;  // of an f32
  MatrixValues values(in, random);
  MatrixValues sums(out, random);
  DotOperands o;
  const bool tame = random() % 4 != 0;  // else nearly all results are NaN
  const auto widest = static_cast<unsigned>(in.greatest - 2);
  const unsigned spread = random() % 3 == 0 ? 1 : static_cast<unsigned>(random() % widest);
  const auto value = [&] {
    const bool denormal = random() % 16 == 0;
    return (!tame ? values.mixed() : denormal ? values.denormal() : values.moderate(spread)) >> dropped;
  };
  for (unsigned k = 0; k < length; ++k) {
    o.a.push_back(value());
    o.b.push_back(value());
  }
  const std::uint64_t product = multiply(widened_input(format, o.a[0]), widened_input(format, o.b[0]), out, {});
  switch (random() % 4) {
    case 0:
      o.c = tame ? sums.moderate(spread) : sums.mixed();
      break;
    case 1:  // the first product but for the last bits; perhaps the second cancels it, too
      o.c = (product ^ out.sign()) + random() % 3 - 1;
      if (length > 1 && random() % 2 == 0) {
        o.a[1] = o.a[0] ^ (in.sign() >> dropped);
        o.b[1] = o.b[0] ^ (random() % 2);
      }
      break;
    case 2: {  // the first product is about half of the sum's last bit
      const auto up = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.precision) - random() % 3);
      o.c = (scaled(product & ~(out.hidden() - 1), up, out, {}) ^ (random() % 2 == 0 ? out.sign() : 0)) | random() % 2;
      break;
    }
    default:
      o.c = sums.denormal();
      break;
  }
  o.c &= (out.sign() << 1) - 1;
  return o;
}

}  // namespace lacuna::isa::test
