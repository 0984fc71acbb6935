// Core-local interruptor: software interrupts, and the timer that counts simulated time (register layout of SiFive's CLINT, as
// the RISC-V ACLINT specification describes it for MTIMER and MSWI).
//
//   0x0000 + 4 h  RW 32  msip      bit 0 drives software_interrupt[h]
//   0x4000 + 8 h  RW 64  mtimecmp  timer_interrupt[h] is high while mtime >= mtimecmp; resets to all ones
//   0xbff8        RW 64  mtime     ticks of `timebase`
// 64-bit registers may be accessed as two 32-bit halves. mtime is computed from the initiator's local time, so that it advances
// for a decoupled hart as well; the hart's `time` CSR returns the same counter.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/common/transport/mmio_peripheral.h"

namespace lacuna {

struct ClintParameters {
  MmioParameters bus;
  Frequency timebase{10'000'000};

  void describe(ParameterSection& section);
};

class Clint : public MmioPeripheral {
 public:
  sc_core::sc_vector<sc_core::sc_out<bool>> timer_interrupt;
  sc_core::sc_vector<sc_core::sc_out<bool>> software_interrupt;

  Clint(sc_core::sc_module_name module_name, const ClintParameters& parameters, unsigned harts = 1);

  /// mtime at a point in simulated time.
  std::uint64_t mtime(Tick at) const { return at.ps / period_.ps + offset_; }
  /// Whether the timer of `hart` will fire after `now`.
  bool timer_armed(unsigned hart, Tick now) const { return fires(hart, now) != kNever; }
  /// Earliest time from `now` on at which a line of `hart` changes, unless a register is written; `now` while a change is
  /// pending.
  Tick next_line_change(unsigned hart, Tick now) const;
  void reset();

 private:
  std::uint64_t read_register(const RegisterAccess& access) override;
  void write_register(const RegisterAccess& access, std::uint64_t value) override;
  void update_lines();
  /// Level of the timer's line at `now`. While a write is pending: the level at the time at which the write takes effect,
  /// because until then SystemC time and mtime are inconsistent.
  bool reached(unsigned hart, Tick now) const;
  /// Earliest time after `now` at which the timer line of `hart` rises; kNever if it is high or stays low.
  Tick fires(unsigned hart, Tick now) const;

  enum : unsigned { kMsip, kMtimecmp, kMtime };
  Tick period_;
  std::uint64_t offset_ = 0;  // mtime minus simulated time, modulo 2^64: changed by writes to mtime
  std::vector<std::uint32_t> msip_;
  std::vector<std::uint64_t> mtimecmp_;
  Tick written_{};  // time at which the last write takes effect; may be ahead of SystemC time
  sc_core::sc_event update_;
};

}  // namespace lacuna
