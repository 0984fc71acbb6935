// Tests WaiterLists: each list returns its entries in order and independently of the other lists.
#include "models/common/containers/waiter_lists.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

TEST(WaiterLists, ListsAreTakenInOrder) {
  WaiterLists<int> lists;
  std::uint32_t even = WaiterLists<int>::kNone;
  std::uint32_t odd = WaiterLists<int>::kNone;
  for (int i = 0; i < 10; ++i) lists.append(i % 2 == 0 ? even : odd, i);
  std::vector<int> taken;
  std::uint32_t later = WaiterLists<int>::kNone;
  lists.take_all(even, [&](int waiter) {
    taken.push_back(waiter);
    lists.append(later, waiter + 100);  // reuses the entries that take_all() has released
  });
  EXPECT_EQ(taken, (std::vector{0, 2, 4, 6, 8}));
  taken.clear();
  lists.take_all(odd, [&](int waiter) { taken.push_back(waiter); });
  lists.take_all(later, [&](int waiter) { taken.push_back(waiter); });
  lists.take_all(WaiterLists<int>::kNone, [&](int waiter) { taken.push_back(waiter); });
  EXPECT_EQ(lists.waiting(), 0U);
  EXPECT_EQ(taken, (std::vector{1, 3, 5, 7, 9, 100, 102, 104, 106, 108}));
}

}  // namespace
}  // namespace lacuna
