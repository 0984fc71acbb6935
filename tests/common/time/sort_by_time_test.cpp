// Tests that sort_by_time() sorts as std::sort() does, for any distribution of times.
#include "models/common/time/sort_by_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lacuna {
namespace {

struct Record {
  Tick at;
  std::uint32_t number = 0;
  bool operator<(const Record& other) const { return at != other.at ? at < other.at : number < other.number; }
  bool operator==(const Record& other) const { return at == other.at && number == other.number; }
};

/// Returns `count` records with times in [1'000'000, 1'000'000 + range) ps; on average, one time in `far` is multiplied by
/// 1000.
std::vector<Record> some_records(std::mt19937_64& random, std::size_t count, std::uint64_t range, unsigned far) {
  std::vector<Record> records;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t time = 1'000'000 + random() % range;
    records.push_back({Tick{random() % far == 0 ? 1000 * time : time}, i});
  }
  return records;
}

TEST(SortByTime, EqualsAComparisonSort) {
  std::mt19937_64 random(1);
  std::vector<Record> space;
  for (const std::size_t count : {0, 1, 2, 31, 32, 33, 100, 257, 3000}) {
    for (const std::uint64_t range : {1ULL, 3ULL, 52'000ULL, 10'000'000'000ULL}) {
      for (const unsigned far : {2U, 50U, ~0U}) {
        std::vector<Record> records = some_records(random, count, range, far);
        std::vector<Record> expected = records;
        std::sort(expected.begin(), expected.end());
        std::vector<Record> again = records;
        sort_nearly_sorted(again, space);
        EXPECT_EQ(again, expected);
        sort_by_time(records, space);
        EXPECT_EQ(records, expected) << count << " records below " << range << ", one in " << far << " far away";
      }
    }
  }
}

TEST(SortByTime, AFewOutOfOrderAreMoved) {
  std::mt19937_64 random(1);
  std::vector<Record> space;
  std::vector<Record> records;
  for (std::uint32_t i = 0; i < 500; ++i) records.push_back({Tick{1000 * i / 2}, 500 - i});
  for (unsigned i = 0; i < 20; ++i) std::swap(records[random() % 400], records[random() % 400]);
  std::vector<Record> expected = records;
  std::sort(expected.begin(), expected.end());
  sort_nearly_sorted(records, space);
  EXPECT_EQ(records, expected);
}

TEST(SortByTime, TimesAreUnsigned) {
  std::vector<Record> records;
  std::vector<Record> space;
  for (std::uint32_t i = 0; i < 100; ++i) records.push_back({i % 2 == 0 ? Tick{i} : kNever, i});
  sort_by_time(records, space);
  EXPECT_TRUE(std::is_sorted(records.begin(), records.end()));
  EXPECT_EQ(records.front().number, 0U);
  EXPECT_EQ(records.back().number, 99U);
}

}  // namespace
}  // namespace lacuna
