// Runs the device library's functions on the simulated GPU and measures their errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "math_functions.h"
#include "run.h"

namespace lacuna::math {

/// Errors of a function with one type.
struct Finding {
  const MathFunction* function = nullptr;
  bool is_double = false;
  double bound = 0;
  double worst = 0;      ///< largest error, in units in the last place
  std::string worst_at;  ///< operands and result with the largest error
  unsigned samples = 0;
  unsigned beyond = 0;  ///< number of samples with an error above the bound
};

/// Measures all functions, or function `only` unless it is empty, with each of their types, for one GPU target and optimisation
/// level.
[[nodiscard]] std::vector<Finding> measure(const programs::Variant& variant, const programs::Simulator& simulator,
                                           unsigned samples, std::uint64_t seed, const std::string& only);

}  // namespace lacuna::math
