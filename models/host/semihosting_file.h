// The kinds of file that a semihosting handle can stand for. Private to semihosting*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "models/host/semihosting.h"

namespace lacuna {

/// Errors are negative results; errno holds the reason.
class Semihosting::File {
 public:
  virtual ~File() = default;
  virtual std::int64_t read(std::span<std::byte> bytes) = 0;
  virtual std::int64_t write(std::span<const std::byte> bytes) = 0;
  virtual bool seek(std::uint64_t position) = 0;
  virtual std::int64_t length() = 0;
  virtual bool terminal() const { return false; }

  /// `mode` 0..11 as SYS_OPEN numbers fopen's modes. Null when the host refuses.
  static std::unique_ptr<File> open_host(const std::filesystem::path& path, unsigned mode);
  static std::unique_ptr<File> open_console(const HartConsole& console, bool input);
  /// The read-only file ":semihosting-features".
  static std::unique_ptr<File> open_features();
};

}  // namespace lacuna
