// Tests the fill of a service queue's input, for packets added in any order: in hand-written cases, and compared with a count
// of all events.
#include "models/neardata/input_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

struct Packet {
  std::uint64_t arrived;
  std::uint64_t left;
};

std::uint64_t highest(const std::vector<Packet>& packets) {
  InputFill input;
  std::uint64_t most = 0;
  for (const Packet& p : packets) most = std::max(most, input.add(Tick{p.arrived}, Tick{p.left}, Tick{}));
  return most;
}

// The maximum fill of the input, counted after every arrival and departure; a departing packet makes room for a packet that
// arrives at the same time.
std::uint64_t counted(const std::vector<Packet>& packets) {
  std::vector<std::pair<std::uint64_t, int>> events;
  for (const Packet& p : packets) {
    events.emplace_back(p.arrived, 1);
    events.emplace_back(p.left, -1);
  }
  std::sort(events.begin(), events.end());
  int fill = 0;
  int most = 0;
  for (const auto& [at, change] : events) most = std::max(most, fill += change);
  return static_cast<std::uint64_t>(most);
}

TEST(InputFill, APacketLeavesWhenTheNextArrives) {
  EXPECT_EQ(highest({{10, 20}}), 1U);
  EXPECT_EQ(highest({{10, 20}, {20, 30}, {30, 40}}), 1U);
  EXPECT_EQ(highest({{10, 21}, {20, 30}, {30, 40}}), 2U);
  EXPECT_EQ(highest({{10, 20}, {10, 20}, {10, 11}}), 3U);
}

TEST(InputFill, ReportsMayComeInAnotherOrderThanArrivals) {
  EXPECT_EQ(highest({{50, 60}, {10, 20}, {30, 40}}), 1U);
  // Only the report of the last packet shows that the input held all three at the same time.
  EXPECT_EQ(highest({{50, 60}, {55, 60}, {40, 56}}), 3U);
  EXPECT_EQ(highest({{50, 60}, {55, 60}, {40, 55}}), 2U);
  EXPECT_EQ(highest({{40, 90}, {80, 81}, {60, 61}, {60, 85}}), 3U);
}

TEST(InputFill, EqualsACountByEvents) {
  std::mt19937 random(1);
  for (unsigned run = 0; run < 300; ++run) {
    const unsigned apart = 1 + run % 40;
    std::vector<Packet> packets;
    for (unsigned i = 0; i < 200; ++i) {
      const std::uint64_t at = i * apart + random() % 100;  // arrival up to 100 ps out of order
      packets.push_back({at, at + 1 + random() % 60});
    }
    InputFill input;
    std::uint64_t most = 0;
    for (unsigned i = 0; i < packets.size(); ++i)
      most = std::max(most, input.add(Tick{packets[i].arrived}, Tick{packets[i].left}, Tick{std::uint64_t{i} * apart}));
    EXPECT_EQ(most, counted(packets)) << "run " << run;
  }
}

// Of a million packets that arrive every 10 ps and stay for 15 ps, only those that may overlap with later packets are kept.
TEST(InputFill, DropsPastArrivals) {
  InputFill input;
  std::size_t kept = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    ASSERT_EQ(input.add(Tick{i * 10}, Tick{i * 10 + 15}, Tick{i * 10 < 200 ? 0 : i * 10 - 200}), i == 0 ? 1U : 2U);
    kept = std::max(kept, input.kept());
  }
  EXPECT_LT(kept, 100U);
  input.reset();
  EXPECT_EQ(input.add(Tick{0}, Tick{15}, Tick{}), 1U);
}

}  // namespace
}  // namespace lacuna
