// Notification of writes to GPU memory that pass no compute unit.
#pragma once

#include <cstdint>

namespace lacuna {

class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Bus addresses [address, address + bytes) have been written by a copy engine, or in bulk instead of by wavefronts
  /// (`by_wavefronts`). Called at any time between windows. The range may extend beyond GPU memory.
  virtual void written(std::uint64_t address, std::uint64_t bytes, bool by_wavefronts) = 0;
};

}  // namespace lacuna
