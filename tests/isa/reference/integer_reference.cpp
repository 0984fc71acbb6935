// Reference results of 32- and 64-bit integer and bit instructions ([GCN3], [Vega]: VOP1, VOP2, VOP3).
#include <algorithm>
#include <bit>

#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {
namespace {

__extension__ using Wide = unsigned __int128;

Outcome carried(std::int64_t sum, const Context& x) {
  // The carry is that of the full sum, even if CLAMP changes the value.
  return {saturated_u32(sum, x.clamp), 0, sum < 0 || sum > UINT32_MAX};
}
std::int64_t in(bool flag) { return flag ? 1 : 0; }
std::int64_t wide(std::uint64_t v) { return static_cast<std::int64_t>(u32(v)); }
std::int64_t i24(std::uint64_t v) { return sign_extend(v, 24); }
std::int64_t u24(std::uint64_t v) { return static_cast<std::int64_t>(v & 0xffffff); }

Outcome reversed_bits(const Lane& l, const Context&) {
  std::uint64_t r = 0;
  for (unsigned i = 0; i < 32; ++i) r |= (l.a >> i & 1) << (31 - i);
  return {r};
}
// Position of the first set bit, counted from the top; -1 if no bit is set.
Outcome first_high(const Lane& l, const Context&) {
  for (unsigned i = 0; i < 32; ++i) {
    if ((l.a >> (31 - i) & 1) != 0) return {i};
  }
  return {0xffffffff};
}
Outcome first_low(const Lane& l, const Context&) {
  for (unsigned i = 0; i < 32; ++i) {
    if ((l.a >> i & 1) != 0) return {i};
  }
  return {0xffffffff};
}
// Position of the first bit that differs from the sign bit, counted from the top; -1 if there is none.
Outcome first_high_signed(const Lane& l, const Context&) {
  for (unsigned i = 1; i < 32; ++i) {
    if ((l.a >> (31 - i) & 1) != (l.a >> 31 & 1)) return {i};
  }
  return {0xffffffff};
}
Outcome bfe_u32(const Lane& l, const Context&) { return {(u32(l.a) >> (l.b & 31)) & ((std::uint64_t{1} << (l.c & 31)) - 1)}; }
Outcome bfe_i32(const Lane& l, const Context&) {
  const unsigned width = l.c & 31;
  // Beyond the top bit the field is filled with the sign ([LLVM] computes SBFE this way).
  if (width == 0) return {0};
  return {
      u32(static_cast<std::uint64_t>(sign_extend(static_cast<std::uint64_t>(std::int64_t{s32(l.a)} >> (l.b & 31)), width)))};
}
template <class T>
std::uint64_t median(T a, T b, T c) {
  T all[3] = {a, b, c};
  std::sort(all, all + 3);
  return u32(static_cast<std::uint64_t>(all[1]));
}
// Selector bytes: 0 to 7 select a byte of {S0, S1}, 8 to 11 a sign, 12 gives zero, larger values give 0xff.
Outcome perm(const Lane& l, const Context&) {
  const std::uint64_t data = std::uint64_t{u32(l.a)} << 32 | u32(l.b);
  std::uint64_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto s = static_cast<unsigned>(l.c >> (8 * i) & 0xff);
    std::uint64_t byte = 0xff;
    if (s < 8)
      byte = data >> (8 * s) & 0xff;
    else if (s < 12)
      byte = (data >> (16 * (s - 8) + 15) & 1) != 0 ? 0xff : 0;
    else if (s == 12)
      byte = 0;
    r |= byte << (8 * i);
  }
  return {r};
}
Outcome lerp(const Lane& l, const Context&) {
  std::uint64_t r = 0;
  for (unsigned i = 0; i < 32; i += 8) r |= ((l.a >> i & 0xff) + (l.b >> i & 0xff) + (l.c >> i & 1)) >> 1 << i;
  return {r};
}
Outcome mad_u64(const Lane& l, const Context& x) {
  const Wide sum = Wide{u32(l.a)} * u32(l.b) + l.c;
  const bool over = (sum >> 64) != 0;
  return {x.clamp && over ? ~std::uint64_t{0} : static_cast<std::uint64_t>(sum), 0, over};
}
Outcome mad_i64(const Lane& l, const Context& x) {
  __extension__ using WideSigned = __int128;
  const WideSigned sum = static_cast<WideSigned>(std::int64_t{s32(l.a)} * s32(l.b)) + s64(l.c);
  const bool over = sum < INT64_MIN || sum > INT64_MAX;
  const auto limit = static_cast<std::uint64_t>(sum < 0 ? INT64_MIN : INT64_MAX);
  // The carry is bit 64 of the sum ("{vcc_out, D} = S0 * S1 + S2"); for signed operands, this is the sign of the sum.
  return {x.clamp && over ? limit : static_cast<std::uint64_t>(sum), 0, sum < 0};
}
Outcome sat_pk_u8(const Lane& l, const Context&) {
  const auto low = std::clamp(s16(l.a), 0, 255);
  const auto high = std::clamp(s16(l.a >> 16), 0, 255);
  return {static_cast<std::uint64_t>(low | high << 8)};
}
Outcome cvt_pk_u16(const Lane& l, const Context&) {
  return {std::min(u32(l.a), 0xffffU) | std::uint64_t{std::min(u32(l.b), 0xffffU)} << 16};
}
Outcome cvt_pk_i16(const Lane& l, const Context&) {
  return {saturated_i16(s32(l.a), true) | saturated_i16(s32(l.b), true) << 16};
}

constexpr ReferenceEntry kEntries[] = {
    {"v_mov_b32", [](const Lane& l, const Context&) -> Outcome { return {l.a}; }},
    {"v_not_b32", [](const Lane& l, const Context&) -> Outcome { return {u32(~l.a)}; }},
    {"v_bfrev_b32", reversed_bits},
    {"v_ffbh_u32", first_high},
    {"v_ffbl_b32", first_low},
    {"v_ffbh_i32", first_high_signed},
    {"v_sat_pk_u8_i16", sat_pk_u8},
    {"v_cndmask_b32", [](const Lane& l, const Context&) -> Outcome { return {l.flag ? l.b : l.a}; }},
    {"v_mul_i32_i24", [](const Lane& l, const Context& x) -> Outcome { return {saturated_i32(i24(l.a) * i24(l.b), x.clamp)}; }},
    {"v_mul_hi_i32_i24",
     [](const Lane& l, const Context&) -> Outcome { return {u32(static_cast<std::uint64_t>(i24(l.a) * i24(l.b) >> 32))}; }},
    {"v_mul_u32_u24", [](const Lane& l, const Context& x) -> Outcome { return {saturated_u32(u24(l.a) * u24(l.b), x.clamp)}; }},
    {"v_mul_hi_u32_u24",
     [](const Lane& l, const Context&) -> Outcome { return {u32(static_cast<std::uint64_t>(u24(l.a) * u24(l.b) >> 32))}; }},
    {"v_mad_i32_i24",
     [](const Lane& l, const Context& x) -> Outcome { return {saturated_i32(i24(l.a) * i24(l.b) + s32(l.c), x.clamp)}; }},
    {"v_mad_u32_u24",
     [](const Lane& l, const Context& x) -> Outcome { return {saturated_u32(u24(l.a) * u24(l.b) + wide(l.c), x.clamp)}; }},
    {"v_min_i32", [](const Lane& l, const Context&) -> Outcome { return {u32(std::min(s32(l.a), s32(l.b)))}; }},
    {"v_max_i32", [](const Lane& l, const Context&) -> Outcome { return {u32(std::max(s32(l.a), s32(l.b)))}; }},
    {"v_min_u32", [](const Lane& l, const Context&) -> Outcome { return {std::min(u32(l.a), u32(l.b))}; }},
    {"v_max_u32", [](const Lane& l, const Context&) -> Outcome { return {std::max(u32(l.a), u32(l.b))}; }},
    {"v_lshrrev_b32", [](const Lane& l, const Context&) -> Outcome { return {u32(l.b) >> (l.a & 31)}; }},
    {"v_ashrrev_i32", [](const Lane& l, const Context&) -> Outcome { return {u32(std::int64_t{s32(l.b)} >> (l.a & 31))}; }},
    {"v_lshlrev_b32", [](const Lane& l, const Context&) -> Outcome { return {u32(l.b << (l.a & 31))}; }},
    {"v_and_b32", [](const Lane& l, const Context&) -> Outcome { return {l.a & l.b}; }},
    {"v_or_b32", [](const Lane& l, const Context&) -> Outcome { return {l.a | l.b}; }},
    {"v_xor_b32", [](const Lane& l, const Context&) -> Outcome { return {l.a ^ l.b}; }},
    {"v_xnor_b32", [](const Lane& l, const Context&) -> Outcome { return {u32(~(l.a ^ l.b))}; }},
    // gfx8's v_add_u32 returns the carry, gfx9's does not; the bench checks it where it exists.
    {"v_add_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) + wide(l.b), x); }},
    {"v_sub_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) - wide(l.b), x); }},
    {"v_subrev_u32", [](const Lane& l, const Context& x) { return carried(wide(l.b) - wide(l.a), x); }},
    {"v_addc_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) + wide(l.b) + in(l.flag), x); }},
    {"v_subb_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) - wide(l.b) - in(l.flag), x); }},
    {"v_subbrev_u32", [](const Lane& l, const Context& x) { return carried(wide(l.b) - wide(l.a) - in(l.flag), x); }},
    {"v_add_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) + wide(l.b), x); }},
    {"v_sub_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) - wide(l.b), x); }},
    {"v_subrev_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.b) - wide(l.a), x); }},
    {"v_addc_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) + wide(l.b) + in(l.flag), x); }},
    {"v_subb_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.a) - wide(l.b) - in(l.flag), x); }},
    {"v_subbrev_co_u32", [](const Lane& l, const Context& x) { return carried(wide(l.b) - wide(l.a) - in(l.flag), x); }},
    {"v_add_i32",
     [](const Lane& l, const Context& x) -> Outcome { return {saturated_i32(std::int64_t{s32(l.a)} + s32(l.b), x.clamp)}; }},
    {"v_sub_i32",
     [](const Lane& l, const Context& x) -> Outcome { return {saturated_i32(std::int64_t{s32(l.a)} - s32(l.b), x.clamp)}; }},
    {"v_bfe_u32", bfe_u32},
    {"v_bfe_i32", bfe_i32},
    {"v_bfi_b32", [](const Lane& l, const Context&) -> Outcome { return {(l.a & l.b) | (u32(~l.a) & l.c)}; }},
    {"v_bfm_b32",
     [](const Lane& l, const Context&) -> Outcome { return {u32(((std::uint64_t{1} << (l.a & 31)) - 1) << (l.b & 31))}; }},
    {"v_lerp_u8", lerp},
    {"v_alignbit_b32", [](const Lane& l, const Context&) -> Outcome { return {u32((l.a << 32 | u32(l.b)) >> (l.c & 31))}; }},
    {"v_alignbyte_b32",
     [](const Lane& l, const Context&) -> Outcome { return {u32((l.a << 32 | u32(l.b)) >> (8 * (l.c & 3)))}; }},
    {"v_perm_b32", perm},
    {"v_min3_i32",
     [](const Lane& l, const Context&) -> Outcome {
       return {u32(std::min({s32(l.a), s32(l.b), s32(l.c)}))};
     }},
    {"v_max3_i32",
     [](const Lane& l, const Context&) -> Outcome {
       return {u32(std::max({s32(l.a), s32(l.b), s32(l.c)}))};
     }},
    {"v_med3_i32", [](const Lane& l, const Context&) -> Outcome { return {median(s32(l.a), s32(l.b), s32(l.c))}; }},
    {"v_min3_u32",
     [](const Lane& l, const Context&) -> Outcome {
       return {std::min({u32(l.a), u32(l.b), u32(l.c)})};
     }},
    {"v_max3_u32",
     [](const Lane& l, const Context&) -> Outcome {
       return {std::max({u32(l.a), u32(l.b), u32(l.c)})};
     }},
    {"v_med3_u32", [](const Lane& l, const Context&) -> Outcome { return {median(u32(l.a), u32(l.b), u32(l.c))}; }},
    {"v_xad_u32", [](const Lane& l, const Context&) -> Outcome { return {u32((l.a ^ l.b) + l.c)}; }},
    {"v_lshl_add_u32", [](const Lane& l, const Context&) -> Outcome { return {u32((l.a << (l.b & 31)) + l.c)}; }},
    {"v_add_lshl_u32", [](const Lane& l, const Context&) -> Outcome { return {u32((l.a + l.b) << (l.c & 31))}; }},
    {"v_add3_u32", [](const Lane& l, const Context&) -> Outcome { return {u32(l.a + l.b + l.c)}; }},
    {"v_lshl_or_b32", [](const Lane& l, const Context&) -> Outcome { return {u32((l.a << (l.b & 31)) | l.c)}; }},
    {"v_and_or_b32", [](const Lane& l, const Context&) -> Outcome { return {(l.a & l.b) | l.c}; }},
    {"v_or3_b32", [](const Lane& l, const Context&) -> Outcome { return {l.a | l.b | l.c}; }},
    {"v_mul_lo_u32", [](const Lane& l, const Context&) -> Outcome { return {u32(l.a * l.b)}; }},
    {"v_mul_hi_u32", [](const Lane& l, const Context&) -> Outcome { return {std::uint64_t{u32(l.a)} * u32(l.b) >> 32}; }},
    {"v_mul_hi_i32",
     [](const Lane& l, const Context&) -> Outcome {
       return {u32(static_cast<std::uint64_t>(std::int64_t{s32(l.a)} * s32(l.b) >> 32))};
     }},
    {"v_mad_u64_u32", mad_u64},
    {"v_mad_i64_i32", mad_i64},
    {"v_bcnt_u32_b32",
     [](const Lane& l, const Context&) -> Outcome { return {u32(static_cast<unsigned>(std::popcount(u32(l.a))) + l.b)}; }},
    {"v_mbcnt_lo_u32_b32",
     [](const Lane& l, const Context&) -> Outcome {
       const std::uint64_t below = (std::uint64_t{1} << l.index) - 1;
       return {u32(static_cast<unsigned>(std::popcount(u32(l.a) & u32(below))) + l.b)};
     }},
    {"v_mbcnt_hi_u32_b32",
     [](const Lane& l, const Context&) -> Outcome {
       const std::uint64_t below = (std::uint64_t{1} << l.index) - 1;
       return {u32(static_cast<unsigned>(std::popcount(u32(l.a) & u32(below >> 32))) + l.b)};
     }},
    {"v_lshlrev_b64", [](const Lane& l, const Context&) -> Outcome { return {l.b << (l.a & 63)}; }},
    {"v_lshrrev_b64", [](const Lane& l, const Context&) -> Outcome { return {l.b >> (l.a & 63)}; }},
    {"v_ashrrev_i64",
     [](const Lane& l, const Context&) -> Outcome { return {static_cast<std::uint64_t>(s64(l.b) >> (l.a & 63))}; }},
    {"v_cvt_pk_u16_u32", cvt_pk_u16},
    {"v_cvt_pk_i16_i32", cvt_pk_i16},
};

}  // namespace

std::span<const ReferenceEntry> integer_references() { return kEntries; }

}  // namespace lacuna::isa::test
