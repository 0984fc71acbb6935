// A file as the guest sees it through semihosting: on the host's disk, the console, or made by the simulator itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace lacuna {

/// Errors are negative results; errno holds the reason.
class GuestFile {
 public:
  virtual ~GuestFile() = default;
  /// May return fewer bytes than requested; 0 = the end.
  virtual std::int64_t read(std::span<std::byte> bytes) = 0;
  virtual std::int64_t write(std::span<const std::byte> bytes) = 0;
  virtual bool seek(std::uint64_t position) = 0;
  virtual std::int64_t length() = 0;
  /// One read call of the guest gets what one read() gives.
  virtual bool terminal() const { return false; }
};

/// Opens a file that the simulator provides; null = there is none of that name.
using GuestFileProvider = std::function<std::unique_ptr<GuestFile>(const std::string& name)>;

}  // namespace lacuna
