// Notification of writes to GPU memory that are not made by instructions of a compute unit.
#pragma once

#include <cstdint>

namespace lacuna {

class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Called when bus addresses [address, address + bytes) have been written by a copy engine or, if `by_wavefronts`, by a bulk
  /// copy that replaces the stores of wavefronts. Called at any time between windows. The range may extend beyond GPU memory.
  virtual void written(std::uint64_t address, std::uint64_t bytes, bool by_wavefronts) = 0;
};

}  // namespace lacuna
