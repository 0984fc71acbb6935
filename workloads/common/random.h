// Reproducible input: the same values for a seed with every compiler and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace workload {

/// The standard defines the bits of std::mt19937_64, but not those of its distributions, which are therefore implemented here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 64 random bits.
  std::uint64_t bits() { return engine_(); }
  /// A whole number in [0, limit), limit > 0. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit);
  /// A number in [low, high), low < high, that is never 0: zeros come only from --sparsity.
  float uniform(float low, float high);
  std::vector<float> uniform_values(std::size_t count, float low, float high);

 private:
  std::mt19937_64 engine_;
};

/// Returns round(share * count) of the numbers below `count`, ascending; all choices are equally likely.
std::vector<std::size_t> choose(Random& random, std::size_t count, double share);

}  // namespace workload
