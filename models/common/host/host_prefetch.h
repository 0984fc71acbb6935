// Prefetches of simulated state that is too large for the host's caches. They do not affect simulated results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lacuna {

/// Prefetches the line at `address`. The empty asm statement prevents GCC from removing calls of the function, which would
/// otherwise appear to have no effect.
[[gnu::always_inline]] inline void fetch_to_host(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

/// Number of elements by which a stage of in_stages() lags the previous stage.
inline constexpr std::size_t kStagesBehind = 8;

/// Calls each of `stages` for elements 0 to `count` - 1. Each stage lags the previous stage by kStagesBehind elements, so that
/// the prefetches of the previous stage have arrived. A stage handles kStagesBehind consecutive elements, so that its branches
/// are predictable.
template <typename... Stages>
[[gnu::always_inline]] inline void in_stages(std::size_t count, const Stages&... stages) {
  for (std::size_t begin = 0; begin < count + (sizeof...(Stages) - 1) * kStagesBehind; begin += kStagesBehind) {
    // First element of the stage. At the end it is at least `count` for early stages; at the beginning it wraps around to a
    // huge number for late stages. In both cases the stage handles no element.
    std::size_t first = begin;
    const auto next = [&](const auto& stage) __attribute__((always_inline)) {
      const std::size_t last = first + kStagesBehind < count ? first + kStagesBehind : count;
      for (std::size_t element = first; element < last; ++element) stage(element);
      first -= kStagesBehind;
    };
    (next(stages), ...);
  }
}

/// A model that can prefetch its state for a request to a bus address, while the request passes other models.
class HostPrefetch {
 public:
  virtual ~HostPrefetch() = default;
  virtual void prefetch(std::uint64_t address) const = 0;
};

}  // namespace lacuna
