// Suggestions for mistyped names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// Minimum number of insertions, deletions, replacements and swaps of neighbouring characters that turn `from` into `to`.
std::size_t edit_distance(std::string_view from, std::string_view to);
/// Maximum edit distance at which a name is considered a misspelling of another name.
std::size_t misspelling_limit(std::string_view name);
/// The candidate nearest to `name` within misspelling_limit(); "" if there is none.
std::string nearest_name(const std::vector<std::string>& candidates, std::string_view name);
/// Suggestion for an error message: "; did you mean X?", or "" for "".
std::string did_you_mean(const std::string& name);

}  // namespace lacuna
