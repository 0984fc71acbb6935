// Table rows of vector instructions: operand types and timing class follow from the operation's signature.
#pragma once

#include <string_view>

#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "models/isa/vector/valu_execute.h"

namespace lacuna::isa {

namespace detail {

template <class Tag>
constexpr OperandType row_type() {
  if constexpr (requires { Tag::kRowOperand; }) {
    return Tag::kRowOperand;
  } else {
    return Tag::kOperand;
  }
}

template <class Tag>
constexpr void add_source(OperandTypes& types) {
  if constexpr (Tag::kSource == ArgumentSource::operand) types.types[types.count++] = row_type<Tag>();
}

template <class Signature>
struct RowTypes;

template <class Result, class... Arguments>
struct RowTypes<Result(Arguments...)> {
  static constexpr bool kHasF64 = Result::kOperand == OperandType::f64 || (... || (Arguments::kOperand == OperandType::f64));
  static constexpr bool kReadsOld =
      keeps_other_half<Result>() || (... || (Arguments::kSource == ArgumentSource::old_destination));
  static constexpr bool kReadsVccBit = (... || (Arguments::kSource == ArgumentSource::vcc));
  static constexpr bool kFromFloat =
      !is_float(Result::kOperand) && Result::kOperand != OperandType::lane_mask && (... || is_float(Arguments::kOperand));
  static constexpr bool kInteger =
      !is_float(Result::kOperand) && (Result::kOperand == OperandType::lane_mask || !(... || is_float(Arguments::kOperand)));
  static constexpr bool kWide =
      (!IsFlagged<Result>::value && words_of(Result::kOperand) > 1 && Result::kPlanes > 1) || (... || (Arguments::kPlanes > 1));

  static constexpr OperandTypes destinations() {
    OperandTypes types{row_type<Result>()};
    if (IsFlagged<Result>::value) types.types[types.count++] = OperandType::lane_mask;
    return types;
  }
  static constexpr OperandTypes sources() {
    OperandTypes types;
    (add_source<Arguments>(types), ...);
    return types;
  }
};

}  // namespace detail

/// A row that `function` executes. The timing class, unless given, is valu_f64_multiply for products of f64, valu_f64 for
/// other instructions with an f64 operand, valu_logic for integers, bits and comparisons, and valu otherwise.
template <class Signature>
constexpr InstructionRow vector_row(Format format, std::string_view mnemonic, Opcodes opcode, ExecuteFn function,
                                    std::uint64_t flags, LatencyClass latency) {
  using Types = detail::RowTypes<Signature>;
  if (Types::kReadsOld) flags |= kReadsDst;
  if (Types::kReadsVccBit) flags |= kReadsVcc;
  if (Types::kWide) flags |= kNoSdwa | kNoDpp;  // both work on 32-bit operands
  // Conversions to integers accept CLAMP like floating-point operations; it has no effect, since they always saturate.
  if (Types::kFromFloat) flags |= kIntegerClamp;
  if (latency == LatencyClass::count) {
    const LatencyClass of_f64 = (flags & kFactors) != 0 ? LatencyClass::valu_f64_multiply : LatencyClass::valu_f64;
    latency = Types::kHasF64 ? of_f64 : Types::kInteger ? LatencyClass::valu_logic : LatencyClass::valu;
  }
  return {mnemonic, format, opcode, Types::destinations(), Types::sources(), Unit::valu, latency, flags, function};
}

/// Returns `row`, with the timing class valu_logic instead of valu if the operation has a member kLogic (floating-point
/// minimum, maximum and median).
template <class Operation>
constexpr InstructionRow timed_by(InstructionRow row) {
  if constexpr (requires { Operation::kLogic; }) {
    if (row.latency == LatencyClass::valu) row.latency = LatencyClass::valu_logic;
  }
  return row;
}

/// Makes the rows of one format: `Rows::of<f32(f32, f32)>("v_add_f32", {1, 1}, [](float a, float b) { return a + b; })`.
template <Format kFormat>
struct VectorRows {
  template <class Signature, class Operation>
  static constexpr InstructionRow of(std::string_view mnemonic, Opcodes opcode, Operation, std::uint64_t flags = kNoFlags,
                                     LatencyClass latency = LatencyClass::count) {
    return timed_by<Operation>(vector_row<Signature>(kFormat, mnemonic, opcode, execute<Signature, Operation>, flags, latency));
  }

  /// As of(), with a second operation for CLAMP.
  template <class Signature, class Operation, class Saturated>
  static constexpr InstructionRow saturating(std::string_view mnemonic, Opcodes opcode, Operation, Saturated,
                                             std::uint64_t flags = kNoFlags, LatencyClass latency = LatencyClass::count) {
    return vector_row<Signature>(kFormat, mnemonic, opcode, execute_saturating<Signature, Operation, Saturated>,
                                 flags | kIntegerClamp, latency);
  }
};

}  // namespace lacuna::isa
