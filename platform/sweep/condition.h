// Conditions over the axes of a point: the expressions of launch files (platform/launch/expression.h) over named texts.
//
// A name is an axis, which may contain a dot if it is a parameter (`l2.size >= 1MiB`). A value with a unit is converted to its
// base unit; any other text can be compared with a text in quotes: `gpu.target == "gfx90a"`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/launch/text.h"

namespace lacuna {

/// Names and their values as texts, in order.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Evaluates a condition. Throws SweepError with the problem, without its location; for an unknown name with the nearest name.
bool holds(std::string_view condition, const NamedValues& values);

/// Value of an expression. The quotient of two integers is a real number.
double expression_value(std::string_view expression, const NamedValues& values);

/// The parts of a text with placeholders {…} (platform/launch/text.h). Throws SweepError.
std::vector<TextPart> parts_of(std::string_view text);

/// Replaces each {NAME} by its text and any other {EXPRESSION} by its value. Throws SweepError.
std::string substitute_values(std::string_view text, const NamedValues& values);

/// Appends a text to a list such as "a, b, c".
void add_to_list(std::string& list, std::string_view text, std::string_view separator = ", ");

/// Whether a placeholder {…} in `text` names this value. Throws SweepError if its braces do not match.
bool refers_to(std::string_view text, std::string_view name);

}  // namespace lacuna
