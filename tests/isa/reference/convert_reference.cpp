// Reference results of conversions ([GCN3], [Vega]: VOP1, VOP3).
#include <algorithm>

#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

using Format = const BinaryFormat&;

/// Rounds in `direction` and saturates; NaN gives 0.
std::int64_t to_integer(std::uint64_t v, mpfr_rnd_t direction, Format f, std::int64_t low, std::int64_t high) {
  if (f.nan(v)) return 0;
  if (f.infinite(v)) return f.negative(v) ? low : high;
  const Number x(v, f);
  Number whole(64);
  if (direction == MPFR_RNDN) {
    mpfr_roundeven(whole.get(), x.get());
  } else {
    mpfr_rint(whole.get(), x.get(), direction);
  }
  if (mpfr_cmp_si(whole.get(), low) < 0) return low;
  if (mpfr_cmp_si(whole.get(), high) > 0) return high;
  return mpfr_get_si(whole.get(), MPFR_RNDN);
}
template <const BinaryFormat& F>
Outcome to_i32(const Lane& l, const Context& x) {
  return {u32(static_cast<std::uint64_t>(to_integer(input(l.a, x, F), MPFR_RNDZ, F, INT32_MIN, INT32_MAX)))};
}
template <const BinaryFormat& F>
Outcome to_u32(const Lane& l, const Context& x) {
  return {u32(static_cast<std::uint64_t>(to_integer(input(l.a, x, F), MPFR_RNDZ, F, 0, UINT32_MAX)))};
}
Outcome to_i16(const Lane& l, const Context& x) {
  return {u16(static_cast<std::uint64_t>(to_integer(input(l.a, x, kHalf16), MPFR_RNDZ, kHalf16, INT16_MIN, INT16_MAX)))};
}
Outcome to_u16(const Lane& l, const Context& x) {
  return {u16(static_cast<std::uint64_t>(to_integer(input(l.a, x, kHalf16), MPFR_RNDZ, kHalf16, 0, UINT16_MAX)))};
}
/// floor(S0 + 0.5), computed exactly and saturated.
Outcome to_nearest_up(const Lane& l, const Context& x) {
  const std::uint64_t v = input(l.a, x, kSingle);
  if (kSingle.nan(v) || kSingle.infinite(v)) return to_i32<kSingle>(l, x);
  Number sum(400);
  const Number value(v, kSingle);
  mpfr_add_d(sum.get(), value.get(), 0.5, MPFR_RNDN);
  mpfr_floor(sum.get(), sum.get());
  if (mpfr_cmp_si(sum.get(), INT32_MAX) > 0) return {0x7fffffff};
  if (mpfr_cmp_si(sum.get(), INT32_MIN) < 0) return {0x80000000};
  return {u32(static_cast<std::uint64_t>(mpfr_get_si(sum.get(), MPFR_RNDN)))};
}
Outcome to_floor(const Lane& l, const Context& x) {
  return {u32(static_cast<std::uint64_t>(to_integer(input(l.a, x, kSingle), MPFR_RNDD, kSingle, INT32_MIN, INT32_MAX)))};
}
/// The result's format selects the rounding field ([LLVM] SIModeRegister: v_cvt_f16_f32 rounds by the f64/f16 field).
template <const BinaryFormat& From, const BinaryFormat& To>
Outcome between(const Lane& l, const Context& x) {
  return {converted(input(l.a, x, From), From, To, rule_of(x, To))};
}
template <const BinaryFormat& To>
Outcome from_i32(const Lane& l, const Context& x) {
  return {from_integer(s32(l.a), To, rule_of(x, To))};
}
template <const BinaryFormat& To>
Outcome from_u32(const Lane& l, const Context& x) {
  return {from_integer(static_cast<std::int64_t>(u32(l.a)), To, rule_of(x, To))};
}
template <unsigned kByte>
Outcome from_byte(const Lane& l, const Context& x) {
  return {from_integer(static_cast<std::int64_t>(l.a >> (8 * kByte) & 0xff), kSingle, rule_of(x, kSingle))};
}
/// Converts a signed 4-bit number of sixteenths to f32.
Outcome offset(const Lane& l, const Context&) {
  return {scaled(from_integer(sign_extend(l.a, 4), kSingle, {}), -4, kSingle, {})};
}
/// Converts [-1, 1], unsigned: [0, 1], to 16 bits, saturating; to nearest, ties to even, in all modes (the manuals name no
/// rounding).
std::uint64_t normalized(std::uint64_t v, bool is_signed, const Context& x, Format f) {
  v = input(v, x, f);
  if (f.nan(v)) return 0;
  if (f.infinite(v)) return f.negative(v) ? (is_signed ? 0x8001 : 0) : (is_signed ? 0x7fff : 0xffff);
  const long scale = is_signed ? 32767 : 65535;
  const Number value(v, f);
  Number product(400);
  mpfr_mul_si(product.get(), value.get(), scale, MPFR_RNDN);
  mpfr_roundeven(product.get(), product.get());
  const long low = is_signed ? -scale : 0;
  const long r = mpfr_cmp_si(product.get(), low) < 0     ? low
                 : mpfr_cmp_si(product.get(), scale) > 0 ? scale
                                                         : mpfr_get_si(product.get(), MPFR_RNDN);
  return u16(static_cast<std::uint64_t>(r));
}
template <const BinaryFormat& F, bool kSigned>
Outcome normalized_pair(const Lane& l, const Context& x) {
  return {normalized(l.a, kSigned, x, F) | normalized(l.b, kSigned, x, F) << 16};
}
/// Rounds towards zero regardless of MODE; denormals as in MODE.
Outcome pack_towards_zero(const Lane& l, const Context& x) {
  const auto half = [&](std::uint64_t v) {
    return converted(input(v, x, kSingle), kSingle, kHalf16, {3, !keeps_results(x, kHalf16)});
  };
  return {half(l.a) | half(l.b) << 16};
}
/// Converts S0 to an unsigned byte, rounded as in MODE, and inserts it into `rest` as the byte that S1 selects.
std::uint64_t byte_into(const Lane& l, std::uint64_t rest, const Context& x) {
  const std::int64_t byte = to_integer(input(l.a, x, kSingle), mpfr_mode(rounding_of(x, kSingle)), kSingle, 0, 255);
  const unsigned shift = 8 * (l.b & 3);
  return (rest & ~(std::uint64_t{0xff} << shift)) | static_cast<std::uint64_t>(byte) << shift;
}

constexpr ReferenceEntry kEntries[] = {
    {"v_cvt_i32_f64", to_i32<kDouble>},
    {"v_cvt_u32_f64", to_u32<kDouble>},
    {"v_cvt_i32_f32", to_i32<kSingle>},
    {"v_cvt_u32_f32", to_u32<kSingle>},
    {"v_cvt_i16_f16", to_i16},
    {"v_cvt_u16_f16", to_u16},
    {"v_cvt_rpi_i32_f32", to_nearest_up},
    {"v_cvt_flr_i32_f32", to_floor},
    {"v_cvt_f64_i32", from_i32<kDouble>},
    {"v_cvt_f64_u32", from_u32<kDouble>},
    {"v_cvt_f32_i32", from_i32<kSingle>},
    {"v_cvt_f32_u32", from_u32<kSingle>},
    {"v_cvt_f16_i16",
     [](const Lane& l, const Context& x) -> Outcome { return {from_integer(s16(l.a), kHalf16, rule_of(x, kHalf16))}; }},
    {"v_cvt_f16_u16",
     [](const Lane& l, const Context& x) -> Outcome {
       return {from_integer(static_cast<std::int64_t>(u16(l.a)), kHalf16, rule_of(x, kHalf16))};
     }},
    {"v_cvt_f16_f32", between<kSingle, kHalf16>},
    {"v_cvt_f32_f16", between<kHalf16, kSingle>},
    {"v_cvt_f32_f64", between<kDouble, kSingle>},
    {"v_cvt_f64_f32", between<kSingle, kDouble>},
    {"v_cvt_off_f32_i4", offset},
    {"v_cvt_f32_ubyte0", from_byte<0>},
    {"v_cvt_f32_ubyte1", from_byte<1>},
    {"v_cvt_f32_ubyte2", from_byte<2>},
    {"v_cvt_f32_ubyte3", from_byte<3>},
    {"v_cvt_norm_i16_f16", [](const Lane& l, const Context& x) -> Outcome { return {normalized(l.a, true, x, kHalf16)}; }},
    {"v_cvt_norm_u16_f16", [](const Lane& l, const Context& x) -> Outcome { return {normalized(l.a, false, x, kHalf16)}; }},
    {"v_cvt_pknorm_i16_f32", normalized_pair<kSingle, true>},
    {"v_cvt_pknorm_u16_f32", normalized_pair<kSingle, false>},
    {"v_cvt_pknorm_i16_f16", normalized_pair<kHalf16, true>},
    {"v_cvt_pknorm_u16_f16", normalized_pair<kHalf16, false>},
    {"v_cvt_pk_u8_f32", [](const Lane& l, const Context& x) -> Outcome { return {byte_into(l, l.c, x)}; }},
    {"v_cvt_pkaccum_u8_f32", [](const Lane& l, const Context& x) -> Outcome { return {byte_into(l, l.old, x)}; }},
    {"v_cvt_pkrtz_f16_f32", pack_towards_zero},
};

}  // namespace

std::span<const ReferenceEntry> convert_references() { return kEntries; }

}  // namespace lacuna::isa::test
