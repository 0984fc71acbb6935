// Tests ways that are being filled or written: no line is evicted before it has arrived, and requests that need such a way wait
// for it.
#include <gtest/gtest.h>

#include "models/cache/cache.h"
#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna {
namespace {

using namespace literals;
using test::MemoryBelow;

// 2 ways x 4 sets x 64 bytes; memory takes 100 ns.
constexpr CacheParameters kPlain{.clock = 1000_MHz,
                                 .size = 512_B,
                                 .ways = 2,
                                 .line = 64_B,
                                 .mshrs = 8,
                                 .hit_latency = 20_cycles,
                                 .tag_latency = 4_cycles,
                                 .fill_latency = 3_cycles};
constexpr CacheParameters kLocking{.clock = 1000_MHz,
                                   .size = 512_B,
                                   .ways = 2,
                                   .line = 64_B,
                                   .mshrs = 2,
                                   .hit_latency = 20_cycles,
                                   .tag_latency = 4_cycles,
                                   .fill_latency = 3_cycles,
                                   .lock_cycles = 30_cycles,
                                   .in_order = true};
constexpr CacheParameters kWriteBack{.size = 512_B, .ways = 2, .write_policy = WritePolicy::write_back};

struct Instance {
  Instance(const std::string& name, const CacheParameters& p)
      : initiator((name + "_initiator").c_str()),
        cache(name.c_str(), p, MemoryLevel::l1),
        memory((name + "_memory").c_str(), Bytes{1 << 16}) {
    initiator.socket.bind(cache.upstream[0]);
    cache.downstream.bind(memory.port);
  }
  void begin() {
    initiator.begin_epoch();
    cache.reset();
    memory.requests.clear();
  }
  Tick read(Tick at, std::uint64_t address) { return initiator.time_read(at, address, 64).at; }
  /// Time at which the n-th request left for memory.
  Tick left(std::size_t n) const { return memory.requests.at(n).at - initiator.epoch(); }

  test::TestInitiator initiator;
  Cache cache;
  MemoryBelow memory;
};

struct WayLockBench : sc_core::sc_module {
  explicit WayLockBench(sc_core::sc_module_name n) : sc_module(n) {}
  Instance plain{"plain", kPlain};
  Instance locking{"locking", kLocking};
  Instance write_back{"write_back", kWriteBack};
};
LACUNA_TEST_BENCH(WayLockBench)

/// Address of the n-th line of a set.
constexpr std::uint64_t line(unsigned set, unsigned n) { return (n * 4 + set) * 64; }

TEST(WayLock, AMissWaitsForAWayThatIsBeingFilled) {
  Instance& c = test::bench<WayLockBench>().plain;
  c.begin();
  EXPECT_EQ(c.read(0_ns, line(0, 0)), 107_ns);
  EXPECT_EQ(c.read(1_ns, line(0, 1)), 108_ns);
  const Tick stalled = c.cache.statistics().way_stall;
  EXPECT_EQ(c.read(2_ns, line(0, 2)), 207_ns) << "the first of its ways is filled at 104";
  EXPECT_EQ(c.left(2), 104_ns);
  EXPECT_EQ(c.cache.statistics().way_stall - stalled, 98_ns);
  EXPECT_EQ(c.read(3_ns, line(1, 0)), 110_ns) << "other sets do not wait";
  EXPECT_EQ(c.read(4_ns, line(0, 2)), 207_ns) << "a request for the same line waits as long";
  EXPECT_EQ(c.read(5_ns, line(0, 3)), 208_ns) << "the second of the ways is filled at 105, the first again from 104 on";
  EXPECT_EQ(c.read(300_ns, line(0, 2)), 320_ns);
  EXPECT_EQ(c.read(301_ns, line(0, 3)), 321_ns);
  EXPECT_EQ(c.memory.requests.size(), 5U);
}

TEST(WayLock, AFreeWayGoesBeforeOneThatWasUsedLongerAgoButIsBeingFilled) {
  Instance& c = test::bench<WayLockBench>().plain;
  c.begin();
  c.read(0_ns, line(0, 0));
  EXPECT_EQ(c.read(200_ns, line(0, 1)), 307_ns);
  EXPECT_EQ(c.read(201_ns, line(0, 0)), 221_ns);
  EXPECT_EQ(c.read(202_ns, line(0, 2)), 309_ns);
  EXPECT_EQ(c.read(400_ns, line(0, 1)), 420_ns);
}

TEST(WayLock, RequestsAheadInSimulatedTimeDelayNoOthers) {
  Instance& c = test::bench<WayLockBench>().plain;
  c.begin();
  EXPECT_EQ(c.read(500_ns, line(0, 0)), 607_ns);
  EXPECT_EQ(c.read(501_ns, line(0, 1)), 608_ns);
  EXPECT_EQ(c.read(50_ns, line(0, 2)), 157_ns) << "both ways are free at 50";
  EXPECT_EQ(c.read(700_ns, line(0, 0)), 720_ns) << "those that come later are there";
  EXPECT_EQ(c.read(701_ns, line(0, 1)), 721_ns);
}

TEST(WayLock, WritingTheBankLocksTheWayAndTheDirectoryWaits) {
  Instance& c = test::bench<WayLockBench>().locking;
  c.begin();
  const struct {
    const char* what;
    Tick at;
    std::uint64_t address;
    Tick expected;
  } fills[] = {
      {"miss", 0_ns, line(0, 0), 107_ns},
      {"secondary miss: data pass beside the bank", 50_ns, line(0, 0), 107_ns},
      {"there since 104, in the bank at 134: 20 late", 110_ns, line(0, 0), 150_ns},
      {"another set, behind it: starts at 130", 111_ns, line(1, 0), 237_ns},
      {"hit", 300_ns, line(0, 0), 320_ns},
  };
  for (const auto& row : fills) EXPECT_EQ(c.read(row.at, row.address), row.expected) << row.what;
  EXPECT_EQ(c.initiator.time_write(400_ns, line(0, 0), 64).at, 404_ns);
  EXPECT_EQ(c.read(405_ns, line(0, 0)), 450_ns) << "written until 434: 25 late";
  EXPECT_EQ(c.read(406_ns, line(2, 0)), 537_ns) << "starts at 430";
}

TEST(WayLock, AWaitForAnMshrStopsTheDirectory) {
  Instance& c = test::bench<WayLockBench>().locking;
  c.begin();
  c.read(0_ns, line(3, 0));
  EXPECT_EQ(c.read(1000_ns, line(0, 0)), 1107_ns);
  EXPECT_EQ(c.read(1001_ns, line(1, 0)), 1108_ns);
  EXPECT_EQ(c.read(1002_ns, line(2, 0)), 1207_ns) << "both MSHRs are held until 1104";
  EXPECT_EQ(c.read(1003_ns, line(3, 0)), 1120_ns) << "a hit that starts at 1100, after it";
}

// A walk down a column whose lines fall into one set has as many misses in flight as the set has ways: 2 per 130 ns (100 ns of
// memory latency, 30 ns of way lock).
TEST(WayLock, MissesInFlightOfASetAreLimitedToItsWays) {
  Instance& c = test::bench<WayLockBench>().locking;
  c.begin();
  constexpr unsigned kLines = 40;
  Tick last{};
  for (unsigned n = 0; n < kLines; ++n) last = c.read(Tick{n * 1000ULL}, line(0, n));
  EXPECT_EQ(last, Tick{(kLines / 2 - 1) * 130'000ULL} + 108_ns);
}

TEST(WayLock, ForgottenLinesAreFetchedAgainUnlessTheyAreDirty) {
  Instance& c = test::bench<WayLockBench>().write_back;
  c.begin();
  c.read(0_ns, line(0, 0));
  c.read(0_ns, line(1, 0));
  MemoryAttributes some;
  some.byte_mask = ByteMask(0xff);
  c.initiator.time_write(500_ns, line(2, 0), 64, some);
  c.memory.requests.clear();
  c.cache.drop_clean(line(1, 0) + 8, 100);  // range of two lines, the second of which is dirty
  c.read(1000_ns, line(0, 0));
  EXPECT_TRUE(c.memory.requests.empty());
  c.read(1000_ns, line(1, 0));
  EXPECT_EQ(c.memory.requests.size(), 1U);
  const std::uint64_t hits = c.cache.statistics().write_hits;
  c.initiator.time_write(2000_ns, line(2, 0), 64, some);
  EXPECT_EQ(c.cache.statistics().write_hits, hits + 1);
}

// In a small range, each line is looked up; for a larger range, all present lines are compared with the range. Both methods
// drop the same lines.
TEST(WayLock, LinesAreForgottenInRangesOfAnySize) {
  Instance& c = test::bench<WayLockBench>().write_back;
  for (const std::uint64_t lines : {1, 2, 3, 5, 8, 64, 100'000}) {
    for (const std::uint64_t first : {0, 1, 3}) {
      c.begin();
      std::vector<std::uint64_t> held;
      for (std::uint64_t n = 0; n < 8; ++n) {
        c.read(Tick{n * 1'000'000}, n * 64);
      }
      for (std::uint64_t n = 0; n < 8; ++n) {
        if (c.cache.holds(n * 64)) held.push_back(n);
      }
      ASSERT_GE(held.size(), 4U);
      c.cache.drop_clean(first * 64 + 17, lines * 64 - 20);
      for (const std::uint64_t n : held) EXPECT_EQ(c.cache.holds(n * 64), n < first || n >= first + lines) << n << ' ' << lines;
    }
  }
}

}  // namespace
}  // namespace lacuna
