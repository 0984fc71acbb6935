#include "workloads/common/random.h"

#include <cmath>

namespace workload {

std::uint64_t Random::below(std::uint64_t limit) { return bits() % limit; }

float Random::uniform(float low, float high) {
  for (;;) {
    const double fraction = static_cast<double>(bits() >> 11) * 0x1p-53;
    const auto value = static_cast<float>(low + (static_cast<double>(high) - low) * fraction);
    // Rounding to single precision can reach the upper end.
    if (value < high && std::fpclassify(value) == FP_NORMAL) return value;
  }
}

std::vector<float> Random::uniform_values(std::size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float& value : values) value = uniform(low, high);
  return values;
}

}  // namespace workload
