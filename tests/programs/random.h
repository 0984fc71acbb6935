// Random choices that depend only on the seed, not on the host or the standard library.
#pragma once

#include <cstdint>
#include <random>

namespace lacuna::programs {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t bits() { return engine_(); }

  /// Random number from 0 to count - 1. Distributions of <random> are not used, since they differ between libraries. The bias
  /// of the remainder does not matter here.
  [[nodiscard]] unsigned below(unsigned count) { return static_cast<unsigned>((engine_() >> 16U) % count); }

  [[nodiscard]] unsigned between(unsigned first, unsigned last) { return first + below(last - first + 1); }

  [[nodiscard]] bool percent(unsigned chance) { return below(100) < chance; }

  template <typename Container>
  [[nodiscard]] auto& pick(Container&& container) {
    return container[below(static_cast<unsigned>(container.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace lacuna::programs
