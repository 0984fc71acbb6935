// Reference results of scalar integer and bit instructions ([GCN3], [Vega]: SOP1, SOP2, SOPC, SOPK).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "tests/isa/reference/reference.h"
#include "tests/isa/reference/scalar_bench.h"

namespace lacuna::isa::test {
namespace {

using In = ScalarInputs;
using Out = ScalarOutcome;
__extension__ using Wide = __int128;

/// The result, with SCC unchanged.
Out keeps(const In& i, std::uint64_t value) { return {value, i.scc, i.exec}; }
Out with_scc(const In& i, std::uint64_t value, bool scc) { return {value, scc, i.exec}; }
/// The result, with SCC = 1 if it is not zero.
template <unsigned kWidth>
Out nonzero(const In& i, std::uint64_t value) {
  const std::uint64_t v = kWidth == 32 ? u32(value) : value;
  return {v, v != 0, i.exec};
}
Out compared(const In& i, bool holds) { return {0, holds, i.exec}; }

Out jumps(const In& i, std::uint64_t to) { return {i.pc, i.scc, i.exec, to}; }

std::int64_t number(std::uint64_t v) { return static_cast<std::int64_t>(u32(v)); }
bool bit_of(std::uint64_t v, std::uint64_t at) { return (v >> at & 1) != 0; }

// -- arithmetic: carry or overflow of the exact sum
Out unsigned_sum(const In& i, std::int64_t sum) {
  return with_scc(i, u32(static_cast<std::uint64_t>(sum)), sum < 0 || sum > UINT32_MAX);
}
Out signed_sum(const In& i, std::int64_t sum) {
  return with_scc(i, u32(static_cast<std::uint64_t>(sum)), sum < INT32_MIN || sum > INT32_MAX);
}
template <unsigned kShift>
Out shifted_sum(const In& i) {
  const std::uint64_t sum = (static_cast<std::uint64_t>(u32(i.a)) << kShift) + u32(i.b);
  return with_scc(i, u32(sum), sum > UINT32_MAX);
}

// -- bit operations, on 32 and 64 bits
using Logical = std::uint64_t (*)(std::uint64_t, std::uint64_t);
std::uint64_t and_of(std::uint64_t a, std::uint64_t b) { return a & b; }
std::uint64_t or_of(std::uint64_t a, std::uint64_t b) { return a | b; }
std::uint64_t xor_of(std::uint64_t a, std::uint64_t b) { return a ^ b; }
std::uint64_t andn2_of(std::uint64_t a, std::uint64_t b) { return a & ~b; }
std::uint64_t orn2_of(std::uint64_t a, std::uint64_t b) { return a | ~b; }
std::uint64_t nand_of(std::uint64_t a, std::uint64_t b) { return ~(a & b); }
std::uint64_t nor_of(std::uint64_t a, std::uint64_t b) { return ~(a | b); }
std::uint64_t xnor_of(std::uint64_t a, std::uint64_t b) { return ~(a ^ b); }
std::uint64_t andn1_of(std::uint64_t a, std::uint64_t b) { return ~a & b; }
std::uint64_t orn1_of(std::uint64_t a, std::uint64_t b) { return ~a | b; }
template <unsigned kWidth, Logical kOperation>
Out logical(const In& i) {
  return nonzero<kWidth>(i, kOperation(i.a, i.b));
}
/// D = EXEC, EXEC = S0 op EXEC.
template <Logical kOperation>
Out save_exec(const In& i) {
  const std::uint64_t now = kOperation(i.a, i.exec);
  return {i.exec, now != 0, now};
}
/// The result is written to both D and EXEC.
template <Logical kOperation>
Out write_exec(const In& i) {
  const std::uint64_t now = kOperation(i.a, i.exec);
  return {now, now != 0, now};
}

template <unsigned kWidth>
Out count(const In& i, bool wanted) {
  std::uint64_t n = 0;
  for (unsigned at = 0; at < kWidth; ++at) n += bit_of(i.a, at) == wanted ? 1 : 0;
  return nonzero<32>(i, n);
}
/// Position of the first wanted bit, from the bottom or from the top; -1 if there is none.
template <unsigned kWidth>
Out first(const In& i, bool wanted, bool from_top) {
  for (unsigned n = 0; n < kWidth; ++n) {
    if (bit_of(i.a, from_top ? kWidth - 1 - n : n) == wanted) return keeps(i, n);
  }
  return keeps(i, 0xffffffff);
}
template <unsigned kWidth>
Out reversed(const In& i) {
  std::uint64_t r = 0;
  for (unsigned at = 0; at < kWidth; ++at) r |= (i.a >> at & 1) << (kWidth - 1 - at);
  return keeps(i, r);
}
/// Sets all four bits of a quad, or one bit per quad (kOneBit), if any bit of the quad is set.
template <unsigned kWidth, bool kOneBit>
Out quads(const In& i) {
  std::uint64_t r = 0;
  for (unsigned quad = 0; quad < kWidth / 4; ++quad) {
    if ((i.a >> 4 * quad & 0xf) != 0) r |= kOneBit ? std::uint64_t{1} << quad : std::uint64_t{0xf} << 4 * quad;
  }
  return nonzero<kWidth>(i, r);
}
template <unsigned kWidth>
Out with_bit(const In& i, bool set) {
  const std::uint64_t mask = std::uint64_t{1} << (i.a % kWidth);
  return keeps(i, set ? i.old | mask : i.old & ~mask);
}
Out replicated(const In& i) {
  std::uint64_t r = 0;
  for (unsigned at = 0; at < 32; ++at) r |= (i.a >> at & 1) * 3 << 2 * at;
  return keeps(i, r);
}

/// S1: offset in the low bits, width from bit 16 on (seven bits). A signed source is sign-extended.
template <unsigned kWidth, bool kSigned>
Out field(const In& i) {
  const unsigned offset = i.b & (kWidth - 1);
  const unsigned width = i.b >> 16 & 0x7f;
  const Wide source = !kSigned       ? static_cast<Wide>(i.a)
                      : kWidth == 32 ? static_cast<Wide>(s32(i.a))
                                     : static_cast<Wide>(s64(i.a));
  std::uint64_t r = 0;
  for (unsigned at = 0; at < kWidth; ++at) {
    // Bits beyond the field: zero, or the field's top bit.
    const unsigned from = at < width ? at : width - 1;
    if (width == 0 || (at >= width && !kSigned)) continue;
    r |= static_cast<std::uint64_t>(source >> (offset + from) & 1) << at;
  }
  return nonzero<kWidth>(i, r);
}
template <unsigned kWidth>
Out field_mask(const In& i) {
  const Wide ones = (Wide{1} << (i.a & (kWidth - 1))) - 1;
  const auto mask = static_cast<std::uint64_t>(ones) << (i.b & (kWidth - 1));
  return keeps(i, kWidth == 32 ? u32(mask) : mask);
}

constexpr ScalarReference kEntries[] = {
    // SOP2
    {"s_add_u32", [](const In& i) { return unsigned_sum(i, number(i.a) + number(i.b)); }},
    {"s_sub_u32", [](const In& i) { return unsigned_sum(i, number(i.a) - number(i.b)); }},
    {"s_addc_u32", [](const In& i) { return unsigned_sum(i, number(i.a) + number(i.b) + (i.scc ? 1 : 0)); }},
    {"s_subb_u32", [](const In& i) { return unsigned_sum(i, number(i.a) - number(i.b) - (i.scc ? 1 : 0)); }},
    {"s_add_i32", [](const In& i) { return signed_sum(i, std::int64_t{s32(i.a)} + s32(i.b)); }},
    {"s_sub_i32", [](const In& i) { return signed_sum(i, std::int64_t{s32(i.a)} - s32(i.b)); }},
    {"s_min_i32", [](const In& i) { return with_scc(i, u32(std::min(s32(i.a), s32(i.b))), s32(i.a) < s32(i.b)); }},
    {"s_max_i32", [](const In& i) { return with_scc(i, u32(std::max(s32(i.a), s32(i.b))), s32(i.a) > s32(i.b)); }},
    {"s_min_u32", [](const In& i) { return with_scc(i, std::min(u32(i.a), u32(i.b)), u32(i.a) < u32(i.b)); }},
    {"s_max_u32", [](const In& i) { return with_scc(i, std::max(u32(i.a), u32(i.b)), u32(i.a) > u32(i.b)); }},
    {"s_cselect_b32", [](const In& i) { return keeps(i, i.scc ? i.a : i.b); }},
    {"s_cselect_b64", [](const In& i) { return keeps(i, i.scc ? i.a : i.b); }},
    {"s_and_b32", logical<32, and_of>},
    {"s_and_b64", logical<64, and_of>},
    {"s_or_b32", logical<32, or_of>},
    {"s_or_b64", logical<64, or_of>},
    {"s_xor_b32", logical<32, xor_of>},
    {"s_xor_b64", logical<64, xor_of>},
    {"s_andn2_b32", logical<32, andn2_of>},
    {"s_andn2_b64", logical<64, andn2_of>},
    {"s_orn2_b32", logical<32, orn2_of>},
    {"s_orn2_b64", logical<64, orn2_of>},
    {"s_nand_b32", logical<32, nand_of>},
    {"s_nand_b64", logical<64, nand_of>},
    {"s_nor_b32", logical<32, nor_of>},
    {"s_nor_b64", logical<64, nor_of>},
    {"s_xnor_b32", logical<32, xnor_of>},
    {"s_xnor_b64", logical<64, xnor_of>},
    {"s_lshl_b32", [](const In& i) { return nonzero<32>(i, i.a << (i.b & 31)); }},
    {"s_lshl_b64", [](const In& i) { return nonzero<64>(i, i.a << (i.b & 63)); }},
    {"s_lshr_b32", [](const In& i) { return nonzero<32>(i, i.a >> (i.b & 31)); }},
    {"s_lshr_b64", [](const In& i) { return nonzero<64>(i, i.a >> (i.b & 63)); }},
    {"s_ashr_i32",
     [](const In& i) { return nonzero<32>(i, static_cast<std::uint64_t>(std::int64_t{s32(i.a)} >> (i.b & 31))); }},
    {"s_ashr_i64", [](const In& i) { return nonzero<64>(i, static_cast<std::uint64_t>(s64(i.a) >> (i.b & 63))); }},
    {"s_bfm_b32", field_mask<32>},
    {"s_bfm_b64", field_mask<64>},
    {"s_mul_i32", [](const In& i) { return keeps(i, u32(i.a * i.b)); }},
    {"s_mul_hi_u32", [](const In& i) { return keeps(i, static_cast<std::uint64_t>(u32(i.a)) * u32(i.b) >> 32); }},
    {"s_mul_hi_i32",
     [](const In& i) { return keeps(i, u32(static_cast<std::uint64_t>(std::int64_t{s32(i.a)} * s32(i.b) >> 32))); }},
    {"s_bfe_u32", field<32, false>},
    {"s_bfe_i32", field<32, true>},
    {"s_bfe_u64", field<64, false>},
    {"s_bfe_i64", field<64, true>},
    // The difference wraps before its absolute value is taken ("D.i = S0.i - S1.i; if(D.i < 0) D.i = -D.i").
    {"s_absdiff_i32",
     [](const In& i) { return nonzero<32>(i, static_cast<std::uint64_t>(std::abs(std::int64_t{s32(i.a - i.b)}))); }},
    {"s_lshl1_add_u32", shifted_sum<1>},
    {"s_lshl2_add_u32", shifted_sum<2>},
    {"s_lshl3_add_u32", shifted_sum<3>},
    {"s_lshl4_add_u32", shifted_sum<4>},
    {"s_pack_ll_b32_b16", [](const In& i) { return keeps(i, u16(i.a) | std::uint64_t{u16(i.b)} << 16); }},
    {"s_pack_lh_b32_b16", [](const In& i) { return keeps(i, u16(i.a) | std::uint64_t{u16(i.b >> 16)} << 16); }},
    {"s_pack_hh_b32_b16", [](const In& i) { return keeps(i, u16(i.a >> 16) | std::uint64_t{u16(i.b >> 16)} << 16); }},
    // SOP1
    {"s_mov_b32", [](const In& i) { return keeps(i, i.a); }},
    {"s_mov_b64", [](const In& i) { return keeps(i, i.a); }},
    {"s_cmov_b32", [](const In& i) { return keeps(i, i.scc ? i.a : i.old); }},
    {"s_cmov_b64", [](const In& i) { return keeps(i, i.scc ? i.a : i.old); }},
    {"s_not_b32", [](const In& i) { return nonzero<32>(i, ~i.a); }},
    {"s_not_b64", [](const In& i) { return nonzero<64>(i, ~i.a); }},
    {"s_wqm_b32", quads<32, false>},
    {"s_wqm_b64", quads<64, false>},
    {"s_quadmask_b32", quads<32, true>},
    {"s_quadmask_b64", quads<64, true>},
    {"s_brev_b32", reversed<32>},
    {"s_brev_b64", reversed<64>},
    {"s_bcnt0_i32_b32", [](const In& i) { return count<32>(i, false); }},
    {"s_bcnt0_i32_b64", [](const In& i) { return count<64>(i, false); }},
    {"s_bcnt1_i32_b32", [](const In& i) { return count<32>(i, true); }},
    {"s_bcnt1_i32_b64", [](const In& i) { return count<64>(i, true); }},
    {"s_ff0_i32_b32", [](const In& i) { return first<32>(i, false, false); }},
    {"s_ff0_i32_b64", [](const In& i) { return first<64>(i, false, false); }},
    {"s_ff1_i32_b32", [](const In& i) { return first<32>(i, true, false); }},
    {"s_ff1_i32_b64", [](const In& i) { return first<64>(i, true, false); }},
    {"s_flbit_i32_b32", [](const In& i) { return first<32>(i, true, true); }},
    {"s_flbit_i32_b64", [](const In& i) { return first<64>(i, true, true); }},
    // Position of the first bit that differs from the sign bit.
    {"s_flbit_i32", [](const In& i) { return first<32>(i, !bit_of(i.a, 31), true); }},
    {"s_flbit_i32_i64", [](const In& i) { return first<64>(i, !bit_of(i.a, 63), true); }},
    {"s_sext_i32_i8", [](const In& i) { return keeps(i, u32(static_cast<std::uint64_t>(sign_extend(i.a, 8)))); }},
    {"s_sext_i32_i16", [](const In& i) { return keeps(i, u32(static_cast<std::uint64_t>(sign_extend(i.a, 16)))); }},
    {"s_bitset0_b32", [](const In& i) { return with_bit<32>(i, false); }},
    {"s_bitset0_b64", [](const In& i) { return with_bit<64>(i, false); }},
    {"s_bitset1_b32", [](const In& i) { return with_bit<32>(i, true); }},
    {"s_bitset1_b64", [](const In& i) { return with_bit<64>(i, true); }},
    {"s_abs_i32", [](const In& i) { return nonzero<32>(i, static_cast<std::uint64_t>(std::abs(std::int64_t{s32(i.a)}))); }},
    {"s_bitreplicate_b64_b32", replicated},
    {"s_and_saveexec_b64", save_exec<and_of>},
    {"s_or_saveexec_b64", save_exec<or_of>},
    {"s_xor_saveexec_b64", save_exec<xor_of>},
    {"s_andn2_saveexec_b64", save_exec<andn2_of>},
    {"s_orn2_saveexec_b64", save_exec<orn2_of>},
    {"s_nand_saveexec_b64", save_exec<nand_of>},
    {"s_nor_saveexec_b64", save_exec<nor_of>},
    {"s_xnor_saveexec_b64", save_exec<xnor_of>},
    {"s_andn1_saveexec_b64", save_exec<andn1_of>},
    {"s_orn1_saveexec_b64", save_exec<orn1_of>},
    {"s_andn1_wrexec_b64", write_exec<andn1_of>},
    {"s_andn2_wrexec_b64", write_exec<andn2_of>},
    // Jumps: the lowest two bits of an address are ignored; D receives the address of the next instruction.
    {"s_getpc_b64", [](const In& i) { return keeps(i, i.pc); }},
    {"s_setpc_b64", [](const In& i) { return jumps(i, i.a & ~std::uint64_t{3}); }},
    {"s_swappc_b64", [](const In& i) { return jumps(i, i.a & ~std::uint64_t{3}); }},
    {"s_call_b64", [](const In& i) { return jumps(i, i.pc + static_cast<std::uint64_t>(std::int64_t{i.immediate} * 4)); }},
    // SOPC: bits, and comparisons of 64 bits
    {"s_bitcmp0_b32", [](const In& i) { return compared(i, !bit_of(i.a, i.b & 31)); }},
    {"s_bitcmp1_b32", [](const In& i) { return compared(i, bit_of(i.a, i.b & 31)); }},
    {"s_bitcmp0_b64", [](const In& i) { return compared(i, !bit_of(i.a, i.b & 63)); }},
    {"s_bitcmp1_b64", [](const In& i) { return compared(i, bit_of(i.a, i.b & 63)); }},
    {"s_cmp_eq_u64", [](const In& i) { return compared(i, i.a == i.b); }},
    {"s_cmp_lg_u64", [](const In& i) { return compared(i, i.a != i.b); }},
    // SOPK
    {"s_movk_i32", [](const In& i) { return keeps(i, u32(static_cast<std::uint64_t>(std::int64_t{i.immediate}))); }},
    {"s_cmovk_i32",
     [](const In& i) { return keeps(i, i.scc ? u32(static_cast<std::uint64_t>(std::int64_t{i.immediate})) : i.old); }},
    {"s_addk_i32", [](const In& i) { return signed_sum(i, std::int64_t{s32(i.old)} + i.immediate); }},
    {"s_mulk_i32",
     [](const In& i) { return keeps(i, u32(static_cast<std::uint64_t>(std::int64_t{s32(i.old)} * i.immediate))); }},
};

// Integer comparisons of two operands, or of an operand with the immediate, which is sign- or zero-extended. Both are widened
// to 64 bits, which hold every signed and every unsigned value.
template <bool kSigned, bool kImmediate, class Holds>
Out comparison(const In& i, Holds holds) {
  const std::int64_t a = kSigned ? s32(i.a) : number(i.a);
  const std::int64_t k = kSigned ? std::int64_t{i.immediate} : std::int64_t{i.immediate & 0xffff};
  const std::int64_t b = kImmediate ? k : kSigned ? s32(i.b) : number(i.b);
  return compared(i, holds(a, b));
}
template <bool kSigned, bool kImmediate>
constexpr std::array<Out (*)(const In&), 6> kComparisons{
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a == b; }); },
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a != b; }); },
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a > b; }); },
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a >= b; }); },
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a < b; }); },
    [](const In& i) { return comparison<kSigned, kImmediate>(i, [](auto a, auto b) { return a <= b; }); },
};
constexpr std::array<std::array<std::string_view, 6>, 4> kComparisonNames{{
    {"s_cmp_eq_i32", "s_cmp_lg_i32", "s_cmp_gt_i32", "s_cmp_ge_i32", "s_cmp_lt_i32", "s_cmp_le_i32"},
    {"s_cmp_eq_u32", "s_cmp_lg_u32", "s_cmp_gt_u32", "s_cmp_ge_u32", "s_cmp_lt_u32", "s_cmp_le_u32"},
    {"s_cmpk_eq_i32", "s_cmpk_lg_i32", "s_cmpk_gt_i32", "s_cmpk_ge_i32", "s_cmpk_lt_i32", "s_cmpk_le_i32"},
    {"s_cmpk_eq_u32", "s_cmpk_lg_u32", "s_cmpk_gt_u32", "s_cmpk_ge_u32", "s_cmpk_lt_u32", "s_cmpk_le_u32"},
}};

std::vector<ScalarReference> build() {
  std::vector<ScalarReference> entries(std::begin(kEntries), std::end(kEntries));
  for (std::size_t c = 0; c < 6; ++c) {
    entries.push_back({kComparisonNames[0].at(c), kComparisons<true, false>.at(c)});
    entries.push_back({kComparisonNames[1].at(c), kComparisons<false, false>.at(c)});
    entries.push_back({kComparisonNames[2].at(c), kComparisons<true, true>.at(c)});
    entries.push_back({kComparisonNames[3].at(c), kComparisons<false, true>.at(c)});
  }
  return entries;
}

}  // namespace

std::span<const ScalarReference> scalar_references() {
  static const std::vector<ScalarReference> entries = build();
  return entries;
}

}  // namespace lacuna::isa::test
