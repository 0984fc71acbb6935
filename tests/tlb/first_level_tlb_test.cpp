// Tests first-level TLBs whose misses respond later: requests that wait for a walk, and the order of walks.
#include "models/tlb/first_level_tlb.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kPageBytes = 4096;

struct Answers : TranslationClient {
  std::map<std::uint32_t, Tick> known;
  void translated(std::uint32_t tag, Tick at) override { known[tag] = at; }
};

class FirstLevelTlbTest : public testing::Test {
 protected:
  PageWalker walker_{{.walks = 2, .latency = 100_cycles}};
  FirstLevelTlb tlb_{{.entries = 4, .ways = 2, .ports = 2, .mshrs = 2, .hit_latency = 3_cycles}, walker_};
  Answers answers_;

  bool ask(std::uint64_t address, Tick at, std::uint32_t tag) {
    Tick known;
    const bool now = tlb_.translate_or_defer(address, at, answers_, tag, known);
    if (now) answers_.known[tag] = known;
    return now;
  }
  std::size_t resolve() {
    std::vector<FirstLevelTlb::Departure> left;
    tlb_.departures(left);
    for (const auto& departure : left) tlb_.complete(departure.miss, tlb_.request_next_level(departure.miss));
    return left.size();
  }
};

TEST_F(FirstLevelTlbTest, AMissIsWalkedOnceForAllRequests) {
  EXPECT_FALSE(ask(5, 0_ns, 0));
  EXPECT_FALSE(ask(kPageBytes - 1, 50_ns, 1));
  EXPECT_TRUE(tlb_.busy());
  EXPECT_EQ(resolve(), 1U);
  EXPECT_FALSE(tlb_.busy());
  EXPECT_EQ(answers_.known.at(0), 106_ns);
  EXPECT_EQ(answers_.known.at(1), 106_ns);
  EXPECT_TRUE(ask(0, 102_ns, 2)) << "the walk is over or its end is known";
  EXPECT_EQ(answers_.known.at(2), 106_ns);
  EXPECT_TRUE(ask(0, 500_ns, 3));
  EXPECT_EQ(answers_.known.at(3), 503_ns);
  EXPECT_EQ(walker_.walks(), 1U);
  EXPECT_EQ(tlb_.statistics().misses, 1U);
  EXPECT_EQ(tlb_.statistics().secondary_misses, 2U);
  EXPECT_EQ(tlb_.statistics().hits, 1U);
}

TEST_F(FirstLevelTlbTest, WalksAreLimitedByMshrs) {
  for (std::uint32_t i = 0; i < 3; ++i) ask(kPageBytes * i, 0_ns, i);
  EXPECT_EQ(resolve(), 3U);
  EXPECT_EQ(answers_.known.at(0), 106_ns);
  EXPECT_EQ(answers_.known.at(1), 106_ns);
  EXPECT_EQ(answers_.known.at(2), 209_ns) << "a port later, then an MSHR at 106, 100 and 3";
}

TEST_F(FirstLevelTlbTest, AWalkThatLostItsEntryStillResponds) {
  // Three pages map to one set of two ways.
  for (std::uint32_t i = 0; i < 3; ++i) ask(2 * kPageBytes * i, 10_ns * i, i);
  EXPECT_EQ(resolve(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(answers_.known.count(i), 1U);
  EXPECT_FALSE(ask(0, 1000_ns, 9)) << "the first has been replaced";
  ask(0, 1000_ns, 9);
  tlb_.invalidate();
  EXPECT_EQ(resolve(), 1U);
  EXPECT_FALSE(ask(0, 2000_ns, 10)) << "the walk before the invalidation has left no translation";
}

}  // namespace
}  // namespace lacuna
