#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/dram/channel_bench.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;
using test::DramBench;
using test::fresh;
using test::kBanks;
using test::kBase;
using test::kRow;

LACUNA_TEST_BENCH(test::DramBench)

struct Row {
  const char* what;
  Tick at;
  std::uint64_t offset;
  unsigned length;
  Tick expected;
};

void check_reads(DramBench& b, std::initializer_list<Row> table) {
  for (const Row& row : table)
    EXPECT_EQ(b.initiator.time_read(row.at, kBase + row.offset, row.length).at, row.expected) << row.what;
}

TEST(DramChannel, UnloadedLatencyTable) {
  check_reads(fresh(), {{"no row open: 20 + 5 + 11 + 4", 0_ns, 0, 64, 40_ns},
                        {"row hit: 20 + 11 + 4", 1000_ns, 64, 64, 1035_ns},
                        {"a byte takes a burst", 2000_ns, 128, 1, 2035_ns},
                        {"two bursts", 3000_ns, 128, 128, 3039_ns},
                        {"65 bytes are two bursts", 4000_ns, 128, 65, 4039_ns},
                        {"so are two bytes across their border", 4500_ns, 191, 2, 4539_ns},
                        {"conflict: 20 + 7 + 5 + 11 + 4", 5000_ns, kRow * kBanks, 64, 5047_ns},
                        {"another bank, no row open", 6000_ns, kRow, 64, 6040_ns},
                        {"the row it had is closed now", 7000_ns, 0, 64, 7047_ns}});
}

TEST(DramChannel, WritesArePostedUntilTheQueueIsFull) {
  auto& b = fresh();
  const Tick before = b.channel.statistics().write_stall;
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.initiator.time_write(0_ns, kBase + 64 * i, 64).at, 0_ns) << i;
  EXPECT_EQ(b.channel.statistics().write_stall, before);
  Tick last{};
  Tick stall{};
  for (unsigned i = 4; i < 40; ++i) {
    const Tick accepted = b.initiator.time_write(0_ns, kBase + 64 * i, 64).at;
    EXPECT_GE(accepted, last) << i;
    last = accepted;
    stall += accepted;
  }
  // The result is a forecast. 40 bursts take 160 cycles, and the forecast adds a bus turnaround of 22 cycles for each burst,
  // because the watermarks of this queue are one write apart.
  EXPECT_GE(last, Tick{(5 + 35 * 4) * 1000});
  EXPECT_LE(last, Tick{40 * (4 + 22) * 1000});
  EXPECT_EQ(b.channel.statistics().write_stall - before, stall);
}

// Reads and writes take the same time to reach the controller, so they keep their order.
TEST(DramChannel, TheFrontendDelaysReadsAndNothingElse) {
  auto& b = fresh();
  std::mt19937_64 random(1);
  Tick at{};
  for (unsigned i = 0; i < 300; ++i) {
    const std::uint64_t address = kBase + random() % 256 * 64;
    if (random() % 2 == 0) {
      EXPECT_EQ(b.initiator.time_write(at, address, 64).at, b.third_initiator.time_write(at, address, 64).at) << i;
    } else {
      EXPECT_EQ(b.initiator.time_read(at, address, 64).at, b.third_initiator.time_read(at, address, 64).at + 20_ns) << i;
    }
    at += Tick{random() % 16 * 1000};
  }
}

TEST(DramChannel, ASliceServesItsOwnChunksAndPacksThem) {
  auto& b = fresh();
  struct Case {
    std::uint64_t offset;
    unsigned length;
    bool ok;
  };
  const Case table[] = {{0, 64, false},  {128, 128, true}, {128 + 64, 64, true}, {128 + 64, 65, false},
                        {256, 1, false}, {127, 1, false},  {640, 64, true},      {128, 129, false}};
  for (const Case& c : table) {
    EXPECT_EQ(b.second_initiator.time_read(0_ns, kBase + c.offset, c.length).ok(), c.ok) << c.offset << "+" << c.length;
  }
  b.second.reset();
  const DramStatistics before = b.second.statistics();
  // 8 chunks of 128 bytes are one row of this channel, although they span 4 KiB of addresses.
  for (unsigned chunk = 0; chunk < 9; ++chunk) b.second_initiator.time_read(0_ns, kBase + 128 + 512 * chunk, 128);
  EXPECT_EQ(b.second.statistics().row_empty - before.row_empty, 2u);
  EXPECT_EQ(b.second.statistics().row_hits - before.row_hits, 16u);  // two bursts per chunk
}

TEST(DramChannel, DmiOfASliceIsOneChunk) {
  auto& b = fresh();
  const auto region = b.second_initiator.dmi(kBase + 128 + 512 + 5);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->get_start_address(), kBase + 640);
  EXPECT_EQ(region->get_end_address(), kBase + 640 + 127);
  EXPECT_EQ(region->get_dmi_ptr(), reinterpret_cast<unsigned char*>(b.store.data() + 640));
  EXPECT_FALSE(b.second_initiator.dmi(kBase));
}

TEST(DramChannel, TimingOnlyTransactionsTouchNoData) {
  auto& b = fresh();
  b.store.data()[4096] = std::byte{0x77};
  EXPECT_TRUE(b.initiator.time_write(0_ns, kBase + 4096, 64).ok());
  EXPECT_EQ(b.store.data()[4096], std::byte{0x77});
}

TEST(DramChannel, Statistics) {
  auto& b = fresh();
  const DramStatistics before = b.channel.statistics();
  b.initiator.time_read(0_ns, kBase, 64);
  b.initiator.time_read(100_ns, kBase + kRow * kBanks, 32);
  b.initiator.time_write(200_ns, kBase + kRow * kBanks + 64, 64);
  b.initiator.time_write(200_ns, kBase + kRow * kBanks + 128, 64);
  b.initiator.time_read(300_ns, kBase + kRow * kBanks, 32);
  b.channel.finish();
  const DramStatistics& after = b.channel.statistics();
  EXPECT_EQ(after.reads - before.reads, 3u);
  EXPECT_EQ(after.writes - before.writes, 2u);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 128u);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 128u);
  EXPECT_EQ(after.row_empty - before.row_empty, 1u);
  EXPECT_EQ(after.row_conflicts - before.row_conflicts, 1u);
  EXPECT_EQ(after.row_hits - before.row_hits, 3u);
  EXPECT_EQ(after.write_drains - before.write_drains, 1u);
  EXPECT_EQ(after.read_latency - before.read_latency, 40_ns + 47_ns + 35_ns);
  EXPECT_EQ(after.bus_busy - before.bus_busy, 20_ns);
}

TEST(DramChannel, TheLatencyBreakdownSumsToTheWhole) {
  auto& b = fresh();
  b.initiator.time_read(0_ns, kBase, 64);
  // A row hit: the column command waits 5 cycles for the row to open and 4 for the first read's burst.
  const test::Completion c = b.initiator.time_read(0_ns, kBase + 64, 64);
  const auto dram = static_cast<std::size_t>(MemoryLevel::dram);
  EXPECT_EQ(c.at, 44_ns);
  EXPECT_EQ(c.latency.queueing[dram], 9_ns);
  EXPECT_EQ(c.latency.service[dram], 35_ns);
}

TEST(DramChannel, ARangeOutsideTheStoreIsAModelError) {
  EXPECT_EQ(test::bench<DramBench>().refusal, "bench.beyond: 1048577 bytes at 0 are not in a store of 1048576");
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<DramBench>();
  return {.initiator = b.initiator, .address = kBase + 0x40, .length = 64, .end = kBase + kSize.n, .reset = [&b] {
            b.channel.reset();
          }};
}

}  // namespace lacuna
