#include "workloads/common/random.h"

#include <cmath>

namespace workload {

std::uint64_t Random::below(std::uint64_t limit) { return bits() % limit; }

float Random::uniform(float low, float high) {
  for (;;) {
    const double fraction = static_cast<double>(bits() >> 11) * 0x1p-53;
    const auto value = static_cast<float>(low + (static_cast<double>(high) - low) * fraction);
    // Rounding to single precision can reach the upper limit.
    if (value < high && std::fpclassify(value) == FP_NORMAL) return value;
  }
}

std::vector<float> Random::uniform_values(std::size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float& value : values) value = uniform(low, high);
  return values;
}

std::vector<std::size_t> choose(Random& random, std::size_t count, double share) {
  auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
  std::vector<std::size_t> chosen;
  chosen.reserve(wanted);
  // Selection sampling (Knuth, The Art of Computer Programming, section 3.4.2, algorithm S).
  for (std::size_t i = 0; wanted > 0; ++i) {
    if (random.below(count - i) >= wanted) continue;
    chosen.push_back(i);
    --wanted;
  }
  return chosen;
}

}  // namespace workload
