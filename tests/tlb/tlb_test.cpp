#include "models/tlb/tlb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kPage = 4096;

struct Levels {
  explicit Levels(const TlbParameters& parameters = {.entries = 4, .ways = 2, .ports = 2, .mshrs = 2, .hit_latency = 3_cycles},
                  const PageWalkerParameters& walks = {.walks = 2, .latency = 100_cycles})
      : walker(walks), tlb(parameters, walker) {}
  PageWalker walker;
  Tlb tlb;
};

struct Step {
  const char* what;
  Tick at;
  std::uint64_t address;
  Tick known;
};

void check(TranslationLevel& level, const std::vector<Step>& steps) {
  for (const Step& s : steps) EXPECT_EQ(level.translate(s.address, s.at), s.known) << s.what;
}

TEST(Tlb, LatencyTable) {
  Levels l;
  check(l.tlb, {{"miss: 3, walk 100, 3", 0_ns, 5, 106_ns},
                {"secondary miss: the same answer", 50_ns, kPage - 1, 106_ns},
                {"a tick before the answer", Tick{102'999}, 0, 106_ns},
                {"hit", 103_ns, 0, 106_ns},
                {"hit later", 500_ns, 77, 503_ns},
                {"another page", 1000_ns, kPage, 1106_ns}});
  EXPECT_EQ(l.tlb.statistics().misses, 2U);
  EXPECT_EQ(l.tlb.statistics().secondary_misses, 2U);
  EXPECT_EQ(l.tlb.statistics().hits, 2U);
  EXPECT_EQ(l.walker.walks(), 2U);
}

TEST(Tlb, PortsAreShared) {
  Levels l;
  l.tlb.translate(0, 0_ns);
  check(l.tlb, {{"first port", 200_ns, 0, 203_ns}, {"second port", 200_ns, 0, 203_ns}, {"next cycle", 200_ns, 0, 204_ns}});
}

TEST(Tlb, MissesAreLimitedByMshrsAndWalkers) {
  Levels l({.entries = 64, .ways = 64, .ports = 64, .mshrs = 3, .hit_latency = 0_cycles});
  check(l.tlb, {{"first walker", 0_ns, 0 * kPage, 100_ns},
                {"second walker", 0_ns, 1 * kPage, 100_ns},
                {"waits for a walker", 0_ns, 2 * kPage, 200_ns},
                {"waits for an MSHR until 100, then walks", 0_ns, 3 * kPage, 200_ns},
                {"and so on", 0_ns, 4 * kPage, 300_ns}});
}

TEST(Tlb, ReplacesWithinASet) {
  Levels l;
  // Two sets of two ways; even pages all map to the same set.
  for (const std::uint64_t page : {0U, 2U, 0U, 4U}) l.tlb.translate(page * kPage, 1_us * (1 + l.walker.walks()));
  EXPECT_EQ(l.walker.walks(), 3U);
  check(l.tlb, {{"used last but one: there", 10_us, 0, 10'003_ns}, {"gave way", 20_us, 2 * kPage, 20'106_ns}});
}

TEST(Tlb, TwoLevels) {
  PageWalker walker({.walks = 16, .latency = 100_cycles});
  Tlb second({.entries = 64, .ways = 8, .hit_latency = 10_cycles}, walker);
  Tlb a({.hit_latency = 1_cycles}, second);
  Tlb b({.hit_latency = 1_cycles}, second);
  check(a, {{"walk: 1 + 10 + 100 + 10 + 1", 0_ns, 0, 122_ns}});
  check(b, {{"the other one's miss hits the second level", 200_ns, 0, 212_ns}});
  EXPECT_EQ(walker.walks(), 1U);
}

// Two first-level TLBs share a second level and its walker. Before each request, retire() of the first level is called, as
// compute units do.
TEST(Tlb, AllLevelsDropPastBookings) {
  PageWalker walker({.walks = 16, .latency = 100_cycles});
  Tlb second({.entries = 64, .ways = 8, .ports = 2, .mshrs = 8, .hit_latency = 10_cycles}, walker);
  Tlb a({.entries = 4, .ways = 4}, second);
  Tlb b({.entries = 4, .ways = 4}, second);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Tick at = 30_ns * i;
    Tlb& first = i % 2 == 0 ? a : b;
    first.retire(at);
    first.translate(i * kPage, at);
    most = std::max({most, a.bookings() + b.bookings(), second.bookings(), walker.bookings()});
  }
  EXPECT_EQ(walker.walks(), 100'000U);
  EXPECT_LE(most, 32U) << "a miss takes 122 cycles, so that five are in flight";
}

TEST(Tlb, InvalidationDropsAllTranslations) {
  Levels l;
  l.tlb.translate(0, 0_ns);
  l.tlb.invalidate();
  check(l.tlb, {{"walks again", 500_ns, 0, 606_ns}});
}

TEST(Tlb, LargerPages) {
  Levels l({.entries = 4, .ways = 4, .page = Bytes{2 << 20}, .hit_latency = 1_cycles});
  check(l.tlb, {{"walk", 0_ns, 0, 102_ns}, {"same page", 200_ns, (2 << 20) - 1, 201_ns}, {"next", 300_ns, 2 << 20, 402_ns}});
}

TEST(Tlb, AnEarlierRequestMadeLaterOwnsTheWalk) {
  Levels l;
  check(l.tlb, {{"a unit that runs ahead", 1000_ns, 0, 1106_ns}, {"a unit that lags", 900_ns, 0, 1006_ns}});
  EXPECT_EQ(l.walker.walks(), 1U);
}

TEST(Tlb, Refusals) {
  PageWalker walker({});
  EXPECT_THROW(Tlb({.entries = 6, .ways = 2}, walker), std::invalid_argument);
  EXPECT_THROW(Tlb({.entries = 5, .ways = 2}, walker), std::invalid_argument);
  EXPECT_THROW(Tlb({.ways = 0}, walker), std::invalid_argument);
  EXPECT_THROW(Tlb({.page = Bytes{5000}}, walker), std::invalid_argument);
  EXPECT_THROW(Tlb({.mshrs = 0}, walker), std::invalid_argument);
}

}  // namespace
}  // namespace lacuna
