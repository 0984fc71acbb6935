// SOP2: scalar instructions with two sources. Semantics: GCN3 ISA manual, "SOP2 instructions"; gfx9 additions: Vega ISA manual.
#include <array>
#include <utility>

#include "models/isa/decode/operand.h"
#include "models/isa/row_sets.h"
#include "models/isa/scalar/fork_join.h"

namespace lacuna::isa {
namespace sop2 {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using T = OperandType;

constexpr S32 s32(U32 a) { return static_cast<S32>(a); }
constexpr S64 s64(U64 a) { return static_cast<S64>(a); }

// Result and SCC of one operation; `scc` has the old value initially.
struct Result {
  U32 value;
  bool scc;
};

constexpr Result add_u32(U32 a, U32 b, bool) { return {a + b, a + b < a}; }
constexpr Result sub_u32(U32 a, U32 b, bool) { return {a - b, b > a}; }
constexpr Result add_i32(U32 a, U32 b, bool) {
  const U32 sum = a + b;
  return {sum, ((~(a ^ b) & (a ^ sum)) >> 31) != 0};
}
constexpr Result sub_i32(U32 a, U32 b, bool) {
  const U32 difference = a - b;
  return {difference, (((a ^ b) & (a ^ difference)) >> 31) != 0};
}
constexpr Result addc_u32(U32 a, U32 b, bool scc) {
  const U64 sum = U64{a} + b + (scc ? 1 : 0);
  return {static_cast<U32>(sum), (sum >> 32) != 0};
}
constexpr Result subb_u32(U32 a, U32 b, bool scc) {
  const U64 taken = U64{b} + (scc ? 1 : 0);
  return {static_cast<U32>(a - taken), taken > a};
}
constexpr Result min_i32(U32 a, U32 b, bool) { return {s32(a) < s32(b) ? a : b, s32(a) < s32(b)}; }
constexpr Result min_u32(U32 a, U32 b, bool) { return {a < b ? a : b, a < b}; }
constexpr Result max_i32(U32 a, U32 b, bool) { return {s32(a) > s32(b) ? a : b, s32(a) > s32(b)}; }
constexpr Result max_u32(U32 a, U32 b, bool) { return {a > b ? a : b, a > b}; }

constexpr Result nonzero(U32 value) { return {value, value != 0}; }
constexpr Result and32(U32 a, U32 b, bool) { return nonzero(a & b); }
constexpr Result or32(U32 a, U32 b, bool) { return nonzero(a | b); }
constexpr Result xor32(U32 a, U32 b, bool) { return nonzero(a ^ b); }
constexpr Result andn2_32(U32 a, U32 b, bool) { return nonzero(a & ~b); }
constexpr Result orn2_32(U32 a, U32 b, bool) { return nonzero(a | ~b); }
constexpr Result nand32(U32 a, U32 b, bool) { return nonzero(~(a & b)); }
constexpr Result nor32(U32 a, U32 b, bool) { return nonzero(~(a | b)); }
constexpr Result xnor32(U32 a, U32 b, bool) { return nonzero(~(a ^ b)); }
constexpr Result shl32(U32 a, U32 b, bool) { return nonzero(a << (b & 31)); }
constexpr Result shr32(U32 a, U32 b, bool) { return nonzero(a >> (b & 31)); }
constexpr Result sar32(U32 a, U32 b, bool) { return nonzero(static_cast<U32>(s32(a) >> (b & 31))); }
constexpr Result absdiff(U32 a, U32 b, bool) {
  const U32 difference = a - b;
  return nonzero(s32(difference) < 0 ? 0U - difference : difference);
}

constexpr U64 low_bits(unsigned count) { return count >= 64 ? ~U64{0} : (U64{1} << count) - 1; }
constexpr Result bfe_u32(U32 a, U32 b, bool) { return nonzero(static_cast<U32>((a >> (b & 31)) & low_bits(b >> 16 & 0x7f))); }
// The field is extracted from the sign-extended operand, then sign-extended from the field's top bit.
constexpr S64 signed_field(S64 shifted, unsigned width) {
  if (width == 0) return 0;
  if (width >= 64) return shifted;
  return s64(static_cast<U64>(shifted) << (64 - width)) >> (64 - width);
}
constexpr Result bfe_i32(U32 a, U32 b, bool) {
  return nonzero(static_cast<U32>(signed_field(s32(a) >> (b & 31), b >> 16 & 0x7f)));
}
constexpr U64 bfe_u64(U64 a, U32 b) { return (a >> (b & 63)) & low_bits(b >> 16 & 0x7f); }
constexpr U64 bfe_i64(U64 a, U32 b) { return static_cast<U64>(signed_field(s64(a) >> (b & 63), b >> 16 & 0x7f)); }

template <unsigned kShift>
constexpr Result shift_add(U32 a, U32 b, bool) {
  const U64 sum = (U64{a} << kShift) + b;
  return {static_cast<U32>(sum), (sum >> 32) != 0};
}

constexpr U32 mul_i32(U32 a, U32 b) { return a * b; }
constexpr U32 mul_hi_u32(U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }
constexpr U32 mul_hi_i32(U32 a, U32 b) { return static_cast<U32>(static_cast<U64>(S64{s32(a)} * s32(b)) >> 32); }
constexpr U32 bfm32(U32 a, U32 b) { return static_cast<U32>(low_bits(a & 31) << (b & 31)); }
constexpr U32 pack_ll(U32 a, U32 b) { return (a & 0xffff) | b << 16; }
constexpr U32 pack_lh(U32 a, U32 b) { return (a & 0xffff) | (b & 0xffff0000); }
constexpr U32 pack_hh(U32 a, U32 b) { return a >> 16 | (b & 0xffff0000); }

constexpr U64 and64(U64 a, U64 b) { return a & b; }
constexpr U64 or64(U64 a, U64 b) { return a | b; }
constexpr U64 xor64(U64 a, U64 b) { return a ^ b; }
constexpr U64 andn2_64(U64 a, U64 b) { return a & ~b; }
constexpr U64 orn2_64(U64 a, U64 b) { return a | ~b; }
constexpr U64 nand64(U64 a, U64 b) { return ~(a & b); }
constexpr U64 nor64(U64 a, U64 b) { return ~(a | b); }
constexpr U64 xnor64(U64 a, U64 b) { return ~(a ^ b); }
constexpr U64 shl64(U64 a, U32 b) { return a << (b & 63); }
constexpr U64 shr64(U64 a, U32 b) { return a >> (b & 63); }
constexpr U64 sar64(U64 a, U32 b) { return static_cast<U64>(s64(a) >> (b & 63)); }

template <auto F>
void with_scc(const Instruction& i, Wavefront& w) {
  const Result result = F(read_scalar32(i.src[0], w), read_scalar32(i.src[1], w), w.scc);
  w.sgpr[i.dst[0].index] = result.value;
  w.scc = result.scc;
}
template <auto F>
void without_scc(const Instruction& i, Wavefront& w) {
  w.sgpr[i.dst[0].index] = F(read_scalar32(i.src[0], w), read_scalar32(i.src[1], w));
}
template <auto F>
void logical64(const Instruction& i, Wavefront& w) {
  const U64 result = F(read_scalar64(i.src[0], w), read_scalar64(i.src[1], w));
  w.write64(i.dst[0].index, result);
  w.scc = result != 0;
}
template <auto F>
void shift64(const Instruction& i, Wavefront& w) {
  const U64 result = F(read_scalar64(i.src[0], w), read_scalar32(i.src[1], w));
  w.write64(i.dst[0].index, result);
  w.scc = result != 0;
}
void bfm64(const Instruction& i, Wavefront& w) {
  w.write64(i.dst[0].index, low_bits(read_scalar32(i.src[0], w) & 63) << (read_scalar32(i.src[1], w) & 63));
}
void select32(const Instruction& i, Wavefront& w) { w.sgpr[i.dst[0].index] = read_scalar32(i.src[w.scc ? 0 : 1], w); }
void select64(const Instruction& i, Wavefront& w) { w.write64(i.dst[0].index, read_scalar64(i.src[w.scc ? 0 : 1], w)); }

void branch_fork(const Instruction& i, Wavefront& w) { fork(w, read_scalar64(i.src[0], w), read_scalar64(i.src[1], w)); }

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src, std::uint64_t flags,
                             ExecuteFn execute, Unit unit = Unit::salu, LatencyClass latency = LatencyClass::salu) {
  return {mnemonic, Format::sop2, opcode, dst, src, unit, latency, flags, execute};
}
// The two usual shapes: D = S0 op S1 with three 32-bit operands, or with three 64-bit operands.
constexpr InstructionRow row32(std::string_view mnemonic, Opcodes opcode, ExecuteFn execute, std::uint64_t flags = kWritesScc,
                               OperandType type = T::b32) {
  return row(mnemonic, opcode, {type}, {type, type}, flags, execute);
}
constexpr InstructionRow row64(std::string_view mnemonic, Opcodes opcode, ExecuteFn execute, std::uint64_t flags = kWritesScc) {
  return row(mnemonic, opcode, {T::b64}, {T::b64, T::b64}, flags, execute);
}

constexpr std::array kRows{
    row32("s_add_u32", both(0x00), with_scc<add_u32>, kWritesScc | kCommutes, T::u32),
    row32("s_sub_u32", both(0x01), with_scc<sub_u32>, kWritesScc, T::u32),
    row32("s_add_i32", both(0x02), with_scc<add_i32>, kWritesScc | kCommutes, T::i32),
    row32("s_sub_i32", both(0x03), with_scc<sub_i32>, kWritesScc, T::i32),
    row32("s_addc_u32", both(0x04), with_scc<addc_u32>, kWritesScc | kReadsScc | kCommutes, T::u32),
    row32("s_subb_u32", both(0x05), with_scc<subb_u32>, kWritesScc | kReadsScc, T::u32),
    row32("s_min_i32", both(0x06), with_scc<min_i32>, kWritesScc | kCommutes, T::i32),
    row32("s_min_u32", both(0x07), with_scc<min_u32>, kWritesScc | kCommutes, T::u32),
    row32("s_max_i32", both(0x08), with_scc<max_i32>, kWritesScc | kCommutes, T::i32),
    row32("s_max_u32", both(0x09), with_scc<max_u32>, kWritesScc | kCommutes, T::u32),
    row32("s_cselect_b32", both(0x0a), select32, kReadsScc),
    row64("s_cselect_b64", both(0x0b), select64, kReadsScc),
    row32("s_and_b32", both(0x0c), with_scc<and32>, kWritesScc | kCommutes | kFactors),
    row64("s_and_b64", both(0x0d), logical64<and64>, kWritesScc | kCommutes | kFactors),
    row32("s_or_b32", both(0x0e), with_scc<or32>, kWritesScc | kCommutes),
    row64("s_or_b64", both(0x0f), logical64<or64>, kWritesScc | kCommutes),
    row32("s_xor_b32", both(0x10), with_scc<xor32>, kWritesScc | kCommutes),
    row64("s_xor_b64", both(0x11), logical64<xor64>, kWritesScc | kCommutes),
    row32("s_andn2_b32", both(0x12), with_scc<andn2_32>),
    row64("s_andn2_b64", both(0x13), logical64<andn2_64>),
    row32("s_orn2_b32", both(0x14), with_scc<orn2_32>),
    row64("s_orn2_b64", both(0x15), logical64<orn2_64>),
    row32("s_nand_b32", both(0x16), with_scc<nand32>, kWritesScc | kCommutes | kFactors),
    row64("s_nand_b64", both(0x17), logical64<nand64>, kWritesScc | kCommutes | kFactors),
    row32("s_nor_b32", both(0x18), with_scc<nor32>, kWritesScc | kCommutes),
    row64("s_nor_b64", both(0x19), logical64<nor64>, kWritesScc | kCommutes),
    row32("s_xnor_b32", both(0x1a), with_scc<xnor32>, kWritesScc | kCommutes),
    row64("s_xnor_b64", both(0x1b), logical64<xnor64>, kWritesScc | kCommutes),
    row32("s_lshl_b32", both(0x1c), with_scc<shl32>),
    row("s_lshl_b64", both(0x1d), {T::b64}, {T::b64, T::b32}, kWritesScc, shift64<shl64>),
    row32("s_lshr_b32", both(0x1e), with_scc<shr32>),
    row("s_lshr_b64", both(0x1f), {T::b64}, {T::b64, T::b32}, kWritesScc, shift64<shr64>),
    row("s_ashr_i32", both(0x20), {T::i32}, {T::i32, T::b32}, kWritesScc, with_scc<sar32>),
    row("s_ashr_i64", both(0x21), {T::i64}, {T::i64, T::b32}, kWritesScc, shift64<sar64>),
    row32("s_bfm_b32", both(0x22), without_scc<bfm32>, kNoFlags),
    row("s_bfm_b64", both(0x23), {T::b64}, {T::b32, T::b32}, kNoFlags, bfm64),
    row32("s_mul_i32", both(0x24), without_scc<mul_i32>, kCommutes | kFactors, T::i32),
    row32("s_bfe_u32", both(0x25), with_scc<bfe_u32>, kWritesScc, T::u32),
    row("s_bfe_i32", both(0x26), {T::i32}, {T::i32, T::u32}, kWritesScc, with_scc<bfe_i32>),
    row("s_bfe_u64", both(0x27), {T::u64}, {T::u64, T::u32}, kWritesScc, shift64<bfe_u64>),
    row("s_bfe_i64", both(0x28), {T::i64}, {T::i64, T::u32}, kWritesScc, shift64<bfe_i64>),
    row("s_cbranch_g_fork", both(0x29), {}, {T::b64, T::b64}, kBranch | kReadsExec | kWritesExec, branch_fork, Unit::branch,
        LatencyClass::branch),
    row32("s_absdiff_i32", both(0x2a), with_scc<absdiff>, kWritesScc | kCommutes, T::i32),
    row("s_rfe_restore_b64", both(0x2b), {}, {T::b64, T::b32}, kBranch, nullptr, Unit::branch, LatencyClass::branch),
    row32("s_mul_hi_u32", gfx9_only(0x2c), without_scc<mul_hi_u32>, kCommutes | kFactors, T::u32),
    row32("s_mul_hi_i32", gfx9_only(0x2d), without_scc<mul_hi_i32>, kCommutes | kFactors, T::i32),
    row32("s_lshl1_add_u32", gfx9_only(0x2e), with_scc<shift_add<1>>, kWritesScc, T::u32),
    row32("s_lshl2_add_u32", gfx9_only(0x2f), with_scc<shift_add<2>>, kWritesScc, T::u32),
    row32("s_lshl3_add_u32", gfx9_only(0x30), with_scc<shift_add<3>>, kWritesScc, T::u32),
    row32("s_lshl4_add_u32", gfx9_only(0x31), with_scc<shift_add<4>>, kWritesScc, T::u32),
    row32("s_pack_ll_b32_b16", gfx9_only(0x32), without_scc<pack_ll>, kNoFlags),
    row32("s_pack_lh_b32_b16", gfx9_only(0x33), without_scc<pack_lh>, kNoFlags),
    row32("s_pack_hh_b32_b16", gfx9_only(0x34), without_scc<pack_hh>, kNoFlags),
};

}  // namespace
}  // namespace sop2

std::span<const InstructionRow> sop2_rows() { return sop2::kRows; }

}  // namespace lacuna::isa
