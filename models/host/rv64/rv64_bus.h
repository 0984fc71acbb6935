// Environment of the executor: memory, time, semihosting and HTIF. No SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lacuna::rv64 {

/// A range of guest memory that the executor accesses directly.
struct MemoryRegion {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive
  std::byte* host = nullptr;
  bool readable = false;
  bool writable = false;
  std::uint64_t read_ps = 0;  ///< time charged per access
  std::uint64_t write_ps = 0;
};

class Bus {
 public:
  struct Result {
    bool ok = false;
    bool direct_possible = false;  ///< direct() may succeed for the address
    bool line_changed = false;     ///< an interrupt input may have changed
  };

  virtual ~Bus() = default;
  /// Accesses outside of all regions: 1, 2, 4 or 8 bytes, naturally aligned. `local_ps`: time since the start of the slice, in
  /// ps, to which the access adds its duration.
  virtual Result read(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t& local_ps) = 0;
  virtual Result write(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t& local_ps) = 0;
  /// The region around `address`, if the memory there can be accessed directly with the requested permission; else nullopt.
  virtual std::optional<MemoryRegion> direct(std::uint64_t address, bool write) = 0;
  /// mtime at an absolute time in ps, for the CSR `time`; nullopt: the hart has no such CSR.
  virtual std::optional<std::uint64_t> time(std::uint64_t) { return std::nullopt; }
};

/// Services outside the architecture.
class HostServices {
 public:
  virtual ~HostServices() = default;
  /// Called at a semihosting sequence. True: the call was handled (result in a0), and execution continues after ebreak. False:
  /// ebreak traps.
  virtual bool semihosting_call() { return false; }
  /// Called after a store to the watched HTIF doubleword.
  virtual void htif_store() {}
};

}  // namespace lacuna::rv64
