// Tests copies, fills and writes of the data mover: every byte and the requests made, and that the bytes are the same without
// requests.
#include "models/sdma/sdma_data_mover.h"

#include "tests/sdma/sdma_parts_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaPartsBench)

class SdmaDataMoverTest : public SdmaPartsTest {
 protected:
  std::vector<std::byte> expected_ = b_.bytes;
  SdmaDataMover mover_{parameters_, Clock(Frequency{1'000'000'000}), memory_, timeline_, statistics_};
};

TEST_F(SdmaDataMoverTest, CopiesByRequestsThatCrossNoLine) {
  constexpr std::uint64_t kCount = 200;
  std::memcpy(&expected_[kTarget + 5], &expected_[kSource + 60], kCount);
  const std::uint64_t to = kBase + kTarget + 5;
  const Tick start = timeline_.at();
  EXPECT_TRUE(mover_.copy(queue_, kBase + kSource + 60, {&to, 1}, kCount));
  EXPECT_EQ(b_.bytes, expected_);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  for (const auto& request : b_.memory.requests) {
    EXPECT_EQ(request.address / 64, (request.address + request.bytes - 1) / 64);
    (request.write ? written : read) += request.bytes;
  }
  EXPECT_EQ(read, kCount);
  EXPECT_EQ(written, kCount);
  EXPECT_EQ(statistics_.bytes_read, kCount);
  EXPECT_EQ(statistics_.bytes_written, kCount);
  EXPECT_GE(queue_.done, start + Tick{200'000}) << "a read, then a write";
  EXPECT_LT(timeline_.at(), queue_.done) << "later packets may begin";
}

TEST_F(SdmaDataMoverTest, BroadcastsReadOnce) {
  const std::array<std::uint64_t, 2> to{kBase + kTarget, kBase + kTarget + 0x1000};
  EXPECT_TRUE(mover_.copy(queue_, kBase + kSource, to, 128));
  EXPECT_EQ(std::memcmp(&b_.bytes[kTarget], &expected_[kSource], 128), 0);
  EXPECT_EQ(std::memcmp(&b_.bytes[kTarget + 0x1000], &expected_[kSource], 128), 0);
  EXPECT_EQ(statistics_.bytes_read, 128U);
  EXPECT_EQ(statistics_.bytes_written, 256U);
}

TEST_F(SdmaDataMoverTest, MovesTheSameBytesWithoutRequests) {
  std::array<std::byte, SdmaDataMover::kLargestRequest + 4> pattern;
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(0xa0 + i % 4);
  const SdmaTransfer fill{.destination = kBase + kTarget + 3, .bytes = 1000, .pattern = pattern, .unit = 4};
  const SdmaTransfer copy{.source = kBase + kSource + 9, .destination = kBase + kTarget + 3, .bytes = 1000};
  for (const SdmaTransfer& transfer : {fill, copy}) {
    // Each transfer is made in two parts; the second part of the fill begins in the middle of a pattern.
    EXPECT_TRUE(mover_.transfer(queue_, transfer, 0, 333) && mover_.transfer(queue_, transfer, 333, 667));
    const std::vector<std::byte> by_requests = b_.bytes;
    b_.bytes = expected_;
    b_.memory.requests.clear();
    EXPECT_TRUE(mover_.move(queue_, transfer, 0, 333) && mover_.move(queue_, transfer, 333, 667));
    EXPECT_EQ(b_.bytes, by_requests);
    EXPECT_TRUE(b_.memory.requests.empty());
    EXPECT_NE(b_.bytes, expected_);
    b_.bytes = expected_;
  }
}

TEST_F(SdmaDataMoverTest, StopsWhereMemoryEnds) {
  const std::uint64_t to = kBase + kTarget;
  EXPECT_FALSE(mover_.copy(queue_, kBase + kBytes - 64, {&to, 1}, 128));
  EXPECT_TRUE(queue_.stopped);
  EXPECT_EQ(statistics_.bytes_written, 64U) << "written data are kept";
}

TEST_F(SdmaDataMoverTest, DestroyedQueuesWriteNothingMore) {
  queue_.alive = false;
  const std::uint64_t to = kBase + kTarget;
  EXPECT_FALSE(mover_.copy(queue_, kBase + kSource, {&to, 1}, 4096));
  EXPECT_EQ(statistics_.bytes_written, 64U);
}

}  // namespace
}  // namespace lacuna::test
