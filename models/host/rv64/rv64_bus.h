// What the executor needs of the world: memory, time, and answers to semihosting and HTIF. No SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lacuna::rv64 {

/// A range of guest memory that the executor reaches directly.
struct MemoryRegion {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive
  std::byte* host = nullptr;
  bool readable = false;
  bool writable = false;
  std::uint64_t read_ps = 0;  ///< charged per access
  std::uint64_t write_ps = 0;
};

class Bus {
 public:
  struct Result {
    bool ok = false;
    bool direct_possible = false;  ///< worth asking direct() for the address
    bool line_changed = false;     ///< an interrupt input may have changed
  };

  virtual ~Bus() = default;
  /// Accesses that no region covers: 1, 2, 4 or 8 bytes, naturally aligned. `local_ps` is the time since the start of the
  /// slice; the access adds its own duration.
  virtual Result read(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t& local_ps) = 0;
  virtual Result write(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t& local_ps) = 0;
  /// The region around `address`, when memory grants one with the permission asked for.
  virtual std::optional<MemoryRegion> direct(std::uint64_t address, bool write) = 0;
  /// mtime at that time, which the CSR `time` shows; nothing: the hart has no such CSR.
  virtual std::optional<std::uint64_t> time(std::uint64_t) { return std::nullopt; }
};

/// Services outside the architecture.
class HostServices {
 public:
  virtual ~HostServices() = default;
  /// The semihosting sequence was met. True: answered (result in a0), continue behind ebreak. False: ebreak traps.
  virtual bool semihosting_call() { return false; }
  /// A store touched the watched HTIF doubleword.
  virtual void htif_store() {}
};

}  // namespace lacuna::rv64
