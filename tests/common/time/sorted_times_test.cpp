// Tests SortedTimes against std::multiset.
#include "models/common/time/sorted_times.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>

namespace lacuna {
namespace {

TEST(SortedTimes, AgreeWithAMultiset) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    SortedTimes times;
    std::multiset<std::uint64_t> model;
    std::uint64_t horizon = 0;
    for (int i = 0; i < 2000; ++i) {
      switch (model.empty() ? 0 : random() % 8) {
        case 5:
          ASSERT_EQ(times.take_earliest().ps, *model.begin());
          model.erase(model.begin());
          break;
        case 6: {
          const std::size_t replaced = random() % model.size();
          const std::uint64_t time = times[replaced].ps + random() % 60;
          model.erase(model.find(times[replaced].ps));
          model.insert(time);
          times.replace(replaced, {time});
          break;
        }
        case 7: {
          horizon += random() % 12;
          const auto kept = model.upper_bound(horizon);
          ASSERT_EQ(times.retire({horizon}), static_cast<std::size_t>(std::distance(model.begin(), kept)));
          model.erase(model.begin(), kept);
          break;
        }
        default: {
          const std::uint64_t time = horizon + random() % 50;
          times.insert({time});
          model.insert(time);
        }
      }
      ASSERT_EQ(times.size(), model.size());
      ASSERT_EQ(times.empty(), model.empty());
      std::size_t at = 0;
      for (const std::uint64_t time : model) ASSERT_EQ(times[at++].ps, time) << "seed " << seed << ", step " << i;
    }
  }
}

TEST(SortedTimes, AssignGivesTimesOfZero) {
  SortedTimes times;
  times.insert({7});
  times.assign(3);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[2], Tick{});
  times.clear();
  EXPECT_TRUE(times.empty());
}

}  // namespace
}  // namespace lacuna
