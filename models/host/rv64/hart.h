// RV64GC host hart: the processor that runs the firmware.
//
// Instruction set   RV64IMAFDC, Zicsr, Zifencei; M and U mode; privileged architecture 1.12 without S mode (medeleg, mideleg
//                   and the s* registers do not exist), 16 PMP entries with 4-byte granularity.
// Initiator         temporally decoupled: runs ahead of SystemC time by at most `quantum`, then waits. Memory that grants DMI
//                   is reached by DMI and charged with the DMI latencies, all else by b_transport with annotated delay.
//                   A store to a device ends the local time slice, and so does a load that has changed an interrupt line
//                   (models/common/transport/line_change.h): the next instruction sees the lines' new levels. A
//                   slice also ends where a line is known to change (set_line_forecast), so that a timer interrupt is taken
//                   between the same two instructions for any quantum.
// Misaligned        loads and stores work inside one DMI region; on devices, and across regions, they trap (causes 4 and 6).
//                   LR, SC and AMO must be aligned. An error response becomes an access fault (causes 1, 5, 7).
// LR/SC             SC succeeds if the reserved bytes still hold the value that LR loaded: a write of the same value by another
//                   initiator in between is not detected. An SC that fails reads its address, with the checks of a store
//                   (alignment, PMP, error responses: causes 6 and 7), like an SC that succeeds. The manual requires the
//                   checks whether or not the SC succeeds (Zalrsc, clarified in 2025), and Spike performs them.
// Instruction cache decoded blocks; dropped by fence.i, DMI invalidation and debugger writes. Fetch is free of charge: its time
//                   is part of the cycles per instruction class.
// WFI               waits for an interrupt input without simulating. When no event is left, sc_start() returns.
// Lost trap         a trap whose handler cannot be fetched (for example, mtvec 0) stops the hart; hardware would trap forever.
//                   mcause, mepc and mtval keep the values of that trap.
// Counters          mcycle counts clock cycles of simulated time, including those spent waiting; time returns mtime.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/host/devices/semihosting.h"
#include "models/host/rv64/guest_access.h"

namespace lacuna {

struct HartParameters {
  Frequency clock{1'000'000'000};
  Tick quantum{1'000'000};
  std::uint64_t reset_pc = 0x8000'0000;
  std::uint64_t hart_id = 0;
  Cycles alu_cycles{1};
  Cycles load_cycles{1};
  Cycles store_cycles{1};
  Cycles branch_cycles{1};
  Cycles jump_cycles{1};
  Cycles multiply_cycles{3};
  Cycles divide_cycles{20};
  Cycles atomic_cycles{4};
  Cycles system_cycles{4};
  Cycles float_cycles{4};
  Cycles float_divide_cycles{20};

  void describe(ParameterSection& section);
};

struct HartStatistics {
  std::uint64_t instructions = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t bus_reads = 0;
  std::uint64_t bus_writes = 0;
  std::uint64_t bus_errors = 0;
  std::uint64_t blocks_decoded = 0;
  std::uint64_t block_cache_flushes = 0;
  std::uint64_t semihosting_calls = 0;
  Tick waiting{};

  void describe(StatisticsGroup& group) const;
};

class Hart : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Hart> bus;
  sc_core::sc_in<bool> machine_external_interrupt;
  sc_core::sc_in<bool> machine_timer_interrupt;
  sc_core::sc_in<bool> machine_software_interrupt;

  /// Throws std::invalid_argument if the quantum is 0.
  Hart(sc_core::sc_module_name name, const HartParameters& parameters);
  ~Hart() override;

  // Wiring, before the simulation starts. detach_semihosting() and tell_debugger_of_end() are called at its end.
  void set_reset_pc(std::uint64_t pc);
  /// Sets the source of the CSR `time`: the platform's mtime at a point in simulated time. Without it the hart has no such CSR.
  void set_time_source(std::function<std::uint64_t(Tick at)> mtime);
  /// Sets the forecast of the earliest time, from `now` on, at which an interrupt input may change without an access of the
  /// hart: `now` while a change is pending, kNever if none is known. Called at the start of each slice.
  void set_line_forecast(std::function<Tick(Tick now)> next_change);
  /// Sets the console of semihosting and HTIF.
  void set_console(HartConsole console);
  /// From now on, handles the RISC-V semihosting sequence (slli x0,x0,0x1f; ebreak; srai x0,x0,7) instead of trapping.
  void attach_semihosting(const SemihostingParameters& parameters);
  /// Closes the guest's files and detaches semihosting.
  void detach_semihosting();
  /// Watches the HTIF mailbox (symbols tohost and fromhost; fromhost 0 = none): exit, console, SYS_write.
  void attach_htif(std::uint64_t tohost, std::uint64_t fromhost = 0);
  /// Opens the GDB remote stub on 127.0.0.1; the hart halts at reset until a debugger has connected and continues. Port 0
  /// selects a free port. Returns the port. Throws std::system_error if it cannot listen.
  std::uint16_t attach_gdb(std::uint16_t port);
  /// Sets the function that is called once when the program ends (semihosting exit, HTIF exit, kill by the debugger, a stop
  /// request while the debugger halts the hart, or a trap whose handler cannot be fetched) with the exit code of a process
  /// (process_exit_code). The hart has then halted.
  void set_exit_callback(std::function<void(int code)> callback);
  /// Sets the function that is polled while the debugger halts the hart, so that Ctrl-C still works.
  void set_stop_request(std::function<bool()> requested);
  /// Reports the end of the run to a debugger that waits for the hart to stop: the exit code of the process and `why`, the
  /// reason in one line (may be empty).
  void tell_debugger_of_end(int exit_code, std::string_view why);

  // Observation. Registers have the architectural state between two slices of local time.
  const HartStatistics& statistics() const;
  std::uint64_t pc() const;
  bool waiting_for_interrupt() const;
  /// True once the program has ended.
  bool halted() const;
  /// Whether the program was ended by a trap whose handler cannot be fetched.
  bool stopped_by_trap() const;
  /// The last trap: name, mcause, mepc and mtval; empty if there was none.
  std::string last_trap() const;
  std::uint64_t read_register(unsigned index) const;
  void write_register(unsigned index, std::uint64_t value);
  /// Raw bits of a floating-point register; single-precision values are NaN-boxed.
  std::uint64_t read_float_register(unsigned index) const;
  void write_float_register(unsigned index, std::uint64_t bits);
  /// Reads a CSR in M mode; false if it does not exist.
  bool read_csr(unsigned number, std::uint64_t& value) const;
  /// Reads memory by transport_dbg; false if a part of the range is not memory. write_memory() drops decoded blocks.
  bool read_memory(std::uint64_t address, std::span<std::byte> bytes);
  bool write_memory(std::uint64_t address, std::span<const std::byte> bytes);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;

  void run();
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last);
};

}  // namespace lacuna
