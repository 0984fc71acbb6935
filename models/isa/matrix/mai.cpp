// Rows of the matrix cores (gfx90a): MFMA and moves to and from accumulation registers.
#include <array>
#include <type_traits>

#include "models/isa/decode/table.h"
#include "models/isa/matrix/mfma.h"
#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_lane_moves.h"

namespace lacuna::isa {
namespace {

using matrix::Shape;

template <class Kind>
constexpr OperandType input_type() {
  if (std::is_same_v<Kind, matrix::F32>) return OperandType::f32;
  if (Kind::kSumWords == 2) return OperandType::f64;
  return Kind::kWords == 2 ? OperandType::b64 : OperandType::b32;
}

template <class Kind>
constexpr OperandType result_type(unsigned registers) {
  if (Kind::kSumWords == 2) return registers == 2 ? OperandType::f64 : OperandType::f64x4;
  return registers == 4 ? OperandType::f32x4 : registers == 16 ? OperandType::f32x16 : OperandType::f32x32;
}

// Passes by block size (LLVM, SISchedule.td, model of MI200). Blocks of 4 x 4 take twice as many passes for f64 as for other
// types.
template <class Kind>
constexpr LatencyClass passes(Shape shape) {
  const bool f64 = Kind::kSumWords == 2;
  if (shape.m == 4) return f64 ? LatencyClass::mfma_4_pass : LatencyClass::mfma_2_pass;
  return shape.m == 16 ? LatencyClass::mfma_8_pass : LatencyClass::mfma_16_pass;
}

template <class Kind, Shape kShape>
constexpr InstructionRow mfma(std::string_view mnemonic, int opcode) {
  const unsigned registers = kShape.m * kShape.n * kShape.blocks / kLanes * Kind::kSumWords;
  const OperandType result = result_type<Kind>(registers);
  const OperandType input = input_type<Kind>();
  // The hardware's rounding within a sum of floats is not public.
  const std::uint64_t flags = std::is_same_v<Kind, matrix::I8> ? kNoFlags : kApproximate;
  return {mnemonic,
          Format::mai,
          gfx9_only(opcode),
          {result},
          {input, input, result},
          Unit::valu,
          passes<Kind>(kShape),
          flags,
          matrix::execute<Kind, kShape>};
}

constexpr InstructionRow accumulator_move(std::string_view mnemonic, int opcode, std::uint64_t flags) {
  return {mnemonic,           Format::mai, gfx9_only(opcode),       {OperandType::b32}, {OperandType::b32}, Unit::valu,
          LatencyClass::valu, flags,       execute_accumulator_move};
}

using matrix::Bf16;
using matrix::Bf16Pairs;
using matrix::F16;
using matrix::F32;
using matrix::F64;
using matrix::I8;

constexpr std::array kRows{
    mfma<F32, Shape{32, 32, 1, 2}>("v_mfma_f32_32x32x1f32", 0x40),
    mfma<F32, Shape{16, 16, 1, 4}>("v_mfma_f32_16x16x1f32", 0x41),
    mfma<F32, Shape{4, 4, 1, 16}>("v_mfma_f32_4x4x1f32", 0x42),
    mfma<F32, Shape{32, 32, 2, 1}>("v_mfma_f32_32x32x2f32", 0x44),
    mfma<F32, Shape{16, 16, 4, 1}>("v_mfma_f32_16x16x4f32", 0x45),
    mfma<F16, Shape{32, 32, 4, 2}>("v_mfma_f32_32x32x4f16", 0x48),
    mfma<F16, Shape{16, 16, 4, 4}>("v_mfma_f32_16x16x4f16", 0x49),
    mfma<F16, Shape{4, 4, 4, 16}>("v_mfma_f32_4x4x4f16", 0x4a),
    mfma<F16, Shape{32, 32, 8, 1}>("v_mfma_f32_32x32x8f16", 0x4c),
    mfma<F16, Shape{16, 16, 16, 1}>("v_mfma_f32_16x16x16f16", 0x4d),
    mfma<I8, Shape{32, 32, 4, 2}>("v_mfma_i32_32x32x4i8", 0x50),
    mfma<I8, Shape{16, 16, 4, 4}>("v_mfma_i32_16x16x4i8", 0x51),
    mfma<I8, Shape{4, 4, 4, 16}>("v_mfma_i32_4x4x4i8", 0x52),
    mfma<I8, Shape{32, 32, 8, 1}>("v_mfma_i32_32x32x8i8", 0x54),
    mfma<I8, Shape{16, 16, 16, 1}>("v_mfma_i32_16x16x16i8", 0x55),
    accumulator_move("v_accvgpr_read_b32", 0x58, kReadsAccumulator),
    accumulator_move("v_accvgpr_write_b32", 0x59, kNoFlags),
    mfma<Bf16Pairs, Shape{32, 32, 4, 2}>("v_mfma_f32_32x32x4bf16_1k", 0x63),
    mfma<Bf16Pairs, Shape{16, 16, 4, 4}>("v_mfma_f32_16x16x4bf16_1k", 0x64),
    mfma<Bf16Pairs, Shape{4, 4, 4, 16}>("v_mfma_f32_4x4x4bf16_1k", 0x65),
    mfma<Bf16Pairs, Shape{32, 32, 8, 1}>("v_mfma_f32_32x32x8bf16_1k", 0x66),
    mfma<Bf16Pairs, Shape{16, 16, 16, 1}>("v_mfma_f32_16x16x16bf16_1k", 0x67),
    mfma<Bf16, Shape{32, 32, 2, 2}>("v_mfma_f32_32x32x2bf16", 0x68),
    mfma<Bf16, Shape{16, 16, 2, 4}>("v_mfma_f32_16x16x2bf16", 0x69),
    mfma<Bf16, Shape{4, 4, 2, 16}>("v_mfma_f32_4x4x2bf16", 0x6b),
    mfma<Bf16, Shape{32, 32, 4, 1}>("v_mfma_f32_32x32x4bf16", 0x6c),
    mfma<Bf16, Shape{16, 16, 8, 1}>("v_mfma_f32_16x16x8bf16", 0x6d),
    mfma<F64, Shape{16, 16, 4, 1}>("v_mfma_f64_16x16x4f64", 0x6e),
    mfma<F64, Shape{4, 4, 4, 4}>("v_mfma_f64_4x4x4f64", 0x6f),
};

}  // namespace

std::span<const InstructionRow> mai_rows() { return kRows; }

}  // namespace lacuna::isa
