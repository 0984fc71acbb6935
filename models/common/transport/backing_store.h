// Sparse backing memory: a contiguous host range of which only accessed pages (of 2 MiB if the host supports them) occupy
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/common/time/units.h"

namespace lacuna {

/// Zero-initialised host memory of a fixed size, mapped without reservation. Accessed through DMI; the only place where data
/// are stored.
class BackingStore {
 public:
  /// Throws std::system_error if the host cannot map `size`.
  explicit BackingStore(Bytes size);
  ~BackingStore();
  BackingStore(const BackingStore&) = delete;
  BackingStore& operator=(const BackingStore&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  Bytes size() const { return size_; }
  /// Bytes of host memory that accessed pages occupy.
  Bytes resident() const;

 private:
  std::byte* data_;
  Bytes size_;
};

}  // namespace lacuna
