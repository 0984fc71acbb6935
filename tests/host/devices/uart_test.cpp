#include "models/host/devices/uart.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "tests/harness/harness.h"
#include "tests/harness/line_change.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

enum Register : std::uint64_t { kData = 0, kIer = 1, kIir = 2, kFcr = 2, kLcr = 3, kMcr = 4, kLsr = 5, kMsr = 6, kScr = 7 };
constexpr std::uint8_t kEmptyLsr = 0x60;
constexpr unsigned kStride = 4;

struct UartBench : sc_core::sc_module {
  explicit UartBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(uart.bus);
    spaced_initiator.socket.bind(spaced.bus);
    uart.interrupt.bind(interrupt);
    spaced.interrupt.bind(spaced_interrupt);
    uart.set_output([this](char c) { output += c; });
  }
  void set(Register r, std::uint8_t value) {
    initiator.store<std::uint8_t>(r, value);
    test::settle();
  }
  std::uint8_t get(Register r) {
    const auto value = initiator.load<std::uint8_t>(r);
    test::settle();
    return value;
  }
  void receive(std::string_view text) {
    for (const char c : text) uart.receive(static_cast<std::uint8_t>(c));
    test::settle();
  }
  test::TestInitiator initiator{"initiator"};
  test::TestInitiator spaced_initiator{"spaced_initiator"};
  Uart uart{"uart", {.bus = {.clock = 100_MHz, .read_latency = 1_cycles, .write_latency = 2_cycles}, .poll_interval = 10_us}};
  Uart spaced{"spaced", {.bus = {}, .stride = kStride}};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  sc_core::sc_signal<bool> spaced_interrupt{"spaced_interrupt"};
  std::string output;
};
LACUNA_TEST_BENCH(UartBench)

UartBench& fresh() {
  auto& b = test::bench<UartBench>();
  b.uart.set_input({});
  b.uart.reset();
  b.output.clear();
  test::settle();
  b.initiator.begin_epoch();
  return b;
}

TEST(Uart, TellsOfReadsThatChangeItsLineAndOfNoOther) {
  auto& b = fresh();
  const auto reads = [&](Register r) { return test::read_changes_line(b.initiator, r, 1); };
  const auto writes = [&](Register r, std::uint8_t value) { return test::write_changes_line(b.initiator, r, 1, value); };
  EXPECT_FALSE(reads(kLsr)) << "polling costs nothing";
  EXPECT_FALSE(reads(kIir));
  EXPECT_FALSE(writes(kScr, 1));
  // The transmitter's interrupt is acknowledged by reading IIR.
  EXPECT_TRUE(writes(kIer, 0x02));
  EXPECT_FALSE(reads(kLsr));
  EXPECT_TRUE(reads(kIir));
  EXPECT_FALSE(reads(kIir));
  EXPECT_TRUE(writes(kData, 'x'));
  EXPECT_TRUE(writes(kIer, 0));
  // Received characters: reading the last character lowers the interrupt line.
  EXPECT_FALSE(writes(kFcr, 0x01));
  EXPECT_FALSE(writes(kMcr, 0x10));
  EXPECT_TRUE(writes(kIer, 0x01) || writes(kData, 'a'));
  EXPECT_FALSE(writes(kData, 'b'));
  EXPECT_FALSE(reads(kData));
  EXPECT_TRUE(reads(kData));
  EXPECT_FALSE(reads(kData));
  // An overrun is acknowledged by reading LSR, a change of the modem lines by reading MSR.
  EXPECT_FALSE(writes(kFcr, 0x00));
  EXPECT_FALSE(writes(kIer, 0x04));
  EXPECT_FALSE(writes(kData, 'a'));
  EXPECT_TRUE(writes(kData, 'b'));
  EXPECT_TRUE(reads(kLsr));
  EXPECT_TRUE(writes(kIer, 0x08)) << "the loopback has changed the modem's lines";
  EXPECT_TRUE(reads(kMsr));
  EXPECT_FALSE(reads(kMsr));
  test::settle();
  EXPECT_FALSE(b.interrupt.read());
  // A read of LSR detects waiting input.
  b.set(kMcr, 0);
  b.set(kData, 0);
  b.set(kIer, 0x01);
  while (b.get(kLsr) & 1) b.get(kData);
  std::deque<int> waiting{'z'};
  b.uart.set_input([&] {
    if (waiting.empty()) return -1;
    const int next = waiting.front();
    waiting.pop_front();
    return next;
  });
  EXPECT_TRUE(reads(kLsr));
  EXPECT_TRUE(reads(kData));
}

TEST(Uart, TransmitsImmediately) {
  auto& b = fresh();
  EXPECT_EQ(b.get(kLsr), kEmptyLsr);
  for (const char c : std::string("lacuna\n")) b.set(kData, static_cast<std::uint8_t>(c));
  EXPECT_EQ(b.output, "lacuna\n");
  EXPECT_EQ(b.get(kLsr), kEmptyLsr);
}

TEST(Uart, ReceiveBufferWithoutFifoHoldsOneAndOverruns) {
  auto& b = fresh();
  b.receive("a");
  EXPECT_EQ(b.get(kLsr), kEmptyLsr | 1);
  b.receive("b");
  EXPECT_EQ(b.get(kLsr), kEmptyLsr | 3);
  EXPECT_EQ(b.get(kLsr), kEmptyLsr | 1) << "reading LSR clears the overrun";
  EXPECT_EQ(b.get(kData), 'b') << "without FIFO the newer character replaces the older";
  EXPECT_EQ(b.get(kLsr), kEmptyLsr);
}

TEST(Uart, FifoHoldsSixteenAndKeepsTheOldest) {
  auto& b = fresh();
  const std::uint64_t overruns = b.uart.statistics().overruns;
  b.set(kFcr, 0x01);
  b.receive("0123456789abcdefX");
  EXPECT_EQ(b.get(kLsr), kEmptyLsr | 3);
  std::string got;
  while ((b.get(kLsr) & 1) != 0) got += static_cast<char>(b.get(kData));
  EXPECT_EQ(got, "0123456789abcdef");
  EXPECT_EQ(b.uart.statistics().overruns, overruns + 1);
}

TEST(Uart, FifoControlClearsAndModeChangesEmpty) {
  auto& b = fresh();
  b.set(kFcr, 0x01);
  b.receive("abc");
  b.set(kFcr, 0x03);
  EXPECT_EQ(b.get(kLsr), kEmptyLsr);
  b.receive("abc");
  b.set(kFcr, 0x02);
  EXPECT_EQ(b.get(kLsr), kEmptyLsr);
  EXPECT_EQ(b.get(kIir), 0x01) << "FIFOs off";
  b.set(kFcr, 0x01);
  EXPECT_EQ(b.get(kIir), 0xc1);
}

TEST(Uart, DivisorLatchHidesDataAndInterruptEnable) {
  auto& b = fresh();
  b.set(kIer, 0x05);
  b.set(kLcr, 0x83);
  b.set(kData, 0x34);
  b.set(kIer, 0x12);
  EXPECT_EQ(b.get(kData), 0x34);
  EXPECT_EQ(b.get(kIer), 0x12);
  EXPECT_EQ(b.output, "");
  b.set(kLcr, 0x03);
  EXPECT_EQ(b.get(kLcr), 0x03);
  EXPECT_EQ(b.get(kIer), 0x05);
}

TEST(Uart, InterruptEnableHasFourBits) {
  auto& b = fresh();
  b.set(kIer, 0xff);
  EXPECT_EQ(b.get(kIer), 0x0f);
}

TEST(Uart, ReceiveInterruptAtTheTriggerLevel) {
  auto& b = fresh();
  b.set(kFcr, 0x41);  // trigger level 4
  b.set(kIer, 0x01);
  EXPECT_FALSE(b.interrupt.read());
  b.receive("abc");
  EXPECT_TRUE(b.interrupt.read());
  EXPECT_EQ(b.get(kIir), 0xcc) << "below the level: character timeout";
  b.receive("d");
  EXPECT_EQ(b.get(kIir), 0xc4);
  for (int i = 0; i < 4; ++i) b.get(kData);
  EXPECT_FALSE(b.interrupt.read());
  EXPECT_EQ(b.get(kIir), 0xc1);
}

TEST(Uart, TriggerLevels) {
  auto& b = fresh();
  b.set(kIer, 0x01);
  const std::pair<std::uint8_t, unsigned> table[] = {{0x03, 1}, {0x43, 4}, {0x83, 8}, {0xc3, 14}};
  for (const auto& [control, level] : table) {
    b.set(kFcr, control);
    b.receive(std::string(level - 1, 'x'));
    EXPECT_NE(b.get(kIir), 0xc4) << level;
    b.receive("x");
    EXPECT_EQ(b.get(kIir), 0xc4) << level;
  }
}

TEST(Uart, TransmitInterruptIsAcknowledgedByReadingIir) {
  auto& b = fresh();
  b.set(kIer, 0x02);
  EXPECT_TRUE(b.interrupt.read()) << "the transmitter is empty";
  EXPECT_EQ(b.get(kIir), 0x02);
  EXPECT_FALSE(b.interrupt.read());
  EXPECT_EQ(b.get(kIir), 0x01);
  b.set(kData, 'x');
  EXPECT_TRUE(b.interrupt.read());
  EXPECT_EQ(b.get(kIir), 0x02);
}

TEST(Uart, InterruptPriorities) {
  auto& b = fresh();
  b.set(kIer, 0x0f);
  b.set(kMcr, 0x10);  // loopback: the modem lines fall
  b.receive("a");
  b.receive("b");
  EXPECT_EQ(b.get(kIir), 0x06) << "line status first";
  b.get(kLsr);
  EXPECT_EQ(b.get(kIir), 0x04) << "then received data";
  b.get(kData);
  EXPECT_EQ(b.get(kIir), 0x02) << "then the transmitter";
  EXPECT_EQ(b.get(kIir), 0x00) << "then the modem status";
  b.get(kMsr);
  EXPECT_EQ(b.get(kIir), 0x01);
  EXPECT_FALSE(b.interrupt.read());
}

TEST(Uart, LoopbackReturnsCharactersAndModemControl) {
  auto& b = fresh();
  EXPECT_EQ(b.get(kMsr), 0xb0) << "CTS, DSR and DCD are on";
  b.set(kMcr, 0x10);
  EXPECT_EQ(b.get(kMsr), 0x0b) << "all lines fell";
  b.set(kData, 'L');
  EXPECT_EQ(b.output, "");
  EXPECT_EQ(b.get(kData), 'L');
  const std::pair<std::uint8_t, std::uint8_t> lines[] = {{0x11, 0x20}, {0x12, 0x10}, {0x14, 0x40}, {0x18, 0x80}};
  for (const auto& [control, status] : lines) {
    b.set(kMcr, 0x10);
    b.get(kMsr);
    b.set(kMcr, control);
    EXPECT_EQ(b.get(kMsr) & 0xf0, status) << static_cast<int>(control);
    EXPECT_EQ(b.get(kMsr) & 0x0f, 0) << "reading clears the deltas";
  }
  b.set(kMcr, 0x14);
  b.get(kMsr);
  b.set(kMcr, 0x10);
  EXPECT_EQ(b.get(kMsr), 0x04) << "ring: the trailing edge";
  b.set(kMcr, 0xff);
  EXPECT_EQ(b.get(kMcr), 0x1f);
}

TEST(Uart, ScratchHoldsAByte) {
  auto& b = fresh();
  b.set(kScr, 0xa5);
  EXPECT_EQ(b.get(kScr), 0xa5);
}

TEST(Uart, StatusRegistersAreReadOnly) {
  auto& b = fresh();
  std::array<std::byte, 1> data{};
  EXPECT_EQ(b.initiator.write({}, kLsr, data).response, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.write({}, kMsr, data).response, tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST(Uart, InputIsTakenAsTheGuestReadsIt) {
  auto& b = fresh();
  std::deque<int> waiting = {'h', 'i'};
  b.uart.set_input([&waiting] {
    if (waiting.empty()) return -1;
    const int c = waiting.front();
    waiting.pop_front();
    return c;
  });
  EXPECT_EQ(b.get(kLsr) & 1, 1);
  EXPECT_EQ(waiting.size(), 1u) << "no more than the receiver holds";
  EXPECT_EQ(b.get(kData), 'h');
  EXPECT_EQ(b.get(kLsr) & 1, 1);
  EXPECT_EQ(b.get(kData), 'i');
  EXPECT_EQ(b.get(kLsr) & 1, 0);
  b.uart.set_input({});
}

TEST(Uart, WaitingInputInterruptsWithinThePollInterval) {
  auto& b = fresh();
  int waiting = -1;
  b.uart.set_input([&waiting] { return std::exchange(waiting, -1); });
  b.set(kIer, 0x01);
  waiting = 'q';
  // The poll interval of 10 us starts when the write takes effect, 20 ns after it is issued.
  EXPECT_EQ(b.uart.next_line_change(test::now()), b.initiator.epoch() + 20_ns + 10_us);
  test::wait_for(20_ns + 10_us - 1_ps);
  test::settle();
  EXPECT_FALSE(b.interrupt.read());
  test::wait_for(1_ps);
  test::settle();
  EXPECT_TRUE(b.interrupt.read());
  b.initiator.begin_epoch();
  EXPECT_EQ(b.get(kData), 'q');
  b.set(kIer, 0);
  b.uart.set_input({});
}

TEST(Uart, DebugReadsTakeNothing) {
  auto& b = fresh();
  b.receive("z");
  std::array<std::byte, 1> data{};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(b.initiator.debug_read(kData, data), 1u);
    EXPECT_EQ(data[0], std::byte{'z'});
  }
  EXPECT_EQ(b.get(kData), 'z');
}

TEST(Uart, StrideSpacesTheRegisters) {
  auto& b = fresh();
  b.spaced_initiator.begin_epoch();
  b.spaced_initiator.store<std::uint8_t>(kScr * kStride, 0x42);
  EXPECT_EQ(b.spaced_initiator.load<std::uint8_t>(kScr * kStride), 0x42);
  std::array<std::byte, 1> data{};
  EXPECT_EQ(b.spaced_initiator.read({}, kScr * kStride + 1, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(Uart, LatencyTable) {
  auto& b = fresh();
  std::array<std::byte, 1> data{};
  EXPECT_EQ(b.initiator.read(1_ns, kScr, data).at, 11_ns);
  EXPECT_EQ(b.initiator.write(1_ns, kScr, data).at, 21_ns);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<UartBench>();
  return {.initiator = b.initiator,
          .address = kScr,
          .length = 1,
          .end = 8,
          .byte_enables = false,
          .dmi = false,
          .reset = [&b] { b.uart.reset(); },
          .keeps_data = false};
}

}  // namespace lacuna
