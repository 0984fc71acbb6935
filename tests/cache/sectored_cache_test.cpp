// Tests a cache whose lines have several sectors: one tag per line, fills and write-backs by sector.
#include <gtest/gtest.h>

#include "models/cache/cache.h"
#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr Bytes kMemory{1 << 16};
// 2 ways x 4 sets x 128 bytes, with sectors of 32 bytes.
constexpr CacheParameters kParameters{.size = 1024_B,
                                      .ways = 2,
                                      .line = 128_B,
                                      .sector = 32_B,
                                      .mshrs = 8,
                                      .write_policy = WritePolicy::write_back,
                                      .hit_latency = 20_cycles,
                                      .tag_latency = 4_cycles,
                                      .fill_latency = 3_cycles,
                                      .write_latency = 5_cycles};

struct SectoredBench : sc_core::sc_module {
  explicit SectoredBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(cache.upstream[0]);
    cache.downstream.bind(memory.port);
    whole_initiator.socket.bind(whole_lines.upstream[0]);
    whole_lines.downstream.bind(whole_memory.port);
  }
  static CacheParameters of_whole_lines() {
    CacheParameters p = kParameters;
    p.sector = Bytes{128};
    return p;
  }
  test::TestInitiator initiator{"initiator"};
  Cache cache{"cache", kParameters, MemoryLevel::l2};
  test::MemoryBelow memory{"memory", kMemory};
  // A second cache, with lines of one sector of 128 bytes.
  test::TestInitiator whole_initiator{"whole_initiator"};
  Cache whole_lines{"whole_lines", of_whole_lines(), MemoryLevel::l2};
  test::MemoryBelow whole_memory{"whole_memory", kMemory};
};

LACUNA_TEST_BENCH(SectoredBench)

SectoredBench& fresh() {
  auto& b = test::bench<SectoredBench>();
  b.initiator.begin_epoch();
  b.cache.reset();
  b.memory.requests.clear();
  return b;
}

TEST(SectoredCache, FillsSectorsAndHitsOnlyThose) {
  auto& b = fresh();
  EXPECT_EQ(b.initiator.time_read(0_ns, 32, 32).at, 107_ns);
  ASSERT_EQ(b.memory.requests.size(), 1u);
  EXPECT_EQ(b.memory.requests[0].address, 32u);
  EXPECT_EQ(b.memory.requests[0].length, 32u);
  EXPECT_EQ(b.initiator.time_read(200_ns, 40, 4).at, 220_ns);
  EXPECT_EQ(b.initiator.time_read(300_ns, 64, 4).at, 407_ns) << "the same line, another sector";
  EXPECT_EQ(b.memory.requests[1].address, 64u);
  const CacheStatistics& statistics = b.cache.statistics();
  EXPECT_EQ(statistics.evictions, 0u);
}

TEST(SectoredCache, ARequestOfALineIsServedSectorBySector) {
  auto& b = fresh();
  // Four misses, one per cycle through the port.
  EXPECT_EQ(b.initiator.time_read(0_ns, 128, 128).at, 110_ns);
  EXPECT_EQ(b.memory.requests.size(), 4u);
  EXPECT_EQ(b.initiator.time_read(200_ns, 128, 128).at, 223_ns);
  EXPECT_EQ(b.memory.requests.size(), 4u);
}

TEST(SectoredCache, AVictimWritesBackItsDirtySectors) {
  auto& b = fresh();
  b.initiator.time_write(0_ns, 0, 32);
  b.initiator.time_write(0_ns, 100, 4);
  b.initiator.time_read(100_ns, 4 * 128, 32);
  b.memory.requests.clear();
  b.initiator.time_read(300_ns, 8 * 128 + 64, 32);
  ASSERT_EQ(b.memory.requests.size(), 3u);
  EXPECT_TRUE(b.memory.requests[0].write);
  EXPECT_EQ(b.memory.requests[0].address, 0u);
  EXPECT_EQ(b.memory.requests[0].attributes.byte_mask, ByteMask(0xffffffff));
  EXPECT_TRUE(b.memory.requests[1].write);
  EXPECT_EQ(b.memory.requests[1].address, 96u);
  EXPECT_EQ(b.memory.requests[1].attributes.byte_mask, ByteMask(0xf0));
  EXPECT_EQ(b.memory.requests[2].address, 8u * 128 + 64);
}

TEST(SectoredCache, AWriteToAPresentLineAllocatesNothing) {
  auto& b = fresh();
  b.initiator.time_read(0_ns, 0, 32);
  b.initiator.time_write(200_ns, 32, 32);
  b.memory.requests.clear();
  EXPECT_EQ(b.initiator.time_read(300_ns, 0, 64).at, 321_ns) << "one sector filled, one written whole";
  EXPECT_TRUE(b.memory.requests.empty());
  const Tick done = b.cache.write_back(b.initiator.epoch() + 400_ns);
  EXPECT_EQ(done, b.initiator.epoch() + 400_ns);
  ASSERT_EQ(b.memory.requests.size(), 1u);
  EXPECT_EQ(b.memory.requests[0].address, 32u);
}

TEST(SectoredCache, ALineOf128BytesIsOneRequest) {
  auto& b = test::bench<SectoredBench>();
  b.whole_initiator.begin_epoch();
  b.whole_lines.reset();
  b.whole_memory.requests.clear();
  EXPECT_EQ(b.whole_initiator.time_read(0_ns, 128, 128).at, 107_ns) << "one look-up, one fill";
  ASSERT_EQ(b.whole_memory.requests.size(), 1U);
  EXPECT_EQ(b.whole_memory.requests[0].length, 128U);
  EXPECT_EQ(b.whole_initiator.time_read(200_ns, 250, 4).at, 220_ns) << "its last bytes are there, too";
  // Writes the bytes on both sides of byte 64, then all others: the sector is complete without a fill.
  b.whole_memory.requests.clear();
  b.whole_initiator.time_write(300_ns, 2 * 128 + 60, 8);
  b.whole_initiator.time_write(310_ns, 2 * 128, 60);
  b.whole_initiator.time_write(320_ns, 2 * 128 + 68, 60);
  EXPECT_EQ(b.whole_initiator.time_read(400_ns, 2 * 128 + 100, 4).at, 420_ns);
  EXPECT_TRUE(b.whole_memory.requests.empty());
  b.whole_initiator.time_write(500_ns, 3 * 128 + 120, 8);
  b.whole_lines.write_back(b.whole_initiator.epoch() + 600_ns);
  ASSERT_EQ(b.whole_memory.requests.size(), 2U);
  for (const auto& request : b.whole_memory.requests) {
    EXPECT_TRUE(request.write);
    EXPECT_EQ(request.length, 128U);
    EXPECT_EQ(request.attributes.byte_mask, request.address == 2 * 128 ? ByteMask::all() : ByteMask(0xff) << 120);
  }
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<SectoredBench>();
  return {.initiator = b.initiator, .address = 0x40, .length = 64, .end = kMemory.n, .reset = [&b] { b.cache.reset(); }};
}

}  // namespace lacuna
