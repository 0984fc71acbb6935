#include "models/host/devices/bus.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <sstream>

#include "models/common/config/guest_mistake.h"
#include "models/host/devices/finisher.h"
#include "models/host/devices/ram.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kRam = 0x8000'0000;
constexpr std::uint64_t kSecond = kRam + 0x1000;
constexpr std::uint64_t kFinisher = 0x10'0000;

/// A target that can revoke DMI.
struct RevokingTarget : sc_core::sc_module {
  explicit RevokingTarget(sc_core::sc_module_name n) : sc_module(n) {
    bus.register_b_transport(this, &RevokingTarget::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    seen = payload.get_address();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_target_socket<RevokingTarget> bus{"bus"};
  std::uint64_t seen = 0;
};

struct BusBench : sc_core::sc_module {
  explicit BusBench(sc_core::sc_module_name n) : sc_module(n) {
    first.socket.bind(bus.initiators[0]);
    second.socket.bind(bus.initiators[1]);
    bus.map("ram", kRam, 0x1000_B, ram.bus);
    bus.map("ram2", kSecond, 0x800_B, ram2.bus);
    bus.map("finisher", kFinisher, finisher.size(), finisher.bus);
    bus.map("revoking", 0xffff'ffff'0000'0000, 0x1000_B, revoking.bus);
  }
  BackingStore store{0x2000_B};
  test::TestInitiator first{"first"};
  test::TestInitiator second{"second"};
  Ram ram{"ram", {.read_latency = 20_ns, .write_latency = 30_ns}, store, 0, 0x1000_B};
  Ram ram2{"ram2", {}, store, 0x1000, 0x1000_B};
  Finisher finisher{"finisher"};
  RevokingTarget revoking{"revoking"};
  HostBus bus{"bus", {.clock = 100_MHz, .latency = 2_cycles}, 2};
};
LACUNA_TEST_BENCH(BusBench)

BusBench& fresh() {
  auto& b = test::bench<BusBench>();
  b.second.begin_epoch();
  b.first.begin_epoch();
  b.second.share_epoch(b.first);
  b.first.clear_invalidations();
  b.second.clear_invalidations();
  return b;
}

TEST(HostBus, AddsItsLatencyToTheTargets) {
  auto& b = fresh();
  std::array<std::byte, 4> data{};
  EXPECT_EQ(b.first.read(5_ns, kRam, data).at, 45_ns);
  EXPECT_EQ(b.first.write(5_ns, kRam, data).at, 55_ns);
  EXPECT_EQ(b.second.read(5_ns, kFinisher, data).at, 35_ns);
}

TEST(HostBus, TargetsSeeOffsetsAndInitiatorsTheirOwnAddress) {
  auto& b = fresh();
  PooledPayload payload(b.first.pool());
  unsigned char byte = 0;
  payload->set_write();
  payload->set_address(0xffff'ffff'0000'0123);
  payload->set_data_ptr(&byte);
  payload->set_data_length(1);
  payload->set_streaming_width(1);
  EXPECT_TRUE(b.first.send({}, *payload).ok());
  EXPECT_EQ(b.revoking.seen, 0x123u);
  EXPECT_EQ(payload->get_address(), 0xffff'ffff'0000'0123u);
}

TEST(HostBus, MappingBoundaries) {
  auto& b = fresh();
  std::array<std::byte, 8> data{};
  struct Row {
    std::uint64_t address;
    unsigned length;
    bool ok;
  };
  const Row table[] = {
      {kRam - 1, 1, false},
      {kRam, 1, true},
      {kRam + 0xfff, 1, true},
      {kRam + 0xff8, 8, true},
      {kRam + 0xffc, 8, false},  // crosses from one mapping into another
      {kSecond + 0x7ff, 1, true},
      {kSecond + 0x7fc, 8, false},
      {kSecond + 0x800, 1, false},  // beyond the mapping, although the target is larger
      {0, 1, false},
      {0xffff'ffff'0000'0fff, 1, true},
  };
  for (const Row& row : table) {
    const std::span<std::byte> bytes(data.data(), row.length);
    EXPECT_EQ(b.first.read({}, row.address, bytes).response, row.ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE)
        << std::hex << row.address;
  }
}

TEST(HostBus, AnUnmappedAccessIsLoggedWithTheNearestMapping) {
  auto& b = fresh();
  clear_guest_mistakes();
  std::ostringstream text;
  const auto previous = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  std::array<std::byte, 4> data{};
  b.second.read({}, 0x10'2000, data);
  b.second.write({}, kRam + 0xffe, data);
  spdlog::set_default_logger(previous);
  EXPECT_NE(text.str().find("read of 4 bytes at 0x102000 by initiator 1 is not mapped"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("nearest mapping: finisher at 0x100000..0x100fff"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("write of 4 bytes at 0x80000ffe by initiator 1 crosses the end"), std::string::npos) << text.str();
}

TEST(HostBus, DmiIsTranslatedCutToTheMappingAndChargedTheBus) {
  auto& b = fresh();
  const auto region = b.first.dmi(kSecond + 4);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->get_start_address(), kSecond);
  EXPECT_EQ(region->get_end_address(), kSecond + 0x7ff);
  EXPECT_EQ(region->get_dmi_ptr(), reinterpret_cast<unsigned char*>(b.store.data() + 0x1000));
  EXPECT_EQ(to_tick(region->get_read_latency()), 21_ns);
  EXPECT_FALSE(b.first.dmi(kFinisher));
  EXPECT_FALSE(b.first.dmi(0x5000));
}

TEST(HostBus, InvalidationsTravelBackToEveryInitiator) {
  auto& b = fresh();
  b.revoking.bus->invalidate_direct_mem_ptr(0x100, ~sc_dt::uint64{0});
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {{0xffff'ffff'0000'0100, 0xffff'ffff'0000'0fff}};
  EXPECT_EQ(b.first.invalidations(), expected);
  EXPECT_EQ(b.second.invalidations(), expected);
}

TEST(HostBus, BadMappingsAreModelErrors) {
  auto& b = fresh();
  EXPECT_THROW(b.bus.map("overlap", kRam + 0xfff, 1_B, b.ram.bus), std::invalid_argument);
  EXPECT_THROW(b.bus.map("around", kRam - 1, 0x10000_B, b.ram.bus), std::invalid_argument);
  EXPECT_THROW(b.bus.map("empty", 0x5000, 0_B, b.ram.bus), std::invalid_argument);
  EXPECT_THROW(b.bus.map("wrap", 0xffff'ffff'ffff'0000, 0x10001_B, b.ram.bus), std::invalid_argument);
}

TEST(HostBus, CountsTransactions) {
  auto& b = fresh();
  const HostBusStatistics before = b.bus.statistics();
  b.first.load<std::uint32_t>(kRam);
  b.first.store<std::uint32_t>(kRam, 1);
  std::array<std::byte, 4> data{};
  b.first.read({}, 0x4000, data);
  EXPECT_EQ(b.bus.statistics().reads - before.reads, 1u);
  EXPECT_EQ(b.bus.statistics().writes - before.writes, 1u);
  EXPECT_EQ(b.bus.statistics().errors - before.errors, 1u);
}

}  // namespace

test::ContractTarget test::contract_target() {
  return {.initiator = bench<BusBench>().second, .address = kSecond + 0x40, .length = 8, .end = kSecond + 0x800};
}

}  // namespace lacuna
