// The hart's control and status registers: state, legal values, privilege checks. No SystemC.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/host/rv64/csr_numbers.h"
#include "models/host/rv64/csr_pmp.h"

namespace lacuna::rv64 {

/// Name of a value of mcause in the privileged manual (table 3.6): "load access fault", "machine timer interrupt".
std::string_view trap_name(std::uint64_t mcause);

/// Values of the free-running counters when a CSR instruction executes; supplied by the executor.
struct CounterValues {
  std::uint64_t cycle = 0;
  std::optional<std::uint64_t> time;  ///< nullopt: the register does not exist
  std::uint64_t instret = 0;
};

/// A counter that software can set, and stop with mcountinhibit.
class AdjustableCounter {
 public:
  std::uint64_t read(std::uint64_t raw) const { return stopped_ ? frozen_ : raw + offset_; }
  void write(std::uint64_t value, std::uint64_t raw) {
    frozen_ = value;
    offset_ = value - raw;
  }
  void set_stopped(bool stopped, std::uint64_t raw) {
    if (stopped == stopped_) return;
    if (stopped) {
      frozen_ = raw + offset_;
    } else {
      offset_ = frozen_ - raw;
    }
    stopped_ = stopped;
  }

 private:
  std::uint64_t offset_ = 0;
  std::uint64_t frozen_ = 0;
  bool stopped_ = false;
};

/// Derived state that a CSR write has made stale.
struct CsrEffect {
  bool interrupts = false;  ///< mstatus or mie was written: an interrupt may be deliverable now
  bool protection = false;  ///< PMP or the effective privilege of data accesses has changed
};

struct CsrFile {
  // Registers that are read often, for example to check interrupts, are plain members.
  std::uint64_t mstatus = mstatus::mpp | mstatus::uxl_64;
  std::uint64_t fflags = 0;
  std::uint64_t frm = 0;
  Privilege privilege = Privilege::machine;

  std::uint64_t mie = 0;
  std::uint64_t mip = 0;  ///< the interrupt inputs
  std::uint64_t mtvec = 0;
  std::uint64_t mepc = 0;
  std::uint64_t mcause = 0;
  std::uint64_t mtval = 0;
  std::uint64_t mscratch = 0;
  std::uint64_t mcounteren = 0;
  std::uint64_t mcountinhibit = 0;
  std::uint64_t menvcfg = 0;
  std::uint64_t mhartid = 0;
  AdjustableCounter mcycle;
  AdjustableCounter minstret;
  Pmp pmp;

  /// Returns the register's value; nullopt if the register does not exist or `from` may not read it.
  std::optional<std::uint64_t> read(unsigned number, Privilege from, const CounterValues& now) const;
  /// Writes a register, after making the value legal (WARL). False if the register does not exist, is read-only, or `from` may
  /// not write it.
  bool write(unsigned number, std::uint64_t value, Privilege from, const CounterValues& now, CsrEffect& effect);

  /// Privilege with which loads and stores are checked (mstatus.MPRV).
  Privilege data_privilege() const;
  /// Number of the interrupt to take now, in order of priority: external, software, timer; nullopt if none.
  std::optional<unsigned> pending_interrupt() const;
  /// Records a trap and returns the handler's address. Bit 63 of `trap_cause` is the interrupt bit.
  std::uint64_t enter_trap(std::uint64_t trap_cause, std::uint64_t pc, std::uint64_t value);
  /// mret: restores privilege and interrupt enable, returns mepc.
  std::uint64_t leave_trap();

 private:
  bool counter_readable(unsigned number, Privilege from) const;
};

}  // namespace lacuna::rv64
