// Reference results of floating-point arithmetic ([GCN3], [Vega]: VOP1, VOP2, VOP3).
#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

using Format = const BinaryFormat&;

std::uint64_t sum(std::uint64_t a, std::uint64_t b, const Context& x, Format f) {
  return add(input(a, x, f), input(b, x, f), f, rule_of(x, f));
}
/// a - b. A NaN keeps its sign: the operand that is propagated is not negated.
std::uint64_t difference(std::uint64_t a, std::uint64_t b, const Context& x, Format f) {
  return sum(a, f.nan(b) ? b : b ^ f.sign(), x, f);
}
std::uint64_t product(std::uint64_t a, std::uint64_t b, const Context& x, Format f) {
  return multiply(input(a, x, f), input(b, x, f), f, rule_of(x, f));
}
std::uint64_t fma(const Lane& l, const Context& x, Format f) {
  return fused(input(l.a, x, f), input(l.b, x, f), input(l.c, x, f), f, rule_of(x, f));
}
/// DX9 rule of the legacy instructions: zero times anything is +0.
bool legacy_zero(std::uint64_t a, std::uint64_t b, Format f) { return f.zero(a) || f.zero(b); }

/// Product and sum are rounded separately. f32 denormals are flushed regardless of MODE ([Vega] V_MAD_F32: "denormals are
/// flushed"; [LLVM] SIISelLowering: v_mad_f32 and v_mac_f32 have no denormals).
std::uint64_t mad(std::uint64_t a, std::uint64_t b, std::uint64_t c, const Context& x, Format f, bool legacy) {
  const bool flush_in = f.width == 32 || !keeps_inputs(x, f);
  const RoundingRule rule{rounding_of(x, f), f.width == 32 || !keeps_results(x, f)};
  if (flush_in) {
    a = f.flushed(a);
    b = f.flushed(b);
    c = f.flushed(c);
  }
  // In legacy instructions, a zero factor suppresses the other factor's NaN. Otherwise, a NaN result is the first NaN among the
  // operands (docs/deviations/instructions.md).
  if (legacy && legacy_zero(a, b, f)) return f.nan(c) ? propagated_nan(f, {c}) : add(0, c, f, rule);
  if (f.nan(a) || f.nan(b) || f.nan(c)) return propagated_nan(f, {a, b, c});
  std::uint64_t p = multiply(a, b, f, rule);
  if (flush_in) p = f.flushed(p);  // the product is an input of the addition
  return add(p, c, f, rule);
}

/// [Vega] V_MIN_F32, V_MAX_F32. The selected operand is returned unchanged, except that gfx9 flushes denormals according to
/// MODE; gfx8 never does ([LLVM] GCNSubtarget::supportsMinMaxDenormModes).
std::uint64_t extreme(std::uint64_t a, std::uint64_t b, bool maximum, const Context& x, Format f) {
  if (x.target != Target::gfx803) {
    a = input(a, x, f);
    b = input(b, x, f);
  }
  std::uint64_t chosen = 0;
  if (x.ieee() && f.signalling(a)) return a | f.quiet_bit();
  if (x.ieee() && f.signalling(b)) return b | f.quiet_bit();
  if (f.nan(a)) {
    chosen = b;
  } else if (f.nan(b)) {
    chosen = a;
  } else if (f.zero(a) && f.zero(b)) {
    chosen = (maximum ? f.negative(a) : f.negative(b)) ? b : a;
  } else {
    const int order = compare(a, b, f);
    chosen = maximum ? (order > 0 || (x.ieee() && order == 0) ? a : b) : (order < 0 ? a : b);
  }
  if (x.target != Target::gfx803 && !keeps_results(x, f)) chosen = f.flushed(chosen);
  return chosen;
}
/// [Vega] V_MIN3_F32: min(min(S0, S1), S2).
std::uint64_t extreme3(const Lane& l, bool maximum, const Context& x, Format f) {
  return extreme(extreme(l.a, l.b, maximum, x, f), l.c, maximum, x, f);
}
/// [Vega] V_MED3_F32: if one operand is NaN, the minimum of the three; otherwise the larger of the two that remain without the
/// maximum.
std::uint64_t median(const Lane& l, const Context& x, Format f) {
  if (f.nan(l.a) || f.nan(l.b) || f.nan(l.c)) return extreme3(l, false, x, f);
  const std::uint64_t top = extreme3(l, true, x, f);
  std::uint64_t a = l.a;
  std::uint64_t b = l.b;
  std::uint64_t c = l.c;
  if (x.target != Target::gfx803) {
    a = input(a, x, f);
    b = input(b, x, f);
    c = input(c, x, f);
    if (!keeps_results(x, f)) {
      a = f.flushed(a);
      b = f.flushed(b);
      c = f.flushed(c);
    }
  }
  // As for minimum and maximum, -0 is less than +0; the manual's comparison would not distinguish them.
  if (top == a) return extreme(b, c, true, x, f);
  if (top == b) return extreme(a, c, true, x, f);
  return extreme(a, b, true, x, f);
}

std::uint64_t whole(std::uint64_t v, mpfr_rnd_t direction, const Context& x, Format f) {
  return integral(input(v, x, f), direction, f);
}
/// x - floor(x), never 1 ([LLVM] uses it for OpenCL's fract, which is below 1).
std::uint64_t fract(std::uint64_t v, const Context& x, Format f) {
  v = input(v, x, f);
  if (f.nan(v) || f.infinite(v)) return propagated_nan(f, {v});
  const std::uint64_t r = add(v, integral(v, MPFR_RNDD, f) ^ f.sign(), f, rule_of(x, f));
  return compare(r, f.one(), f) >= 0 ? f.one() - 1 : r;
}
std::uint64_t frexp_mantissa(std::uint64_t v, const Context& x, Format f) {
  v = input(v, x, f);
  if (f.nan(v)) return v | f.quiet_bit();
  if (f.infinite(v) || f.zero(v)) return v;
  Number m(v, f);
  mpfr_set_exp(m.get(), 0);
  return round_exact(m, f, {});
}
std::uint64_t frexp_exponent(std::uint64_t v, const Context& x, Format f) {
  v = input(v, x, f);
  if (f.nan(v) || f.infinite(v) || f.zero(v)) return 0;
  const Number m(v, f);
  return static_cast<std::uint64_t>(mpfr_get_exp(m.get())) & (f.width == 16 ? 0xffff : 0xffffffff);
}
std::uint64_t ldexp(std::uint64_t v, std::int64_t exponent, const Context& x, Format f) {
  return scaled(input(v, x, f), exponent, f, rule_of(x, f));
}

/// [GCN3] V_CUBE*: the axis of largest magnitude, z before y before x. A comparison with a NaN is false.
unsigned major_axis(const Lane& l) {
  const auto magnitude = [](std::uint64_t v) { return v & 0x7fffffff; };
  const auto at_least = [&](std::uint64_t v, std::uint64_t w) {
    return !kSingle.nan(v) && !kSingle.nan(w) && magnitude(v) >= magnitude(w);
  };
  if (at_least(l.c, l.a) && at_least(l.c, l.b)) return 2;
  return at_least(l.b, l.a) ? 1 : 0;
}
bool below_zero(std::uint64_t v) { return compare(v, 0, kSingle) == -1; }
Lane cube_inputs(const Lane& l, const Context& x) {
  Lane r = l;
  r.a = input(l.a, x, kSingle);
  r.b = input(l.b, x, kSingle);
  r.c = input(l.c, x, kSingle);
  return r;
}
/// The selected source `v`, negated if `negate`. The manuals do not define denormals and NaNs here: if `v` is a NaN, the result
/// is the instruction's first NaN operand (docs/deviations/instructions.md).
std::uint64_t cube_result(const Lane& l, std::uint64_t v, bool negate) {
  if (kSingle.nan(v)) return propagated_nan(kSingle, {l.a, l.b, l.c});
  return negate ? v ^ kSingle.sign() : v;
}
Outcome cube_id(const Lane& lane, const Context& x) {
  const Lane l = cube_inputs(lane, x);
  const unsigned axis = major_axis(l);
  const std::uint64_t v = axis == 2 ? l.c : axis == 1 ? l.b : l.a;
  return {from_integer(2 * axis + (below_zero(v) ? 1 : 0), kSingle, {})};
}
Outcome cube_sc(const Lane& l, const Context& x) {
  const Lane seen = cube_inputs(l, x);
  const unsigned axis = major_axis(seen);
  if (axis == 2) return {cube_result(l, l.a, below_zero(seen.c))};
  if (axis == 1) return {cube_result(l, l.a, false)};
  return {cube_result(l, l.c, !below_zero(seen.a))};
}
Outcome cube_tc(const Lane& l, const Context& x) {
  const Lane seen = cube_inputs(l, x);
  if (major_axis(seen) == 1) return {cube_result(l, l.c, below_zero(seen.b))};
  return {cube_result(l, l.b, true)};
}
Outcome cube_ma(const Lane& lane, const Context& x) {
  const Lane l = cube_inputs(lane, x);
  const unsigned axis = major_axis(l);
  const std::uint64_t v = axis == 2 ? l.c : axis == 1 ? l.b : l.a;
  if (kSingle.nan(v)) return {cube_result(lane, v, false)};
  return {scaled(v, 1, kSingle, rule_of(x, kSingle))};
}

// One function per operation and format.
template <const BinaryFormat& F>
struct Of {
  static Outcome add(const Lane& l, const Context& x) { return {sum(l.a, l.b, x, F)}; }
  static Outcome sub(const Lane& l, const Context& x) { return {difference(l.a, l.b, x, F)}; }
  /// S1 - S0; if both operands are NaN, S0 is propagated although it is the subtrahend.
  static Outcome subrev(const Lane& l, const Context& x) {
    if (F.nan(l.a)) return {l.a | F.quiet_bit()};
    return {difference(l.b, l.a, x, F)};
  }
  static Outcome mul(const Lane& l, const Context& x) { return {product(l.a, l.b, x, F)}; }
  static Outcome mul_legacy(const Lane& l, const Context& x) {
    if (legacy_zero(input(l.a, x, F), input(l.b, x, F), F)) return {0};
    return {product(l.a, l.b, x, F)};
  }
  static Outcome fma(const Lane& l, const Context& x) { return {lacuna::isa::test::fma(l, x, F)}; }
  static Outcome mad(const Lane& l, const Context& x) { return {lacuna::isa::test::mad(l.a, l.b, l.c, x, F, false)}; }
  static Outcome mad_legacy(const Lane& l, const Context& x) { return {lacuna::isa::test::mad(l.a, l.b, l.c, x, F, true)}; }
  static Outcome mac(const Lane& l, const Context& x) { return {lacuna::isa::test::mad(l.a, l.b, l.old, x, F, false)}; }
  static Outcome fmac(const Lane& l, const Context& x) {
    Lane with = l;
    with.c = l.old;
    return {lacuna::isa::test::fma(with, x, F)};
  }
  static Outcome min(const Lane& l, const Context& x) { return {extreme(l.a, l.b, false, x, F)}; }
  static Outcome max(const Lane& l, const Context& x) { return {extreme(l.a, l.b, true, x, F)}; }
  static Outcome min3(const Lane& l, const Context& x) { return {extreme3(l, false, x, F)}; }
  static Outcome max3(const Lane& l, const Context& x) { return {extreme3(l, true, x, F)}; }
  static Outcome med3(const Lane& l, const Context& x) { return {median(l, x, F)}; }
  static Outcome trunc(const Lane& l, const Context& x) { return {whole(l.a, MPFR_RNDZ, x, F)}; }
  static Outcome ceil(const Lane& l, const Context& x) { return {whole(l.a, MPFR_RNDU, x, F)}; }
  static Outcome floor(const Lane& l, const Context& x) { return {whole(l.a, MPFR_RNDD, x, F)}; }
  static Outcome rndne(const Lane& l, const Context& x) { return {whole(l.a, MPFR_RNDN, x, F)}; }
  static Outcome fract(const Lane& l, const Context& x) { return {lacuna::isa::test::fract(l.a, x, F)}; }
  static Outcome frexp_mant(const Lane& l, const Context& x) { return {frexp_mantissa(l.a, x, F)}; }
  static Outcome frexp_exp(const Lane& l, const Context& x) { return {frexp_exponent(l.a, x, F)}; }
  static Outcome ldexp(const Lane& l, const Context& x) {
    return {lacuna::isa::test::ldexp(l.a, F.width == 16 ? s16(l.b) : s32(l.b), x, F)};
  }
};
using H = Of<kHalf16>;
using S = Of<kSingle>;
using D = Of<kDouble>;

constexpr ReferenceEntry kEntries[] = {
    {"v_add_f32", S::add},
    {"v_add_f64", D::add},
    {"v_add_f16", H::add},
    {"v_sub_f32", S::sub},
    {"v_sub_f16", H::sub},
    {"v_subrev_f32", S::subrev},
    {"v_subrev_f16", H::subrev},
    {"v_mul_f32", S::mul},
    {"v_mul_f64", D::mul},
    {"v_mul_f16", H::mul},
    {"v_mul_legacy_f32", S::mul_legacy},
    {"v_fma_f32", S::fma},
    {"v_fma_f64", D::fma},
    {"v_fma_f16", H::fma},
    {"v_fma_legacy_f16", H::fma},
    {"v_mad_f32", S::mad},
    {"v_mad_f16", H::mad},
    {"v_mad_legacy_f16", H::mad},
    {"v_mad_legacy_f32", S::mad_legacy},
    // v_madmk: D = S0 * K + S1; the constant is the second printed source. v_madak: D = S0 * S1 + K.
    {"v_madmk_f32", S::mad},
    {"v_madak_f32", S::mad},
    {"v_madmk_f16", H::mad},
    {"v_madak_f16", H::mad},
    {"v_mac_f32", S::mac},
    {"v_mac_f16", H::mac},
    {"v_fmac_f32", S::fmac},
    {"v_fmac_f64", D::fmac},
    {"v_min_f32", S::min},
    {"v_min_f64", D::min},
    {"v_min_f16", H::min},
    {"v_max_f32", S::max},
    {"v_max_f64", D::max},
    {"v_max_f16", H::max},
    {"v_min3_f32", S::min3},
    {"v_min3_f16", H::min3},
    {"v_max3_f32", S::max3},
    {"v_max3_f16", H::max3},
    {"v_med3_f32", S::med3},
    {"v_med3_f16", H::med3},
    {"v_trunc_f32", S::trunc},
    {"v_trunc_f64", D::trunc},
    {"v_trunc_f16", H::trunc},
    {"v_ceil_f32", S::ceil},
    {"v_ceil_f64", D::ceil},
    {"v_ceil_f16", H::ceil},
    {"v_floor_f32", S::floor},
    {"v_floor_f64", D::floor},
    {"v_floor_f16", H::floor},
    {"v_rndne_f32", S::rndne},
    {"v_rndne_f64", D::rndne},
    {"v_rndne_f16", H::rndne},
    {"v_fract_f32", S::fract},
    {"v_fract_f64", D::fract},
    {"v_fract_f16", H::fract},
    {"v_frexp_mant_f32", S::frexp_mant},
    {"v_frexp_mant_f64", D::frexp_mant},
    {"v_frexp_mant_f16", H::frexp_mant},
    {"v_frexp_exp_i32_f32", S::frexp_exp},
    {"v_frexp_exp_i32_f64", D::frexp_exp},
    {"v_frexp_exp_i16_f16", H::frexp_exp},
    {"v_ldexp_f32", S::ldexp},
    {"v_ldexp_f64", D::ldexp},
    {"v_ldexp_f16", H::ldexp},
    {"v_cubeid_f32", cube_id},
    {"v_cubesc_f32", cube_sc},
    {"v_cubetc_f32", cube_tc},
    {"v_cubema_f32", cube_ma},
};

}  // namespace

std::span<const ReferenceEntry> float_references() { return kEntries; }

}  // namespace lacuna::isa::test
