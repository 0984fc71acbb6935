// Cutting up what the user wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// At each separator outside parentheses and brackets; parts are trimmed.
std::vector<std::string> split_outside(std::string_view text, char separator);
bool is_identifier(std::string_view text);

/// A piece of a text in which {…} stands for something.
struct TextPart {
  std::string_view text;  ///< without the braces
  bool braced = false;
};
/// The pieces in their order; a } alone is text. Throws LaunchError when a { has no }, another { before it,
/// or nothing inside.
std::vector<TextPart> split_braces(std::string_view text);

}  // namespace lacuna
