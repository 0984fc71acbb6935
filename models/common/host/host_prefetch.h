// Models whose state is too large for the host's caches and who can be told what will be looked up next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lacuna {

/// A hint for the host: what lies at `address` will be used. The empty instruction is for GCC, which takes a function that does
/// nothing but __builtin_prefetch for one without any effect, and drops the calls to it.
[[gnu::always_inline]] inline void fetch_to_host(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

/// Calls each of `stages` for 0 to `count` - 1, each stage so many elements behind the one before it: what that has asked the
/// host for is there by then. A stage takes so many elements in a row, so that the host foresees its branches.
inline constexpr std::size_t kStagesBehind = 8;
template <typename... Stages>
[[gnu::always_inline]] inline void in_stages(std::size_t count, const Stages&... stages) {
  for (std::size_t begin = 0; begin < count + (sizeof...(Stages) - 1) * kStagesBehind; begin += kStagesBehind) {
    std::size_t first = begin;  // of the first stages at the end beyond all, of the last ones at the beginning a huge number
    const auto next = [&](const auto& stage) __attribute__((always_inline)) {
      const std::size_t last = first + kStagesBehind < count ? first + kStagesBehind : count;
      for (std::size_t element = first; element < last; ++element) stage(element);
      first -= kStagesBehind;
    };
    (next(stages), ...);
  }
}

/// A hint that costs little and changes nothing: the host fetches what a request to a bus address will need, while the request
/// is still on its way through other models.
class HostPrefetch {
 public:
  virtual ~HostPrefetch() = default;
  virtual void prefetch(std::uint64_t address) const = 0;
};

}  // namespace lacuna
