// Tests first-level caches whose responses arrive after the call: the stages of a miss, and the requests that wait for it.
#include "models/cache/first_level_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/cache/memory_below.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// Records responses by tag.
struct Responses : MemoryClient {
  std::map<std::uint32_t, MemoryResponse> told;
  std::vector<std::uint32_t> order;
  void on_response(std::uint32_t tag, const MemoryResponse& response) override {
    told[tag] = response;
    told[tag].below = nullptr;
    order.push_back(tag);
  }
};

/// Two sets of two ways of 64-byte lines, two MSHRs; at 1 GHz a hit takes 40 cycles, a lookup 8 and a fill 8.
CacheParameters small_first_level() {
  CacheParameters p;
  p.size = 256_B;
  p.ways = 2;
  p.mshrs = 2;
  return p;
}

struct FirstLevelBench : sc_core::sc_module {
  explicit FirstLevelBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    CacheParameters locking = small_first_level();
    locking.lock_cycles = 60_cycles;
    locking.in_order = true;
    CacheParameters limited = small_first_level();
    limited.transactions = 1;
    CacheParameters sectored = small_first_level();
    sectored.size = 512_B;
    sectored.line = 128_B;
    sectored.sector = 32_B;
    for (const CacheParameters& p : {small_first_level(), locking, limited, sectored}) {
      const std::string number = std::to_string(caches.size());
      caches.push_back(std::make_unique<FirstLevelCache>(("cache" + number).c_str(), p));
      below.push_back(std::make_unique<MemoryBelow>(("below" + number).c_str(), Bytes{65536}));
      initiators.push_back(std::make_unique<TestInitiator>(("initiator" + number).c_str()));
      initiators.back()->socket.bind(caches.back()->upstream[0]);
      caches.back()->downstream.bind(below.back()->port);
      caches.back()->keep_early_requests(far, early);
    }
  }
  Tick far = kNever;
  std::vector<FirstLevelCache*> early;
  std::vector<std::unique_ptr<FirstLevelCache>> caches;
  std::vector<std::unique_ptr<MemoryBelow>> below;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
};

LACUNA_TEST_BENCH(FirstLevelBench)

class FirstLevelCacheTest : public testing::Test {
 protected:
  FirstLevelBench& b_ = bench<FirstLevelBench>();
  Responses answers_;
  FirstLevelCache* cache_ = nullptr;

  void use(unsigned which) {
    cache_ = b_.caches[which].get();
    cache_->reset();
    b_.far = kNever;
    b_.early.clear();
  }
  /// Requests a line; the response has the tag `tag`. Returns true if the cache responds immediately.
  bool ask(std::uint64_t address, Tick at, std::uint32_t tag, MemoryRequest access = {}) {
    access.address = address;
    if (access.bytes == 0) access.bytes = 64;
    MemoryResponse answer;
    const bool now = cache_->request(access, at, answers_, tag, answer);
    if (now) answers_.told[tag] = answer;
    return now;
  }
  std::vector<FirstLevelCache::Departure> departures(Tick end = kNever) {
    std::vector<FirstLevelCache::Departure> out;
    cache_->departures(end, out);
    return out;
  }
  void answer(const FirstLevelCache::Departure& departure, Tick at) { cache_->complete(departure.miss, at, {}); }
  /// Runs random instructions. Returns, for each round, the immediate responses, then all later responses so far by tag.
  std::vector<MemoryResponse> run_instructions(unsigned which, bool lines_at_once);
  Tick done(std::uint32_t tag) { return answers_.told.at(tag).done; }
};

TEST_F(FirstLevelCacheTest, AMissIsAnsweredWithItsFillAndAHitImmediately) {
  use(0);
  EXPECT_FALSE(ask(0x1000, 100_ns, 1));
  const auto left = departures();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].at, 108_ns);
  EXPECT_EQ(cache_->downstream_request(left[0].miss).address, 0x1000U);
  EXPECT_EQ(cache_->downstream_request(left[0].miss).kind, RequestKind::fill);
  EXPECT_FALSE(ask(0x1020, 120_ns, 2, {.bytes = 32})) << "a secondary miss of the line in flight";
  EXPECT_TRUE(departures().empty()) << "which is fetched once";
  answer(left[0], 200_ns);
  cache_->resume();
  EXPECT_EQ(done(1), 208_ns);
  EXPECT_EQ(done(2), 208_ns);
  EXPECT_TRUE(ask(0x1000, 300_ns, 3));
  EXPECT_EQ(done(3), 340_ns);
  EXPECT_FALSE(cache_->busy());
  EXPECT_TRUE(ask(0x1000, 190_ns, 4)) << "requested before the fill, answered afterwards: not earlier than the fill";
  EXPECT_EQ(done(4), 230_ns);
}

// Requests that are not aligned to the bank's cycles keep their times even if the misses that block them last so long that the
// retirement horizon has passed the requests' arrivals.
TEST_F(FirstLevelCacheTest, BlockedRequestsWaitForTheirBankHoweverOld) {
  const auto run = [&](bool retire) {
    use(1);
    answers_ = {};
    ask(0x1040, 1_ns, 0);
    answer(departures().at(0), 50_ns);
    cache_->resume();
    // Four misses for two MSHRs, followed by a hit.
    const std::uint64_t addresses[] = {0x1000, 0x2000, 0x3040, 0x4000, 0x1040};
    for (std::uint32_t tag = 1; tag <= 5; ++tag) ask(addresses[tag - 1], Tick{100'100 + 1000 * tag}, tag);
    auto left = departures();
    EXPECT_EQ(left.size(), 2U);
    for (Tick at = 1000_ns; !left.empty(); at += 500_ns) {
      answer(left.front(), at);
      cache_->resume();
      left.erase(left.begin());
      for (const auto& departure : departures()) left.push_back(departure);
      if (retire) cache_->retire(at + 300_ns);
    }
    return answers_.told;
  };
  const auto kept = run(false);
  const auto retired = run(true);
  ASSERT_EQ(kept.size(), 6U);
  ASSERT_EQ(retired.size(), 6U);
  EXPECT_GT(kept.at(5).done, 1500_ns);
  for (const auto& [tag, answer] : kept) EXPECT_EQ(retired.at(tag).done, answer.done) << "request " << tag;
}

TEST_F(FirstLevelCacheTest, DeparturesAfterTheWindowWait) {
  use(0);
  ask(0x1000, 100_ns, 1);
  EXPECT_TRUE(departures(108_ns).empty());
  EXPECT_EQ(cache_->next_departure(), 108_ns);
  EXPECT_EQ(departures(109_ns).size(), 1U);
  EXPECT_EQ(cache_->next_departure(), kNever);
}

TEST_F(FirstLevelCacheTest, MshrsAreAllocatedInOrderOfMisses) {
  use(0);
  // Four lines, two in each set: all have a way, but only two have an MSHR.
  for (std::uint32_t i = 0; i < 4; ++i) ask(0x1000 + 64 * i, Tick{100'000 + 1000ULL * i}, i);
  const auto first = departures();
  ASSERT_EQ(first.size(), 2U);
  answer(first[1], 150_ns);
  answer(first[0], 300_ns);
  cache_->resume();
  const auto second = departures();
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].at, 150_ns) << "the MSHR that is freed first is allocated to the first request";
  EXPECT_EQ(cache_->downstream_request(second[0].miss).address, 0x1080U);
  EXPECT_EQ(second[1].at, 300_ns);
  answer(second[0], 400_ns);
  answer(second[1], 400_ns);
  EXPECT_EQ(answers_.told.at(2).mshr, 150_ns - 110_ns);
  EXPECT_EQ(answers_.told.at(3).mshr, 300_ns - 111_ns);
}

TEST_F(FirstLevelCacheTest, AllRequestsThatWaitForAMissAreAnsweredInOrder) {
  use(0);
  Responses others;
  MemoryResponse answer_at_once;
  ask(0x1000, 100_ns, 1);
  ask(0x1000, 101_ns, 2);
  EXPECT_FALSE(cache_->request({.address = 0x1000, .bytes = 64}, 102_ns, others, 7, answer_at_once));
  ask(0x1000, 103_ns, 3);
  EXPECT_FALSE(cache_->request({.address = 0x1000, .bytes = 64}, 104_ns, others, 8, answer_at_once));
  const auto left = departures();
  ASSERT_EQ(left.size(), 1U);
  answer(left[0], 200_ns);
  EXPECT_EQ(answers_.order, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(others.order, (std::vector<std::uint32_t>{7, 8}));
  EXPECT_EQ(others.told.at(7).arrived, 102_ns);
  EXPECT_EQ(answers_.told.at(1).arrived, 100_ns);
  EXPECT_FALSE(cache_->busy());
}

// The reported waiting time saturates at 4 ms; the wait itself does not.
TEST_F(FirstLevelCacheTest, WaitsOfAnyLengthEndInTime) {
  use(0);
  for (std::uint32_t i = 0; i < 3; ++i) ask(0x1000 + 64 * i, 100_ns, i);
  const auto first = departures();
  ASSERT_EQ(first.size(), 2U);
  for (const auto& departure : first) answer(departure, 9'000'000_ns);
  cache_->resume();
  const auto second = departures();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].at, 9'000'000_ns);
  answer(second[0], 9'000'100_ns);
  EXPECT_EQ(done(2), 9'000'108_ns);
  EXPECT_EQ(answers_.told.at(2).arrived, 100_ns);
  EXPECT_EQ(answers_.told.at(2).mshr, Tick{~std::uint32_t{0}});
}

TEST_F(FirstLevelCacheTest, AWayThatIsBeingFilledIsReplacedOnlyWhenFull) {
  use(0);
  // Three lines of one set of two ways, two MSHRs.
  ask(0x1000, 100_ns, 0);
  ask(0x1080, 101_ns, 1);
  ask(0x1100, 102_ns, 2);
  const auto first = departures();
  ASSERT_EQ(first.size(), 2U) << "the third waits for the way of the first, not for an MSHR";
  answer(first[0], 200_ns);
  answer(first[1], 190_ns);
  cache_->resume();
  EXPECT_EQ(done(0), 208_ns) << "the request for the evicted line receives it";
  const auto third = departures();
  ASSERT_EQ(third.size(), 1U);
  EXPECT_EQ(third[0].at, 200_ns);
  answer(third[0], 300_ns);
  EXPECT_EQ(done(2), 308_ns);
  EXPECT_FALSE(ask(0x1000, 400_ns, 3)) << "it is gone";
}

// A lookup that a load history buffer cancels (models/duplo) uses a cycle of the bank, but no MSHR, no fill and no LRU update.
TEST_F(FirstLevelCacheTest, OccupyingABankChangesNothingElse) {
  use(0);
  const auto fetch = [&](std::uint64_t address, Tick at, std::uint32_t tag) {
    EXPECT_FALSE(ask(address, at, tag));
    const auto left = departures();
    ASSERT_EQ(left.size(), 1U);
    answer(left[0], at + 50_ns);
    cache_->resume();
  };
  // Two lines of one set of two ways.
  fetch(0x1000, 100_ns, 1);
  fetch(0x1080, 200_ns, 2);
  const CacheStatistics before = cache_->statistics();
  EXPECT_EQ(cache_->occupy(0x1100, 300_ns), 300_ns);
  EXPECT_TRUE(departures().empty());
  EXPECT_FALSE(cache_->busy());
  EXPECT_EQ(cache_->presence(0x1100, 400_ns), FirstLevelCache::Presence::absent);
  EXPECT_EQ(cache_->occupy(0x1000, 400_ns), 400_ns);
  EXPECT_EQ(cache_->statistics().reads, before.reads);
  EXPECT_EQ(cache_->statistics().read_misses, before.read_misses);
  EXPECT_TRUE(ask(0x1080, 400_ns, 3));
  EXPECT_EQ(done(3), 441_ns) << "the bank was taken for a cycle";
  // A lookup, unlike the read of 0x1080, does not make 0x1000 the most recently used line.
  EXPECT_EQ(cache_->occupy(0x1000, 500_ns), 500_ns);
  fetch(0x1100, 600_ns, 4);
  EXPECT_EQ(cache_->presence(0x1000, 700_ns), FirstLevelCache::Presence::absent);
  EXPECT_EQ(cache_->presence(0x1080, 700_ns), FirstLevelCache::Presence::present);
}

TEST_F(FirstLevelCacheTest, WritesAtomicsAndBypassesAreForwarded) {
  use(0);
  const struct {
    const char* what;
    MemoryRequest access;
    Tick done;
    bool line_stays;
  } table[] = {
      {"write", {.byte_mask = ByteMask(0xff), .bytes = 64, .write = true}, 200_ns, true},
      {"atomic", {.byte_mask = ByteMask(0xf), .bytes = 64, .write = true, .atomic = true}, 208_ns, false},
      {"bypass", {.bytes = 64, .bypass_l1 = true}, 208_ns, false},
  };
  for (const auto& row : table) {
    use(0);
    ask(0x1000, 0_ns, 1);
    for (const auto& fill : departures()) answer(fill, 50_ns);
    EXPECT_FALSE(ask(0x1000, 100_ns, 2, row.access)) << row.what;
    const auto left = departures();
    ASSERT_EQ(left.size(), 1U) << row.what;
    EXPECT_EQ(left[0].at, 108_ns) << row.what;
    const MemoryRequest sent = cache_->downstream_request(left[0].miss);
    EXPECT_EQ(sent.write, row.access.write) << row.what;
    EXPECT_EQ(sent.atomic, row.access.atomic) << row.what;
    if (row.access.write) {
      EXPECT_EQ(sent.byte_mask, row.access.byte_mask) << row.what;
    }
    answer(left[0], 200_ns);
    EXPECT_EQ(done(2), row.done) << row.what;
    EXPECT_EQ(ask(0x1000, 300_ns, 3), row.line_stays) << row.what;
  }
}

TEST_F(FirstLevelCacheTest, InOrderAMissWithoutAWayBlocksLaterRequests) {
  use(1);
  ask(0x1000, 100_ns, 0);
  ask(0x1080, 101_ns, 1);
  ask(0x1100, 102_ns, 2);
  EXPECT_FALSE(ask(0x1040, 103_ns, 3)) << "of the other set, which is empty";
  const auto first = departures();
  ASSERT_EQ(first.size(), 2U);
  answer(first[0], 200_ns);
  answer(first[1], 200_ns);
  cache_->resume();
  const auto second = departures();
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].at, 260_ns) << "the way is locked 60 cycles longer";
  EXPECT_EQ(second[1].at, 260_ns) << "the next one is looked up 150 cycles late as well";
  EXPECT_EQ(cache_->downstream_request(second[1].miss).address, 0x1040U);
}

TEST_F(FirstLevelCacheTest, TransactionsAreLimitedHitsIncluded) {
  use(2);
  ask(0x1000, 100_ns, 0);
  EXPECT_FALSE(ask(0x1040, 101_ns, 1));
  const auto first = departures();
  ASSERT_EQ(first.size(), 1U);
  answer(first[0], 200_ns);
  cache_->resume();
  const auto second = departures();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].at, 216_ns) << "8 cycles after the first was done";
}

// A request with a long page walk is made before others that arrive earlier.
TEST_F(FirstLevelCacheTest, RequestsMadeEarlyDoNotDelayEarlierArrivals) {
  for (const unsigned which : {1U, 2U}) {  // in order; one transaction
    use(which);
    b_.far = 200_ns;
    EXPECT_FALSE(ask(0x1000, 500_ns, 1));
    EXPECT_EQ(b_.early, std::vector<FirstLevelCache*>{cache_});
    EXPECT_EQ(cache_->next_early(), 500_ns);
    EXPECT_FALSE(ask(0x1040, 100_ns, 2));
    const auto first = departures();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].at, 108_ns);
    answer(first[0], 150_ns);
    cache_->resume();
    EXPECT_EQ(done(2), 158_ns);
    EXPECT_TRUE(departures().empty());
    b_.far = 600_ns;
    b_.early.clear();
    cache_->admit_early();
    EXPECT_EQ(cache_->next_early(), kNever);
    EXPECT_TRUE(b_.early.empty());
    const auto second = departures();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].at, 508_ns);
    answer(second[0], 600_ns);
    cache_->resume();
    EXPECT_EQ(done(1), 608_ns);
  }
}

TEST_F(FirstLevelCacheTest, ATransactionThatEndsLateIsNotTakenYet) {
  use(2);
  b_.far = 200_ns;
  EXPECT_FALSE(ask(0x1000, 100_ns, 1));
  const auto first = departures();
  ASSERT_EQ(first.size(), 1U);
  answer(first[0], 400_ns);
  cache_->resume();
  EXPECT_EQ(done(1), 408_ns);
  EXPECT_FALSE(ask(0x1040, 120_ns, 2));
  EXPECT_TRUE(departures().empty());
  EXPECT_EQ(cache_->next_early(), 408_ns);
  EXPECT_EQ(b_.early, std::vector<FirstLevelCache*>{cache_});
  b_.far = 500_ns;
  b_.early.clear();
  cache_->admit_early();
  const auto second = departures();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].at, 416_ns);
}

TEST_F(FirstLevelCacheTest, ARequestOfSeveralSectorsEndsWithTheLast) {
  use(3);
  EXPECT_FALSE(ask(0x1000, 100_ns, 0));
  auto left = departures();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(cache_->downstream_request(left[0].miss).bytes, 32U);
  answer(left[0], 200_ns);
  EXPECT_EQ(answers_.told.count(0), 0U);
  answer(left[1], 150_ns);
  EXPECT_EQ(done(0), 208_ns);
  EXPECT_TRUE(ask(0x1000, 300_ns, 1));
  EXPECT_FALSE(ask(0x1020, 300_ns, 2)) << "a sector of the line that is not there";
}

// Each round makes the requests of one instruction, 1 to 40 requests to 24 sectors, then completes some of the requests that
// have departed.
std::vector<MemoryResponse> FirstLevelCacheTest::run_instructions(unsigned which, bool lines_at_once) {
  use(which);
  answers_ = {};
  std::mt19937_64 random(7);
  std::vector<FirstLevelCache::Departure> under_way;
  std::vector<MemoryResponse> told;
  std::vector<MemoryRequest> lines;
  std::vector<Tick> arrivals;
  std::vector<MemoryResponse> answers(40);
  for (std::uint32_t round = 0; round < 300; ++round) {
    const Tick start{1'000'000ULL + 100'000ULL * round};
    const std::uint64_t kind = random() % 8;
    const MemoryRequest common{.bytes = 32, .write = kind < 2, .atomic = kind == 0, .bypass_l1 = kind == 2};
    lines.assign(1 + random() % 40, common);
    arrivals.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Tick made = start + Tick{1000} * i;
      lines[i].address = 0x1000 + random() % 24 * 32;
      lines[i].byte_mask = ByteMask(random() & 0xffff'ffff);
      lines[i].made = made;
      arrivals[i] = made + Tick{1000} * (random() % 2);
    }
    const std::size_t known = lines_at_once
                                  ? cache_->request_all(lines, arrivals.data(), answers_, round, answers.data())
                                  : cache_->MemoryTarget::request_all(lines, arrivals.data(), answers_, round, answers.data());
    told.insert(told.end(), answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(known));
    for (const auto& departure : departures(start + 100_ns)) under_way.push_back(departure);
    std::shuffle(under_way.begin(), under_way.end(), random);
    for (std::size_t i = random() % (under_way.size() + 1); i > 0; --i, under_way.pop_back()) {
      const MemoryRequest sent = cache_->downstream_request(under_way.back().miss);
      answer(under_way.back(), under_way.back().at + Tick{100'000 + sent.address + sent.byte_mask.low() % 977});
    }
    cache_->resume();
    for (const auto& [tag, answer] : answers_.told) told.push_back(answer);
    if (random() % 64 == 0) cache_->invalidate(start);
    if (random() % 16 == 0) cache_->drop_clean(0x1040, 64);
  }
  return told;
}

TEST_F(FirstLevelCacheTest, TheLinesOfAnInstructionAreThoseOfItsRequests) {
  for (unsigned which = 0; which < b_.caches.size(); ++which) {
    const std::vector<MemoryResponse> one_by_one = run_instructions(which, false);
    const std::vector<MemoryResponse> at_once = run_instructions(which, true);
    ASSERT_EQ(at_once.size(), one_by_one.size()) << which;
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      ASSERT_EQ(at_once[i].made, one_by_one[i].made) << which << ' ' << i;
      ASSERT_EQ(at_once[i].arrived, one_by_one[i].arrived) << which << ' ' << i;
      ASSERT_EQ(at_once[i].done, one_by_one[i].done) << which << ' ' << i;
      ASSERT_EQ(at_once[i].queueing, one_by_one[i].queueing) << which << ' ' << i;
    }
  }
}

TEST_F(FirstLevelCacheTest, AFillOfALineThatWasDroppedLeavesNothing) {
  use(0);
  ask(0x1000, 100_ns, 0);
  cache_->invalidate(110_ns);
  for (const auto& fill : departures()) answer(fill, 200_ns);
  EXPECT_EQ(done(0), 208_ns) << "the request receives its response";
  EXPECT_FALSE(ask(0x1000, 300_ns, 1));
}

TEST_F(FirstLevelCacheTest, ResetDropsMissesInFlight) {
  use(1);
  for (std::uint32_t i = 0; i < 8; ++i) ask(0x1000 + 0x80 * i, 100_ns, i);
  EXPECT_TRUE(cache_->busy());
  cache_->reset();
  EXPECT_FALSE(cache_->busy());
  EXPECT_TRUE(departures().empty());
  EXPECT_FALSE(ask(0x1000, 100_ns, 9));
  EXPECT_EQ(departures().size(), 1U);
}

}  // namespace
}  // namespace lacuna::test
