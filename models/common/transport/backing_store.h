// Sparse backing memory: a contiguous host range of which only touched pages, of 2 MiB where the host has them, cost anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/common/time/units.h"

namespace lacuna {

/// Zero-initialised host memory of a fixed size, mapped without reservation. Reached by DMI; the one place where data live.
class BackingStore {
 public:
  /// Throws std::system_error when the host cannot map `size`.
  explicit BackingStore(Bytes size);
  ~BackingStore();
  BackingStore(const BackingStore&) = delete;
  BackingStore& operator=(const BackingStore&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  Bytes size() const { return size_; }
  /// Bytes of host memory that touched pages occupy.
  Bytes resident() const;

 private:
  std::byte* data_;
  Bytes size_;
};

}  // namespace lacuna
