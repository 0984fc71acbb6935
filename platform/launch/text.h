// Splitting of user-written text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// Splits at each separator outside parentheses, brackets and braces; parts are trimmed.
std::vector<std::string> split_outside(std::string_view text, char separator);
bool is_identifier(std::string_view text);

/// A part of a text with placeholders {…}.
struct TextPart {
  std::string_view text;  ///< without the braces
  bool braced = false;
};
/// The parts in order; a } alone is text. Throws LaunchError if a { has no }, and for braces that enclose a { or only blanks.
std::vector<TextPart> split_braces(std::string_view text);

}  // namespace lacuna
