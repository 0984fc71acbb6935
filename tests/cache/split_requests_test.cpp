// Tests requests of several sectors: the response is that of the sector that completes last.
#include "models/cache/split_requests.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

using namespace literals;

struct NoClient : MemoryClient {
  void on_response(std::uint32_t, const MemoryResponse&) override {}
};

TEST(SplitRequests, TheResponseIsThatOfTheSectorThatIsCompleteLast) {
  SplitRequests splits;
  NoClient client;
  LatencyBreakdown below;
  below.set(MemoryLevel::dram, 1_ns, 90_ns);
  const std::uint32_t split = splits.begin(client, 7, {.made = 1_ns, .done = 2_ns});
  for (unsigned i = 0; i < 3; ++i) splits.add_sector(split);
  EXPECT_FALSE(splits.complete_sector(split, {.done = 40_ns}));
  EXPECT_FALSE(splits.end(split)) << "two are open";
  EXPECT_FALSE(splits.complete_sector(split, {.done = 100_ns, .service = 99_ns, .below = &below}));
  below.clear();  // valid only during the call
  EXPECT_TRUE(splits.complete_sector(split, {.done = 60_ns}));
  SplitRequests::Complete complete;
  splits.take(split, complete);
  EXPECT_EQ(complete.client, &client);
  EXPECT_EQ(complete.tag, 7U);
  EXPECT_EQ(complete.response.done, 100_ns);
  ASSERT_EQ(complete.response.below, &complete.below);
  EXPECT_EQ(complete.below.service[static_cast<std::size_t>(MemoryLevel::dram)], 90_ns);
}

TEST(SplitRequests, AllSectorsMayBeCompleteBeforeTheEnd) {
  SplitRequests splits;
  NoClient client;
  const std::uint32_t split = splits.begin(client, 1, {.done = 5_ns});
  splits.add_sector(split);
  EXPECT_FALSE(splits.complete_sector(split, {.done = 4_ns}));
  EXPECT_TRUE(splits.end(split));
  SplitRequests::Complete complete;
  splits.take(split, complete);
  EXPECT_EQ(complete.response.done, 5_ns) << "no earlier than without sectors";
  EXPECT_EQ(complete.response.below, nullptr);
  EXPECT_EQ(splits.begin(client, 2, {}), split) << "the record is free";
}

}  // namespace
}  // namespace lacuna
