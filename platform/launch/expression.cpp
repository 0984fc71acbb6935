#include "platform/launch/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

/// Range of integers: they must be representable in 64 bits, signed or unsigned.
constexpr WideInteger kLeast = std::numeric_limits<std::int64_t>::min();
constexpr WideInteger kMost = std::numeric_limits<std::uint64_t>::max();
/// Nesting limit, needed because the parser is recursive; far deeper than expressions of users.
constexpr int kDeepest = 200;

struct Operator {
  std::string_view text;
  int precedence;  ///< relative precedence as in C; larger values bind tighter
};
/// Longer operators first, so that "<<" is not read as "<".
constexpr std::array<Operator, 18> kOperators{{{"||", 1},
                                               {"&&", 2},
                                               {"==", 6},
                                               {"!=", 6},
                                               {"<=", 7},
                                               {">=", 7},
                                               {"<<", 8},
                                               {">>", 8},
                                               {"|", 3},
                                               {"^", 4},
                                               {"&", 5},
                                               {"<", 7},
                                               {">", 7},
                                               {"+", 9},
                                               {"-", 9},
                                               {"*", 10},
                                               {"/", 10},
                                               {"%", 10}}};

struct RealFunction {
  std::string_view name;
  double (*function)(double);
};
constexpr std::array<RealFunction, 6> kRealFunctions{{{"sqrt", [](double x) { return std::sqrt(x); }},
                                                      {"sin", [](double x) { return std::sin(x); }},
                                                      {"cos", [](double x) { return std::cos(x); }},
                                                      {"exp", [](double x) { return std::exp(x); }},
                                                      {"log", [](double x) { return std::log(x); }},
                                                      {"floor", [](double x) { return std::floor(x); }}}};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, const ExpressionScope& scope) : text_(text), scope_(scope) {}

  Number whole() {
    const Number result = conditional(true);
    skip_blanks();
    if (at_ != text_.size()) fail("expected an operator");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw LaunchError("in expression \"" + std::string(text_) + "\", column " + std::to_string(at_ + 1) + ": " + reason);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void require(char c) {
    if (!accept(c)) fail(std::string("expected ") + c);
  }

  Number checked(WideInteger value) const {
    if (value < kLeast || value > kMost) fail("integer overflow");
    return Number::of(value);
  }

  /// `live`: false in a branch that is not taken, which is parsed without reporting evaluation errors.
  Number conditional(bool live) {
    if (++depth_ > kDeepest) fail("nested too deeply");
    Number result = binary(1, live);
    if (accept('?')) {
      const bool chosen = result.truth();
      const Number yes = conditional(live && chosen);
      require(':');
      const Number no = conditional(live && !chosen);
      result = chosen ? yes : no;
    }
    --depth_;
    return result;
  }

  const Operator* peek_operator() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const auto found =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& o) { return rest.starts_with(o.text); });
    return found == kOperators.end() ? nullptr : &*found;
  }

  Number binary(int precedence, bool live) {
    Number left = unary(live);
    for (const Operator* op = peek_operator(); op != nullptr && op->precedence >= precedence; op = peek_operator()) {
      at_ += op->text.size();
      const bool needed = op->text == "&&" ? left.truth() : op->text != "||" || !left.truth();
      const Number right = binary(op->precedence + 1, live && needed);
      left = live ? apply(op->text, left, right) : Number{};
    }
    return left;
  }

  Number unary(bool live) {
    if (++depth_ > kDeepest) fail("nested too deeply");
    Number result;
    if (accept('-')) {
      const Number operand = unary(live);
      result = operand.real ? Number::of_real(-operand.value) : checked(-operand.integer);
    } else if (accept('+')) {
      result = unary(live);
    } else if (accept('~')) {
      const Number operand = unary(live);
      if (operand.real) fail("~ needs an integer");
      result = Number::of(~static_cast<std::int64_t>(operand.integer));
    } else if (accept('!')) {
      result = Number::of(unary(live).truth() ? 0 : 1);
    } else {
      result = primary(live);
    }
    --depth_;
    return result;
  }

  Number apply(std::string_view op, const Number& a, const Number& b) const {
    if (op == "&&") return Number::of(a.truth() && b.truth() ? 1 : 0);
    if (op == "||") return Number::of(a.truth() || b.truth() ? 1 : 0);
    return a.real || b.real ? apply_real(op, a.as_double(), b.as_double()) : apply_integer(op, a.integer, b.integer);
  }

  Number apply_real(std::string_view op, double a, double b) const {
    if (op == "+") return Number::of_real(a + b);
    if (op == "-") return Number::of_real(a - b);
    if (op == "*") return Number::of_real(a * b);
    if (op == "/") return Number::of_real(a / b);
    if (op == "%") return Number::of_real(std::fmod(a, b));
    if (op == "<") return Number::of(a < b);
    if (op == ">") return Number::of(a > b);
    if (op == "<=") return Number::of(a <= b);
    if (op == ">=") return Number::of(a >= b);
    if (op == "==") return Number::of(a == b);
    if (op == "!=") return Number::of(a != b);
    fail(std::string(op) + " needs integers");
  }

  Number apply_integer(std::string_view op, WideInteger a, WideInteger b) const {
    if (op == "+") return checked(a + b);
    if (op == "-") return checked(a - b);
    if (op == "*") {
      // The product of two 65-bit numbers can overflow even 128 bits.
      if (a != 0 && b != 0 && (a > kMost / (b < 0 ? -b : b) || a < -kMost / (b < 0 ? -b : b))) fail("integer overflow");
      return checked(a * b);
    }
    if (op == "/" || op == "%") {
      if (b == 0) fail("division by zero");
      return Number::of(op == "/" ? a / b : a % b);
    }
    if (op == "<<" || op == ">>") {
      if (b < 0 || b > 63) fail("shift by something outside 0..63");
      return op == "<<" ? checked(a * (WideInteger{1} << static_cast<int>(b))) : Number::of(a >> static_cast<int>(b));
    }
    if (op == "&") return Number::of(a & b);
    if (op == "|") return Number::of(a | b);
    if (op == "^") return Number::of(a ^ b);
    if (op == "<") return Number::of(a < b);
    if (op == ">") return Number::of(a > b);
    if (op == "<=") return Number::of(a <= b);
    if (op == ">=") return Number::of(a >= b);
    if (op == "==") return Number::of(a == b);
    return Number::of(a != b);
  }

  Number primary(bool live) {
    skip_blanks();
    if (accept('(')) {
      const Number result = conditional(live);
      require(')');
      return result;
    }
    if (at_ >= text_.size()) fail("expected a number or a name");
    const char c = text_[at_];
    if ((c >= '0' && c <= '9') || c == '.') return literal();
    if (!is_name_character(c)) fail("expected a number or a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (accept('(')) return call(name, begin, live);
    if (accept('[')) {
      const Number index = conditional(live);
      require(']');
      if (!live) return {};
      if (index.real) fail("an index must be an integer");
      if (!scope_.element) fail("buffers cannot be read here");
      if (index.integer < 0 || index.integer > std::numeric_limits<std::int64_t>::max()) fail("the index is out of range");
      return scope_.element(name, static_cast<std::int64_t>(index.integer));
    }
    return variable(name, begin);
  }

  Number literal() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    Number result;
    std::from_chars_result parsed{};
    if (end - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X')) {
      std::uint64_t value = 0;
      parsed = std::from_chars(begin + 2, end, value, 16);
      result = Number::of(value);
    } else {
      std::uint64_t integer = 0;
      double real = 0;
      const auto as_integer = std::from_chars(begin, end, integer);
      const auto as_real = std::from_chars(begin, end, real);
      parsed = as_real.ptr > as_integer.ptr ? as_real : as_integer;
      result = as_real.ptr > as_integer.ptr ? Number::of_real(real) : Number::of(integer);
    }
    if (parsed.ec != std::errc{}) fail("not a number, or one that is out of range");
    at_ += static_cast<std::size_t>(parsed.ptr - begin);
    if (at_ < text_.size() && is_name_character(text_[at_])) fail("a number must end before " + std::string(1, text_[at_]));
    return result;
  }

  Number variable(const std::string& name, std::size_t begin) {
    if (const auto found = scope_.variables.find(name); found != scope_.variables.end()) return found->second;
    if (name == "nan") return Number::of_real(std::numeric_limits<double>::quiet_NaN());
    if (name == "inf") return Number::of_real(std::numeric_limits<double>::infinity());
    if (name == "pi") return Number::of_real(std::numbers::pi);
    std::vector<std::string> names{"nan", "inf", "pi"};
    for (const auto& [known, value] : scope_.variables) names.push_back(known);
    at_ = begin;
    fail("unknown name " + name + did_you_mean(nearest_name(names, name)));
  }

  Number call(const std::string& name, std::size_t begin, bool live) {
    std::vector<Number> arguments;
    do {
      arguments.push_back(conditional(live));
    } while (accept(','));
    require(')');
    const auto count = [&](std::size_t wanted) {
      if (arguments.size() != wanted) fail(name + " takes " + std::to_string(wanted) + " arguments");
    };
    if (!live) return {};
    if (name == "min" || name == "max") {
      count(2);
      const bool less = apply("<", arguments[0], arguments[1]).truth();
      return less == (name == "min") ? arguments[0] : arguments[1];
    }
    const auto real =
        std::find_if(kRealFunctions.begin(), kRealFunctions.end(), [&](const RealFunction& f) { return f.name == name; });
    if (real != kRealFunctions.end()) {
      count(1);
      return Number::of_real(real->function(arguments[0].as_double()));
    }
    if (name == "ceil") return count(1), Number::of_real(std::ceil(arguments[0].as_double()));
    if (name == "float") return count(1), Number::of_real(arguments[0].as_double());
    if (name == "int") return count(1), to_integer(arguments[0]);
    if (name == "abs") {
      count(1);
      const Number& a = arguments[0];
      return a.real ? Number::of_real(std::fabs(a.value)) : checked(a.integer < 0 ? -a.integer : a.integer);
    }
    if (name == "log2") return count(1), log2(arguments[0]);
    at_ = begin;
    fail("unknown function " + name +
         did_you_mean(nearest_name(
             {"min", "max", "abs", "log2", "floor", "ceil", "sqrt", "sin", "cos", "exp", "log", "int", "float"}, name)));
  }

  Number to_integer(const Number& number) const {
    if (!number.real) return number;
    if (!(std::fabs(number.value) < 0x1p64)) fail("the number is out of an integer's range");
    return checked(static_cast<WideInteger>(number.value));
  }

  Number log2(const Number& number) const {
    if (number.real) return Number::of_real(std::log2(number.value));
    if (number.integer <= 0) fail("log2 of an integer that is not positive");
    int bits = 0;
    for (WideInteger rest = number.integer; rest > 1; rest >>= 1) ++bits;
    return Number::of(bits);
  }

  std::string_view text_;
  const ExpressionScope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string number_text(const Number& number) {
  if (number.real) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number.value);
    return {text.data(), end.ptr};
  }
  // Integers have at most 65 bits: a sign and an unsigned 64-bit number.
  const bool negative = number.integer < 0;
  return (negative ? "-" : "") + std::to_string(static_cast<std::uint64_t>(negative ? -number.integer : number.integer));
}

Number evaluate(std::string_view expression, const ExpressionScope& scope) { return Parser(expression, scope).whole(); }

std::int64_t evaluate_integer(std::string_view expression, const ExpressionScope& scope, std::int64_t min, std::int64_t max) {
  const Number number = evaluate(expression, scope);
  const bool whole = !number.real || (number.value == std::floor(number.value) && std::fabs(number.value) < 0x1p62);
  if (!whole) throw LaunchError('"' + std::string(expression) + "\" is " + number_text(number) + ", not an integer");
  const WideInteger value = number.real ? static_cast<WideInteger>(number.value) : number.integer;
  if (value < min || value > max)
    throw LaunchError('"' + std::string(expression) + "\" is " + number_text(number) + ", outside " + std::to_string(min) +
                      ".." + std::to_string(max));
  return static_cast<std::int64_t>(value);
}

std::string substitute(std::string_view text, const ExpressionScope& scope) {
  std::string result;
  for (const TextPart& part : split_braces(text))
    result += part.braced ? number_text(evaluate(part.text, scope)) : std::string(part.text);
  return result;
}

}  // namespace lacuna
