#include "models/host/devices/clint.h"

#include <gtest/gtest.h>

#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kMsip = 0;
constexpr std::uint64_t kMtimecmp = 0x4000;
constexpr std::uint64_t kMtime = 0xbff8;
constexpr Tick kPeriod = 100_ns;

struct ClintBench : sc_core::sc_module {
  explicit ClintBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(clint.bus);
    for (unsigned h = 0; h < 2; ++h) {
      clint.timer_interrupt[h].bind(timer[h]);
      clint.software_interrupt[h].bind(software[h]);
    }
  }
  test::TestInitiator initiator{"initiator"};
  Clint clint{"clint", {.bus = {.clock = 100_MHz, .read_latency = 1_cycles, .write_latency = 2_cycles}, .timebase = 10_MHz}, 2};
  sc_core::sc_vector<sc_core::sc_signal<bool>> timer{"timer", 2};
  sc_core::sc_vector<sc_core::sc_signal<bool>> software{"software", 2};
};
LACUNA_TEST_BENCH(ClintBench)

ClintBench& fresh() {
  auto& b = test::bench<ClintBench>();
  b.clint.reset();
  b.initiator.begin_epoch();
  return b;
}

TEST(Clint, MsipDrivesTheSoftwareInterruptOfItsHart) {
  auto& b = fresh();
  b.initiator.store<std::uint32_t>(kMsip + 4, 0xffff'ffff);
  test::settle();
  EXPECT_FALSE(b.software[0].read());
  EXPECT_TRUE(b.software[1].read());
  EXPECT_EQ(b.initiator.load<std::uint32_t>(kMsip + 4), 1u);
  EXPECT_EQ(b.initiator.load<std::uint32_t>(kMsip), 0u);
  b.initiator.store<std::uint32_t>(kMsip + 4, 0xffff'fffe);
  test::settle();
  EXPECT_FALSE(b.software[1].read());
}

TEST(Clint, MtimeCountsTheInitiatorsLocalTime) {
  auto& b = fresh();
  const std::uint64_t base = b.initiator.epoch().ps / kPeriod.ps;
  // The read takes effect after its 10 ns of latency.
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtime, 0_ns), base);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtime, 89_ns), base);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtime, 90_ns), base + 1);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtime, 990_ns), base + 10);
  EXPECT_EQ(b.initiator.load<std::uint32_t>(kMtime, 990_ns), static_cast<std::uint32_t>(base + 10));
  EXPECT_EQ(b.initiator.load<std::uint32_t>(kMtime + 4, 990_ns), static_cast<std::uint32_t>((base + 10) >> 32));
}

TEST(Clint, WritingMtimeMovesItAndTheTimerFollows) {
  auto& b = fresh();
  b.initiator.store<std::uint64_t>(kMtime, 5);
  EXPECT_LE(b.initiator.load<std::uint64_t>(kMtime), 6u);
  b.initiator.store<std::uint64_t>(kMtimecmp, 20);
  test::wait_for(kPeriod * 10);
  EXPECT_FALSE(b.timer[0].read());
  test::wait_for(kPeriod * 8);
  EXPECT_TRUE(b.timer[0].read());
}

TEST(Clint, AWriteOfMtimeAheadOfTheKernelCountsFromWhenItTakesEffect) {
  auto& b = fresh();
  b.initiator.store<std::uint64_t>(kMtimecmp, 40);
  // The write is 50 ticks ahead of SystemC time, at which the new mtime would be -45.
  b.initiator.store<std::uint64_t>(kMtime, 5, kPeriod * 50 - 20_ns);
  test::settle();
  EXPECT_FALSE(b.timer[0].read());
  EXPECT_EQ(b.clint.next_line_change(0, test::now()), b.initiator.epoch() + kPeriod * 85);
  test::wait_for(kPeriod * 85 - 1_ps);
  EXPECT_FALSE(b.timer[0].read());
  test::wait_for(1_ps);
  test::settle();
  EXPECT_TRUE(b.timer[0].read());
  // Sets mtime back to before the compare value, then forward beyond it.
  b.initiator.begin_epoch();
  b.initiator.store<std::uint64_t>(kMtime, 39, kPeriod * 30 - 20_ns);
  test::settle();
  EXPECT_FALSE(b.timer[0].read());
  EXPECT_EQ(b.clint.next_line_change(0, test::now()), b.initiator.epoch() + kPeriod * 31);
  b.initiator.store<std::uint64_t>(kMtime, 1000, kPeriod * 30);
  EXPECT_EQ(b.clint.next_line_change(0, test::now()), test::now()) << "on its way";
  test::settle();
  EXPECT_TRUE(b.timer[0].read());
  EXPECT_EQ(b.clint.next_line_change(0, test::now()), kNever);
}

TEST(Clint, TheTimerRisesAtTheTickAndNotBefore) {
  auto& b = fresh();
  const std::uint64_t base = b.initiator.epoch().ps / kPeriod.ps;
  b.initiator.store<std::uint64_t>(kMtimecmp + 8, base + 7);
  test::wait_for(kPeriod * 7 - 1_ps);
  EXPECT_FALSE(b.timer[1].read());
  test::wait_for(1_ps);
  test::settle();
  EXPECT_TRUE(b.timer[1].read());
  EXPECT_FALSE(b.timer[0].read());
  b.initiator.begin_epoch();
  b.initiator.store<std::uint64_t>(kMtimecmp + 8, ~std::uint64_t{0});
  test::settle();
  EXPECT_FALSE(b.timer[1].read());
}

TEST(Clint, MtimecmpReadsBackByHalvesAndResetsToNever) {
  auto& b = fresh();
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtimecmp), ~std::uint64_t{0});
  b.initiator.store<std::uint32_t>(kMtimecmp, 0x55667788);
  b.initiator.store<std::uint32_t>(kMtimecmp + 4, 0x11223344);
  EXPECT_EQ(b.initiator.load<std::uint64_t>(kMtimecmp), 0x1122334455667788u);
}

TEST(Clint, AnEarlierCompareReplacesALaterOne) {
  auto& b = fresh();
  const std::uint64_t base = b.initiator.epoch().ps / kPeriod.ps;
  b.initiator.store<std::uint64_t>(kMtimecmp, base + 50);
  test::wait_for(kPeriod * 5);
  b.initiator.begin_epoch(kPeriod);
  const std::uint64_t later_base = b.initiator.epoch().ps / kPeriod.ps;
  b.initiator.store<std::uint64_t>(kMtimecmp, later_base + 3);
  test::wait_for(kPeriod * 3);
  test::settle();
  EXPECT_TRUE(b.timer[0].read());
}

TEST(Clint, ComparesInThePastAndFarAway) {
  auto& b = fresh();
  b.initiator.store<std::uint64_t>(kMtimecmp, 0);
  test::settle();
  EXPECT_TRUE(b.timer[0].read());
  b.initiator.store<std::uint64_t>(kMtimecmp, ~std::uint64_t{0} - 1);
  test::settle();
  EXPECT_FALSE(b.timer[0].read());
}

TEST(Clint, LatencyTable) {
  auto& b = fresh();
  std::array<std::byte, 8> data{};
  EXPECT_EQ(b.initiator.read(1_ns, kMtime, data).at, 11_ns);
  EXPECT_EQ(b.initiator.write(1_ns, kMtimecmp, data).at, 21_ns);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<ClintBench>();
  return {.initiator = b.initiator,
          .address = kMtimecmp,
          .length = 8,
          .end = 0x10000,
          .byte_enables = false,
          .dmi = false,
          .reset = [&b] { b.clint.reset(); },
          .keeps_data = false};
}

}  // namespace lacuna
