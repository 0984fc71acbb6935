// UART with the register interface of the NS16550A (National Semiconductor PC16550D data sheet, section 8).
//
//   offset  read            write           with LCR.7 (DLAB) set
//   0       RBR received    THR transmit    DLL divisor, bits 7:0
//   1       IER             IER             DLM divisor, bits 15:8
//   2       IIR identify    FCR FIFOs
//   3       LCR             LCR
//   4       MCR             MCR
//   5       LSR             -
//   6       MSR             -
//   7       SCR             SCR
// Offsets are multiplied by `stride`; all registers are one byte wide. Characters leave and arrive without delay: the divisor
// is stored and has no effect, the transmitter is always empty, and a receive FIFO below its trigger level times out
// immediately. Input is not read while the receiver is full, so that the host's input is never lost; receive() may overrun.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <systemc>

#include "models/common/config/statistics.h"
#include "models/common/transport/mmio_peripheral.h"

namespace lacuna {

struct UartParameters {
  MmioParameters bus;
  unsigned stride = 1;
  Tick poll_interval{100'000'000};

  void describe(ParameterSection& section);
};

struct UartStatistics {
  std::uint64_t transmitted = 0;
  std::uint64_t received = 0;
  std::uint64_t overruns = 0;

  void describe(StatisticsGroup& group) const;
};

class Uart : public MmioPeripheral {
 public:
  sc_core::sc_out<bool> interrupt;

  explicit Uart(sc_core::sc_module_name module_name, const UartParameters& parameters = {});

  /// Called with every transmitted character.
  void set_output(std::function<void(char)> output) { output_ = std::move(output); }
  /// Sets the function that returns the next character, or -1 if none is available. The function is called when the guest reads
  /// RBR, IIR or LSR, and every poll_interval of simulated time while the receive interrupt is enabled.
  void set_input(std::function<int()> input);
  /// Delivers a character received from the serial line.
  void receive(std::uint8_t character);
  void reset();
  /// Earliest time from `now` on at which the interrupt line may change, unless the guest accesses a register; `now` while a
  /// change is pending.
  Tick next_line_change(Tick now) const { return interrupt.read() != level_ ? now : poll_due_; }
  const UartStatistics& statistics() const { return statistics_; }

 private:
  static constexpr unsigned kFifoDepth = 16;

  std::uint64_t read_register(const RegisterAccess& access) override;
  void write_register(const RegisterAccess& access, std::uint64_t value) override;
  std::uint8_t read_byte(const RegisterAccess& access);
  void write_byte(const RegisterAccess& access, std::uint8_t byte);
  std::uint8_t read_receive_buffer(bool debug);
  void write_fifo_control(std::uint8_t value);
  void write_modem_control(std::uint8_t value);
  void transmit(std::uint8_t character);
  std::uint8_t interrupt_identification() const;
  std::uint8_t line_status() const;
  std::uint8_t modem_lines() const;
  unsigned capacity() const { return fifo_enabled_ ? kFifoDepth : 1; }
  void poll_input();
  /// While the receive interrupt is enabled, schedules a poll for input one interval after `at`.
  void schedule_poll(Tick at);
  void on_poll();
  /// Sets the interrupt line to the level that the registers require.
  void follow_registers();
  void update_line();

  const UartParameters parameters_;
  std::function<void(char)> output_;
  std::function<int()> input_;

  std::uint8_t interrupt_enable_ = 0;
  std::uint8_t line_control_ = 0;
  std::uint8_t modem_control_ = 0;
  std::uint8_t modem_deltas_ = 0;
  std::uint8_t scratch_ = 0;
  std::uint16_t divisor_ = 0;
  bool fifo_enabled_ = false;
  unsigned trigger_level_ = 1;
  bool overrun_ = false;
  bool transmit_empty_pending_ = false;  // the THRE interrupt has not been acknowledged yet
  std::array<std::uint8_t, kFifoDepth> fifo_{};
  unsigned fifo_head_ = 0;
  unsigned fifo_count_ = 0;
  bool level_ = false;  // level that the interrupt line has, or will have some delta cycles later
  Tick poll_due_ = kNever;

  sc_core::sc_event update_;
  sc_core::sc_event poll_;
  UartStatistics statistics_;
};

}  // namespace lacuna
