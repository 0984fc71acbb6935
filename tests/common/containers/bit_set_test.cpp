// Tests BitSet against std::set.
#include "models/common/containers/bit_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace lacuna {
namespace {

TEST(BitSet, IsASetOfNumbers) {
  for (const unsigned size : {0U, 1U, 63U, 64U, 65U, 128U, 200U}) {
    BitSet bits(size);
    std::set<unsigned> numbers;
    std::mt19937 random(size + 1);
    for (int i = 0; i < 2000; ++i) {
      if (size > 0) {
        const unsigned first = static_cast<unsigned>(random()) % size;
        const unsigned count = static_cast<unsigned>(random()) % std::min(size - first + 1, random() % 8 == 0 ? 200U : 4U);
        if (random() % 2 == 0) {
          bits.insert(first, count);
          for (unsigned n = first; n < first + count; ++n) numbers.insert(n);
        } else {
          bits.erase(first, count);
          for (unsigned n = first; n < first + count; ++n) numbers.erase(n);
        }
        const unsigned one = static_cast<unsigned>(random()) % size;
        ASSERT_EQ(bits.next(one) == one, numbers.count(one) == 1);
        bits.insert(one);
        numbers.insert(one);
        bits.erase(first);
        numbers.erase(first);
      }
      const unsigned from = static_cast<unsigned>(random()) % (size + 1);
      const auto next = numbers.lower_bound(from);
      ASSERT_EQ(bits.next(from), next == numbers.end() ? size : *next);
      unsigned missing = from;
      while (numbers.count(missing) == 1) ++missing;
      ASSERT_EQ(bits.next_missing(from), missing);
    }
  }
}

TEST(BitSet, MayBeginWithAllOrNoneOfItsNumbers) {
  BitSet bits(70, true);
  EXPECT_EQ(bits.next(69), 69U);
  EXPECT_EQ(bits.next_missing(0), 70U) << "numbers beyond the limit do not count as missing";
  bits.assign(66, false);
  EXPECT_EQ(bits.size(), 66U);
  EXPECT_EQ(bits.next(0), 66U);
}

}  // namespace
}  // namespace lacuna
