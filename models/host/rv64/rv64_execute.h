// Executes RV64GC: registers, CSRs, a cache of decoded blocks, traps. No SystemC, no clock.
//
//   Core core(bus, services, timing);
//   core.registers().pc = entry;
//   StopReason why = core.run(limit_ps);   // runs until local_ps() >= limit_ps or the owner has to act
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/host/rv64/csr.h"
#include "models/host/rv64/rv64_bus.h"
#include "models/host/rv64/rv64_decode.h"

namespace lacuna::rv64 {

struct Registers {
  std::array<std::uint64_t, 33> x{};  ///< x[32] receives results written to x0
  std::array<std::uint64_t, 32> f{};
  std::uint64_t pc = 0;
};

struct CoreTiming {
  std::uint64_t period_ps = 1000;
  std::array<std::uint8_t, static_cast<std::size_t>(Class::count)> cycles{};  ///< per class
};

struct CoreStatistics {
  std::uint64_t instructions = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t blocks_decoded = 0;
  std::uint64_t block_cache_flushes = 0;
};

enum class StopReason : std::uint8_t {
  time_limit,
  synchronise,         ///< a device was written, or an interrupt input changed: the rest of the platform must catch up
  wait_for_interrupt,  ///< wfi; pc is after it
  breakpoint,          ///< breakpoint at pc, not executed
  ebreak,              ///< ebreak at pc, not executed (only with stop_at_ebreak)
  watchpoint,          ///< described by hit_watchpoint(); pc is after the access
  stopped,             ///< request_stop() was called
  trap_unreachable,    ///< the trap handler's first instruction cannot be fetched; mcause, mepc, mtval describe that trap
};

/// A data range that a debugger watches.
struct Watchpoint {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool on_read = false;
  bool on_write = false;
  bool operator==(const Watchpoint&) const = default;
};

struct WatchpointHit {
  std::uint64_t address = 0;  ///< address of the watched range
  bool on_read = false;
  bool on_write = false;
};

class Core {
 public:
  Core(Bus& bus, HostServices& services, const CoreTiming& timing);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Architectural state; valid between calls of run().
  Registers& registers();
  const Registers& registers() const;
  CsrFile& csrs();
  const CsrFile& csrs() const;
  const CoreStatistics& statistics() const;
  /// Reads a CSR for a debugger: in M mode, without affecting time.
  std::optional<std::uint64_t> read_csr(unsigned number) const;
  bool write_csr(unsigned number, std::uint64_t value);

  /// Starts a slice of local time at absolute time `base_ps`.
  void begin_slice(std::uint64_t base_ps);
  /// Picoseconds that the slice has used.
  std::uint64_t local_ps() const;
  /// Absolute time: base of the slice plus local time.
  std::uint64_t now_ps() const;
  /// Runs until the slice has used `limit_ps` or the owner has to act. Takes interrupts whose bits are set in csrs().mip.
  StopReason run(std::uint64_t limit_ps);
  /// Executes one instruction; breakpoints and interrupts are ignored. Returns time_limit if nothing else stops the hart.
  StopReason step();
  /// Ends run() at the next safe instruction boundary; for HostServices.
  void request_stop();

  // Caches of derived state.
  void flush_blocks();
  /// Drops regions that overlap [first, last]: this memory may no longer be accessed directly.
  void drop_regions(std::uint64_t first, std::uint64_t last);

  // Debugging.
  void set_breakpoints(std::vector<std::uint64_t> addresses);
  void set_watchpoints(std::vector<Watchpoint> watchpoints);
  void set_stop_at_ebreak(bool stop);
  const WatchpointHit& hit_watchpoint() const;

  /// Makes stores to the doubleword at `address` call HostServices::htif_store.
  void watch_htif(std::uint64_t address);
  /// Enables the recognition of semihosting sequences.
  void enable_semihosting();

 private:
  std::unique_ptr<ExecutionContext> context_;
};

}  // namespace lacuna::rv64
