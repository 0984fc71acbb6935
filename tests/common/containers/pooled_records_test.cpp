// Tests RecordPool: no number is allocated twice before its release, and ahead() returns null after the last free record.
#include "models/common/containers/pooled_records.h"

#include <gtest/gtest.h>

#include <set>

namespace lacuna {
namespace {

TEST(RecordPool, NumbersAreTakenOnceUntilReleased) {
  RecordPool<int> pool;
  std::set<std::uint32_t> taken;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t number = pool.take();
    EXPECT_TRUE(taken.insert(number).second) << number;
    pool[number] = static_cast<int>(number);
  }
  EXPECT_EQ(pool.taken(), 1000U);
  for (const std::uint32_t number : taken) EXPECT_EQ(pool[number], static_cast<int>(number)) << "kept as the pool grows";
  pool.release(7);
  pool.release(9);
  EXPECT_EQ(pool.ahead(0), &pool[9]) << "the record used last is probably still in the host's caches";
  EXPECT_EQ(pool.ahead(1), &pool[7]);
  EXPECT_EQ(pool.take(), 9U);
  EXPECT_EQ(pool.taken(), 999U);
}

TEST(RecordPool, NoRecordFollowsTheLastFreeOne) {
  RecordPool<int> pool;
  EXPECT_EQ(pool.ahead(0), nullptr);
  const std::uint32_t number = pool.take();
  EXPECT_EQ(pool.ahead(1000), nullptr);
  pool.clear();
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.take(), number) << "as from the start";
}

}  // namespace
}  // namespace lacuna
