// Tests a write-back cache (L2): dirty bytes, evictions, atomics, write-back and invalidation, and one bank of an interleaved
// cache.
#include <gtest/gtest.h>

#include "models/cache/cache.h"
#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr Bytes kMemory{1 << 16};
// 2 ways x 4 sets x 64 bytes.
constexpr CacheParameters kParameters{.size = 512_B,
                                      .ways = 2,
                                      .line = 64_B,
                                      .ports = 1,
                                      .mshrs = 4,
                                      .write_policy = WritePolicy::write_back,
                                      .hit_latency = 20_cycles,
                                      .tag_latency = 4_cycles,
                                      .fill_latency = 3_cycles,
                                      .write_latency = 5_cycles,
                                      .atomic_cycles = 6_cycles,
                                      .invalidate_latency = 10_cycles};

struct L2Bench : sc_core::sc_module {
  explicit L2Bench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(cache.upstream[0]);
    cache.downstream.bind(memory.port);
    bank_initiator.socket.bind(bank.upstream[0]);
    bank.downstream.bind(bank_memory.port);
  }
  test::TestInitiator initiator{"initiator"};
  test::TestInitiator bank_initiator{"bank_initiator"};
  Cache cache{"cache", kParameters, MemoryLevel::l2};
  /// Bank 1 of 4, with chunks of 128 bytes.
  Cache bank{"bank", kParameters, MemoryLevel::l2, 1, AddressSlice(0, kMemory, 128_B, 4, 1)};
  test::MemoryBelow memory{"memory", kMemory};
  test::MemoryBelow bank_memory{"bank_memory", kMemory};
};
LACUNA_TEST_BENCH(L2Bench)

L2Bench& fresh() {
  auto& b = test::bench<L2Bench>();
  b.bank_initiator.begin_epoch();
  b.initiator.begin_epoch();
  b.bank_initiator.share_epoch(b.initiator);
  b.cache.reset();
  b.bank.reset();
  b.memory.requests.clear();
  b.memory.write_time = {};
  b.bank_memory.requests.clear();
  return b;
}

Tick write(L2Bench& b, Tick at, std::uint64_t address, unsigned length = 64, std::uint64_t mask = ~std::uint64_t{0}) {
  MemoryAttributes attributes;
  attributes.byte_mask = ByteMask(mask);
  return b.initiator.time_write(at, address, length, attributes).at;
}
Tick read(L2Bench& b, Tick at, std::uint64_t address, unsigned length = 64) {
  return b.initiator.time_read(at, address, length).at;
}

TEST(WriteBackCache, WritesAllocateWithoutAFill) {
  auto& b = fresh();
  EXPECT_EQ(write(b, 0_ns, 0), 5_ns);
  EXPECT_EQ(write(b, 100_ns, 0), 105_ns);
  EXPECT_TRUE(b.memory.requests.empty());
  EXPECT_EQ(read(b, 200_ns, 0), 220_ns) << "all bytes were written: a hit";
  EXPECT_TRUE(b.memory.requests.empty());
}

TEST(WriteBackCache, AReadOfAPartlyWrittenLineFetchesTheRest) {
  auto& b = fresh();
  write(b, 0_ns, 16, 4);
  EXPECT_EQ(read(b, 100_ns, 0), 207_ns);
  ASSERT_EQ(b.memory.requests.size(), 1u);
  EXPECT_EQ(b.memory.requests[0].attributes.kind, RequestKind::fill);
  EXPECT_EQ(read(b, 300_ns, 0), 320_ns);
  // The fill leaves the written bytes dirty.
  const Tick epoch = b.initiator.epoch();
  b.cache.write_back(epoch + 400_ns);
  ASSERT_EQ(b.memory.requests.size(), 2u);
  EXPECT_EQ(b.memory.requests[1].attributes.byte_mask, ByteMask(0xf0000));
}

TEST(WriteBackCache, DirtyBytesGatherUntilTheLineIsWhole) {
  auto& b = fresh();
  write(b, 0_ns, 0, 64, 0x00000000ffffffff);
  write(b, 10_ns, 32, 32, 0x0fffffff);  // the mask counts from the transaction's first byte, not the line's
  b.memory.requests.clear();
  read(b, 100_ns, 0);
  EXPECT_EQ(b.memory.requests.size(), 1u) << "four bytes are missing";
  fresh();
  write(b, 0_ns, 0, 64, 0x00000000ffffffff);
  write(b, 10_ns, 32, 32, 0xffffffff);
  read(b, 100_ns, 0);
  EXPECT_TRUE(b.memory.requests.empty());
}

TEST(WriteBackCache, ADirtyVictimIsWrittenBackAndItsSuccessorWaitsForTheAcceptance) {
  auto& b = fresh();
  write(b, 0_ns, 0);
  read(b, 100_ns, 4 * 64);
  b.memory.requests.clear();
  b.memory.write_time = 50_ns;
  // Line 0 is the victim: its write-back leaves at 304 ns and is accepted at 354 ns; then the fill follows.
  EXPECT_EQ(read(b, 300_ns, 8 * 64), 457_ns);
  ASSERT_EQ(b.memory.requests.size(), 2u);
  const Tick epoch = b.initiator.epoch();
  EXPECT_TRUE(b.memory.requests[0].write);
  EXPECT_EQ(b.memory.requests[0].address, 0u);
  EXPECT_EQ(b.memory.requests[0].at, epoch + 304_ns);
  EXPECT_EQ(b.memory.requests[0].attributes.kind, RequestKind::write_back);
  EXPECT_EQ(b.memory.requests[1].address, 8u * 64);
  EXPECT_EQ(b.memory.requests[1].at, epoch + 354_ns);
  // Clean victims are dropped without write-back.
  b.memory.requests.clear();
  EXPECT_EQ(read(b, 600_ns, 12 * 64), 707_ns);
  EXPECT_EQ(b.memory.requests.size(), 1u);
  // A write that evicts a dirty line also waits until the write-back has been accepted.
  write(b, 800_ns, 16 * 64);
  write(b, 810_ns, 20 * 64);
  EXPECT_EQ(write(b, 900_ns, 24 * 64), 955_ns);
}

TEST(WriteBackCache, AtomicsReadAndDirtyTheLineAndKeepTheBank) {
  auto& b = fresh();
  MemoryAttributes attributes;
  attributes.atomic = true;
  attributes.byte_mask = ByteMask(0xf);
  EXPECT_EQ(b.initiator.time_write(0_ns, 8, 4, attributes).at, 107_ns);
  EXPECT_EQ(b.memory.requests.size(), 1u) << "performed here";
  EXPECT_EQ(b.initiator.time_write(500_ns, 8, 4, attributes).at, 520_ns);
  EXPECT_EQ(b.initiator.time_write(500_ns, 8, 4, attributes).at, 526_ns);
  EXPECT_EQ(read(b, 500_ns, 64), 612_ns + 7_ns) << "the bank is taken until 512";
  b.memory.requests.clear();
  b.cache.write_back(b.initiator.epoch() + 800_ns);
  ASSERT_EQ(b.memory.requests.size(), 1u);
  EXPECT_EQ(b.memory.requests[0].attributes.byte_mask, ByteMask(0xf00));
}

TEST(WriteBackCache, ARequestThatBypassesL1StillHits) {
  auto& b = fresh();
  read(b, 0_ns, 0);
  MemoryAttributes attributes;
  attributes.bypass_l1 = true;
  EXPECT_EQ(b.initiator.time_read(500_ns, 0, 64, attributes).at, 520_ns);
}

TEST(WriteBackCache, WriteBackKeepsTheLinesAndInvalidateDropsThem) {
  auto& b = fresh();
  const Tick epoch = b.initiator.epoch();
  for (unsigned line = 0; line < 3; ++line) write(b, 0_ns, line * 64);
  b.memory.write_time = 10_ns;
  EXPECT_EQ(b.cache.write_back(epoch + 100_ns), epoch + 130_ns) << "one after the other as they are taken";
  EXPECT_EQ(b.memory.requests.size(), 3u);
  EXPECT_EQ(b.cache.write_back(epoch + 200_ns), epoch + 200_ns) << "nothing is dirty any more";
  EXPECT_EQ(read(b, 300_ns, 64), 320_ns);
  write(b, 400_ns, 0);
  EXPECT_EQ(b.cache.invalidate(epoch + 500_ns), epoch + 520_ns);
  EXPECT_EQ(b.memory.requests.size(), 4u);
  EXPECT_EQ(read(b, 600_ns, 64), 707_ns);
}

TEST(WriteBackCache, ABankOfAnInterleavedCacheUsesAllItsSets) {
  auto& b = fresh();
  // 8 lines of the bank's chunks: 128, 192, 640, 704, 1152, ... fill 4 sets x 2 ways exactly.
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned chunk = 0; chunk < 4; ++chunk) {
      for (unsigned half = 0; half < 2; ++half)
        b.bank_initiator.time_read(Tick{round * 500'000}, 128 + 512 * chunk + 64 * half, 64);
    }
  }
  EXPECT_EQ(b.bank_memory.requests.size(), 8u) << "the second round hits";
}

TEST(WriteBackCache, Statistics) {
  auto& b = fresh();
  const CacheStatistics before = b.cache.statistics();
  write(b, 0_ns, 0);
  write(b, 10_ns, 0);
  read(b, 100_ns, 0);
  read(b, 200_ns, 4 * 64);
  read(b, 400_ns, 8 * 64);
  const CacheStatistics& after = b.cache.statistics();
  EXPECT_EQ(after.writes - before.writes, 2u);
  EXPECT_EQ(after.write_misses - before.write_misses, 1u);
  EXPECT_EQ(after.write_hits - before.write_hits, 1u);
  EXPECT_EQ(after.reads - before.reads, 3u);
  EXPECT_EQ(after.read_hits - before.read_hits, 1u);
  EXPECT_EQ(after.read_misses - before.read_misses, 2u);
  EXPECT_EQ(after.evictions - before.evictions, 1u);
  EXPECT_EQ(after.write_backs - before.write_backs, 1u);
  EXPECT_EQ(after.read_latency - before.read_latency, 20_ns + 107_ns * 2);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<L2Bench>();
  return {.initiator = b.initiator, .address = 0x80, .length = 64, .end = kMemory.n, .reset = [&b] { b.cache.reset(); }};
}

}  // namespace lacuna
