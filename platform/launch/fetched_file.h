// A file that the launcher writes, collected in memory.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/host/devices/guest_file.h"

namespace lacuna {

/// Appends written bytes to a vector, which must outlive it.
class FetchedFile final : public GuestFile {
 public:
  explicit FetchedFile(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  std::int64_t read(std::span<std::byte>) override { return errno = EBADF, -1; }
  std::int64_t write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return static_cast<std::int64_t>(bytes.size());
  }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return 0; }

 private:
  std::vector<std::byte>& bytes_;
};

}  // namespace lacuna
