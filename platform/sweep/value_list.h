// The values of an axis in the user's notation: `1, 2, 4`, `1..8`, `256KiB..4MiB*2`, `"gfx803,gfx90a"`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// A number with a unit, in the base unit of its kind: "2MiB" is 2097152 B, "1.5" is 1.5 without a unit.
struct Quantity {
  enum class Kind : std::uint8_t { plain, bytes, frequency, time, cycles };
  Kind kind = Kind::plain;
  double value = 0;
  double scale = 1;  ///< factor of the unit in which the quantity was written
  std::string unit;  ///< unit as written in the text
};

/// Parses a quantity; nullopt if the text is not a number with one of the units of parameters (docs/reference/parameters.md).
std::optional<Quantity> parse_quantity(std::string_view text);

/// Parses a share: "1 %", "1%" or "0.01"; nullopt if the text is not such a number, or is negative.
std::optional<double> parse_share(std::string_view text);

/// Parses values separated by commas outside of brackets. `A..B` counts up by 1, `A..B+STEP` by STEP, `A..B*FACTOR` multiplies;
/// B is included if the range reaches it. The values have the unit of A. Double quotes keep a text with commas or dots
/// unchanged. Throws SweepError with the problem, without its location.
std::vector<std::string> parse_values(std::string_view text);

}  // namespace lacuna
