// Tests last-level caches: the stages of a miss, the requests that wait for it, and that times with a memory that responds
// later equal those with a memory that responds within the call.
#include "models/cache/last_level_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cache/deciding_memory.h"
#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// Two sets of two ways of 64-byte lines, two MSHRs; at 1 GHz a hit takes 20 cycles, a lookup 4, a fill 3, a write 5.
CacheParameters small_last_level() {
  return {.size = 256_B,
          .ways = 2,
          .mshrs = 2,
          .write_policy = WritePolicy::write_back,
          .hit_latency = 20_cycles,
          .tag_latency = 4_cycles,
          .fill_latency = 3_cycles,
          .write_latency = 5_cycles,
          .atomic_cycles = 6_cycles};
}

enum Kind { kPlain, kInOrder, kLimited, kSectored, kBanked, kKinds };
CacheParameters parameters_of(Kind kind) {
  CacheParameters p = small_last_level();
  p.in_order = kind == kInOrder || kind == kBanked;
  if (kind == kLimited) p.transactions = 1;
  if (kind == kSectored) p.sector = 32_B;
  if (kind == kBanked) p.banks = 2;
  return p;
}

/// The same cache in two forms: accessed in memory phases, and through its socket.
struct Pair {
  Pair(const std::string& name, const CacheParameters& parameters)
      : late(("late" + name).c_str(), parameters, MemoryLevel::l2),
        prompt(("prompt" + name).c_str(), parameters, MemoryLevel::l2),
        late_below(("late_below" + name).c_str(), Bytes{1 << 16}),
        prompt_below(("prompt_below" + name).c_str(), Bytes{1 << 16}),
        initiator(("initiator" + name).c_str()),
        late_initiator(("late_initiator" + name).c_str()) {
    late.downstream.bind(late_below.port);
    late_initiator.socket.bind(late.upstream[0]);
    prompt.downstream.bind(prompt_below.port);
    initiator.socket.bind(prompt.upstream[0]);
    late.attach(memory);
  }
  LastLevelCache late;
  Cache prompt;
  MemoryBelow late_below;
  MemoryBelow prompt_below;
  TestInitiator initiator;
  TestInitiator late_initiator;
  DecidingMemory memory;
};

struct Bench : sc_core::sc_module {
  explicit Bench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    CacheParameters around = small_last_level();
    around.write_policy = WritePolicy::write_around;
    try {
      LastLevelCache("around", around, MemoryLevel::l2);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    for (int kind = 0; kind < kKinds; ++kind)
      small_ones.push_back(std::make_unique<Pair>(std::to_string(kind), parameters_of(static_cast<Kind>(kind))));
    for (const CacheParameters& p : large_parameters())
      large_ones.push_back(std::make_unique<Pair>("l" + std::to_string(large_ones.size()), p));
  }
  bool refused = false;
  /// Parameters with enough ways that no set is ever full of pending fills.
  static std::vector<CacheParameters> large_parameters() {
    CacheParameters p = small_last_level();
    p.size = 16_KiB;
    p.ways = 32;
    p.in_order = true;
    std::vector<CacheParameters> all{p};
    p.mshrs = 16;
    all.push_back(p);
    p.sector = 32_B;
    p.banks = 4;
    p.mshrs = 64;
    all.push_back(p);
    p.in_order = false;
    p.ports = 2;
    p.lock_cycles = 5_cycles;
    all.push_back(p);
    return all;
  }
  std::vector<std::unique_ptr<Pair>> small_ones;
  std::vector<std::unique_ptr<Pair>> large_ones;
};
LACUNA_TEST_BENCH(Bench)

class LastLevelCacheTest : public testing::Test {
 protected:
  void use(Kind kind) {
    b_ = bench<Bench>().small_ones[kind].get();
    begin();
  }
  void begin() {
    b_->initiator.begin_epoch();
    start_ = b_->initiator.epoch();
    b_->late.reset();
    b_->prompt.reset();
    b_->memory.reset();
    b_->late.advance(now());
    client_.told.clear();
    b_->late.attach(static_cast<MemoryClient&>(client_));
  }
  /// Makes a request; an immediate response is recorded like a later response.
  void ask(MemoryRequest access, Tick after, std::uint32_t tag) {
    access.kind = RequestKind::vector;
    MemoryResponse response;
    const std::uint64_t line = b_->late.local_line(access.address);
    if (b_->late.request(access, line, start_ + after, TagArray::kNone, tag, response)) client_.on_response(tag, response);
  }
  void read(std::uint64_t address, Tick after, std::uint32_t tag, std::uint16_t bytes = 32) {
    ask({.address = address, .bytes = bytes}, after, tag);
  }
  void write(std::uint64_t address, Tick after, std::uint32_t tag, std::uint16_t bytes = 64) {
    ask({.address = address, .bytes = bytes, .write = true}, after, tag);
  }
  void decide(Tick until) { b_->memory.decide(start_ + until); }
  bool is_told(std::uint32_t tag) const { return client_.told.contains(tag); }
  const MemoryResponse& told(std::uint32_t tag) const { return client_.told.at(tag); }
  Tick done(std::uint32_t tag) const { return told(tag).done - start_; }

  /// Records responses by tag. `below` is copied, since it is valid only during the call.
  struct Client : MemoryClient {
    std::map<std::uint32_t, MemoryResponse> told;
    std::map<std::uint32_t, LatencyBreakdown> below;
    void on_response(std::uint32_t tag, const MemoryResponse& response) override {
      EXPECT_FALSE(told.contains(tag)) << tag << " was complete before";
      told[tag] = response;
      if (response.below != nullptr) told[tag].below = &(below[tag] = *response.below);
    }
  };

  Pair* b_ = nullptr;
  Tick start_{};
  Client client_;
};

TEST_F(LastLevelCacheTest, AMissIsAnsweredWhenTheMemoryHasDecided) {
  use(kPlain);
  read(0, 0_ns, 1);
  EXPECT_FALSE(is_told(1));
  EXPECT_TRUE(b_->late.busy());
  decide(4_ns);
  EXPECT_FALSE(is_told(1)) << "the fill leaves at 4";
  decide(5_ns);
  EXPECT_EQ(done(1), 107_ns);
  const MemoryResponse& response = told(1);
  EXPECT_EQ(response.queueing, 0_ns);
  EXPECT_EQ(response.service, 7_ns);
  ASSERT_NE(response.below, nullptr);
  EXPECT_EQ(response.below->queueing[static_cast<std::size_t>(MemoryLevel::dram)], 10_ns);
  EXPECT_EQ(response.below->service[static_cast<std::size_t>(MemoryLevel::dram)], 90_ns);
  EXPECT_FALSE(b_->late.busy());
  read(0, 200_ns, 2);
  EXPECT_EQ(done(2), 220_ns) << "a hit is answered with the call";
}

TEST_F(LastLevelCacheTest, AReadOfASectorOnItsWayWaitsWithTheFirst) {
  use(kPlain);
  read(0, 0_ns, 1);
  read(32, 50_ns, 2);
  read(32, 99_ns, 3);
  decide(5_ns);
  EXPECT_EQ(done(1), 107_ns);
  EXPECT_EQ(done(2), 107_ns);
  EXPECT_EQ(done(3), 119_ns) << "no less than a hit";
  EXPECT_EQ(told(2).below, nullptr);
  EXPECT_EQ(b_->memory.requests.size(), 1U);
}

TEST_F(LastLevelCacheTest, AMissWaitsForAnMshr) {
  for (const Kind kind : {kPlain, kInOrder}) {
    use(kind);
    read(0, 0_ns, 1);
    read(64, 1_ns, 2);
    read(128, 2_ns, 3);
    decide(10_ns);
    EXPECT_EQ(done(2), 108_ns);
    EXPECT_FALSE(is_told(3));
    decide(200_ns);
    EXPECT_EQ(done(3), 207_ns) << "it leaves when the first fill has come, at 104";
    EXPECT_EQ(told(3).mshr, 98_ns);
    EXPECT_EQ(told(3).queueing, 98_ns);
  }
}

TEST_F(LastLevelCacheTest, InOrderAMissWithoutAnMshrKeepsItsBankFromTakingOthers) {
  for (const Kind kind : {kPlain, kInOrder, kBanked}) {
    use(kind);
    read(64, 0_ns, 1);
    decide(100_ns);
    read(0, 200_ns, 2);
    read(128, 201_ns, 3);
    read(256, 202_ns, 4);
    read(64, 203_ns, 5);  // a hit; in the other bank if there are two
    EXPECT_EQ(is_told(5), kind != kInOrder);
    decide(210_ns);
    EXPECT_EQ(is_told(5), true);
    EXPECT_EQ(done(5), kind == kInOrder ? 320_ns : 223_ns)
        << "the miss leaves at 304, 98 later than without others: at 300 the next";
    decide(400_ns);
    EXPECT_EQ(done(4), 407_ns);
  }
}

TEST_F(LastLevelCacheTest, AVictimIsWrittenBackBeforeItsSuccessorIsFetched) {
  use(kPlain);
  for (std::uint64_t i = 0; i < 2; ++i) write(128 * i, Tick{1000 * i}, static_cast<std::uint32_t>(i));
  EXPECT_EQ(done(1), 6_ns);
  b_->memory.holds_up_writes = true;
  read(256, 100_ns, 2);
  ASSERT_EQ(b_->memory.requests.size(), 1U);
  EXPECT_TRUE(b_->memory.requests[0].request.write);
  EXPECT_EQ(b_->memory.requests[0].request.address, 0U);
  decide(105_ns);  // the write-back is accepted at 134 ns
  ASSERT_EQ(b_->memory.requests.size(), 2U);
  EXPECT_EQ(b_->memory.requests[1].at, start_ + 134_ns);
  decide(135_ns);
  EXPECT_EQ(done(2), 237_ns);
  EXPECT_EQ(told(2).queueing, 30_ns);
}

TEST_F(LastLevelCacheTest, AWriteWaitsUntilItsVictimIsAccepted) {
  for (const Kind kind : {kPlain, kInOrder}) {
    use(kind);
    for (std::uint64_t i = 0; i < 2; ++i) write(128 * i, Tick{1000 * i}, static_cast<std::uint32_t>(i));
    b_->memory.holds_up_writes = true;
    write(256, 100_ns, 2);
    EXPECT_FALSE(is_told(2));
    read(256, 110_ns, 3);  // all bytes of the line have been written
    EXPECT_EQ(is_told(3), kind == kPlain);
    decide(105_ns);
    EXPECT_EQ(done(2), 135_ns);
    EXPECT_EQ(done(3), kind == kPlain ? 130_ns : 150_ns);
  }
}

TEST_F(LastLevelCacheTest, AtomicsLeaveTheirBytesDirty) {
  use(kPlain);
  const Tick before = b_->late.statistics().read_latency;
  const std::uint64_t atomics = b_->late.statistics().atomics;
  ask({.address = 8, .bytes = 4, .write = true, .atomic = true}, 0_ns, 1);
  ask({.address = 12, .bytes = 4, .write = true, .atomic = true}, 1_ns, 2);
  decide(5_ns);
  EXPECT_EQ(done(1), 107_ns);
  EXPECT_EQ(done(2), 107_ns);
  EXPECT_EQ(b_->late.dirty_sectors(), 1U);
  EXPECT_EQ(b_->late.statistics().atomics, atomics + 2);
  EXPECT_EQ(b_->late.statistics().read_latency, before) << "of reads alone";
}

TEST_F(LastLevelCacheTest, ARequestOfSeveralSectorsIsAnsweredWithTheLast) {
  use(kSectored);
  read(0, 0_ns, 1, 32);
  decide(50_ns);
  read(0, 200_ns, 2, 64);  // one sector is present
  EXPECT_FALSE(is_told(2));
  decide(300_ns);
  EXPECT_EQ(done(2), 308_ns) << "the second sector is looked up a cycle after the first";
  read(0, 400_ns, 3, 64);
  EXPECT_EQ(done(3), 421_ns);
}

TEST_F(LastLevelCacheTest, TransactionsInFlightAreLimited) {
  use(kLimited);
  read(0, 0_ns, 1);
  read(0, 1_ns, 2);
  decide(100_ns);
  EXPECT_EQ(done(1), 107_ns);
  EXPECT_EQ(done(2), 127_ns) << "a hit, when the first is answered";
  EXPECT_EQ(told(2).queueing, 106_ns);
  read(0, 110_ns, 3);
  EXPECT_EQ(done(3), 147_ns);
}

TEST_F(LastLevelCacheTest, SectorsInvalidatedDuringTheirFillAreFetchedAgain) {
  use(kPlain);
  read(0, 0_ns, 1);
  b_->late.invalidate(now());
  decide(5_ns);
  EXPECT_EQ(done(1), 107_ns);
  read(0, 200_ns, 2);
  EXPECT_FALSE(is_told(2));
  EXPECT_EQ(b_->memory.requests.size(), 2U);
}

TEST_F(LastLevelCacheTest, AWriteToASectorOnItsWayIsKept) {
  use(kPlain);
  read(0, 0_ns, 1);
  write(0, 10_ns, 2, 4);
  EXPECT_EQ(done(2), 15_ns);
  decide(5_ns);
  EXPECT_EQ(b_->late.dirty_sectors(), 1U);
}

TEST_F(LastLevelCacheTest, ASetFullOfFillsAllocatesNoMoreLines) {
  use(kPlain);
  read(0, 0_ns, 1);
  read(128, 0_ns, 2);
  decide(6_ns);  // both MSHRs are free at 105 ns
  read(256, 110_ns, 3);
  read(384, 110_ns, 4);
  read(512, 111_ns, 5);
  decide(500_ns);
  for (std::uint32_t tag = 1; tag <= 5; ++tag) EXPECT_TRUE(is_told(tag)) << tag;
  EXPECT_FALSE(b_->late.busy());
}

TEST_F(LastLevelCacheTest, AMemoryErrorFailsTheRequest) {
  use(kPlain);
  read(1 << 16, 0_ns, 1);
  EXPECT_TRUE(told(1).failed);
  read(1 << 16, 100_ns, 2);
  EXPECT_TRUE(told(2).failed) << "nothing was kept";
}

TEST_F(LastLevelCacheTest, ResetDropsWaitingRequests) {
  use(kInOrder);
  for (std::uint32_t i = 0; i < 5; ++i) read(64ULL * i, 0_ns, i);
  begin();
  EXPECT_FALSE(b_->late.busy());
  read(0, 0_ns, 1);
  decide(5_ns);
  EXPECT_EQ(done(1), 107_ns);
}

// Requests are made one after the other in order of time, as in memory phases. If reads and writes take fixed times, both forms
// of the cache have the same information: one from the call, the other from the responses of its memory.
TEST_F(LastLevelCacheTest, LateResponsesEqualImmediateOnes) {
  for (std::size_t number = 0; number < bench<Bench>().large_ones.size(); ++number) {
    SCOPED_TRACE(number);
    b_ = bench<Bench>().large_ones[number].get();
    begin();
    std::mt19937_64 random(number);
    std::map<std::uint32_t, Tick> expected;
    Tick at{};
    constexpr std::uint32_t kRequests = 4000;
    for (std::uint32_t i = 0; i < kRequests; ++i) {
      const std::uint64_t r = random();
      at += Tick{1000 * (r % 100 < 70 ? 0 : 1 + r / 128 % 30)};
      const std::uint64_t address = (r >> 16) % 2048 * 32;
      const bool atomic = (r >> 40) % 16 == 0;
      const bool writes = atomic || (r >> 44) % 3 == 0;
      // Each sector is either read or written as a whole: how many bytes a partly written sector fetches would depend on the
      // order of the requests.
      MemoryAttributes attributes;
      attributes.atomic = atomic;
      const unsigned bytes = 32;
      expected[i] = (writes ? b_->initiator.time_write(at, address, bytes, attributes)
                            : b_->initiator.time_read(at, address, bytes, attributes))
                        .at;
      if (i % 50 == 0) decide(at);
      ask({.address = address, .bytes = bytes, .write = writes, .atomic = atomic}, at, i);
    }
    decide(at + 1'000'000_ns);
    ASSERT_EQ(client_.told.size(), kRequests);
    unsigned different = 0;
    for (const auto& [tag, time] : expected) different += done(tag) != time ? 1 : 0;
    EXPECT_EQ(different, 0U);
    const CacheStatistics& late = b_->late.statistics();
    const CacheStatistics& prompt = b_->prompt.statistics();
    EXPECT_EQ(late.read_hits, prompt.read_hits);
    EXPECT_EQ(late.read_misses, prompt.read_misses);
    EXPECT_EQ(late.write_backs, prompt.write_backs);
    EXPECT_EQ(late.mshr_stall, prompt.mshr_stall);
    EXPECT_EQ(late.read_latency, prompt.read_latency);
    EXPECT_GT(late.evictions, 100U);
  }
}

TEST(LastLevelCache, RefusesToWriteAround) { EXPECT_TRUE(bench<Bench>().refused); }

}  // namespace
}  // namespace lacuna::test
