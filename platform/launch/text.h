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

}  // namespace lacuna
