#include "platform/sweep/value_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "platform/launch/text.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

struct Unit {
  std::string_view name;
  Quantity::Kind kind;
  double scale;
};

using Kind = Quantity::Kind;
constexpr std::array<Unit, 14> kUnits{{{"B", Kind::bytes, 1},
                                       {"KiB", Kind::bytes, 0x1p10},
                                       {"MiB", Kind::bytes, 0x1p20},
                                       {"GiB", Kind::bytes, 0x1p30},
                                       {"Hz", Kind::frequency, 1},
                                       {"kHz", Kind::frequency, 1e3},
                                       {"MHz", Kind::frequency, 1e6},
                                       {"GHz", Kind::frequency, 1e9},
                                       {"ps", Kind::time, 1},
                                       {"ns", Kind::time, 1e3},
                                       {"us", Kind::time, 1e6},
                                       {"ms", Kind::time, 1e9},
                                       {"s", Kind::time, 1e12},
                                       {"cycles", Kind::cycles, 1}}};

/// Maximum number of values of an axis, to refuse ranges that are too long because of a typing error.
constexpr std::size_t kMostValues = 1'000'000;

std::string number_in_unit(double value, const Quantity& like) {
  std::array<char, 64> text{};
  const double scaled = value / like.scale;
  const auto end = scaled == std::floor(scaled) && std::fabs(scaled) < 0x1p53
                       ? std::to_chars(text.data(), text.data() + text.size(), static_cast<long long>(scaled)).ptr
                       : std::to_chars(text.data(), text.data() + text.size(), scaled).ptr;
  return std::string(text.data(), end) + like.unit;
}

Quantity end_of_range(std::string_view text, std::string_view whole) {
  const auto quantity = parse_quantity(trimmed(text));
  if (!quantity) throw SweepError('"' + std::string(whole) + "\": " + std::string(trimmed(text)) + " is not a number");
  return *quantity;
}

void add_range(std::string_view text, std::size_t dots, std::vector<std::string>& values) {
  const Quantity first = end_of_range(text.substr(0, dots), text);
  const std::string_view rest = text.substr(dots + 2);
  // The sign of an exponent or of a number is not an operator.
  std::size_t sign = std::string_view::npos;
  for (std::size_t at = 1; at < rest.size() && sign == std::string_view::npos; ++at)
    if (rest[at] == '*' || (rest[at] == '+' && rest[at - 1] != 'e' && rest[at - 1] != 'E')) sign = at;
  const Quantity last = end_of_range(rest.substr(0, sign), text);
  const bool multiply = sign != std::string_view::npos && rest[sign] == '*';
  Quantity step = first;
  step.value = first.scale;
  if (sign != std::string_view::npos) step = end_of_range(rest.substr(sign + 1), text);
  const std::string quoted = '"' + std::string(text) + '"';
  if (last.kind != first.kind || (multiply ? step.kind != Kind::plain : step.kind != first.kind))
    throw SweepError(quoted + ": the units do not fit");
  if (last.value < first.value) throw SweepError(quoted + ": the range ends before it begins");
  if (multiply ? !(step.value > 1 && first.value > 0) : !(step.value > 0))
    throw SweepError(quoted + ": the range does not grow");
  // Tolerate rounding errors, so that the last value is included.
  const double end = last.value + 1e-9 * std::max(std::fabs(last.value), step.value);
  double value = first.value;
  for (std::size_t number = 1; value <= end; ++number) {
    if (values.size() >= kMostValues) throw SweepError(quoted + ": more than a million values");
    values.push_back(number_in_unit(value, first));
    value = multiply ? value * step.value : first.value + static_cast<double>(number) * step.value;
  }
}

/// Splits at commas outside of quotes and brackets.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  if (quoted) throw SweepError("a quote has no end");
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

}  // namespace

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity result;
  const char* const end = text.data() + text.size();
  std::from_chars_result parsed{};
  if (text.starts_with("0x")) {
    std::uint64_t integer = 0;
    parsed = std::from_chars(text.data() + 2, end, integer, 16);
    result.value = static_cast<double>(integer);
  } else {
    parsed = std::from_chars(text.data(), end, result.value);
  }
  if (parsed.ec != std::errc{} || !std::isfinite(result.value)) return std::nullopt;
  result.unit = std::string(trimmed(std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr))));
  if (result.unit.empty()) return result;
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == result.unit; });
  if (unit == kUnits.end()) return std::nullopt;
  result.kind = unit->kind;
  result.scale = unit->scale;
  result.value *= unit->scale;
  return result;
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto quantity = parse_quantity(trimmed(text.substr(0, text.size() - (percent ? 1 : 0))));
  if (!quantity || quantity->kind != Quantity::Kind::plain || quantity->value < 0) return std::nullopt;
  return quantity->value / (percent ? 100 : 1);
}

std::vector<std::string> parse_values(std::string_view text) {
  std::vector<std::string> values;
  for (const std::string_view part : split(text)) {
    if (part.empty()) throw SweepError("a value is empty; write \"\" for an empty text");
    if (part.size() >= 2 && part.front() == '"' && part.back() == '"') {
      values.emplace_back(part.substr(1, part.size() - 2));
    } else if (const std::size_t dots = part.find("..");
               dots != std::string_view::npos && dots != 0 && part.front() >= '0' && part.front() <= '9') {
      add_range(part, dots, values);
    } else {
      values.emplace_back(part);
    }
  }
  return values;
}

}  // namespace lacuna
