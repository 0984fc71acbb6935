// Area, cycle time and power of a matrix unit's extensions: the synthesis results of the thesis "Democratizing tensor
// processors" (Tables 2.4 and 3.5 and sections 2.6.1 and 3.6.1; FreePDK45, Synopsys Design Compiler), relative to a unit that
// multiplies 16-bit floats and accumulates f32.
#pragma once

#include <array>
#include <string_view>

namespace lacuna::matrix_cost {

/// A unit with wider formats, Table 2.4.
struct Design {
  std::string_view name;  ///< value of mfma.design; a description if that parameter cannot select it
  std::string_view what;
  double area;
  double cycle_time;
  double power;

  /// Energy of a pass: power x duration.
  constexpr double pass_energy() const { return power * cycle_time; }
};
inline constexpr Design kBaseline{"baseline", "FP16, BF16, TF32", 1, 1, 1};
inline constexpr Design kFp32Native{"fp32_native", "FP32 in one step of wider multipliers, no FP32C", 3.55, 1.00, 7.97};
inline constexpr Design kM3xuWithoutFp32c{"M3XU without FP32C", "FP32 in two steps", 1.37, 1.21, 0.66};
inline constexpr Design kM3xu{"m3xu", "FP32 in two steps, FP32C and FP64 in four", 1.41, 1.21, 0.69};
inline constexpr Design kM3xuPipelined{"m3xu_pipelined", "the same, data assigned in a separate stage", 1.47, 1.00, 1.07};
inline constexpr std::array kDesigns{kBaseline, kFp32Native, kM3xuWithoutFp32c, kM3xu, kM3xuPipelined};

/// An operator of SIMD2, Table 3.5 (a) and (b).
struct Operator {
  std::string_view name;
  double added;  ///< area of the baseline with the operator
  double alone;  ///< area of a unit with this operator alone
};
inline constexpr std::array kOperators{Operator{"minplus", 1.21, 0.26}, Operator{"maxplus", 1.21, 0.26},
                                       Operator{"minmul", 1.12, 1.03},  Operator{"maxmul", 1.12, 1.03},
                                       Operator{"minmax", 1.01, 0.06},  Operator{"maxmin", 1.01, 0.06},
                                       Operator{"orand", 1.04, 0.08},   Operator{"addnorm", 1.18, 0.19}};
inline constexpr double kAllOperators = 1.69;   ///< area of the baseline with all operators
inline constexpr double kSeparateUnits = 2.96;  ///< area of the baseline and a separate unit for each operator

/// Area of units by the width of their elements, Table 3.5 (c).
struct Width {
  unsigned bits;
  double mma;
  double with_operators;
};
inline constexpr std::array kWidths{Width{8, 0.25, 0.69}, Width{16, 1, 1.69}, Width{32, 4.04, 6.42}, Width{64, 11.17, 17.01}};

/// Area of an 8 x 8 unit for 16 bits, section 3.6.1: "7.5x larger than the 4x4 baseline". Operators add the same share of area.
inline constexpr double kEightByEight = 7.5;

// Section 3.6.1: a 4 x 4 x 4 unit, and an SM and the die of an RTX 3080.
inline constexpr double kBaselineSquareMillimetres = 11.52;
inline constexpr double kBaselineWatts = 3.74;
inline constexpr double kOperatorWatts = 0.79;             ///< power that all operators add
inline constexpr double kScaledSquareMillimetres = 0.378;  ///< area that all operators add to an SM in Samsung's 8N
inline constexpr double kSmSquareMillimetres = 3.75;
inline constexpr double kDieSquareMillimetres = 628.4;
inline constexpr double kSmShareOfDie = 0.502;

/// Power of a unit with all operators.
inline constexpr double kSimd2Power = (kBaselineWatts + kOperatorWatts) / kBaselineWatts;

}  // namespace lacuna::matrix_cost
