#include "expression_generator.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lacuna::programs {
namespace {

constexpr const char* kComponents = "0123456789abcdef";

std::string hex(std::uint64_t bits) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(bits));
  return text.data();
}

/// Unsigned type in which arithmetic of `type` is computed. Scalars of less than 32 bits use uint, since promotion to int could
/// overflow.
Type arithmetic_type(Type type) {
  const Type result = unsigned_like(type);
  return !result.is_vector() && result.element_bytes() < 4 ? kUint : result;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::vector<Type> types_where(const auto& wanted) {
  std::vector<Type> result;
  for (unsigned scalar = 0; scalar < kScalars; ++scalar) {
    for (const unsigned width : kWidths) {
      const Type type{static_cast<Scalar>(scalar), width};
      if (wanted(type)) result.push_back(type);
    }
  }
  return result;
}

}  // namespace

ExpressionGenerator::ExpressionGenerator(Random& random) : random_(random) {
  const unsigned count = random_.between(3, 6);
  for (unsigned i = 0; i < count; ++i) palette_.push_back(random_type());
  palette_.push_back(kInt);
}

Type ExpressionGenerator::random_type() {
  // Wide vectors are rarer, because their code is long.
  static constexpr std::array<unsigned, 16> kWidthChoice{1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 4, 8, 16};
  const auto scalar = static_cast<Scalar>(random_.below(kScalars));
  const unsigned width = random_.pick(kWidthChoice);
  return {scalar, width};
}

std::optional<Type> ExpressionGenerator::prefer(const std::vector<Type>& candidates) {
  if (candidates.empty()) return std::nullopt;
  std::vector<Type> liked;
  for (const Type& type : candidates) {
    if (std::find(palette_.begin(), palette_.end(), type) != palette_.end()) liked.push_back(type);
  }
  return !liked.empty() && random_.percent(75) ? random_.pick(liked) : random_.pick(candidates);
}

std::optional<Type> ExpressionGenerator::operand_type(char letter, Type type) {
  switch (letter) {
    case 'T':
      return type;
    case 'U':
      return unsigned_like(type);
    case 'P':
      return type.width == 3 ? std::nullopt : std::optional(unsigned_like(type));
    case 'S':
      return signed_like(type);
    case 'E':
      return type.element();
    case 'N':
      return narrowed(type);
    case 'n': {
      const std::optional<Type> narrow = narrowed(type);
      return narrow ? std::optional(unsigned_like(*narrow)) : std::nullopt;
    }
    case 'I':
      return kInt;
    case 'J':
      return kInt.with_width(type.width);
    case 'C':
      return type.is_vector() ? signed_like(type) : kInt;
    case 'A':
      return prefer(types_where([&](Type t) { return t.is_integer() && t.width == type.width; }));
    case 'F':
      return prefer(types_where([&](Type t) { return t.is_float() && t.width == type.width; }));
    case 'K':
      return prefer(types_where([&](Type t) { return mask_of(t) == type; }));
    case 'k':
      return prefer(types_where([&](Type t) { return t.is_float() && mask_of(t) == type; }));
    case 'X':
    case 'Y':
      return prefer(types_where([&](Type t) {
        return t.is_float() == (letter == 'Y') && t.bytes() == type.bytes() && (t.width == 3) == (type.width == 3);
      }));
    case 'M':
      return prefer(types_where([](Type t) { return t.is_signed() && t.is_vector(); }));
    case 'V':
      return prefer(types_where([&](Type t) { return t.is_vector() && t.scalar == type.scalar; }));
    case 'L':
      if (type.width % 2 != 0) return std::nullopt;
      return type.with_width(type.width / 2);
    case 'D':
      if (type.width == 3 || type.width == 16) return std::nullopt;
      return type.with_width(type.width * 2);
    default:
      return std::nullopt;
  }
}

std::string ExpressionGenerator::swizzle(unsigned width) {
  std::string components;
  for (unsigned i = 0; i < width; ++i) components += kComponents[random_.below(width)];
  return components;
}

Expression ExpressionGenerator::literal(Type type) {
  if (type.is_vector()) {
    if (type.width <= 4 && random_.percent(60)) {
      std::string text = "((" + type.name() + ")(";
      for (unsigned i = 0; i < type.width; ++i) text += (i == 0 ? "" : ", ") + literal(type.element()).text;
      return {type, text + "))", {}};
    }
    return {type, "((" + type.name() + ")(" + literal(type.element()).text + "))", {}};
  }
  const std::string cast = "((" + type.name() + ")";
  if (type.is_float()) {
    static constexpr std::array kValues{"0.0",  "1.0",        "-1.0", "0.5",   "-2.0",  "0.1",      "3.0",   "-7.25",   "1e10",
                                        "1e-9", "16777216.0", "1e38", "1e-38", "1e-41", "-2.5e-45", "255.5", "-32768.5"};
    return {type, cast + random_.pick(kValues) + ")", {}};
  }
  const unsigned bits = type.element_bytes() * 8;
  if (random_.percent(60)) {
    const int value = static_cast<int>(random_.below(40)) - (type.is_signed() ? 8 : 0);
    return {type, cast + std::to_string(value) + ")", {}};
  }
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  std::uint64_t value = random_.bits();
  switch (random_.below(4)) {
    case 0:
      value = all >> 1U;
      break;
    case 1:
      value = (all >> 1U) + 1;
      break;
    case 2:
      value = (std::uint64_t{1} << random_.below(bits)) - random_.below(2);
      break;
    default:
      break;
  }
  return {type, cast + hex(value & all) + ")", {}};
}

std::string ExpressionGenerator::element(const std::string& array, unsigned operand, unsigned size) {
  return array + "[{" + std::to_string(operand) + "} & " + std::to_string(size - 1) + "]";
}

Expression ExpressionGenerator::load(Type type, const Scope& scope) {
  const Expression position = leaf(kInt, Scope{scope.variables, {}, {}, false});
  const std::string number_open = type.is_float() ? "number(" : "(";
  if (type.width == 3) {
    const unsigned vectors = kInputWords * 4 / type.element_bytes() / 4;
    return {
        type,
        number_open + "vload3({0} & " + std::to_string(vectors - 1) + ", (global const " + type.element().name() + " *)input))",
        {position}};
  }
  const unsigned count = kInputWords * 4 / type.bytes();
  return {
      type, number_open + "((global const " + type.name() + " *)input)[{0} & " + std::to_string(count - 1) + "])", {position}};
}

Expression ExpressionGenerator::leaf(Type type, const Scope& scope) {
  std::vector<std::string> names;
  for (const Variable& variable : scope.variables) {
    if (variable.type == type) names.push_back(variable.name);
  }
  if (!names.empty() && random_.percent(75)) return {type, random_.pick(names), {}};
  if (scope.input && random_.percent(60)) return load(type, scope);
  return literal(type);
}

Expression ExpressionGenerator::call(const Callable& function, const Scope& scope, unsigned depth) {
  Expression result{function.result, function.open, {}};
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    result.text += (i == 0 ? "{" : ", {") + std::to_string(i) + "}";
    result.operands.push_back(expression(function.parameters[i], scope, depth));
  }
  result.text += ")";
  return result;
}

Expression ExpressionGenerator::apply(const OperatorRow& row, Type type, const Scope& scope, unsigned depth) {
  static constexpr std::array kRounding{"", "", "_rte", "_rtz", "_rtp", "_rtn"};
  Expression result{type, row.text, {}};
  std::optional<Type> same;
  for (const char* letter = row.operands; *letter != 0; ++letter) {
    const bool comparison = *letter == 'K' || *letter == 'k';
    const std::optional<Type> wanted = comparison && same ? same : operand_type(*letter, type);
    if (!wanted) return leaf(type, scope);
    if (comparison) same = wanted;
    result.operands.push_back(expression(*wanted, scope, depth - 1));
  }
  // Without parentheses, a component selected from a cast would be selected from the operand of the cast.
  if (result.text.starts_with("(<T>)")) result.text = "(" + result.text + ")";
  replace(result.text, "<T>", type.name());
  replace(result.text, "<U>", unsigned_like(type).name());
  replace(result.text, "<P>", arithmetic_type(type).name());
  replace(result.text, "<R>", random_.pick(kRounding));
  replace(result.text, "<q>", swizzle(type.width));
  replace(result.text, "<k>", std::to_string(random_.between(1, type.element_bytes() * 8 - 1)));
  if (!result.operands.empty()) {
    replace(result.text, "<c>", std::string(1, kComponents[random_.below(result.operands[0].type.width)]));
  }
  return result;
}

Expression ExpressionGenerator::expression(Type type, const Scope& scope, unsigned depth) {
  if (depth == 0 || random_.percent(12)) return leaf(type, scope);
  if (random_.percent(12)) {
    std::vector<Callable> callable;
    for (const Callable& function : scope.functions) {
      if (function.result == type && (scope.input || !function.reads_input)) callable.push_back(function);
    }
    if (!callable.empty()) return call(random_.pick(callable), scope, depth - 1);
  }
  if (random_.percent(15)) {
    std::vector<Array> arrays;
    for (const Array& array : scope.arrays) {
      if (array.type == type) arrays.push_back(array);
    }
    if (!arrays.empty()) {
      const Array& array = random_.pick(arrays);
      return {type, element(array.name, 0, array.size), {expression(kInt, scope, depth - 1)}};
    }
  }
  unsigned total = 0;
  for (const OperatorRow& row : operator_table()) total += in_set(type, row.results) ? row.weight : 0;
  unsigned left = random_.below(total);
  for (const OperatorRow& row : operator_table()) {
    if (!in_set(type, row.results)) continue;
    if (left < row.weight) return apply(row, type, scope, depth);
    left -= row.weight;
  }
  return leaf(type, scope);
}

}  // namespace lacuna::programs
