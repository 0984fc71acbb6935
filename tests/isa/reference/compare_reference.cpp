// Reference results of comparisons and classes ([GCN3], [Vega]: VOPC). v_cmpx_* also write the result to EXEC, which the bench
// checks.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "models/isa/decode/table.h"
#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

enum Order : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

/// Orders for which a condition is true: a set of bits of Order.
struct Condition {
  std::string_view name;
  unsigned holds;
};
constexpr Condition kConditions[] = {
    {"f", 0},
    {"lt", kLess},
    {"eq", kEqual},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"lg", kLess | kGreater},
    {"ge", kGreater | kEqual},
    {"o", kLess | kEqual | kGreater},
    {"u", kUnordered},
    {"nge", kLess | kUnordered},
    {"nlg", kEqual | kUnordered},
    {"ngt", kLess | kEqual | kUnordered},
    {"nle", kGreater | kUnordered},
    {"neq", kLess | kGreater | kUnordered},
    {"nlt", kGreater | kEqual | kUnordered},
    {"tru", kLess | kEqual | kGreater | kUnordered},
    // names that only integer comparisons use
    {"ne", kLess | kGreater},
    {"t", kLess | kEqual | kGreater},
};

template <const BinaryFormat& F>
unsigned order(const Lane& l, const Context& x) {
  constexpr unsigned kOrders[] = {kLess, kEqual, kGreater, kUnordered};
  return kOrders[compare(input(l.a, x, F), input(l.b, x, F), F) + 1];
}
template <class T>
unsigned order_of(T a, T b) {
  return a < b ? kLess : a == b ? kEqual : kGreater;
}
/// Bit i of S1 selects class i, from signalling NaN to +infinity; denormals are recognised regardless of MODE.
template <const BinaryFormat& F>
Outcome of_class(const Lane& l, const Context&) {
  unsigned which = 0;
  if (F.nan(l.a)) {
    which = F.signalling(l.a) ? 0 : 1;
  } else {
    const unsigned size = F.infinite(l.a) ? 3 : F.zero(l.a) ? 0 : F.denormal(l.a) ? 1 : 2;
    which = F.negative(l.a) ? 5 - size : 6 + size;
  }
  return {0, 0, (l.b >> which & 1) != 0};
}

using OrderOf = unsigned (*)(const Lane&, const Context&);
struct Type {
  std::string_view name;
  OrderOf order;
};
constexpr Type kTypes[] = {
    {"f16", order<kHalf16>},
    {"f32", order<kSingle>},
    {"f64", order<kDouble>},
    {"i16", [](const Lane& l, const Context&) { return order_of(s16(l.a), s16(l.b)); }},
    {"u16", [](const Lane& l, const Context&) { return order_of(u16(l.a), u16(l.b)); }},
    {"i32", [](const Lane& l, const Context&) { return order_of(s32(l.a), s32(l.b)); }},
    {"u32", [](const Lane& l, const Context&) { return order_of(u32(l.a), u32(l.b)); }},
    {"i64", [](const Lane& l, const Context&) { return order_of(s64(l.a), s64(l.b)); }},
    {"u64", [](const Lane& l, const Context&) { return order_of(l.a, l.b); }},
};

template <unsigned kType, unsigned kCondition>
Outcome compared_by(const Lane& l, const Context& x) {
  return {0, 0, (kTypes[kType].order(l, x) & kConditions[kCondition].holds) != 0};
}
template <unsigned kType, unsigned... kCondition>
constexpr std::array<Reference, sizeof...(kCondition)> row_of(std::integer_sequence<unsigned, kCondition...>) {
  return {compared_by<kType, kCondition>...};
}
constexpr unsigned kConditionCount = std::size(kConditions);
template <unsigned... kType>
constexpr auto all_of(std::integer_sequence<unsigned, kType...>) {
  return std::array{row_of<kType>(std::make_integer_sequence<unsigned, kConditionCount>{})...};
}
constexpr auto kCompared = all_of(std::make_integer_sequence<unsigned, std::size(kTypes)>{});

/// v_cmp_CONDITION_TYPE: the function for the mnemonic, or nullptr.
Reference reference_of(std::string_view mnemonic) {
  const std::size_t type_at = mnemonic.rfind('_');
  const std::size_t condition_at = mnemonic.rfind('_', type_at - 1);
  const std::string_view type = mnemonic.substr(type_at + 1);
  const std::string_view condition = mnemonic.substr(condition_at + 1, type_at - condition_at - 1);
  if (condition == "class") return type == "f16" ? of_class<kHalf16> : type == "f32" ? of_class<kSingle> : of_class<kDouble>;
  const auto* t = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& v) { return v.name == type; });
  const auto* c =
      std::find_if(std::begin(kConditions), std::end(kConditions), [&](const Condition& v) { return v.name == condition; });
  if (t == std::end(kTypes) || c == std::end(kConditions)) return nullptr;
  return kCompared[static_cast<std::size_t>(t - std::begin(kTypes))][static_cast<std::size_t>(c - std::begin(kConditions))];
}

std::vector<ReferenceEntry> build() {
  std::vector<ReferenceEntry> entries;
  for (const InstructionRow& row : rows(Format::vopc)) {
    if (const Reference reference = reference_of(row.mnemonic)) entries.push_back({row.mnemonic, reference});
  }
  return entries;
}

}  // namespace

std::span<const ReferenceEntry> compare_references() {
  static const std::vector<ReferenceEntry> entries = build();
  return entries;
}

}  // namespace lacuna::isa::test
