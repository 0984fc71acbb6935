// Notification of writes to GPU memory that pass no compute unit.
#pragma once

#include <cstdint>

namespace lacuna {

class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Bus addresses [address, address + bytes) have been written, at any time outside of a window's work: by a copy engine, or
  /// in bulk in place of wavefronts (`by_wavefronts`). The range may reach beyond GPU memory.
  virtual void written(std::uint64_t address, std::uint64_t bytes, bool by_wavefronts) = 0;
};

}  // namespace lacuna
