// Tests Ring, a first-in, first-out queue, against std::deque.
#include "models/common/containers/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace lacuna {
namespace {

TEST(Ring, IsADeque) {
  Ring<int> ring;
  std::deque<int> deque;
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    // The number of elements increases at first and decreases later.
    if (random() % 20'000 > static_cast<unsigned>(i) || deque.empty()) {
      ring.push(i);
      deque.push_back(i);
    } else {
      const std::size_t count = random() % deque.size() % 5;
      ring.drop(count);
      deque.erase(deque.begin(), deque.begin() + static_cast<std::ptrdiff_t>(count));
    }
    ASSERT_EQ(ring.size(), deque.size());
    ASSERT_EQ(ring.empty(), deque.empty());
    if (!deque.empty()) {
      const std::size_t place = random() % deque.size();
      ASSERT_EQ(ring[place], deque[place]);
    }
  }
  ring.clear();
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace lacuna
