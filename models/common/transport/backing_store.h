// Sparse backing memory: a contiguous range of host addresses in which only accessed pages (of 2 MiB if the host supports them)
// occupy memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/common/time/units.h"

namespace lacuna {

/// Zero-initialised host memory of a fixed size, mapped without reservation and accessed through DMI. It is the only copy of
/// the data.
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
  /// Host memory that the accessed pages occupy.
  Bytes resident() const;

 private:
  std::byte* data_;
  Bytes size_;
};

}  // namespace lacuna
