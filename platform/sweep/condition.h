// Conditions over the axes of a point: the expressions of launch files (platform/launch/expression.h) over named texts.
//
// A name is an axis, with the dot of a parameter (`l2.size >= 1MiB`). A value with a unit counts in its base unit, a number as
// it is; any other text can be compared with a text in quotes: `gpu.target == "gfx90a"`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/launch/text.h"

namespace lacuna {

/// Names and their texts, in order.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Throws SweepError with the problem, without its location; for an unknown name with the nearest one.
bool holds(std::string_view condition, const NamedValues& values);

/// Value of an expression. The division of two counts is that of real numbers.
double expression_value(std::string_view expression, const NamedValues& values);

/// The parts of a text with placeholders {…} (platform/launch/text.h). Throws SweepError.
std::vector<TextPart> parts_of(std::string_view text);

/// Replaces each {NAME} by its text and any other {EXPRESSION} by its number. Throws SweepError.
std::string substitute_values(std::string_view text, const NamedValues& values);

/// "a, b, c": appends a text to a list.
void add_to_list(std::string& list, std::string_view text, std::string_view separator = ", ");

/// Whether a placeholder {…} in `text` names this value. Throws SweepError if its braces do not match.
bool refers_to(std::string_view text, std::string_view name);

}  // namespace lacuna
