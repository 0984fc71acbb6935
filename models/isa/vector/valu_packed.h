// Executors of VOP3P: packed operations, dot products and mixed-precision multiply-adds.
//
// A packed instruction runs an operation on the low halves and then on the high halves (packed f32: on the first and then the
// second register of a pair). The operations, their NaN rules and their clamping are those of the ordinary instructions.
#pragma once

#include "models/isa/vector/valu_execute.h"
#include "models/isa/vector/valu_rows.h"

namespace lacuna::isa {

void run_packed(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop);
/// An operation that splits packed sources itself; it receives the sources with halves selected and signs changed.
void run_dot(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop);

/// Result of v_fma_mix_f32, v_fma_mixlo_f16 and v_fma_mixhi_f16, in this order.
enum class MixResult : std::uint8_t { f32, low_f16, high_f16 };
void run_mix(const Instruction& instruction, Wavefront& wave, MixResult result);

template <class Signature, class Operation>
void execute_packed(const Instruction& instruction, Wavefront& wave) {
  using Loop = Lanes<Signature, Operation>;
  run_packed(instruction, wave, Loop::kShape, Loop::loop);
}
template <class Signature, class Operation, class Saturated>
void execute_packed_saturating(const Instruction& instruction, Wavefront& wave) {
  using Loop = Lanes<Signature, Operation>;
  run_packed(instruction, wave, Loop::kShape, instruction.vop.clamp ? Lanes<Signature, Saturated>::loop : Loop::loop);
}
template <class Signature, class Operation, class Saturated = Operation>
void execute_dot(const Instruction& instruction, Wavefront& wave) {
  using Loop = Lanes<Signature, Operation>;
  run_dot(instruction, wave, Loop::kShape, instruction.vop.clamp ? Lanes<Signature, Saturated>::loop : Loop::loop);
}

namespace detail {

/// Packed operand type, as used in the instruction table, whose halves have type `half`.
constexpr OperandType packed_type(OperandType half) {
  switch (half) {
    case OperandType::f16:
      return OperandType::pk_f16;
    case OperandType::i16:
      return OperandType::pk_i16;
    case OperandType::f32:
      return OperandType::pk_f32;
    default:
      return OperandType::pk_u16;
  }
}
constexpr OperandTypes packed_types(OperandTypes types) {
  for (unsigned i = 0; i < types.count; ++i) types.types[i] = packed_type(types.types[i]);
  return types;
}

}  // namespace detail

/// The row of a packed instruction: `Signature` is the signature of the operation on a half.
template <class Signature>
constexpr InstructionRow packed_row_of(Format format, std::string_view mnemonic, Opcodes opcode, ExecuteFn function,
                                       std::uint64_t flags) {
  InstructionRow row = vector_row<Signature>(format, mnemonic, opcode, function, flags, LatencyClass::count);
  row.dst = detail::packed_types(row.dst);
  row.src = detail::packed_types(row.src);
  return row;
}
template <class Signature, class Operation>
constexpr InstructionRow packed_row(Format format, std::string_view mnemonic, Opcodes opcode, Operation, std::uint64_t flags) {
  return packed_row_of<Signature>(format, mnemonic, opcode, execute_packed<Signature, Operation>, flags);
}

}  // namespace lacuna::isa
