// Tests a write-around cache (L1): latencies, misses, MSHRs, forwarding, bypass, splitting, ports and banks.
#include "models/cache/cache.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;
using test::MemoryBelow;

constexpr Bytes kMemory{1 << 16};
// 2 ways x 4 sets x 64 bytes.
constexpr CacheParameters kParameters{.clock = 1000_MHz,
                                      .size = 512_B,
                                      .ways = 2,
                                      .line = 64_B,
                                      .banks = 1,
                                      .ports = 1,
                                      .mshrs = 2,
                                      .write_policy = WritePolicy::write_around,
                                      .hit_latency = 20_cycles,
                                      .tag_latency = 4_cycles,
                                      .fill_latency = 3_cycles};
constexpr CacheParameters kWide{.size = 1024_B, .ways = 2, .banks = 2, .ports = 2, .hit_latency = 20_cycles};
constexpr CacheParameters kLimited{.size = 512_B, .ways = 2, .transactions = 2, .hit_latency = 20_cycles};

// 2 ways x 8 sets x 64 bytes.
constexpr CacheParameters kHashed{
    .size = 1024_B, .ways = 2, .set_hash = AddressHash::fold, .banks = 2, .hit_latency = 20_cycles};

// 4 ways x 64 sets x 64 bytes, in pages of 256 bytes.
constexpr CacheParameters kScattered{.size = 16384_B, .ways = 4, .set_hash = AddressHash::fold, .scatter = 256_B};

// 2 ways x 8 sets x 64 bytes; the lines of each 128 bytes are in the same set.
constexpr CacheParameters kPaired{.size = 1024_B, .ways = 2, .set_lines = 2};

constexpr CacheParameters kTwelveSets{.size = 1536_B, .ways = 2, .set_hash = AddressHash::fold, .hit_latency = 20_cycles};

struct CacheBench : sc_core::sc_module {
  explicit CacheBench(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < 2; ++i) initiators[i].socket.bind(cache.upstream[i]);
    cache.downstream.bind(memory.port);
    wide_initiator.socket.bind(wide.upstream[0]);
    wide.downstream.bind(wide_memory.port);
    limited_initiator.socket.bind(limited.upstream[0]);
    limited.downstream.bind(limited_memory.port);
    hashed_initiator.socket.bind(hashed.upstream[0]);
    hashed.downstream.bind(hashed_memory.port);
    twelve_initiator.socket.bind(twelve.upstream[0]);
    twelve.downstream.bind(twelve_memory.port);
    scattered_initiator.socket.bind(scattered.upstream[0]);
    scattered.downstream.bind(scattered_memory.port);
    paired_initiator.socket.bind(paired.upstream[0]);
    paired.downstream.bind(paired_memory.port);
    for (const CacheParameters& p : {CacheParameters{.size = 500_B}, CacheParameters{.line = 256_B, .sector = 256_B},
                                     CacheParameters{.ways = 0}, CacheParameters{.line = 48_B}, CacheParameters{.mshrs = 0},
                                     CacheParameters{.size = 768_B, .ways = 4, .set_hash = AddressHash::fold},
                                     CacheParameters{.scatter = 4096_B}, CacheParameters{.set_lines = 3}}) {
      try {
        Cache bad(sc_core::sc_gen_unique_name("bad"), p, MemoryLevel::l1);
      } catch (const std::invalid_argument&) {
        ++refused;
      }
    }
  }
  unsigned refused = 0;
  sc_core::sc_vector<test::TestInitiator> initiators{"initiator", 2};
  test::TestInitiator wide_initiator{"wide_initiator"};
  test::TestInitiator limited_initiator{"limited_initiator"};
  Cache cache{"cache", kParameters, MemoryLevel::l1, 2};
  Cache wide{"wide", kWide, MemoryLevel::l1};
  Cache limited{"limited", kLimited, MemoryLevel::l1};
  MemoryBelow memory{"memory", kMemory};
  MemoryBelow wide_memory{"wide_memory", kMemory};
  MemoryBelow limited_memory{"limited_memory", kMemory};
  test::TestInitiator hashed_initiator{"hashed_initiator"};
  Cache hashed{"hashed", kHashed, MemoryLevel::l1};
  MemoryBelow hashed_memory{"hashed_memory", kMemory};
  test::TestInitiator twelve_initiator{"twelve_initiator"};
  Cache twelve{"twelve", kTwelveSets, MemoryLevel::l1};
  MemoryBelow twelve_memory{"twelve_memory", kMemory};
  test::TestInitiator scattered_initiator{"scattered_initiator"};
  Cache scattered{"scattered", kScattered, MemoryLevel::l1};
  MemoryBelow scattered_memory{"scattered_memory", kMemory};
  test::TestInitiator paired_initiator{"paired_initiator"};
  Cache paired{"paired", kPaired, MemoryLevel::l1};
  MemoryBelow paired_memory{"paired_memory", kMemory};
};
LACUNA_TEST_BENCH(CacheBench)

CacheBench& fresh() {
  auto& b = test::bench<CacheBench>();
  b.initiators[1].begin_epoch();
  b.wide_initiator.begin_epoch();
  b.initiators[0].begin_epoch();
  b.initiators[1].share_epoch(b.initiators[0]);
  b.wide_initiator.share_epoch(b.initiators[0]);
  b.cache.reset();
  b.wide.reset();
  b.memory.requests.clear();
  b.wide_memory.requests.clear();
  return b;
}

Tick read(CacheBench& b, Tick at, std::uint64_t address, unsigned length = 64) {
  return b.initiators[0].time_read(at, address, length).at;
}

TEST(Cache, ReadLatencyTable) {
  auto& b = fresh();
  struct Row {
    const char* what;
    Tick at;
    std::uint64_t address;
    Tick expected;
  };
  const Row table[] = {
      {"miss: 4 + 100 + 3", 0_ns, 0, 107_ns},
      {"secondary miss: with the fill", 10_ns, 32, 107_ns},
      {"still pending one cycle before the line arrives at 104", 103_ns, 0, 123_ns},
      {"hit from when the line is there", 104_ns, 0, 124_ns},
      {"hit: 20", 200_ns, 0, 220_ns},
      {"another set misses", 300_ns, 64, 407_ns},
  };
  const CacheStatistics before = b.cache.statistics();
  for (const Row& row : table) EXPECT_EQ(read(b, row.at, row.address, 32), row.expected) << row.what;
  const CacheStatistics& s = b.cache.statistics();
  EXPECT_EQ(s.read_misses - before.read_misses, 2u);
  EXPECT_EQ(s.secondary_misses - before.secondary_misses, 2u);
  EXPECT_EQ(s.read_hits - before.read_hits, 2u);
  EXPECT_EQ(s.reads, s.read_hits + s.read_misses + s.secondary_misses);
}

TEST(Cache, AMissFetchesTheWholeLineOnce) {
  auto& b = fresh();
  read(b, 0_ns, 0x1008, 4);
  read(b, 1_ns, 0x1030, 4);
  read(b, 500_ns, 0x1000, 64);
  ASSERT_EQ(b.memory.requests.size(), 1u);
  const MemoryBelow::Request& fill = b.memory.requests[0];
  EXPECT_EQ(fill.address, 0x1000u);
  EXPECT_EQ(fill.length, 64u);
  EXPECT_FALSE(fill.write);
  EXPECT_EQ(fill.at, b.initiators[0].epoch() + 4_ns);
  EXPECT_EQ(fill.attributes.kind, RequestKind::fill);
  EXPECT_TRUE(fill.attributes.timing_only);
}

TEST(Cache, ARequestThatIsEarlierInSimulatedTimeTakesTheFillOver) {
  auto& b = fresh();
  EXPECT_EQ(read(b, 500_ns, 0), 607_ns);
  // This request is made later in host time but arrives earlier in simulated time: it becomes the miss, and its fill also
  // serves the first request.
  EXPECT_EQ(b.initiators[1].time_read(50_ns, 0, 64).at, 157_ns);
  EXPECT_EQ(b.memory.requests.size(), 1u) << "the line is fetched once";
  EXPECT_EQ(b.initiators[1].time_read(154_ns, 0, 64).at, 174_ns) << "there from 154 on";
}

TEST(Cache, MissesBeyondTheMshrsWait) {
  auto& b = fresh();
  EXPECT_EQ(read(b, 0_ns, 0), 107_ns);
  EXPECT_EQ(read(b, 1_ns, 64), 108_ns);
  // The two MSHRs are occupied until 104 ns and 105 ns.
  EXPECT_EQ(read(b, 2_ns, 128), 207_ns);
  EXPECT_EQ(read(b, 3_ns, 192), 208_ns);
  EXPECT_EQ(b.memory.requests[2].at, b.initiators[0].epoch() + 104_ns);
  EXPECT_EQ(read(b, 4_ns, 0), 107_ns) << "a secondary miss needs no MSHR";
  EXPECT_EQ(read(b, 5_ns, 128), 207_ns) << "nor does it spare its line the wait for one";
}

TEST(Cache, RequestsBeyondTheTransactionsWaitAlthoughTheyHit) {
  auto& b = fresh();
  b.limited_initiator.begin_epoch();
  b.limited.reset();
  const auto read_limited = [&b](Tick at) { return b.limited_initiator.time_read(at, 0, 64).at; };
  read_limited(0_ns);
  EXPECT_EQ(read_limited(1000_ns), 1020_ns);
  EXPECT_EQ(read_limited(1001_ns), 1021_ns);
  EXPECT_EQ(read_limited(1002_ns), 1040_ns) << "both are taken until 1020";
  EXPECT_EQ(read_limited(1002_ns), 1041_ns) << "and one until 1021";
  EXPECT_EQ(read_limited(1041_ns), 1061_ns);
}

TEST(Cache, AnMshrIsFreeWhenTheFillArrivesAndNotBefore) {
  auto& b = fresh();
  read(b, 0_ns, 0);
  read(b, 0_ns, 64);
  const Tick epoch = b.initiators[0].epoch();
  read(b, 100_ns - 1_ps, 128);
  EXPECT_EQ(b.memory.requests[2].at, epoch + 104_ns);
  read(b, 101_ns, 192);
  EXPECT_EQ(b.memory.requests[3].at, epoch + 105_ns);
}

TEST(Cache, ReplacesTheLeastRecentlyUsedLineOfTheSet) {
  auto& b = fresh();
  // Lines 0, 4, 8 share set 0 of 4.
  read(b, 0_ns, 0);
  read(b, 1000_ns, 4 * 64);
  read(b, 2000_ns, 0);
  read(b, 3000_ns, 8 * 64);
  b.memory.requests.clear();
  EXPECT_EQ(read(b, 4000_ns, 0), 4020_ns);
  EXPECT_EQ(read(b, 5000_ns, 4 * 64), 5107_ns);
  EXPECT_EQ(b.memory.requests.size(), 1u);
}

// Walks down a column of a matrix whose row length is a power of two. With the hash, the lines spread over the whole cache
// instead of a few sets.
TEST(Cache, AHashOfTheSetsSpreadsStridesOfPowersOfTwo) {
  auto& b = test::bench<CacheBench>();
  constexpr unsigned kLines = 16;  // number of lines of the cache
  for (std::uint64_t stride = 64; stride * kLines <= kMemory.n; stride *= 2) {
    b.hashed_initiator.begin_epoch();
    b.hashed.reset();
    b.hashed_memory.requests.clear();
    for (unsigned round = 0; round < 2; ++round) {
      for (unsigned line = 0; line < kLines; ++line) {
        b.hashed_initiator.time_read(1000_ns * (round * kLines + line), line * stride, 64);
      }
    }
    EXPECT_EQ(b.hashed_memory.requests.size(), kLines) << "stride " << stride << ": the second round hits";
  }
  // Banks follow the hashed sets: these two lines are in different banks, so both hits occur in the same cycle.
  EXPECT_EQ(b.hashed_initiator.time_read(100'000_ns, 0, 64).at, 100'020_ns);
  EXPECT_EQ(b.hashed_initiator.time_read(100'000_ns, 4096, 64).at, 100'020_ns);
}

// 12 sets are 3 groups of 4: the hash permutes the sets within each group, so all sets can be used in full.
TEST(Cache, AHashOfSetsOfNoPowerOfTwoSpreadsAndLosesNothing) {
  auto& b = test::bench<CacheBench>();
  struct Walk {
    std::uint64_t stride;
    unsigned lines;
  };
  // Walks over consecutive lines that fill the cache, and over lines that would fall into 3 of the sets without the hash.
  for (const auto& [stride, lines] : {Walk{64, 24}, Walk{256, 8}}) {
    b.twelve_initiator.begin_epoch();
    b.twelve.reset();
    b.twelve_memory.requests.clear();
    for (unsigned i = 0; i < 2 * lines; ++i) b.twelve_initiator.time_read(1000_ns * i, i % lines * stride, 64);
    EXPECT_EQ(b.twelve_memory.requests.size(), lines) << "stride " << stride << ": the second round hits";
  }
}

// Lines of a page stay in different sets; pages use the sets unevenly, so that a buffer of the cache's size misses in part, and
// one of a quarter fits.
TEST(Cache, ScatteredPagesFillTheSetsUnevenly) {
  auto& b = test::bench<CacheBench>();
  const auto misses = [&](unsigned lines) {
    b.scattered_initiator.begin_epoch();
    b.scattered.reset();
    b.scattered_memory.requests.clear();
    for (unsigned i = 0; i < 2 * lines; ++i) b.scattered_initiator.time_read(1000_ns * i, std::uint64_t{i % lines} * 64, 64);
    return b.scattered_memory.requests.size() - lines;
  };
  EXPECT_EQ(misses(4), 0u);
  EXPECT_LT(misses(64), 8u);
  EXPECT_GT(misses(256), 64u);
  EXPECT_LT(misses(256), 224u);
}

TEST(Cache, NeighbouringLinesShareASet) {
  auto& b = test::bench<CacheBench>();
  // Number of lines that miss when all are read a second time, in order.
  const auto misses = [&](std::initializer_list<std::uint64_t> lines) {
    b.paired_initiator.begin_epoch();
    b.paired.reset();
    b.paired_memory.requests.clear();
    Tick at{};
    for (int round = 0; round < 2; ++round) {
      for (const std::uint64_t line : lines) b.paired_initiator.time_read(at = at + 1000_ns, line * 64, 64);
    }
    return b.paired_memory.requests.size() - lines.size();
  };
  EXPECT_EQ(misses({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), 0u) << "consecutive lines use all sets";
  EXPECT_EQ(misses({0, 1, 16}), 3u) << "lines 0, 1 and 16 are in set 0, which has two ways";
  EXPECT_EQ(misses({0, 1, 2, 18}), 0u);
  EXPECT_EQ(misses({0, 2, 4, 8, 16}), 0u) << "0 and 16 share a set";
}

TEST(Cache, WritesGoAroundAndCompleteWhenAccepted) {
  auto& b = fresh();
  b.memory.write_time = 30_ns;
  read(b, 0_ns, 0);
  b.memory.requests.clear();
  MemoryAttributes attributes;
  attributes.byte_mask = ByteMask(0xf0);
  EXPECT_EQ(b.initiators[0].time_write(200_ns, 0, 64, attributes).at, 234_ns);
  EXPECT_EQ(b.initiators[0].time_write(300_ns, 0x1000, 64).at, 334_ns);
  ASSERT_EQ(b.memory.requests.size(), 2u);
  EXPECT_TRUE(b.memory.requests[0].write);
  EXPECT_EQ(b.memory.requests[0].attributes.byte_mask, ByteMask(0xf0));
  EXPECT_EQ(read(b, 500_ns, 0), 520_ns) << "the line that was present stays";
  EXPECT_EQ(read(b, 600_ns, 0x1000), 707_ns) << "a write does not allocate";
  b.memory.write_time = {};
}

TEST(Cache, AtomicsAndBypassesGoDownAndDropTheLine) {
  auto& b = fresh();
  for (const bool atomic : {true, false}) {
    read(b, 0_ns, 0);
    b.memory.requests.clear();
    MemoryAttributes attributes;
    attributes.atomic = atomic;
    attributes.bypass_l1 = !atomic;
    attributes.kind = RequestKind::vector;
    attributes.requester = 5;
    const auto c =
        atomic ? b.initiators[0].time_write(500_ns, 8, 4, attributes) : b.initiators[0].time_read(500_ns, 8, 4, attributes);
    EXPECT_EQ(c.at, 607_ns);
    ASSERT_EQ(b.memory.requests.size(), 1u);
    EXPECT_EQ(b.memory.requests[0].address, 8u);
    EXPECT_EQ(b.memory.requests[0].length, 4u);
    EXPECT_EQ(b.memory.requests[0].attributes.atomic, atomic);
    EXPECT_EQ(b.memory.requests[0].attributes.kind, RequestKind::vector);
    EXPECT_EQ(b.memory.requests[0].attributes.requester, 5);
    EXPECT_EQ(read(b, 1000_ns, 0), 1107_ns);
    fresh();
  }
}

TEST(Cache, RequestsLongerThanALineAreSplit) {
  auto& b = fresh();
  const auto c = b.initiators[0].time_read(0_ns, 60, 72);
  EXPECT_EQ(b.memory.requests.size(), 3u);
  // Three lines pass one port at 0, 1 and 2 ns; the third line finds both MSHRs occupied until 104 ns.
  EXPECT_EQ(c.at, 207_ns);
}

TEST(Cache, OnePortTakesARequestPerCycleFromAllUpstreams) {
  auto& b = fresh();
  read(b, 0_ns, 0);
  EXPECT_EQ(read(b, 500_ns, 0), 520_ns);
  EXPECT_EQ(b.initiators[1].time_read(500_ns, 0, 64).at, 521_ns);
  EXPECT_EQ(read(b, 500_ns, 0), 522_ns);
  EXPECT_EQ(read(b, 502_ns, 0), 523_ns);
}

TEST(Cache, EveryBankServesARequestOnEachOfItsPortsPerCycle) {
  auto& b = fresh();
  for (unsigned line = 0; line < 4; ++line) b.wide_initiator.time_read(0_ns, line * 64, 64);
  // Each of two banks (even and odd lines) has two ports.
  const Tick expected[] = {1020_ns, 1020_ns, 1020_ns, 1020_ns, 1021_ns, 1021_ns};
  const unsigned lines[] = {0, 1, 2, 3, 0, 1};
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(b.wide_initiator.time_read(1000_ns, lines[i] * 64, 64).at, expected[i]) << i;
}

TEST(Cache, InvalidationDropsEveryLine) {
  auto& b = fresh();
  read(b, 0_ns, 0);
  const Tick epoch = b.initiators[0].epoch();
  EXPECT_EQ(b.cache.invalidate(epoch + 200_ns), epoch + 216_ns);
  EXPECT_EQ(b.cache.write_back(epoch + 300_ns), epoch + 300_ns);
  EXPECT_EQ(read(b, 500_ns, 0), 607_ns);
}

TEST(Cache, DataCarryingRequestsTakeTheSameTime) {
  auto& b = fresh();
  std::array<std::byte, 100> data{};
  data.fill(std::byte{0x42});
  EXPECT_TRUE(b.initiators[0].write(0_ns, 0x200, data).ok());
  std::array<std::byte, 64> line{};
  EXPECT_EQ(b.initiators[0].read(500_ns, 0x200, line).at, 607_ns);
  EXPECT_EQ(line[63], std::byte{0x42});
  EXPECT_EQ(b.initiators[0].read(700_ns, 0x200, line).at, 720_ns);
}

TEST(Cache, AFillThatFailsIsTheRequestersErrorAndLeavesNoLine) {
  auto& b = fresh();
  EXPECT_EQ(b.initiators[0].time_read(0_ns, kMemory.n, 64).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.initiators[0].time_read(500_ns, kMemory.n, 64).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.initiators[0].time_write(500_ns, kMemory.n, 64).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(Cache, TheLatencyBreakdownSumsToTheWhole) {
  auto& b = fresh();
  const auto l1 = static_cast<std::size_t>(MemoryLevel::l1);
  const auto dram = static_cast<std::size_t>(MemoryLevel::dram);
  const Tick starts[] = {0_ns, 0_ns, 0_ns, 1_ns, 800_ns};
  const std::uint64_t addresses[] = {0, 64, 128, 0, 0};
  for (unsigned i = 0; i < 5; ++i) {
    const auto c = b.initiators[0].time_read(starts[i], addresses[i], 64);
    EXPECT_EQ(c.latency.queueing[l1] + c.latency.service[l1] + c.latency.service[dram], c.at - starts[i]) << i;
  }
}

TEST(Cache, BadParametersAreModelErrors) { EXPECT_EQ(test::bench<CacheBench>().refused, 8u); }

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<CacheBench>();
  return {.initiator = b.initiators[0], .address = 0x80, .length = 64, .end = kMemory.n, .reset = [&b] { b.cache.reset(); }};
}

}  // namespace lacuna
