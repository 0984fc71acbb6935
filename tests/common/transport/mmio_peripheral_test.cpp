// Tests the base class MmioPeripheral with a device that has every kind of register. The tests of real devices run the TLM
// contract (tests/harness/tlm_contract.h).
#include "models/common/transport/mmio_peripheral.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/harness/harness.h"
#include "tests/harness/line_change.h"
#include "tests/harness/test_initiator.h"

namespace lacuna {
namespace {

using namespace literals;
using test::Completion;

class Device : public MmioPeripheral {
 public:
  explicit Device(sc_core::sc_module_name n) : MmioPeripheral(n, {100_MHz, 3_cycles, 2_cycles}, 0x100_B) {
    add_register({.name = "word", .offset = 0});
    add_register({.name = "status", .offset = 4, .mode = RegisterMode::read_only});
    add_register({.name = "command", .offset = 8, .mode = RegisterMode::write_only});
    add_register({.name = "wide", .offset = 0x10, .width = 8, .halves = true});
    add_register({.name = "whole", .offset = 0x18, .width = 8});
    add_register({.name = "array", .offset = 0x20, .width = 4, .count = 4, .stride = 8});
    add_register({.name = "byte", .offset = 0x41, .width = 1});
  }
  std::array<std::array<std::uint64_t, 4>, 7> values{};
  unsigned side_effects = 0;
  bool line_changes = false;
  Tick last_access{};
  using MmioPeripheral::add_register;

 private:
  std::uint64_t read_register(const RegisterAccess& access) override {
    if (!access.debug) ++side_effects;
    if (line_changes) report_line_change();
    last_access = access.at;
    return values[access.reg.id][access.index];
  }
  void write_register(const RegisterAccess& access, std::uint64_t value) override {
    last_access = access.at;
    values[access.reg.id][access.index] = value;
  }
};

struct MmioBench : sc_core::sc_module {
  explicit MmioBench(sc_core::sc_module_name n) : sc_module(n) { initiator.socket.bind(device.bus); }
  test::TestInitiator initiator{"initiator"};
  Device device{"device"};
};
LACUNA_TEST_BENCH(MmioBench)

MmioBench& fresh() {
  auto& b = test::bench<MmioBench>();
  b.initiator.begin_epoch();
  b.device.values = {};
  b.device.side_effects = 0;
  return b;
}

TEST(MmioPeripheral, LatencyIsChargedOnceAndTheAccessTakesEffectAfterIt) {
  auto& b = fresh();
  std::array<std::byte, 4> data{};
  EXPECT_EQ(b.initiator.read(5_ns, 0, data).at, 35_ns);
  EXPECT_EQ(b.device.last_access, b.initiator.epoch() + 35_ns);
  EXPECT_EQ(b.initiator.write(7_ns, 0, data).at, 27_ns);
  EXPECT_EQ(b.initiator.debug_read(0, data), 4u);
  EXPECT_EQ(b.device.last_access, test::now());
}

TEST(MmioPeripheral, ReportsALineThatTheAccessChanges) {
  auto& b = fresh();
  EXPECT_FALSE(test::read_changes_line(b.initiator, 0, 4));
  b.device.line_changes = true;
  EXPECT_TRUE(test::read_changes_line(b.initiator, 0, 4));
  EXPECT_EQ(b.initiator.load<std::uint32_t>(0), 0u) << "nor need an initiator ask";
  b.device.line_changes = false;
  EXPECT_FALSE(test::read_changes_line(b.initiator, 0, 4)) << "another access's effects are not reported again";
}

TEST(MmioPeripheral, WholeRegistersAndHalves) {
  auto& b = fresh();
  b.initiator.store<std::uint64_t>(0x10, 0x1122334455667788);
  EXPECT_EQ(b.initiator.load<std::uint32_t>(0x10), 0x55667788u);
  EXPECT_EQ(b.initiator.load<std::uint32_t>(0x14), 0x11223344u);
  b.initiator.store<std::uint32_t>(0x14, 0xaabbccdd);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(0x10), 0xaabbccdd55667788u);
  b.initiator.store<std::uint32_t>(0x10, 1);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(0x10), 0xaabbccdd00000001u);
  b.initiator.store<std::uint8_t>(0x41, 0x9c);
  EXPECT_EQ(b.initiator.load<std::uint8_t>(0x41), 0x9c);
}

TEST(MmioPeripheral, ArraysAreIndexedByStride) {
  auto& b = fresh();
  for (unsigned i = 0; i < 4; ++i) b.initiator.store<std::uint32_t>(0x20 + 8 * i, 100 + i);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.device.values[5][i], 100 + i);
}

struct Refusal {
  const char* what;
  bool write;
  std::uint64_t address;
  unsigned length;
  tlm::tlm_response_status expected;
};

TEST(MmioPeripheral, BadAccessesAreRefusedPreciselyAndChangeNothing) {
  auto& b = fresh();
  const Refusal table[] = {
      {"hole", false, 0xc, 4, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"hole between array elements", true, 0x24, 4, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"behind the array", false, 0x40, 1, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"outside the device", false, 0x100, 4, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"across the end", false, 0xfc, 8, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"too narrow", true, 0, 2, tlm::TLM_BURST_ERROR_RESPONSE},
      {"too wide", false, 0, 8, tlm::TLM_BURST_ERROR_RESPONSE},
      {"misaligned", false, 2, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"misaligned half", false, 0x12, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"half of an indivisible register", false, 0x18, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"write of a read-only register", true, 4, 4, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"read of a write-only register", false, 8, 4, tlm::TLM_COMMAND_ERROR_RESPONSE},
  };
  for (const Refusal& row : table) {
    std::array<std::byte, 8> data;
    data.fill(std::byte{0xee});
    const std::span<std::byte> bytes(data.data(), row.length);
    const Completion c = row.write ? b.initiator.write({}, row.address, bytes) : b.initiator.read({}, row.address, bytes);
    EXPECT_EQ(c.response, row.expected) << row.what;
    EXPECT_EQ(data[0], std::byte{0xee}) << row.what;
    EXPECT_EQ(b.initiator.debug_read(row.address, bytes) > 0 && !row.write, false) << row.what;
  }
  EXPECT_EQ(b.device.side_effects, 0u);
  for (const auto& reg : b.device.values) EXPECT_EQ(reg[0], 0u);
}

TEST(MmioPeripheral, DebugReadsHaveNoSideEffects) {
  auto& b = fresh();
  std::array<std::byte, 4> data{};
  b.initiator.debug_read(0, data);
  EXPECT_EQ(b.device.side_effects, 0u);
  b.initiator.read({}, 0, data);
  EXPECT_EQ(b.device.side_effects, 1u);
}

TEST(MmioPeripheral, BadRegisterTablesAreModelErrors) {
  auto& b = fresh();
  EXPECT_THROW(b.device.add_register({.name = "overlap", .offset = 0}), std::invalid_argument);
  EXPECT_THROW(b.device.add_register({.name = "inside", .offset = 0x24}), std::invalid_argument);
  EXPECT_THROW(b.device.add_register({.name = "misaligned", .offset = 0x52}), std::invalid_argument);
  EXPECT_THROW(b.device.add_register({.name = "width", .offset = 0x60, .width = 3}), std::invalid_argument);
  EXPECT_THROW(b.device.add_register({.name = "outside", .offset = 0xfc, .width = 4, .count = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace lacuna
