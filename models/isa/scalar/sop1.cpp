// SOP1: scalar instructions with one source. Semantics: GCN3 ISA manual, "SOP1 instructions"; gfx9 additions: Vega ISA manual.
#include <array>
#include <bit>

#include "models/isa/decode/operand.h"
#include "models/isa/row_sets.h"
#include "models/isa/scalar/fork_join.h"
#include "models/isa/scalar/gpr_index.h"

namespace lacuna::isa {
namespace sop1 {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;

constexpr U32 kNone = ~U32{0};  // result of a bit search that finds no such bit

constexpr U32 identity32(U32 a) { return a; }
constexpr U64 identity64(U64 a) { return a; }
constexpr U32 not32(U32 a) { return ~a; }
constexpr U64 not64(U64 a) { return ~a; }
constexpr U32 sext8(U32 a) { return static_cast<U32>(static_cast<std::int8_t>(a)); }
constexpr U32 sext16(U32 a) { return static_cast<U32>(static_cast<std::int16_t>(a)); }
constexpr U32 absolute(U32 a) { return (a >> 31) != 0 ? 0U - a : a; }

constexpr U64 reverse64(U64 a) {
  a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
  a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(a);
}
constexpr U32 reverse32(U32 a) { return static_cast<U32>(reverse64(a) >> 32); }

// One bit per quad that has any bit set, at the quad's lowest bit.
constexpr U64 any_in_quad(U64 a) { return (a | a >> 1 | a >> 2 | a >> 3) & 0x1111111111111111; }
constexpr U64 whole_quad64(U64 a) { return any_in_quad(a) * 0xf; }
constexpr U32 whole_quad32(U32 a) { return static_cast<U32>(whole_quad64(a)); }
constexpr U64 quad_mask64(U64 a) {
  a = any_in_quad(a);
  a = (a | a >> 3) & 0x0303030303030303;
  a = (a | a >> 6) & 0x000f000f000f000f;
  a = (a | a >> 12) & 0x000000ff000000ff;
  return (a | a >> 24) & 0xffff;
}
constexpr U32 quad_mask32(U32 a) { return static_cast<U32>(quad_mask64(a)); }

constexpr U32 count0_32(U32 a) { return static_cast<U32>(std::popcount(~a)); }
constexpr U32 count1_32(U32 a) { return static_cast<U32>(std::popcount(a)); }
constexpr U32 count0_64(U64 a) { return static_cast<U32>(std::popcount(~a)); }
constexpr U32 count1_64(U64 a) { return static_cast<U32>(std::popcount(a)); }
constexpr U32 first1_32(U32 a) { return a == 0 ? kNone : static_cast<U32>(std::countr_zero(a)); }
constexpr U32 first1_64(U64 a) { return a == 0 ? kNone : static_cast<U32>(std::countr_zero(a)); }
constexpr U32 first0_32(U32 a) { return first1_32(~a); }
constexpr U32 first0_64(U64 a) { return first1_64(~a); }
constexpr U32 leading32(U32 a) { return a == 0 ? kNone : static_cast<U32>(std::countl_zero(a)); }
constexpr U32 leading64(U64 a) { return a == 0 ? kNone : static_cast<U32>(std::countl_zero(a)); }
// Number of bits from the top that equal the sign bit; kNone if all do.
constexpr U32 leading_signed32(U32 a) { return leading32(a ^ (0U - (a >> 31))); }
constexpr U32 leading_signed64(U64 a) { return leading64(a ^ (U64{0} - (a >> 63))); }

constexpr U64 replicate_bits(U32 a) {
  U64 spread = a;
  spread = (spread | spread << 16) & 0x0000ffff0000ffff;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0f;
  spread = (spread | spread << 2) & 0x3333333333333333;
  spread = (spread | spread << 1) & 0x5555555555555555;
  return spread * 3;
}

template <auto F, bool kScc = false>
void unary32(const Instruction& i, Wavefront& w) {
  const U32 result = F(read_scalar32(i.src[0], w));
  w.sgpr[i.dst[0].index] = result;
  if (kScc) w.scc = result != 0;
}

template <auto F, bool kScc = false>
void unary64(const Instruction& i, Wavefront& w) {
  const U64 result = F(read_scalar64(i.src[0], w));
  w.write64(i.dst[0].index, result);
  if (kScc) w.scc = result != 0;
}

template <auto F, bool kScc = false>
void narrow64(const Instruction& i, Wavefront& w) {
  const U32 result = F(read_scalar64(i.src[0], w));
  w.sgpr[i.dst[0].index] = result;
  if (kScc) w.scc = result != 0;
}

void conditional_move32(const Instruction& i, Wavefront& w) {
  if (w.scc) unary32<identity32>(i, w);
}
void conditional_move64(const Instruction& i, Wavefront& w) {
  if (w.scc) unary64<identity64>(i, w);
}

template <bool kSet>
void set_bit32(const Instruction& i, Wavefront& w) {
  const U32 mask = U32{1} << (read_scalar32(i.src[0], w) & 31);
  U32& d = w.sgpr[i.dst[0].index];
  d = kSet ? d | mask : d & ~mask;
}
template <bool kSet>
void set_bit64(const Instruction& i, Wavefront& w) {
  const U64 mask = U64{1} << (read_scalar32(i.src[0], w) & 63);
  const U64 d = w.read64(i.dst[0].index);
  w.write64(i.dst[0].index, kSet ? d | mask : d & ~mask);
}

void get_pc(const Instruction& i, Wavefront& w) { w.write64(i.dst[0].index, w.pc); }
void set_pc(const Instruction& i, Wavefront& w) { w.pc = read_scalar64(i.src[0], w) & ~U64{3}; }
void swap_pc(const Instruction& i, Wavefront& w) {
  const U64 target = read_scalar64(i.src[0], w) & ~U64{3};
  w.write64(i.dst[0].index, w.pc);
  w.pc = target;
}

constexpr U64 and_exec(U64 s, U64 e) { return s & e; }
constexpr U64 or_exec(U64 s, U64 e) { return s | e; }
constexpr U64 xor_exec(U64 s, U64 e) { return s ^ e; }
constexpr U64 andn2_exec(U64 s, U64 e) { return s & ~e; }
constexpr U64 orn2_exec(U64 s, U64 e) { return s | ~e; }
constexpr U64 nand_exec(U64 s, U64 e) { return ~(s & e); }
constexpr U64 nor_exec(U64 s, U64 e) { return ~(s | e); }
constexpr U64 xnor_exec(U64 s, U64 e) { return ~(s ^ e); }
constexpr U64 andn1_exec(U64 s, U64 e) { return ~s & e; }
constexpr U64 orn1_exec(U64 s, U64 e) { return ~s | e; }

template <auto F>
void save_exec(const Instruction& i, Wavefront& w) {
  const U64 source = read_scalar64(i.src[0], w);
  const U64 old = w.exec();
  const U64 now = F(source, old);
  w.write64(i.dst[0].index, old);
  w.set_exec(now);
  w.scc = now != 0;
}

template <auto F>
void write_exec(const Instruction& i, Wavefront& w) {
  const U64 now = F(read_scalar64(i.src[0], w), w.exec());
  w.set_exec(now);
  w.write64(i.dst[0].index, now);
  w.scc = now != 0;
}

// M0-relative register moves; an index outside the SGPRs is an error of the program.
template <unsigned kWords>
bool relative(const Operand& operand, Wavefront& w, unsigned& index) {
  const U64 at = U64{operand.index} + w.sgpr[kM0];
  index = static_cast<unsigned>(at) & ~(kWords - 1);
  if (operand.kind == OperandKind::sgpr && at + kWords <= kFlatScratchLo) return true;
  w.raise(Event::illegal_instruction);
  return false;
}
void move_relative_source32(const Instruction& i, Wavefront& w) {
  unsigned from = 0;
  if (relative<1>(i.src[0], w, from)) w.sgpr[i.dst[0].index] = w.sgpr[from];
}
void move_relative_source64(const Instruction& i, Wavefront& w) {
  unsigned from = 0;
  if (relative<2>(i.src[0], w, from)) w.write64(i.dst[0].index, w.read64(from));
}
void move_relative_destination32(const Instruction& i, Wavefront& w) {
  unsigned to = 0;
  if (relative<1>(i.dst[0], w, to)) w.sgpr[to] = read_scalar32(i.src[0], w);
}
void move_relative_destination64(const Instruction& i, Wavefront& w) {
  unsigned to = 0;
  if (relative<2>(i.dst[0], w, to)) w.write64(to, read_scalar64(i.src[0], w));
}

void branch_join(const Instruction& i, Wavefront& w) { join(w, read_scalar32(i.src[0], w)); }

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src, std::uint32_t flags,
                             ExecuteFn execute, Unit unit = Unit::salu, LatencyClass latency = LatencyClass::salu) {
  return {mnemonic, Format::sop1, opcode, dst, src, unit, latency, flags, execute};
}
constexpr InstructionRow exec_row(std::string_view mnemonic, Opcodes opcode, ExecuteFn execute) {
  return row(mnemonic, opcode, {T::b64}, {T::b64}, kWritesScc | kWritesExec | kReadsExec, execute);
}

constexpr std::array kRows{
    row("s_mov_b32", both(0x00), {T::b32}, {T::b32}, kNoFlags, unary32<identity32>),
    row("s_mov_b64", both(0x01), {T::b64}, {T::b64}, kNoFlags, unary64<identity64>),
    row("s_cmov_b32", both(0x02), {T::b32}, {T::b32}, kReadsScc | kReadsDst, conditional_move32),
    row("s_cmov_b64", both(0x03), {T::b64}, {T::b64}, kReadsScc | kReadsDst, conditional_move64),
    row("s_not_b32", both(0x04), {T::b32}, {T::b32}, kWritesScc, unary32<not32, true>),
    row("s_not_b64", both(0x05), {T::b64}, {T::b64}, kWritesScc, unary64<not64, true>),
    row("s_wqm_b32", both(0x06), {T::b32}, {T::b32}, kWritesScc, unary32<whole_quad32, true>),
    row("s_wqm_b64", both(0x07), {T::b64}, {T::b64}, kWritesScc, unary64<whole_quad64, true>),
    row("s_brev_b32", both(0x08), {T::b32}, {T::b32}, kNoFlags, unary32<reverse32>),
    row("s_brev_b64", both(0x09), {T::b64}, {T::b64}, kNoFlags, unary64<reverse64>),
    row("s_bcnt0_i32_b32", both(0x0a), {T::b32}, {T::b32}, kWritesScc, unary32<count0_32, true>),
    row("s_bcnt0_i32_b64", both(0x0b), {T::b32}, {T::b64}, kWritesScc, narrow64<count0_64, true>),
    row("s_bcnt1_i32_b32", both(0x0c), {T::b32}, {T::b32}, kWritesScc, unary32<count1_32, true>),
    row("s_bcnt1_i32_b64", both(0x0d), {T::b32}, {T::b64}, kWritesScc, narrow64<count1_64, true>),
    row("s_ff0_i32_b32", both(0x0e), {T::b32}, {T::b32}, kNoFlags, unary32<first0_32>),
    row("s_ff0_i32_b64", both(0x0f), {T::b32}, {T::b64}, kNoFlags, narrow64<first0_64>),
    row("s_ff1_i32_b32", both(0x10), {T::b32}, {T::b32}, kNoFlags, unary32<first1_32>),
    row("s_ff1_i32_b64", both(0x11), {T::b32}, {T::b64}, kNoFlags, narrow64<first1_64>),
    row("s_flbit_i32_b32", both(0x12), {T::b32}, {T::b32}, kNoFlags, unary32<leading32>),
    row("s_flbit_i32_b64", both(0x13), {T::b32}, {T::b64}, kNoFlags, narrow64<leading64>),
    row("s_flbit_i32", both(0x14), {T::b32}, {T::i32}, kNoFlags, unary32<leading_signed32>),
    row("s_flbit_i32_i64", both(0x15), {T::b32}, {T::i64}, kNoFlags, narrow64<leading_signed64>),
    row("s_sext_i32_i8", both(0x16), {T::b32}, {T::b32}, kNoFlags, unary32<sext8>),
    row("s_sext_i32_i16", both(0x17), {T::b32}, {T::b32}, kNoFlags, unary32<sext16>),
    row("s_bitset0_b32", both(0x18), {T::b32}, {T::b32}, kReadsDst, set_bit32<false>),
    row("s_bitset0_b64", both(0x19), {T::b64}, {T::b32}, kReadsDst, set_bit64<false>),
    row("s_bitset1_b32", both(0x1a), {T::b32}, {T::b32}, kReadsDst, set_bit32<true>),
    row("s_bitset1_b64", both(0x1b), {T::b64}, {T::b32}, kReadsDst, set_bit64<true>),
    row("s_getpc_b64", both(0x1c), {T::b64}, {}, kNoFlags, get_pc),
    row("s_setpc_b64", both(0x1d), {}, {T::b64}, kBranch, set_pc, Unit::branch, LatencyClass::branch),
    row("s_swappc_b64", both(0x1e), {T::b64}, {T::b64}, kBranch, swap_pc, Unit::branch, LatencyClass::branch),
    row("s_rfe_b64", both(0x1f), {}, {T::b64}, kBranch | kRegisterSource, nullptr, Unit::branch, LatencyClass::branch),
    exec_row("s_and_saveexec_b64", both(0x20), save_exec<and_exec>),
    exec_row("s_or_saveexec_b64", both(0x21), save_exec<or_exec>),
    exec_row("s_xor_saveexec_b64", both(0x22), save_exec<xor_exec>),
    exec_row("s_andn2_saveexec_b64", both(0x23), save_exec<andn2_exec>),
    exec_row("s_orn2_saveexec_b64", both(0x24), save_exec<orn2_exec>),
    exec_row("s_nand_saveexec_b64", both(0x25), save_exec<nand_exec>),
    exec_row("s_nor_saveexec_b64", both(0x26), save_exec<nor_exec>),
    exec_row("s_xnor_saveexec_b64", both(0x27), save_exec<xnor_exec>),
    row("s_quadmask_b32", both(0x28), {T::b32}, {T::b32}, kWritesScc, unary32<quad_mask32, true>),
    row("s_quadmask_b64", both(0x29), {T::b64}, {T::b64}, kWritesScc, unary64<quad_mask64, true>),
    row("s_movrels_b32", both(0x2a), {T::b32}, {T::b32}, kReadsM0 | kRegisterSource, move_relative_source32),
    row("s_movrels_b64", both(0x2b), {T::b64}, {T::b64}, kReadsM0 | kRegisterSource, move_relative_source64),
    row("s_movreld_b32", both(0x2c), {T::b32}, {T::b32}, kReadsM0, move_relative_destination32),
    row("s_movreld_b64", both(0x2d), {T::b64}, {T::b64}, kReadsM0, move_relative_destination64),
    row("s_cbranch_join", both(0x2e), {}, {T::b32}, kBranch | kRegisterSource | kWritesExec, branch_join, Unit::branch,
        LatencyClass::branch),
    row("s_abs_i32", both(0x30), {T::b32}, {T::i32}, kWritesScc, unary32<absolute, true>),
    row("s_set_gpr_idx_idx", both(0x32), {}, {T::b32}, kReadsM0 | kWritesM0, execute_set_gpr_idx_idx),
    exec_row("s_andn1_saveexec_b64", gfx9_only(0x33), save_exec<andn1_exec>),
    exec_row("s_orn1_saveexec_b64", gfx9_only(0x34), save_exec<orn1_exec>),
    exec_row("s_andn1_wrexec_b64", gfx9_only(0x35), write_exec<andn1_exec>),
    exec_row("s_andn2_wrexec_b64", gfx9_only(0x36), write_exec<andn2_exec>),
    row("s_bitreplicate_b64_b32", gfx9_only(0x37), {T::b64}, {T::b32}, kNoFlags,
        [](const Instruction& i, Wavefront& w) { w.write64(i.dst[0].index, replicate_bits(read_scalar32(i.src[0], w))); }),
};

}  // namespace
}  // namespace sop1

std::span<const InstructionRow> sop1_rows() { return sop1::kRows; }

}  // namespace lacuna::isa
