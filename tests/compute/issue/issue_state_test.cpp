#include "models/compute/issue/issue_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "models/compute/wavefront_pool.h"

namespace lacuna {
namespace {

TEST(IssueState, WithoutWavefrontsNoneIsReady) {
  const IssueState state;
  EXPECT_EQ(state.ready_at(Cycles{~std::uint64_t{0} >> 2}).ranks, 0U);
  EXPECT_EQ(state.earliest(), kNeverCycles);
}

// Compares the state with a list of wavefronts, oldest first, that are added, removed and become ready at random.
TEST(IssueState, RanksByAge) {
  struct Known {
    unsigned number;
    Cycles ready;
    isa::Unit unit;
  };
  std::array<std::byte, IssueState::kMaxSlots> places{};
  const auto slot = [&](unsigned number) { return reinterpret_cast<WavefrontSlot*>(&places[number]); };
  IssueState state;
  std::vector<Known> known;
  std::mt19937 random(1);
  for (unsigned step = 0; step < 20'000; ++step) {
    const unsigned number = random() % IssueState::kMaxSlots;
    const auto it = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.number == number; });
    if (it == known.end()) {
      ASSERT_EQ(state.rank[number], IssueState::kMaxSlots);
      state.add(*slot(number), number);
      state.unit[state.rank[number]] = isa::Unit::valu;
      known.push_back({number, kNeverCycles, isa::Unit::valu});
    } else if (random() % 4 == 0) {
      state.remove(number);
      known.erase(it);
    } else {
      it->ready = random() % 8 == 0 ? kNeverCycles : Cycles{random() % 100};
      it->unit = static_cast<isa::Unit>(random() % 7);
      state.ready[state.rank[number]] = it->ready;
      state.unit[state.rank[number]] = it->unit;
    }
    ASSERT_EQ(state.resident, known.size());
    const Cycles now{random() % 100};
    unsigned ready = 0;
    Cycles earliest = kNeverCycles;
    Cycles others = kNeverCycles;
    for (unsigned rank = 0; rank < known.size(); ++rank) {
      ASSERT_EQ(state.rank[known[rank].number], rank);
      ASSERT_EQ(state.slots[rank], slot(known[rank].number));
      ASSERT_EQ(state.unit[rank], known[rank].unit);
      ready |= static_cast<unsigned>(known[rank].ready <= now) << rank;
      earliest = std::min(earliest, known[rank].ready);
      if (known[rank].ready > now) others = std::min(others, known[rank].ready);
    }
    ASSERT_EQ(state.ready_at(now).ranks, ready);
    ASSERT_EQ(state.ready_at(now).others, others);
    ASSERT_EQ(state.earliest(), earliest);
  }
}

// Cycle c is a turn of the SIMDs whose numbers equal c modulo the period.
TEST(SimdTimes, TurnsAreAtOrAfterTheEarliestCycle) {
  for (const auto& [simds, period] :
       std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 4}, {8, 8}}) {
    SimdTimes times(simds, period);
    EXPECT_EQ(times.earliest(), kNeverCycles);
    EXPECT_EQ(times.first_turn(), kNeverCycles);
    std::vector<Cycles> known(simds, kNeverCycles);
    std::mt19937 random(simds);
    for (unsigned step = 0; step < 5'000; ++step) {
      const auto simd = static_cast<unsigned>(random() % simds);
      const Cycles at{random() % 64};
      switch (random() % 3) {
        case 0:
          times.set(simd, known[simd] = at);
          break;
        case 1:
          times.wake(simd, at);
          known[simd] = std::min(known[simd], at);
          break;
        default:
          times.set(simd, known[simd] = kNeverCycles);
      }
      const auto turn = [&](Cycles from) {
        Cycles first = kNeverCycles;
        for (unsigned i = 0; i < simds; ++i) {
          if (known[i] == kNeverCycles) continue;
          Cycles cycle = later(known[i], from);
          while (cycle.n % period != i % period) cycle += Cycles{1};
          first = std::min(first, cycle);
        }
        return first;
      };
      ASSERT_EQ(times.earliest(), *std::min_element(known.begin(), known.end()));
      ASSERT_EQ(times.first_turn(), turn(Cycles{}));
      SimdTimes later_on = times;
      ASSERT_EQ(later_on.first_turn_after(Cycles{32}), turn(Cycles{33}));
      for (std::uint64_t cycle = 0; cycle < 70; ++cycle) {
        std::vector<unsigned> served;
        times.each_served_in(Cycles{cycle}, [&](unsigned i) { served.push_back(i); });
        std::vector<unsigned> expected;
        for (unsigned i = 0; i < simds; ++i) {
          if (cycle % period == i % period && known[i] <= Cycles{cycle}) expected.push_back(i);
        }
        ASSERT_EQ(served, expected) << cycle;
      }
    }
  }
}

}  // namespace
}  // namespace lacuna
