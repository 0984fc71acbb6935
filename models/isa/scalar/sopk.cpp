// SOPK: scalar instructions with a 16-bit immediate, and access to hardware registers. Semantics: GCN3 ISA manual, "SOPK
// instructions" and "Hardware registers" (S_GETREG).
#include <array>

#include "models/isa/decode/operand.h"
#include "models/isa/row_sets.h"
#include "models/isa/scalar/fork_join.h"

namespace lacuna::isa {
namespace sopk {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;

constexpr U32 sign_extended(const Instruction& i) { return static_cast<U32>(i.immediate); }
constexpr U32 zero_extended(const Instruction& i) { return static_cast<U32>(i.immediate) & 0xffff; }
constexpr std::int32_t s32(U32 a) { return static_cast<std::int32_t>(a); }

void move(const Instruction& i, Wavefront& w) { w.sgpr[i.dst[0].index] = sign_extended(i); }
void conditional_move(const Instruction& i, Wavefront& w) {
  if (w.scc) move(i, w);
}
void add(const Instruction& i, Wavefront& w) {
  const U32 a = w.sgpr[i.dst[0].index];
  const U32 b = sign_extended(i);
  const U32 sum = a + b;
  w.sgpr[i.dst[0].index] = sum;
  w.scc = ((~(a ^ b) & (a ^ sum)) >> 31) != 0;
}
void multiply(const Instruction& i, Wavefront& w) { w.sgpr[i.dst[0].index] *= sign_extended(i); }

template <auto F>
void compare_signed(const Instruction& i, Wavefront& w) {
  w.scc = F(s32(w.sgpr[i.src[0].index]), i.immediate);
}
template <auto F>
void compare_unsigned(const Instruction& i, Wavefront& w) {
  w.scc = F(w.sgpr[i.src[0].index], zero_extended(i));
}
constexpr auto kEqual = [](auto a, auto b) { return a == b; };
constexpr auto kDiffer = [](auto a, auto b) { return a != b; };
constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kGreaterEqual = [](auto a, auto b) { return a >= b; };
constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessEqual = [](auto a, auto b) { return a <= b; };

// SIMM16 of s_getreg and s_setreg: register id, first bit, width - 1.
struct Field {
  unsigned id, offset, width;
  U32 mask() const { return static_cast<U32>(((U64{1} << width) - 1) << offset); }
};
constexpr Field field_of(const Instruction& i) {
  const U32 value = zero_extended(i);
  return {value & 0x3f, value >> 6 & 0x1f, (value >> 11 & 0x1f) + 1};
}

enum HardwareRegister : unsigned {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHwId = 4,
  kGprAlloc = 5,
  kLdsAlloc = 6,
  kIbStatus = 7,
  kShMemBases = 15,
};

// STATUS: SCC, EXECZ and VCCZ are current; the other bits are those set by the owner of the wavefront.
U32 status_of(const Wavefront& w) {
  constexpr U32 kLive = 1U << 0 | 1U << 9 | 1U << 10;
  return (w.status & ~kLive) | (w.scc ? 1U : 0U) | (w.exec() == 0 ? 1U << 9 : 0U) | (w.vcc() == 0 ? 1U << 10 : 0U);
}

// GPR_ALLOC and LDS_ALLOC report sizes in allocation granules; the base fields read as zero, since every wavefront has its own
// register array.
U32 gpr_alloc_of(const Wavefront& w) {
  const TargetTraits& target = traits(w.target);
  const U32 vgprs = w.vgpr_count == 0 ? 0 : (w.vgpr_count - 1) / target.vgpr_granule;
  const U32 sgprs = w.sgpr_count == 0 ? 0 : (w.sgpr_count - 1) / target.sgpr_granule;
  return (vgprs & 0x3f) << 8 | (sgprs & 0xf) << 24;
}
U32 lds_alloc_of(const Wavefront& w) {
  constexpr U32 kGranuleBytes = 256;
  return ((w.lds_bytes + kGranuleBytes - 1) / kGranuleBytes & 0x1ff) << 12;
}

U32 hardware_register(unsigned id, const Wavefront& w) {
  switch (id) {
    case kMode:
      return w.mode.bits;
    case kStatus:
      return status_of(w);
    case kTrapStatus:
      return w.trap_status;
    case kHwId:
      return w.hw_id;
    case kGprAlloc:
      return gpr_alloc_of(w);
    case kLdsAlloc:
      return lds_alloc_of(w);
    case kShMemBases:
      return static_cast<U32>(w.private_aperture >> 48 & 0xffff) | static_cast<U32>(w.shared_aperture >> 48 & 0xffff) << 16;
    default:
      return 0;
  }
}

void get_register(const Instruction& i, Wavefront& w) {
  const Field field = field_of(i);
  w.sgpr[i.dst[0].index] = (hardware_register(field.id, w) & field.mask()) >> field.offset;
}

// MODE and TRAPSTS can be written by a program; writes to other registers have no effect outside of a trap handler.
void write_register(const Instruction& i, Wavefront& w, U32 value) {
  const Field field = field_of(i);
  const auto merged = [&](U32 old) { return (old & ~field.mask()) | (value << field.offset & field.mask()); };
  if (field.id == kMode) w.mode.bits = merged(w.mode.bits);
  if (field.id == kTrapStatus) w.trap_status = merged(w.trap_status);
}
void set_register(const Instruction& i, Wavefront& w) { write_register(i, w, w.sgpr[i.src[1].index]); }
void set_register_immediate(const Instruction& i, Wavefront& w) { write_register(i, w, static_cast<U32>(i.src[1].value)); }

void call(const Instruction& i, Wavefront& w) {
  w.write64(i.dst[0].index, w.pc);
  w.pc += static_cast<U64>(std::int64_t{i.immediate} * 4);
}

void branch_fork(const Instruction& i, Wavefront& w) {
  fork(w, w.read64(i.src[0].index), w.pc + static_cast<U64>(std::int64_t{i.immediate} * 4));
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes dst, OperandTypes src, std::uint32_t flags,
                             ExecuteFn execute, Unit unit = Unit::salu, LatencyClass latency = LatencyClass::salu) {
  return {mnemonic, Format::sopk, opcode, dst, src, unit, latency, flags, execute};
}
constexpr InstructionRow compare(std::string_view mnemonic, int opcode, OperandType type, ExecuteFn execute) {
  return row(mnemonic, both(opcode), {}, {type, T::simm16}, kWritesScc, execute);
}

constexpr std::array kRows{
    row("s_movk_i32", both(0x00), {T::i32}, {T::simm16}, kNoFlags, move),
    row("s_cmovk_i32", both(0x01), {T::i32}, {T::simm16}, kReadsScc | kReadsDst, conditional_move),
    compare("s_cmpk_eq_i32", 0x02, T::i32, compare_signed<kEqual>),
    compare("s_cmpk_lg_i32", 0x03, T::i32, compare_signed<kDiffer>),
    compare("s_cmpk_gt_i32", 0x04, T::i32, compare_signed<kGreater>),
    compare("s_cmpk_ge_i32", 0x05, T::i32, compare_signed<kGreaterEqual>),
    compare("s_cmpk_lt_i32", 0x06, T::i32, compare_signed<kLess>),
    compare("s_cmpk_le_i32", 0x07, T::i32, compare_signed<kLessEqual>),
    compare("s_cmpk_eq_u32", 0x08, T::u32, compare_unsigned<kEqual>),
    compare("s_cmpk_lg_u32", 0x09, T::u32, compare_unsigned<kDiffer>),
    compare("s_cmpk_gt_u32", 0x0a, T::u32, compare_unsigned<kGreater>),
    compare("s_cmpk_ge_u32", 0x0b, T::u32, compare_unsigned<kGreaterEqual>),
    compare("s_cmpk_lt_u32", 0x0c, T::u32, compare_unsigned<kLess>),
    compare("s_cmpk_le_u32", 0x0d, T::u32, compare_unsigned<kLessEqual>),
    row("s_addk_i32", both(0x0e), {T::i32}, {T::simm16}, kWritesScc | kReadsDst, add),
    row("s_mulk_i32", both(0x0f), {T::i32}, {T::simm16}, kReadsDst, multiply),
    row("s_cbranch_i_fork", both(0x10), {}, {T::b64, T::label16}, kBranch | kReadsExec | kWritesExec, branch_fork, Unit::branch,
        LatencyClass::branch),
    row("s_getreg_b32", both(0x11), {T::b32}, {T::hwreg}, kReadsScc, get_register),
    row("s_setreg_b32", both(0x12), {}, {T::hwreg, T::b32}, kNoFlags, set_register),
    row("s_setreg_imm32_b32", both(0x14), {}, {T::hwreg, T::simm32}, kHasLiteralOperand, set_register_immediate),
    row("s_call_b64", gfx9_only(0x15), {T::b64}, {T::label16}, kBranch, call, Unit::branch, LatencyClass::branch),
};

}  // namespace
}  // namespace sopk

std::span<const InstructionRow> sopk_rows() { return sopk::kRows; }

}  // namespace lacuna::isa
