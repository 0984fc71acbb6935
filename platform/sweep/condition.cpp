#include "platform/sweep/condition.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "models/common/config/nearest_name.h"
#include "platform/launch/expression.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/value_list.h"

namespace lacuna {
namespace {

bool name_begin(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool name_character(char c) { return name_begin(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; }

Number number_of(double value) {
  if (value == std::floor(value) && std::fabs(value) < 0x1p63) return Number::of(static_cast<WideInteger>(value));
  return Number::of_real(value);
}

/// Numbers that represent texts in expressions: a quantity is represented by its value, `true` and `false` by 1 and 0, every
/// other text by a unique number, which is the same at each occurrence.
class Texts {
 public:
  Number number(std::string_view text) {
    if (const auto quantity = parse_quantity(text)) return number_of(quantity->value);
    if (text == "true" || text == "false") return Number::of(text == "true" ? 1 : 0);
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    // First number that represents a text: larger than any number that conditions of users contain.
    constexpr WideInteger kFirst = WideInteger{1} << 62;
    const WideInteger result = kFirst + (found - texts_.begin());
    if (found == texts_.end()) texts_.emplace_back(text);
    return Number::of(result);
  }

 private:
  std::vector<std::string> texts_;
};

/// Translates an expression for the evaluator: axes, texts and quantities become variables `value0`, `value1`, …
class TranslatedExpression {
 public:
  /// `real`: evaluate all numbers as real numbers.
  TranslatedExpression(std::string_view text, const NamedValues& values, bool real = false) : values_(values), real_(real) {
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c == '"' || c == '\'') {
        const std::size_t end = text.find(c, at + 1);
        if (end == std::string_view::npos) throw SweepError("a quote has no end");
        add_text(text.substr(at + 1, end - at - 1));
        at = end + 1;
      } else if (name_begin(c)) {
        std::size_t end = at;
        while (end < text.size() && name_character(text[end])) ++end;
        add_name(text.substr(at, end - at), end < text.size() && text[end] == '(');
        at = end;
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        std::size_t end = at;
        while (end < text.size() && name_character(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const auto quantity = parse_quantity(word);
        if (quantity && quantity->kind != Quantity::Kind::plain) {
          add_text(word);
        } else {
          expression_ += word;
        }
        at = end;
      } else {
        expression_ += c;
        ++at;
      }
    }
  }

  Number value() const {
    try {
      return evaluate(expression_, scope_);
    } catch (const LaunchError& e) {
      throw SweepError(e.what());
    }
  }

 private:
  void add_text(std::string_view text) { add_variable(texts_.number(text)); }

  void add_name(std::string_view name, bool function) {
    const auto named = std::find_if(values_.begin(), values_.end(), [&](const auto& value) { return value.first == name; });
    if (named != values_.end()) {
      add_variable(texts_.number(named->second));
    } else if (function || name == "pi" || name == "inf" || name == "nan") {
      expression_ += name;
    } else if (name == "true" || name == "false") {
      add_text(name);
    } else {
      std::vector<std::string> names;
      for (const auto& [known, value] : values_) names.push_back(known);
      throw SweepError("unknown name " + std::string(name) + did_you_mean(nearest_name(names, name)));
    }
  }

  void add_variable(Number number) {
    if (real_) number = Number::of_real(number.as_double());
    const std::string name = "value" + std::to_string(scope_.variables.size());
    scope_.variables.emplace(name, number);
    expression_ += name;
  }

  const NamedValues& values_;
  bool real_;
  Texts texts_;
  ExpressionScope scope_;
  std::string expression_;
};

}  // namespace

bool holds(std::string_view condition, const NamedValues& values) {
  return TranslatedExpression(condition, values).value().truth();
}

double expression_value(std::string_view expression, const NamedValues& values) {
  return TranslatedExpression(expression, values, true).value().as_double();
}

std::vector<TextPart> parts_of(std::string_view text) {
  try {
    return split_braces(text);
  } catch (const LaunchError& e) {
    throw SweepError(e.what());
  }
}

std::string substitute_values(std::string_view text, const NamedValues& values) {
  std::string result;
  for (const TextPart& part : parts_of(text)) {
    const std::string_view inside = part.braced ? trimmed(part.text) : part.text;
    const auto named = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == inside; });
    if (!part.braced) {
      result += inside;
    } else {
      result += named != values.end() ? named->second : number_text(TranslatedExpression(inside, values).value());
    }
  }
  return result;
}

void add_to_list(std::string& list, std::string_view text, std::string_view separator) {
  if (!list.empty()) list += separator;
  list += text;
}

bool refers_to(std::string_view text, std::string_view name) {
  for (const TextPart& part : parts_of(text)) {
    if (!part.braced) continue;
    for (std::size_t at = part.text.find(name); at != std::string_view::npos; at = part.text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !name_character(part.text[at - 1])) && (end == part.text.size() || !name_character(part.text[end])))
        return true;
    }
  }
  return false;
}

}  // namespace lacuna
