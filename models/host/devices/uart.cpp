#include "models/host/devices/uart.h"

#include "models/common/time/tlm_time.h"

namespace lacuna {
namespace {

enum Register : unsigned {
  kData,
  kInterruptEnable,
  kIdentification,
  kLineControl,
  kModemControl,
  kLineStatus,
  kModemStatus,
  kScratch
};

// Bits of IER.
constexpr std::uint8_t kEnableReceive = 1 << 0;
constexpr std::uint8_t kEnableTransmit = 1 << 1;
constexpr std::uint8_t kEnableLineStatus = 1 << 2;
constexpr std::uint8_t kEnableModem = 1 << 3;
// Values of IIR, in order of priority.
constexpr std::uint8_t kNonePending = 0x01;
constexpr std::uint8_t kLineStatusPending = 0x06;
constexpr std::uint8_t kReceivePending = 0x04;
constexpr std::uint8_t kTimeoutPending = 0x0c;
constexpr std::uint8_t kTransmitPending = 0x02;
constexpr std::uint8_t kModemPending = 0x00;
constexpr std::uint8_t kFifosEnabled = 0xc0;
// Bits of FCR, and the trigger levels that its bits 7:6 select.
constexpr std::uint8_t kFifoEnable = 1 << 0;
constexpr std::uint8_t kFifoClearReceive = 1 << 1;
constexpr std::array<unsigned, 4> kTriggerLevels = {1, 4, 8, 14};
// Bits of LCR.
constexpr std::uint8_t kDivisorAccess = 1 << 7;
// Bits of MCR.
constexpr std::uint8_t kLoopback = 1 << 4;
constexpr std::uint8_t kModemControlBits = 0x1f;
// Bits of LSR.
constexpr std::uint8_t kDataReady = 1 << 0;
constexpr std::uint8_t kOverrun = 1 << 1;
constexpr std::uint8_t kTransmitHoldingEmpty = 1 << 5;
constexpr std::uint8_t kTransmitterEmpty = 1 << 6;
// Bits of MSR: lines in bits 7:4, deltas in bits 3:0.
constexpr std::uint8_t kClearToSend = 1 << 4;
constexpr std::uint8_t kDataSetReady = 1 << 5;
constexpr std::uint8_t kRing = 1 << 6;
constexpr std::uint8_t kCarrierDetect = 1 << 7;

}  // namespace

void UartParameters::describe(ParameterSection& section) {
  bus.describe(section);
  section.add("stride", stride, "Distance between registers", {.range = {1, 16}, .power_of_two = true, .unit = "bytes"});
  section.add("poll_interval", poll_interval, "Polling interval for input while the receive interrupt is enabled",
              {.range = {1e6, 1e12}});
}

void UartStatistics::describe(StatisticsGroup& group) const {
  group.add("transmitted", transmitted, "characters sent", "characters");
  group.add("received", received, "characters taken into the receive FIFO", "characters");
  group.add("overruns", overruns, "characters lost because the receiver was full", "characters");
}

Uart::Uart(sc_core::sc_module_name module_name, const UartParameters& parameters)
    : MmioPeripheral(module_name, parameters.bus, Bytes{std::uint64_t{8} * parameters.stride}),
      interrupt("interrupt"),
      parameters_(parameters) {
  static constexpr std::array<const char*, 8> kNames = {"RBR/THR/DLL", "IER/DLM", "IIR/FCR", "LCR", "MCR", "LSR", "MSR", "SCR"};
  for (unsigned i = 0; i < kNames.size(); ++i) {
    const bool status = i == kLineStatus || i == kModemStatus;
    add_register({.name = kNames[i],
                  .offset = std::uint64_t{i} * parameters.stride,
                  .width = 1,
                  .mode = status ? RegisterMode::read_only : RegisterMode::read_write});
  }
  SC_HAS_PROCESS(Uart);
  SC_METHOD(update_line);
  sensitive << update_;
  SC_METHOD(on_poll);
  sensitive << poll_;
  dont_initialize();
}

void Uart::reset() {
  interrupt_enable_ = line_control_ = modem_control_ = modem_deltas_ = scratch_ = 0;
  divisor_ = 0;
  fifo_enabled_ = overrun_ = transmit_empty_pending_ = false;
  trigger_level_ = 1;
  fifo_head_ = fifo_count_ = 0;
  follow_registers();
}

void Uart::set_input(std::function<int()> input) {
  input_ = std::move(input);
  schedule_poll(kernel_time());
}

void Uart::schedule_poll(Tick at) {
  if (!input_ || (interrupt_enable_ & kEnableReceive) == 0 || poll_due_ != kNever) return;
  poll_due_ = at + parameters_.poll_interval;
  poll_.notify(to_sc_time(poll_due_ - kernel_time()));
}

void Uart::receive(std::uint8_t character) {
  if (fifo_count_ == capacity()) {
    overrun_ = true;
    ++statistics_.overruns;
    // An overrun overwrites the shift register if FIFOs are enabled, else the receive buffer (PC16550D, LSR bit 1).
    if (!fifo_enabled_) fifo_[fifo_head_] = character;
  } else {
    fifo_[(fifo_head_ + fifo_count_) % kFifoDepth] = character;
    ++fifo_count_;
    ++statistics_.received;
  }
  follow_registers();
}

void Uart::poll_input() {
  if (!input_ || (modem_control_ & kLoopback) != 0) return;
  while (fifo_count_ < capacity()) {
    const int character = input_();
    if (character < 0) return;
    receive(static_cast<std::uint8_t>(character));
  }
}

void Uart::on_poll() {
  poll_due_ = kNever;
  poll_input();
  schedule_poll(kernel_time());
}

std::uint8_t Uart::line_status() const {
  return static_cast<std::uint8_t>((fifo_count_ != 0 ? kDataReady : 0) | (overrun_ ? kOverrun : 0) | kTransmitHoldingEmpty |
                                   kTransmitterEmpty);
}

std::uint8_t Uart::modem_lines() const {
  if ((modem_control_ & kLoopback) == 0) return kClearToSend | kDataSetReady | kCarrierDetect;
  // In loopback mode, DTR, RTS, OUT1, OUT2 (MCR bits 0..3) drive DSR, CTS, RI, DCD.
  return static_cast<std::uint8_t>(((modem_control_ & 1) != 0 ? kDataSetReady : 0) |
                                   ((modem_control_ & 2) != 0 ? kClearToSend : 0) | ((modem_control_ & 4) != 0 ? kRing : 0) |
                                   ((modem_control_ & 8) != 0 ? kCarrierDetect : 0));
}

std::uint8_t Uart::interrupt_identification() const {
  if ((interrupt_enable_ & kEnableLineStatus) != 0 && overrun_) return kLineStatusPending;
  if ((interrupt_enable_ & kEnableReceive) != 0 && fifo_count_ != 0) {
    return fifo_count_ >= trigger_level_ ? kReceivePending : kTimeoutPending;
  }
  if ((interrupt_enable_ & kEnableTransmit) != 0 && transmit_empty_pending_) return kTransmitPending;
  if ((interrupt_enable_ & kEnableModem) != 0 && modem_deltas_ != 0) return kModemPending;
  return kNonePending;
}

void Uart::follow_registers() {
  const bool level = interrupt_identification() != kNonePending;
  if (level == level_) return;
  level_ = level;
  update_.notify(sc_core::SC_ZERO_TIME);
  report_line_change();
}

void Uart::update_line() { interrupt.write(level_); }

std::uint8_t Uart::read_receive_buffer(bool debug) {
  if (fifo_count_ == 0) return 0;
  const std::uint8_t character = fifo_[fifo_head_];
  if (!debug) {
    fifo_head_ = (fifo_head_ + 1) % kFifoDepth;
    --fifo_count_;
  }
  return character;
}

std::uint64_t Uart::read_register(const RegisterAccess& access) {
  const std::uint8_t byte = read_byte(access);
  if (!access.debug) follow_registers();
  return byte;
}

std::uint8_t Uart::read_byte(const RegisterAccess& access) {
  const bool divisor = (line_control_ & kDivisorAccess) != 0;
  const bool looks_at_receiver =
      (access.reg.id == kData && !divisor) || access.reg.id == kIdentification || access.reg.id == kLineStatus;
  if (!access.debug && looks_at_receiver) poll_input();
  switch (access.reg.id) {
    case kData:
      return divisor ? static_cast<std::uint8_t>(divisor_) : read_receive_buffer(access.debug);
    case kInterruptEnable:
      return divisor ? static_cast<std::uint8_t>(divisor_ >> 8) : interrupt_enable_;
    case kIdentification: {
      const std::uint8_t identification = interrupt_identification();
      // Reading IIR acknowledges the transmitter's interrupt if IIR shows it.
      if (!access.debug && identification == kTransmitPending) transmit_empty_pending_ = false;
      return static_cast<std::uint8_t>(identification | (fifo_enabled_ ? kFifosEnabled : 0));
    }
    case kLineControl:
      return line_control_;
    case kModemControl:
      return modem_control_;
    case kLineStatus: {
      const std::uint8_t status = line_status();
      if (!access.debug) overrun_ = false;
      return status;
    }
    case kModemStatus: {
      const auto status = static_cast<std::uint8_t>(modem_lines() | modem_deltas_);
      if (!access.debug) modem_deltas_ = 0;
      return status;
    }
    default:
      return scratch_;
  }
}

void Uart::transmit(std::uint8_t character) {
  transmit_empty_pending_ = true;
  if ((modem_control_ & kLoopback) != 0) {
    receive(character);
    return;
  }
  ++statistics_.transmitted;
  if (output_) output_(static_cast<char>(character));
}

void Uart::write_fifo_control(std::uint8_t value) {
  const bool enable = (value & kFifoEnable) != 0;
  // Enabling or disabling the FIFOs empties them; the other bits are effective only together with the enable bit.
  if (enable != fifo_enabled_ || (enable && (value & kFifoClearReceive) != 0)) fifo_head_ = fifo_count_ = 0;
  fifo_enabled_ = enable;
  trigger_level_ = enable ? kTriggerLevels[value >> 6] : 1;
}

void Uart::write_modem_control(std::uint8_t value) {
  const std::uint8_t before = modem_lines();
  modem_control_ = value & kModemControlBits;
  const std::uint8_t after = modem_lines();
  const auto changed = static_cast<std::uint8_t>(before ^ after);
  if ((changed & kClearToSend) != 0) modem_deltas_ |= 1;
  if ((changed & kDataSetReady) != 0) modem_deltas_ |= 2;
  if ((before & ~after & kRing) != 0) modem_deltas_ |= 4;  // trailing edge only
  if ((changed & kCarrierDetect) != 0) modem_deltas_ |= 8;
}

void Uart::write_register(const RegisterAccess& access, std::uint64_t value) {
  write_byte(access, static_cast<std::uint8_t>(value));
  follow_registers();
}

void Uart::write_byte(const RegisterAccess& access, std::uint8_t byte) {
  const bool divisor = (line_control_ & kDivisorAccess) != 0;
  switch (access.reg.id) {
    case kData:
      if (divisor) {
        divisor_ = static_cast<std::uint16_t>((divisor_ & 0xff00) | byte);
      } else if (!access.debug) {
        transmit(byte);
      }
      break;
    case kInterruptEnable: {
      if (divisor) {
        divisor_ = static_cast<std::uint16_t>((divisor_ & 0x00ff) | byte << 8);
        break;
      }
      // Enabling the transmit interrupt while the transmitter is empty raises it immediately.
      if ((byte & ~interrupt_enable_ & kEnableTransmit) != 0) transmit_empty_pending_ = true;
      interrupt_enable_ = byte & 0x0f;
      schedule_poll(access.at);
      break;
    }
    case kIdentification:
      write_fifo_control(byte);
      break;
    case kLineControl:
      line_control_ = byte;
      break;
    case kModemControl:
      write_modem_control(byte);
      break;
    default:
      scratch_ = byte;
      break;
  }
}

}  // namespace lacuna
