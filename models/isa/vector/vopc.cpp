// VOPC rows: comparisons into a lane mask. The opcode space is regular: 16 conditions (8 for integers) by type, v_cmp then
// v_cmpx (GCN3 ISA manual, "VOPC").
#include <algorithm>
#include <array>
#include <string_view>

#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_float.h"
#include "models/isa/vector/valu_rows.h"

namespace lacuna::isa {
namespace {

// -- conditions: bit 0 of the opcode selects "less", bit 1 "equal", bit 2 "greater"; bit 3 "unordered", which does not exist in
// the eight conditions of integers.
template <unsigned kCondition>
struct Condition {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    // Each condition is written out, so that the compiler emits one vector compare for it.
    switch (kCondition) {
      case 0:
        return false;
      case 1:
        return a < b;
      case 2:
        return a == b;
      case 3:
        return a <= b;
      case 4:
        return a > b;
      case 5:
        return a < b || a > b;
      case 6:
        return a >= b;
      case 7:
        return a <= b || a >= b;
      case 8:
        return !(a <= b || a >= b);
      case 9:
        return !(a >= b);
      case 10:
        return !(a < b || a > b);
      case 11:
        return !(a > b);
      case 12:
        return !(a <= b);
      case 13:
        return !(a == b);
      case 14:
        return !(a < b);
      default:
        return true;
    }
  }
};

template <class Operation>
struct WritingExec : Operation {
  static constexpr bool kWritesExec = true;
};

constexpr std::array<std::string_view, 16> kFloatConditions{"f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
                                                            "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};
constexpr std::array<std::string_view, 8> kIntegerConditions{"f", "lt", "eq", "le", "gt", "ne", "ge", "t"};

// -- mnemonics, composed at compile time

struct Name {
  std::array<char, 24> text{};
  std::size_t length = 0;

  constexpr Name(std::string_view prefix, std::string_view condition, std::string_view type) {
    for (const std::string_view part : {prefix, condition, std::string_view("_"), type}) {
      for (const char c : part) text[length++] = c;
    }
  }
  constexpr std::string_view view() const { return {text.data(), length}; }
};

template <class Tag>
constexpr std::string_view type_name() {
  switch (Tag::kOperand) {
    case OperandType::f16:
      return "f16";
    case OperandType::f32:
      return "f32";
    case OperandType::f64:
      return "f64";
    case OperandType::i16:
      return "i16";
    case OperandType::u16:
      return "u16";
    case OperandType::i32:
      return "i32";
    case OperandType::u32:
      return "u32";
    case OperandType::i64:
      return "i64";
    default:
      return "u64";
  }
}

template <class Tag, unsigned kIndex, bool kInteger, bool kExec>
constexpr Name kName{kExec ? "v_cmpx_" : "v_cmp_", kInteger ? kIntegerConditions[kIndex % 8] : kFloatConditions[kIndex],
                     type_name<Tag>()};

template <class Tag, class Operation>
constexpr InstructionRow compare_row(std::string_view mnemonic, unsigned opcode, bool writes_exec) {
  const auto place = static_cast<std::int16_t>(opcode);
  return vector_row<mask(Tag, Tag)>(Format::vopc, mnemonic, {place, place}, execute<mask(Tag, Tag), Operation>,
                                    kWritesVcc | (writes_exec ? kWritesExec : kNoFlags), LatencyClass::count);
}

// Rows of one type: the v_cmp conditions from opcode `kBase` on, and the v_cmpx conditions from opcode `kBase` +
// `kExecDistance` on.
template <class Tag, bool kInteger, unsigned kBase, unsigned kExecDistance, std::size_t... kIndex>
constexpr auto typed_rows(std::index_sequence<kIndex...>) {
  // Integer conditions are float conditions with other names: "t" is number 15, "tru"; "ne" is "neq" or "lg".
  return std::array{compare_row<Tag, Condition<kInteger && kIndex == 7 ? 15 : kIndex>>(
                        kName<Tag, kIndex, kInteger, false>.view(), kBase + kIndex, false)...,
                    compare_row<Tag, WritingExec<Condition<kInteger && kIndex == 7 ? 15 : kIndex>>>(
                        kName<Tag, kIndex, kInteger, true>.view(), kBase + kExecDistance + kIndex, true)...};
}
template <class Tag, unsigned kBase>
constexpr auto float_rows() {
  return typed_rows<Tag, false, kBase, 16>(std::make_index_sequence<16>{});
}
template <class Tag, unsigned kBase>
constexpr auto integer_rows() {
  return typed_rows<Tag, true, kBase, 16>(std::make_index_sequence<8>{});
}

template <class Tag, class Bits>
constexpr auto class_rows(std::int16_t opcode, std::string_view plain, std::string_view with_exec) {
  using Signature = mask(Tag, b32);
  using Test = IsOfClass<Bits>;
  const auto next = static_cast<std::int16_t>(opcode + 1);
  return std::array{
      vector_row<Signature>(Format::vopc, plain, {opcode, opcode}, execute<Signature, Test>, kWritesVcc, LatencyClass::count),
      vector_row<Signature>(Format::vopc, with_exec, {next, next}, execute<Signature, WritingExec<Test>>,
                            kWritesVcc | kWritesExec, LatencyClass::count)};
}

template <std::size_t... kSizes>
constexpr auto concatenate(const std::array<InstructionRow, kSizes>&... parts) {
  std::array<InstructionRow, (kSizes + ...)> all{};
  auto to = all.begin();
  ((to = std::copy(parts.begin(), parts.end(), to)), ...);
  return all;
}

constexpr auto kRows =
    concatenate(class_rows<f32_bits, std::uint32_t>(0x10, "v_cmp_class_f32", "v_cmpx_class_f32"),
                class_rows<f64_bits, std::uint64_t>(0x12, "v_cmp_class_f64", "v_cmpx_class_f64"),
                class_rows<f16_bits, std::uint16_t>(0x14, "v_cmp_class_f16", "v_cmpx_class_f16"), float_rows<f16, 0x20>(),
                float_rows<f32, 0x40>(), float_rows<f64, 0x60>(), integer_rows<i16, 0xa0>(), integer_rows<u16, 0xa8>(),
                integer_rows<i32, 0xc0>(), integer_rows<u32, 0xc8>(), integer_rows<i64, 0xe0>(), integer_rows<u64, 0xe8>());

}  // namespace

std::span<const InstructionRow> vopc_rows() { return kRows; }

}  // namespace lacuna::isa
