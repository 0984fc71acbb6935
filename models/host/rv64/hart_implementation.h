// The hart's process, bus adapter and services. Private to hart*.cpp.
#pragma once

#include <memory>
#include <optional>

#include "models/common/transport/line_change.h"
#include "models/common/transport/memory_attributes.h"
#include "models/host/debug/gdb_stub.h"
#include "models/host/devices/htif.h"
#include "models/host/rv64/hart.h"
#include "models/host/rv64/rv64_execute.h"

namespace lacuna {

struct Hart::Implementation final : rv64::Bus, rv64::HostServices, GuestAccess, GdbTarget {
  Implementation(Hart& owner, const HartParameters& with);
  ~Implementation() override;

  // The hart's process.
  void run();
  void run_slice(std::uint64_t limit_ps);
  std::uint64_t slice_limit() const;
  void spend_slice();
  void wait_for_interrupt();
  void end_wait();
  void sample_interrupts();
  void finish();
  void refresh_statistics();
  std::string last_trap() const;

  // The debugger's part of the process (hart_debug.cpp).
  void poll_debugger(int wait_ms);
  void debug(const GdbStop& stop, bool wait_for_client);
  GdbStop stop_of(rv64::StopReason reason) const;

  // Overrides of rv64::Bus.
  Result read(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t& local_ps) override;
  Result write(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t& local_ps) override;
  std::optional<rv64::MemoryRegion> direct(std::uint64_t address, bool for_write) override;
  std::optional<std::uint64_t> time(std::uint64_t now_ps) override;
  Result transport(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t size, std::uint64_t& local_ps);
  bool transport_debug(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t size);
  void prepare(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t size);

  // Overrides of rv64::HostServices.
  bool semihosting_call() override;
  void htif_store() override;

  // Overrides of GuestAccess.
  bool read_guest(std::uint64_t address, std::span<std::byte> bytes) override;
  bool write_guest(std::uint64_t address, std::span<const std::byte> bytes) override;
  std::uint64_t now_ps() const override { return core.now_ps(); }
  void end_program(std::uint64_t code) override;

  // Overrides of GdbTarget.
  bool read_gdb_register(unsigned number, std::uint64_t& value) override;
  bool write_gdb_register(unsigned number, std::uint64_t value) override;
  bool read_gdb_memory(std::uint64_t address, std::span<std::byte> bytes) override { return read_guest(address, bytes); }
  bool write_gdb_memory(std::uint64_t address, std::span<const std::byte> bytes) override;
  void set_gdb_breakpoints(std::vector<std::uint64_t> addresses) override;
  void set_gdb_watchpoints(std::vector<rv64::Watchpoint> watchpoints) override;

  Hart& hart;
  HartParameters parameters;
  HartStatistics statistics;
  rv64::Core core;
  HartConsole console;
  std::optional<Semihosting> semihosting;
  std::optional<Htif> htif;
  std::unique_ptr<GdbStub> gdb;
  std::function<void(int)> exit_callback;
  std::function<bool()> stop_requested;
  std::function<std::uint64_t(Tick)> mtime;
  std::function<Tick(Tick)> next_line_change;

  MemoryAttributes attributes;
  LineChange line_change;
  tlm::tlm_generic_payload payload;
  tlm::tlm_generic_payload debug_payload;

  sc_core::sc_event_or_list interrupt_inputs;  ///< notified when any of the three lines changes
  bool waiting = false;
  Tick waiting_since{};
  bool ended = false;
  bool stopped_by_trap = false;
  bool debugger_holds_reset = false;
  unsigned slices_to_poll = 0;
  int exit_code = 0;
};

}  // namespace lacuna
