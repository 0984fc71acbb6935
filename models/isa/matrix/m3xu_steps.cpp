#include "models/isa/matrix/m3xu_steps.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <vector>

namespace lacuna::isa::m3xu {
namespace {

__extension__ using SignedWide = __int128;

constexpr unsigned kWideBits = 128;
constexpr unsigned kMostAccumulatorBits = 120;

unsigned bit_width(Wide v) {
  const auto high = static_cast<std::uint64_t>(v >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(v)));
}

/// Sign, exponent and significand with its hidden bit. Denormals share the exponent of the smallest normal number.
struct Number {
  bool negative = false, infinite = false, nan = false;
  int exponent = 0;
  std::uint64_t significand = 0;
  bool zero() const { return significand == 0 && !infinite && !nan; }
};

Number unpack(std::uint64_t bits, const Encoding& e) {
  const unsigned fraction_bits = e.precision - 1;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const auto exponent = static_cast<unsigned>(bits >> fraction_bits) & ((1U << e.exponent_bits) - 1);
  Number n;
  n.negative = (bits >> (fraction_bits + e.exponent_bits) & 1) != 0;
  if (exponent == (1U << e.exponent_bits) - 1) {
    n.infinite = fraction == 0;
    n.nan = fraction != 0;
    return n;
  }
  n.exponent = std::max(static_cast<int>(exponent), 1) - e.bias();
  n.significand = fraction | (exponent != 0 ? std::uint64_t{1} << fraction_bits : 0);
  return n;
}

std::uint64_t sign_bit(const Encoding& e) { return std::uint64_t{1} << (e.precision - 1 + e.exponent_bits); }
std::uint64_t infinity(const Encoding& e) { return sign_bit(e) - (std::uint64_t{1} << (e.precision - 1)); }
std::uint64_t default_nan(const Encoding& e) { return sign_bit(e) | infinity(e) | std::uint64_t{1} << (e.precision - 2); }

/// value / 2^cut, rounded to nearest even.
Wide rounded(Wide value, unsigned cut) {
  if (cut == 0) return value;
  if (cut > kWideBits - 1) return 0;  // values are below half of the range and round to zero
  const Wide kept = value >> cut;
  const Wide rest = value - (kept << cut);
  const Wide half = Wide{1} << (cut - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

/// magnitude * 2^last_bit as a float.
std::uint64_t pack(bool negative, Wide magnitude, int last_bit, const Encoding& e, bool flush) {
  const std::uint64_t sign = negative ? sign_bit(e) : 0;
  if (magnitude == 0) return sign;
  const int precision = static_cast<int>(e.precision);
  const int leading = last_bit + static_cast<int>(bit_width(magnitude)) - 1;
  // Position of the result's last bit, not below that of denormals. With flushing, the result is rounded with unlimited
  // exponent range and then compared with the smallest normal number.
  const int wanted = leading - (precision - 1);
  const int place = flush ? wanted : std::max(wanted, e.least_exponent() - (precision - 1));
  const std::uint64_t significand =
      place > last_bit ? static_cast<std::uint64_t>(rounded(magnitude, static_cast<unsigned>(place - last_bit)))
                       : static_cast<std::uint64_t>(magnitude << (last_bit - place));
  // A carry out of the significand increments the exponent.
  const std::uint64_t hidden = std::uint64_t{1} << (precision - 1);
  if (significand < hidden) return sign | significand;
  const int exponent = place + precision - 1;
  if (flush && exponent + (significand >> precision != 0 ? 1 : 0) < e.least_exponent()) return sign;
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent + e.bias() - 1) << (precision - 1)) + significand;
  return sign | std::min(bits, infinity(e));
}

/// Adds numbers after aligning them to the register's last bit.
class AccumulationRegister {
 public:
  AccumulationRegister(const Design& design, int top)
      : last_bit_(top - static_cast<int>(design.accumulator_bits) + 1), sticky_(design.sticky) {}

  /// Adds magnitude * 2^last_bit, which must be below 2^(top + 1).
  void add(bool negative, Wide magnitude, int last_bit) {
    const int up = last_bit - last_bit_;
    Wide aligned = 0;
    if (up >= 0) {
      aligned = magnitude << up;
    } else {
      const auto down = static_cast<unsigned>(-up);
      aligned = down < kWideBits ? magnitude >> down : 0;
      const bool lost = down < kWideBits ? aligned << down != magnitude : magnitude != 0;
      if (sticky_ && lost) aligned |= 1;
    }
    const auto value = static_cast<SignedWide>(aligned);
    sum_ += negative ? -value : value;
  }

  bool zero() const { return sum_ == 0; }
  std::uint64_t result(const Encoding& e, bool flush) const {
    return pack(sum_ < 0, static_cast<Wide>(sum_ < 0 ? -sum_ : sum_), last_bit_, e, flush);
  }

 private:
  SignedWide sum_ = 0;
  int last_bit_;
  bool sticky_;
};

struct Pair {
  Assigned a, b;
  bool negative() const { return a.parts[0].negative != b.parts[0].negative; }
  bool zero() const { return a.zero || b.zero; }
  bool infinite() const { return (a.infinite || b.infinite) && !zero(); }
  bool nan() const { return a.nan || b.nan || ((a.infinite || b.infinite) && zero()); }
  int top() const { return a.parts[0].exponent + b.parts[0].exponent + 1; }
};

/// Whether the format is f16 or bf16, for which denormals are flushed and products are rounded before they are added (mfma.h).
bool narrow(Format format) { return format == Format::fp16 || format == Format::bf16; }

/// C + the sum of the products of `pairs`, rounded once.
std::uint64_t accumulate(const Design& design, const Encoding& e, bool flush, std::span<const Pair> pairs,
                         std::uint64_t c_bits) {
  Number c = unpack(c_bits, e);
  if (flush && !c.infinite && !c.nan && c.significand >> (e.precision - 1) == 0) c.significand = 0;
  bool nan = c.nan;
  bool plus = c.infinite && !c.negative;
  bool minus = c.infinite && c.negative;
  bool all_negative = c.negative;
  int top = c.zero() ? std::numeric_limits<int>::min() : c.exponent;
  for (const Pair& pair : pairs) {
    nan = nan || pair.nan();
    if (pair.infinite()) (pair.negative() ? minus : plus) = true;
    all_negative = all_negative && pair.negative();
    if (!pair.zero()) top = std::max(top, pair.top());
  }
  if (nan || (plus && minus)) return default_nan(e);
  if (plus || minus) return (minus ? sign_bit(e) : 0) | infinity(e);
  const std::uint64_t zero = all_negative ? sign_bit(e) : 0;
  if (top == std::numeric_limits<int>::min()) return zero;

  AccumulationRegister sum(design, top);
  if (!c.zero()) sum.add(c.negative, c.significand, c.exponent - static_cast<int>(e.precision) + 1);
  const int product_bits = static_cast<int>(2 * design.parts * design.multiplier_bits);
  std::vector<Wide> products(pairs.size());
  for (unsigned step = 0; step < design.parts; ++step) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Pair& pair = pairs[i];
      if (pair.zero()) continue;
      if (design.product_register) {
        products[i] += step_product(design, pair.a, pair.b, step);
        if (step + 1 == design.parts) sum.add(pair.negative(), products[i], pair.top() - product_bits + 1);
        continue;
      }
      for (unsigned part = 0; part < design.parts; ++part) {
        const unsigned other = b_part(design, part, step);
        const Wide partial = Wide{pair.a.parts[part].significand} * pair.b.parts[other].significand;
        sum.add(pair.negative(), partial << shift(design, part, other), pair.top() - product_bits + 1);
      }
    }
  }
  return sum.zero() ? zero : sum.result(e, flush);
}

void check(const Design& design) {
  if (design.parts == 0 || design.parts > kMostParts || design.dot_length == 0 ||
      design.accumulator_bits > kMostAccumulatorBits || design.parts * design.multiplier_bits > kMostAccumulatorBits / 2) {
    throw std::invalid_argument("m3xu: a design that the model has no room for");
  }
}

std::uint64_t add_products(const Design& design, Format format, std::span<const Pair> pairs, std::uint64_t c) {
  const Encoding e = result_encoding(format);
  if (!narrow(format)) return accumulate(design, e, false, pairs, c);
  // A rounded product is added as a product whose second factor is 1.0.
  constexpr std::uint64_t kOne = 0x3f800000;
  const Design wide = exact_design(Format::fp32);
  std::vector<Pair> rounded_pairs;
  for (const Pair& pair : pairs) {
    const std::uint64_t minus_zero = pair.negative() ? sign_bit(e) : 0;
    const std::uint64_t product = accumulate(design, e, true, {&pair, 1}, minus_zero);
    rounded_pairs.push_back({assign(wide, Format::fp32, product), assign(wide, Format::fp32, kOne)});
  }
  return accumulate(wide, e, true, rounded_pairs, c);
}

}  // namespace

Encoding input_encoding(Format format) {
  switch (format) {
    case Format::fp16:
      return {11, 5};
    case Format::bf16:
      return {8, 8};
    case Format::tf32:
      return {11, 8};
    case Format::fp32:
      return kSingle;
    case Format::fp64:
      return kDouble;
  }
  throw std::invalid_argument("m3xu: no such format");
}

Encoding result_encoding(Format format) { return format == Format::fp64 ? kDouble : kSingle; }

Design exact_design(Format format) {
  switch (format) {
    case Format::fp32:
      return {};
    case Format::fp64:
      // Four parts of 14 bits: 16 partial products for each of 4 values of k are 64 products, four steps of 16 multipliers.
      return {14, 4, {}, true, 2 * kDouble.precision + 3, true, 1};
    default:
      return {12, 1, {}, true, 2 * kSingle.precision + 3, true, 1};
  }
}

Assigned assign(const Design& design, Format format, std::uint64_t bits) {
  const Encoding e = input_encoding(format);
  constexpr unsigned kTf32Ignores = 13;
  Number n = unpack(format == Format::tf32 ? bits >> kTf32Ignores : bits, e);
  if (format == Format::tf32 && unpack(bits, kSingle).nan) {  // also a NaN whose payload is in the ignored bits
    n.infinite = false;
    n.nan = true;
  }
  const bool flushed = narrow(format) && n.significand >> (e.precision - 1) == 0;
  Assigned assigned;
  assigned.infinite = n.infinite;
  assigned.nan = n.nan;
  // Fills the parts from the top bit down: unused low bits of the parts are zero, bits of the number that do not fit are
  // dropped.
  const unsigned room = design.parts * design.multiplier_bits;
  const std::uint64_t significand = flushed               ? 0
                                    : room >= e.precision ? n.significand << (room - e.precision)
                                                          : n.significand >> (e.precision - room);
  assigned.zero = significand == 0 && !n.infinite && !n.nan;
  for (unsigned part = 0; part < design.parts; ++part) {
    const unsigned below = (design.parts - 1 - part) * design.multiplier_bits;
    assigned.parts[part] = {
        n.negative, n.exponent,
        static_cast<std::uint32_t>(significand >> below & ((std::uint64_t{1} << design.multiplier_bits) - 1))};
  }
  return assigned;
}

unsigned shift(const Design& design, unsigned a_part, unsigned b_part) {
  if (design.second_step_shift && design.parts == 2 && a_part != b_part) return *design.second_step_shift;
  return design.multiplier_bits * (2 * (design.parts - 1) - a_part - b_part);
}

Wide step_product(const Design& design, const Assigned& a, const Assigned& b, unsigned step) {
  Wide sum = 0;
  for (unsigned part = 0; part < design.parts; ++part) {
    const unsigned other = b_part(design, part, step);
    sum += (Wide{a.parts[part].significand} * b.parts[other].significand) << shift(design, part, other);
  }
  return sum;
}

std::uint64_t dot(const Design& design, Format format, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  std::uint64_t c) {
  check(design);
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < a.size(); ++k) pairs.push_back({assign(design, format, a[k]), assign(design, format, b[k])});
  const std::span<const Pair> all(pairs);
  for (std::size_t k = 0; k < all.size(); k += design.dot_length) {
    c = add_products(design, format, all.subspan(k, std::min<std::size_t>(design.dot_length, all.size() - k)), c);
  }
  return c;
}

Complex dot(const Design& design, std::span<const Complex> a, std::span<const Complex> b, Complex c) {
  constexpr std::uint32_t kSign = 0x80000000;
  std::vector<std::uint64_t> of_a;
  std::vector<std::uint64_t> of_b_for_re;
  std::vector<std::uint64_t> of_b_for_im;
  std::vector<std::uint64_t> signed_a;
  for (std::size_t k = 0; k < a.size(); ++k) {
    signed_a.insert(signed_a.end(), {a[k].re, a[k].im ^ kSign});
    of_a.insert(of_a.end(), {a[k].re, a[k].im});
    of_b_for_re.insert(of_b_for_re.end(), {b[k].re, b[k].im});
    of_b_for_im.insert(of_b_for_im.end(), {b[k].im, b[k].re});  // steps 3 and 4 swap B's real and imaginary part
  }
  return {static_cast<std::uint32_t>(dot(design, Format::fp32, signed_a, of_b_for_re, c.re)),
          static_cast<std::uint32_t>(dot(design, Format::fp32, of_a, of_b_for_im, c.im))};
}

}  // namespace lacuna::isa::m3xu
