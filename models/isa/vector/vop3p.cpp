// VOP3P rows (gfx90a): packed 16-bit and f32 arithmetic, mixed-precision multiply-adds, dot products.
#include <algorithm>
#include <array>

#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_dot.h"
#include "models/isa/vector/valu_float.h"
#include "models/isa/vector/valu_fma.h"
#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_packed.h"

namespace lacuna::isa {
namespace {

using U16 = std::uint16_t;
using I16 = std::int16_t;
using U32 = std::uint32_t;

constexpr Opcodes gfx90a(int opcode) { return gfx9_only(opcode); }

// Rows of a lane operation, without and with a separate operation for CLAMP.
template <class Signature, class Operation>
constexpr InstructionRow packed(std::string_view mnemonic, int opcode, Operation, std::uint64_t flags = kNoFlags) {
  return timed_by<Operation>(packed_row_of<Signature>(Format::vop3p, mnemonic, gfx90a(opcode),
                                                      execute_packed<Signature, Operation>, flags | kIntegerClamp));
}
template <class Signature, class Operation, class Saturated>
constexpr InstructionRow saturating(std::string_view mnemonic, int opcode, Operation, Saturated,
                                    std::uint64_t flags = kNoFlags) {
  return packed_row_of<Signature>(Format::vop3p, mnemonic, gfx90a(opcode),
                                  execute_packed_saturating<Signature, Operation, Saturated>, flags | kIntegerClamp);
}
template <class Signature, class Operation, class Saturated>
constexpr InstructionRow dot(std::string_view mnemonic, int opcode, Operation, Saturated, std::uint64_t flags = kNoFlags) {
  return vector_row<Signature>(Format::vop3p, mnemonic, gfx90a(opcode), execute_dot<Signature, Operation, Saturated>,
                               flags | kIntegerClamp, LatencyClass::valu);
}
constexpr InstructionRow mix(std::string_view mnemonic, int opcode, ExecuteFn function, std::uint64_t flags) {
  return {mnemonic,
          Format::vop3p,
          gfx90a(opcode),
          {OperandType::f32},
          {OperandType::f16, OperandType::f16, OperandType::f16},
          Unit::valu,
          LatencyClass::valu,
          flags | kMixedPrecision,
          function};
}

// The low result is a register of the first source, the high result a register of the second source; OP_SEL selects the
// registers.
void execute_move_pair(const Instruction& instruction, Wavefront& wave) {
  Planes<2> result;
  for (unsigned i = 0; i < 2; ++i) {
    const Operand& operand = instruction.src[i];
    Planes<2> buffer;
    const std::uint32_t* from =
        operand.kind == OperandKind::vgpr ? wave.planes(operand) : broadcast(operand, wave, buffer.words, 2);
    const unsigned which = (instruction.vop.op_sel >> i) & 1;
    std::copy_n(from + which * kLanes, kLanes, result.words + i * kLanes);
  }
  write_lanes<2>(wave.planes(instruction.dst[0]), result.words, wave);
}

template <class T>
struct Minimum {
  constexpr T operator()(T a, T b) const { return std::min(a, b); }
};
template <class T>
struct Maximum {
  constexpr T operator()(T a, T b) const { return std::max(a, b); }
};

constexpr std::array kRows{
    saturating<i16(i16, i16, i16)>(
        "v_pk_mad_i16", 0x00, [](I16 a, I16 b, I16 c) { return a * b + c; },
        [](I16 a, I16 b, I16 c) { return saturate_i16(a * b + c); }, kFactors),
    saturating<u16(u16, u16)>(
        "v_pk_mul_lo_u16", 0x01, [](U16 a, U16 b) { return U32{a} * b; }, [](U16 a, U16 b) { return saturate_u16(U32{a} * b); },
        kCommutes | kFactors),
    saturating<i16(i16, i16)>(
        "v_pk_add_i16", 0x02, [](I16 a, I16 b) { return a + b; }, [](I16 a, I16 b) { return saturate_i16(a + b); }, kCommutes),
    saturating<i16(i16, i16)>(
        "v_pk_sub_i16", 0x03, [](I16 a, I16 b) { return a - b; }, [](I16 a, I16 b) { return saturate_i16(a - b); }),
    packed<u16(u16, u16)>("v_pk_lshlrev_b16", 0x04, [](U16 n, U16 a) { return U32{a} << (n & 15); }),
    packed<u16(u16, u16)>("v_pk_lshrrev_b16", 0x05, [](U16 n, U16 a) { return a >> (n & 15); }),
    packed<i16(u16, i16)>("v_pk_ashrrev_i16", 0x06, [](U16 n, I16 a) { return a >> (n & 15); }),
    packed<i16(i16, i16)>("v_pk_max_i16", 0x07, Maximum<I16>{}, kCommutes),
    packed<i16(i16, i16)>("v_pk_min_i16", 0x08, Minimum<I16>{}, kCommutes),
    saturating<u16(u16, u16, u16)>(
        "v_pk_mad_u16", 0x09, [](U16 a, U16 b, U16 c) { return U32{a} * b + c; },
        [](U16 a, U16 b, U16 c) { return saturate_u16(saturate_u32(std::uint64_t{a} * b + c)); }, kFactors),
    saturating<u16(u16, u16)>(
        "v_pk_add_u16", 0x0a, [](U16 a, U16 b) { return a + b; },
        [](U16 a, U16 b) { return saturate_u16(static_cast<U32>(a) + b); }, kCommutes),
    saturating<u16(u16, u16)>(
        "v_pk_sub_u16", 0x0b, [](U16 a, U16 b) { return a - b; }, [](U16 a, U16 b) { return a < b ? 0 : a - b; }),
    packed<u16(u16, u16)>("v_pk_max_u16", 0x0c, Maximum<U16>{}, kCommutes),
    packed<u16(u16, u16)>("v_pk_min_u16", 0x0d, Minimum<U16>{}, kCommutes),
    packed<f16(f16, f16, f16)>("v_pk_fma_f16", 0x0e, FusedMultiplyAddF16{}, kFloatFactors),
    packed<f16(f16, f16)>(
        "v_pk_add_f16", 0x0f, [](float a, float b) { return a + b; }, kCommutes),
    packed<f16(f16, f16)>(
        "v_pk_mul_f16", 0x10, [](float a, float b) { return a * b; }, kCommutes | kFloatFactors),
    packed<f16_bits(f16_bits, f16_bits)>("v_pk_min_f16", 0x11, Extreme<U16, false>{}, kCommutes),
    packed<f16_bits(f16_bits, f16_bits)>("v_pk_max_f16", 0x12, Extreme<U16, true>{}, kCommutes),
    mix(
        "v_fma_mix_f32", 0x20, [](const Instruction& i, Wavefront& w) { run_mix(i, w, MixResult::f32); }, kFloatFactors),
    mix(
        "v_fma_mixlo_f16", 0x21, [](const Instruction& i, Wavefront& w) { run_mix(i, w, MixResult::low_f16); },
        kReadsDst | kFloatFactors),
    mix(
        "v_fma_mixhi_f16", 0x22, [](const Instruction& i, Wavefront& w) { run_mix(i, w, MixResult::high_f16); },
        kReadsDst | kFloatFactors),
    dot<f32(pk_f16, pk_f16, f32)>("v_dot2_f32_f16", 0x23, DotHalves{}, DotHalves{}, kApproximate | kFloatFactors),
    dot<i32(pk_i16, pk_i16, i32)>("v_dot2_i32_i16", 0x26, DotSigned<16, false>{}, DotSigned<16, true>{}, kFactors),
    dot<u32(pk_u16, pk_u16, u32)>("v_dot2_u32_u16", 0x27, DotUnsigned<16, false>{}, DotUnsigned<16, true>{}, kFactors),
    dot<i32(b32, b32, i32)>("v_dot4_i32_i8", 0x28, DotSigned<8, false>{}, DotSigned<8, true>{}, kFactors),
    dot<u32(b32, b32, u32)>("v_dot4_u32_u8", 0x29, DotUnsigned<8, false>{}, DotUnsigned<8, true>{}, kFactors),
    dot<i32(b32, b32, i32)>("v_dot8_i32_i4", 0x2a, DotSigned<4, false>{}, DotSigned<4, true>{}, kFactors),
    dot<u32(b32, b32, u32)>("v_dot8_u32_u4", 0x2b, DotUnsigned<4, false>{}, DotUnsigned<4, true>{}, kFactors),
    packed<f32(f32, f32, f32)>("v_pk_fma_f32", 0x30, FusedMultiplyAdd{}, kFloatFactors),
    packed<f32(f32, f32)>(
        "v_pk_mul_f32", 0x31, [](float a, float b) { return a * b; }, kCommutes | kFloatFactors),
    packed<f32(f32, f32)>(
        "v_pk_add_f32", 0x32, [](float a, float b) { return a + b; }, kCommutes),
    InstructionRow{"v_pk_mov_b32",
                   Format::vop3p,
                   gfx90a(0x33),
                   {OperandType::pk_f32},
                   {OperandType::pk_f32, OperandType::pk_f32},
                   Unit::valu,
                   LatencyClass::valu,
                   kNoFlags,
                   execute_move_pair},
};

}  // namespace

std::span<const InstructionRow> vop3p_rows() { return kRows; }

}  // namespace lacuna::isa
