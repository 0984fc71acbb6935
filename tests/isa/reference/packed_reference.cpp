// Reference results of VOP3P, and of packed instructions of other formats ([MI200]: V_PK_*, V_FMA_MIX*, V_DOT*; VOP2 and VOP3).
#include <algorithm>
#include <array>
#include <vector>

#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

/// Exact sum of an accumulator and the products of kBits-wide elements, then wrapped or saturated.
template <unsigned kBits, bool kSigned>
Outcome dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, const Context& x) {
  const auto element = [](std::uint64_t v, unsigned at) {
    const std::uint64_t bits = v >> at & ((std::uint64_t{1} << kBits) - 1);
    return kSigned ? sign_extend(bits, kBits) : static_cast<std::int64_t>(bits);
  };
  __extension__ using Wide = __int128;
  Wide sum = kSigned ? std::int64_t{s32(c)} : static_cast<std::int64_t>(u32(c));
  for (unsigned at = 0; at < 32; at += kBits) sum += Wide{element(a, at)} * element(b, at);
  const auto narrow = static_cast<std::int64_t>(sum);  // a few products of at most 32 bits and the 32-bit accumulator fit
  return {kSigned ? saturated_i32(narrow, x.clamp) : saturated_u32(narrow, x.clamp)};
}
template <unsigned kBits, bool kSigned>
Outcome dot_of(const Lane& l, const Context& x) {
  return dot<kBits, kSigned>(l.a, l.b, l.c, x);
}
template <unsigned kBits>
Outcome accumulated_dot(const Lane& l, const Context& x) {
  return dot<kBits, true>(l.a, l.b, l.old, x);
}

/// Two products and an f32, added exactly and rounded once, to nearest even; denormals of both formats are flushed
/// (docs/deviations/instructions.md). A NaN other than the accumulator's becomes the default NaN.
std::uint64_t dot_of_halves(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr const BinaryFormat& h = kHalf16;
  constexpr const BinaryFormat& f = kSingle;
  c = f.flushed(c);
  std::array<std::uint64_t, 2> products{};  // exact in f64
  bool nan = false;
  for (unsigned i = 0; i < 2; ++i) {
    const auto wide = [&](std::uint64_t v) { return converted(h.flushed(u16(v >> 16 * i)), h, kDouble, {}); };
    products.at(i) = multiply(wide(a), wide(b), kDouble, {});
    nan = nan || kDouble.nan(products.at(i));
  }
  if (f.nan(c)) return c | f.quiet_bit();
  if (nan) return f.default_nan();
  const std::uint64_t wide_c = converted(c, f, kDouble, {});
  if (kDouble.infinite(products[0]) || kDouble.infinite(products[1]) || f.infinite(c)) {
    const std::uint64_t sum = add(add(products[0], products[1], kDouble, {}), wide_c, kDouble, {});
    return kDouble.nan(sum) ? f.default_nan() : converted(sum, kDouble, f, {});
  }
  Number sum(400);
  const Number low(products[0], kDouble);
  const Number high(products[1], kDouble);
  const Number accumulator(wide_c, kDouble);
  mpfr_add(sum.get(), low.get(), high.get(), MPFR_RNDN);
  mpfr_add(sum.get(), sum.get(), accumulator.get(), MPFR_RNDN);
  return round_exact(sum, f, {0, true});
}

/// v_fma_mixlo_f16, v_fma_mixhi_f16: round to f32, then to f16 ([LLVM] selects them for a truncated f32 multiply-add).
Outcome narrow_mixed(const Lane& l, const Context& x) {
  const std::uint64_t sum =
      fused(input(l.a, x, kSingle), input(l.b, x, kSingle), input(l.c, x, kSingle), kSingle, rule_of(x, kSingle));
  return {converted(input(sum, x, kSingle), kSingle, kHalf16, rule_of(x, kHalf16))};
}

Outcome accumulate_half(const Lane& l, const Context& x) {
  return {fused(input(l.a, x, kHalf16), input(l.b, x, kHalf16), input(l.old, x, kHalf16), kHalf16, rule_of(x, kHalf16))};
}

/// v_pack_b32_f16 is a floating-point instruction: denormals are flushed according to MODE, NaNs are quieted.
Outcome pack_halves(const Lane& l, const Context& x) {
  const auto half = [&](std::uint64_t v) {
    v = input(v, x, kHalf16);
    return kHalf16.nan(v) ? v | kHalf16.quiet_bit() : v;
  };
  return {half(l.a) | half(l.b) << 16};
}

constexpr ReferenceEntry kEntries[] = {
    // Unlike v_mul_lo_u16, v_pk_mul_lo_u16 saturates with CLAMP.
    {"v_pk_mul_lo_u16",
     [](const Lane& l, const Context& x) -> Outcome {
       return {saturated_u16(static_cast<std::int64_t>(l.a) * static_cast<std::int64_t>(l.b), x.clamp)};
     },
     0, 16},
    {"v_pk_fmac_f16", accumulate_half, 0, 16},
    {"v_pack_b32_f16", pack_halves},
    // The low register of the result is a register of the first source, the high register a register of the second source.
    {"v_pk_mov_b32", [](const Lane& l, const Context&) -> Outcome { return {(l.a & 0xffffffff) | l.b << 32}; }},
    {"v_fma_mixlo_f16", narrow_mixed},
    {"v_fma_mixhi_f16", narrow_mixed},
    {"v_dot2_f32_f16", [](const Lane& l, const Context&) -> Outcome { return {dot_of_halves(l.a, l.b, l.c)}; }},
    {"v_dot2c_f32_f16", [](const Lane& l, const Context&) -> Outcome { return {dot_of_halves(l.a, l.b, l.old)}; }},
    {"v_dot2_i32_i16", dot_of<16, true>},
    {"v_dot2_u32_u16", dot_of<16, false>},
    {"v_dot4_i32_i8", dot_of<8, true>},
    {"v_dot4_u32_u8", dot_of<8, false>},
    {"v_dot8_i32_i4", dot_of<4, true>},
    {"v_dot8_u32_u4", dot_of<4, false>},
    {"v_dot2c_i32_i16", accumulated_dot<16>},
    {"v_dot4c_i32_i8", accumulated_dot<8>},
    {"v_dot8c_i32_i4", accumulated_dot<4>},
};

/// Instructions that are checked by the reference of another instruction (`as`), applied to each part of `part_bits` bits, or
/// to the whole operand if `part_bits` is 0.
struct Same {
  std::string_view mnemonic, as;
  unsigned part_bits;
};
constexpr Same kSame[] = {
    {"v_pk_mad_i16", "v_mad_i16", 16},         {"v_pk_mad_u16", "v_mad_u16", 16},
    {"v_pk_add_i16", "v_add_i16", 16},         {"v_pk_sub_i16", "v_sub_i16", 16},
    {"v_pk_add_u16", "v_add_u16", 16},         {"v_pk_sub_u16", "v_sub_u16", 16},
    {"v_pk_lshlrev_b16", "v_lshlrev_b16", 16}, {"v_pk_lshrrev_b16", "v_lshrrev_b16", 16},
    {"v_pk_ashrrev_i16", "v_ashrrev_i16", 16}, {"v_pk_max_i16", "v_max_i16", 16},
    {"v_pk_min_i16", "v_min_i16", 16},         {"v_pk_max_u16", "v_max_u16", 16},
    {"v_pk_min_u16", "v_min_u16", 16},         {"v_pk_fma_f16", "v_fma_f16", 16},
    {"v_pk_add_f16", "v_add_f16", 16},         {"v_pk_mul_f16", "v_mul_f16", 16},
    {"v_pk_min_f16", "v_min_f16", 16},         {"v_pk_max_f16", "v_max_f16", 16},
    {"v_pk_fma_f32", "v_fma_f32", 32},         {"v_pk_mul_f32", "v_mul_f32", 32},
    {"v_pk_add_f32", "v_add_f32", 32},         {"v_fma_mix_f32", "v_fma_f32", 0},
};

std::vector<ReferenceEntry> build() {
  std::vector<ReferenceEntry> entries(std::begin(kEntries), std::end(kEntries));
  for (const Same& same : kSame) {
    for (const auto table : {integer16_references(), float_references()}) {
      for (const ReferenceEntry& entry : table) {
        if (entry.mnemonic == same.as) entries.push_back({same.mnemonic, entry.reference, 0, same.part_bits});
      }
    }
  }
  return entries;
}

}  // namespace

std::span<const ReferenceEntry> packed_references() {
  static const std::vector<ReferenceEntry> entries = build();
  return entries;
}

}  // namespace lacuna::isa::test
