#include "models/common/config/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna {
namespace {

TEST(Statistics, AGroupReadsTheCountersAsTheyAreNow) {
  std::uint64_t hits = 3;
  Tick busy{700};
  StatisticsGroup group("cache");
  group.add("hits", hits, "accesses that hit", "accesses");
  group.add("busy", busy, "time with work");
  group.add_derived(
      "ratio", [&hits] { return static_cast<double>(hits) / 10; }, "hits per ten", "");
  hits = 5;
  busy = Tick{900};
  ASSERT_EQ(group.statistics().size(), 3u);
  EXPECT_EQ(group.statistics()[0].count(), 5u);
  EXPECT_EQ(group.statistics()[0].unit, "accesses");
  EXPECT_EQ(group.statistics()[1].count(), 900u);
  EXPECT_EQ(group.statistics()[1].unit, "ps");
  EXPECT_FALSE(group.statistics()[2].is_count());
  EXPECT_DOUBLE_EQ(group.statistics()[2].value(), 0.5);
}

TEST(Statistics, ChildrenAreCreatedOnceAndKeepTheirOrder) {
  StatisticsGroup root("gpu");
  StatisticsGroup& b = root.group("b");
  root.group("a");
  EXPECT_EQ(&root.group("b"), &b);
  ASSERT_EQ(root.groups().size(), 2u);
  EXPECT_EQ(root.groups()[0]->name(), "b");
  EXPECT_EQ(root.groups()[1]->name(), "a");
}

TEST(Statistics, AChildIsFoundByItsName) {
  StatisticsGroup root("gpu");
  StatisticsGroup& child = root.group(std::string("cache1"));
  root.group("cache2");
  EXPECT_EQ(root.find("cache1"), &child);
  EXPECT_EQ(root.find("cache"), nullptr);
  EXPECT_EQ(child.find("cache1"), nullptr);
}

TEST(Statistics, AmountsAreAddedToCounts) {
  std::uint64_t hits = 3;
  std::uint64_t inner = 5;
  StatisticsGroup group("cache");
  group.group("inner").add("inner", inner, "of a group", "events");
  group.add_derived(
      "ratio", [] { return 0.5; }, "no count", "");
  group.add("hits", hits, "accesses that hit", "accesses");
  std::vector<std::uint64_t> amounts{10, 200};
  group.add_to_counts(amounts.data());
  EXPECT_EQ(group.counts(), (std::vector<std::uint64_t>{13, 205}));
  hits = 4;
  amounts[1] = 300;
  EXPECT_EQ(group.counts(), (std::vector<std::uint64_t>{14, 305}));
  EXPECT_EQ(group.sources(), (std::vector<const std::uint64_t*>{&hits, &inner}));
  EXPECT_THROW(group.add_to_counts(amounts.data()), std::logic_error);
}

TEST(Statistics, SourcesAreInTheOrderOfCounts) {
  std::uint64_t hits = 3;
  Tick busy{700};
  std::uint64_t inner = 5;
  StatisticsGroup group("cache");
  group.group("inner").add("inner", inner, "of a group", "events");
  group.add("hits", hits, "accesses that hit", "accesses");
  group.add_derived(
      "ratio", [] { return 0.5; }, "no count", "");
  group.add("busy", busy, "time with work");
  EXPECT_EQ(group.counts(), (std::vector<std::uint64_t>{3, 700, 5}));
  EXPECT_EQ(group.sources(), (std::vector<const std::uint64_t*>{&hits, &busy.ps, &inner}));
}

}  // namespace
}  // namespace lacuna
