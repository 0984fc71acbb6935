// SOPC: scalar compares into SCC. Semantics: GCN3 ISA manual, "SOPC instructions".
#include <array>

#include "models/isa/decode/operand.h"
#include "models/isa/row_sets.h"
#include "models/isa/scalar/gpr_index.h"

namespace lacuna::isa {
namespace sopc {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using T = OperandType;

constexpr std::int32_t s32(U32 a) { return static_cast<std::int32_t>(a); }

template <auto F>
void compare32(const Instruction& i, Wavefront& w) {
  w.scc = F(read_scalar32(i.src[0], w), read_scalar32(i.src[1], w));
}
template <auto F>
void compare64(const Instruction& i, Wavefront& w) {
  w.scc = F(read_scalar64(i.src[0], w), read_scalar64(i.src[1], w));
}
template <bool kWanted>
void bit_compare32(const Instruction& i, Wavefront& w) {
  w.scc = ((read_scalar32(i.src[0], w) >> (read_scalar32(i.src[1], w) & 31) & 1) != 0) == kWanted;
}
template <bool kWanted>
void bit_compare64(const Instruction& i, Wavefront& w) {
  w.scc = ((read_scalar64(i.src[0], w) >> (read_scalar32(i.src[1], w) & 63) & 1) != 0) == kWanted;
}

void set_vskip(const Instruction& i, Wavefront& w) {
  w.mode.skip_vector((read_scalar32(i.src[0], w) >> (read_scalar32(i.src[1], w) & 31) & 1) != 0);
}

constexpr bool equal(U64 a, U64 b) { return a == b; }
constexpr bool differ(U64 a, U64 b) { return a != b; }
constexpr bool greater_i(U32 a, U32 b) { return s32(a) > s32(b); }
constexpr bool greater_equal_i(U32 a, U32 b) { return s32(a) >= s32(b); }
constexpr bool less_i(U32 a, U32 b) { return s32(a) < s32(b); }
constexpr bool less_equal_i(U32 a, U32 b) { return s32(a) <= s32(b); }
constexpr bool greater_u(U32 a, U32 b) { return a > b; }
constexpr bool greater_equal_u(U32 a, U32 b) { return a >= b; }
constexpr bool less_u(U32 a, U32 b) { return a < b; }
constexpr bool less_equal_u(U32 a, U32 b) { return a <= b; }

constexpr InstructionRow row(std::string_view mnemonic, int opcode, OperandTypes src, ExecuteFn execute,
                             std::uint32_t flags = kWritesScc) {
  return {mnemonic, Format::sopc, both(opcode), {}, src, Unit::salu, LatencyClass::salu, flags, execute};
}

constexpr std::array kRows{
    row("s_cmp_eq_i32", 0x00, {T::i32, T::i32}, compare32<equal>),
    row("s_cmp_lg_i32", 0x01, {T::i32, T::i32}, compare32<differ>),
    row("s_cmp_gt_i32", 0x02, {T::i32, T::i32}, compare32<greater_i>),
    row("s_cmp_ge_i32", 0x03, {T::i32, T::i32}, compare32<greater_equal_i>),
    row("s_cmp_lt_i32", 0x04, {T::i32, T::i32}, compare32<less_i>),
    row("s_cmp_le_i32", 0x05, {T::i32, T::i32}, compare32<less_equal_i>),
    row("s_cmp_eq_u32", 0x06, {T::u32, T::u32}, compare32<equal>),
    row("s_cmp_lg_u32", 0x07, {T::u32, T::u32}, compare32<differ>),
    row("s_cmp_gt_u32", 0x08, {T::u32, T::u32}, compare32<greater_u>),
    row("s_cmp_ge_u32", 0x09, {T::u32, T::u32}, compare32<greater_equal_u>),
    row("s_cmp_lt_u32", 0x0a, {T::u32, T::u32}, compare32<less_u>),
    row("s_cmp_le_u32", 0x0b, {T::u32, T::u32}, compare32<less_equal_u>),
    row("s_bitcmp0_b32", 0x0c, {T::b32, T::b32}, bit_compare32<false>),
    row("s_bitcmp1_b32", 0x0d, {T::b32, T::b32}, bit_compare32<true>),
    row("s_bitcmp0_b64", 0x0e, {T::b64, T::b32}, bit_compare64<false>),
    row("s_bitcmp1_b64", 0x0f, {T::b64, T::b32}, bit_compare64<true>),
    row("s_setvskip", 0x10, {T::b32, T::b32}, set_vskip, kNoFlags),
    row("s_set_gpr_idx_on", 0x11, {T::b32, T::simm16}, execute_set_gpr_idx_on, kReadsM0 | kWritesM0),
    row("s_cmp_eq_u64", 0x12, {T::u64, T::u64}, compare64<equal>),
    row("s_cmp_lg_u64", 0x13, {T::u64, T::u64}, compare64<differ>),
};

}  // namespace
}  // namespace sopc

std::span<const InstructionRow> sopc_rows() { return sopc::kRows; }

}  // namespace lacuna::isa
