// Running the device library's functions on the simulated GPU and measuring their errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "math_functions.h"
#include "run.h"

namespace lacuna::math {

/// Errors of one function with one type.
struct Finding {
  const MathFunction* function = nullptr;
  bool is_double = false;
  double bound = 0;
  double worst = 0;      ///< largest error, units in the last place
  std::string worst_at;  ///< operands and result there
  unsigned samples = 0;
  unsigned beyond = 0;  ///< samples with an error above the bound
};

/// All functions in both types, on one target at one optimisation level.
[[nodiscard]] std::vector<Finding> measure(const programs::Variant& variant, const programs::Simulator& simulator,
                                           unsigned samples, std::uint64_t seed, const std::string& only);

}  // namespace lacuna::math
