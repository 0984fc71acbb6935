#include "platform/launch/text.h"

#include <algorithm>

#include "platform/launch/launch_error.h"

namespace lacuna {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split_outside(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = std::string(trimmed(part));
  return parts;
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<TextPart> split_braces(std::string_view text) {
  const auto refuse = [whole = std::string(text)](const char* what) {
    throw LaunchError(std::string(what) + " in \"" + whole + '"');
  };
  std::vector<TextPart> parts;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) parts.push_back({text.substr(0, open), false});
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) refuse("{ without }");
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    if (inside.find('{') != std::string_view::npos) refuse("a { inside { }");
    if (trimmed(inside).empty()) refuse("nothing inside { }");
    parts.push_back({inside, true});
    text.remove_prefix(close + 1);
  }
  return parts;
}

}  // namespace lacuna
