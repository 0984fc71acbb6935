// Models whose state is too large for the host's caches and who can be told what will be looked up next.
#pragma once

#include <cstdint>

namespace lacuna {

/// A hint for the host: what lies at `address` will be used. The empty instruction is for GCC, which takes a function that does
/// nothing but __builtin_prefetch for one without any effect, and drops the calls to it.
[[gnu::always_inline]] inline void fetch_to_host(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

/// A hint that costs little and changes nothing: the host fetches what a request to a bus address will need, while the request
/// is still on its way through other models.
class HostPrefetch {
 public:
  virtual ~HostPrefetch() = default;
  virtual void prefetch(std::uint64_t address) const = 0;
};

}  // namespace lacuna
