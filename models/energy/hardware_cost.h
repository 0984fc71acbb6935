// Hardware cost of parts of a machine, such as bits and area: lines for statistics.json and the documentation.
#pragma once

#include <cstdint>
#include <string_view>

namespace lacuna {

struct CostLine {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  double value;
};

/// Area of a high-density 6T SRAM cell, measured on AMD's Radeon HD 7970, in the 28 nm process of the R9 Nano (Chipworks, "A
/// review of TSMC 28 nm process technology", 2012).
inline constexpr double kSramBitUm2 = 0.16;

/// Area of the cells alone, without decoders, sense amplifiers and wires.
constexpr double sram_mm2(std::uint64_t bits) {
  constexpr double kMm2PerUm2 = 1e-6;
  return static_cast<double>(bits) * kSramBitUm2 * kMm2PerUm2;
}

}  // namespace lacuna
