// Arithmetic of launch files and arguments: integers and reals with C's operators.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace lacuna {

/// Wide enough for every 64-bit integer, signed or not, and for the sum of two.
__extension__ using WideInteger = __int128;

struct Number {
  bool real = false;
  WideInteger integer = 0;
  double value = 0;  ///< the number, if `real` is true

  static Number of(WideInteger i) { return {false, i, 0}; }
  static Number of_real(double d) { return {true, 0, d}; }
  double as_double() const { return real ? value : static_cast<double>(integer); }
  bool truth() const { return real ? value != 0 : integer != 0; }
};

std::string number_text(const Number& number);

/// Values of the names and buffer elements that an expression may contain.
struct ExpressionScope {
  std::map<std::string, Number, std::less<>> variables;
  /// Returns an element of a buffer; null = buffers cannot be read. Throws LaunchError for an unknown buffer or index.
  std::function<Number(const std::string& buffer, std::int64_t index)> element;
};

/// Evaluates an expression. Throws LaunchError with the problem and its position in the text; for an unknown name with the
/// nearest name.
Number evaluate(std::string_view expression, const ExpressionScope& scope);
/// Like evaluate(), but throws LaunchError if the result is not an integer in [min, max].
std::int64_t evaluate_integer(std::string_view expression, const ExpressionScope& scope, std::int64_t min, std::int64_t max);
/// Replaces each {EXPRESSION} by its value.
std::string substitute(std::string_view text, const ExpressionScope& scope);

}  // namespace lacuna
