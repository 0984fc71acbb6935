// Models whose state is too large for the host's caches and who can be told what will be looked up next.
#pragma once

#include <cstdint>

namespace lacuna {

/// A hint that costs little and changes nothing: the host fetches what a request to a bus address will need, while the request
/// is still on its way through other models.
class HostPrefetch {
 public:
  virtual ~HostPrefetch() = default;
  virtual void prefetch(std::uint64_t address) const = 0;
};

}  // namespace lacuna
