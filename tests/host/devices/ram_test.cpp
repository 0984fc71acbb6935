#include "models/host/devices/ram.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBase = 0x1000;
constexpr Bytes kSize{0x2000};

struct RamBench : sc_core::sc_module {
  explicit RamBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(ram.bus);
    // Modules can be constructed only before the simulation runs.
    try {
      Ram beyond("beyond", {}, store, 0x3000, 0x1001_B);
    } catch (const std::invalid_argument& error) {
      refusal = error.what();
    }
  }
  std::string refusal;
  BackingStore store{0x4000_B};
  test::TestInitiator initiator{"initiator"};
  Ram ram{"ram", {.read_latency = 20_ns, .write_latency = 30_ns}, store, kBase, kSize};
};
LACUNA_TEST_BENCH(RamBench)

TEST(Ram, LatencyTable) {
  auto& b = test::bench<RamBench>();
  b.initiator.begin_epoch();
  struct Row {
    bool write;
    Tick at;
    unsigned length;
    Tick expected;
  };
  const Row table[] = {{false, 0_ns, 4, 20_ns},
                       {false, 7_ns, 4, 27_ns},
                       {true, 0_ns, 4, 30_ns},
                       {true, 5_ns, 64, 35_ns},
                       {false, 0_ns, 64, 20_ns}};
  std::array<std::byte, 64> data{};
  for (const Row& row : table) {
    const std::span<std::byte> bytes(data.data(), row.length);
    EXPECT_EQ((row.write ? b.initiator.write(row.at, 0, bytes) : b.initiator.read(row.at, 0, bytes)).at, row.expected);
  }
}

TEST(Ram, IsAWindowOfTheStore) {
  auto& b = test::bench<RamBench>();
  b.initiator.begin_epoch();
  b.initiator.store<std::uint32_t>(0x10, 0x11223344);
  EXPECT_EQ(b.store.data()[kBase + 0x10], std::byte{0x44});
  const auto region = b.initiator.dmi(0x10);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->get_dmi_ptr(), reinterpret_cast<unsigned char*>(b.store.data() + kBase));
  EXPECT_EQ(region->get_start_address(), 0u);
  EXPECT_EQ(region->get_end_address(), kSize.n - 1);
  EXPECT_TRUE(region->is_read_write_allowed());
  EXPECT_EQ(to_tick(region->get_read_latency()), 20_ns);
  EXPECT_EQ(to_tick(region->get_write_latency()), 30_ns);
}

TEST(Ram, TheLastByteIsThereAndTheNextIsNot) {
  auto& b = test::bench<RamBench>();
  b.initiator.begin_epoch();
  b.initiator.store<std::uint8_t>(kSize.n - 1, 0x77);
  EXPECT_EQ(b.initiator.load<std::uint8_t>(kSize.n - 1), 0x77);
  std::byte byte{};
  EXPECT_EQ(b.initiator.read({}, kSize.n, {&byte, 1}).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(Ram, CountsWhatItServes) {
  auto& b = test::bench<RamBench>();
  b.initiator.begin_epoch();
  const RamStatistics before = b.ram.statistics();
  b.initiator.store<std::uint32_t>(0, 1);
  b.initiator.load<std::uint32_t>(0);
  b.initiator.load<std::uint32_t>(0);
  std::byte byte{};
  b.initiator.read({}, kSize.n, {&byte, 1});
  EXPECT_EQ(b.ram.statistics().writes - before.writes, 1u);
  EXPECT_EQ(b.ram.statistics().reads - before.reads, 2u);
  EXPECT_EQ(b.ram.statistics().errors - before.errors, 1u);
}

TEST(Ram, AWindowOutsideTheStoreIsAModelError) {
  EXPECT_EQ(test::bench<RamBench>().refusal, "bench.beyond: 4097 bytes at 12288 are not in a store of 16384");
}

}  // namespace

test::ContractTarget test::contract_target() {
  return {.initiator = bench<RamBench>().initiator, .address = 0x40, .length = 8, .end = kSize.n};
}

}  // namespace lacuna
