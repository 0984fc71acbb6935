// Tests the execution of single packets, without ring and engine.
#include "models/sdma/sdma_executor.h"

#include "tests/sdma/sdma_parts_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaPartsBench)

class SdmaExecutorTest : public SdmaPartsTest {
 protected:
  SdmaExecutorTest() { queue_.written = kRingBytes; }
  SdmaStep execute(const Words& words) { return executor_.execute(queue_, words); }

  const sdma::Format format_ = sdma::Format::of(isa::Target::gfx90a, {});
  SdmaQueueTable queues_{b_.vm, format_, {}, notifier_};
  SdmaDataMover mover_{parameters_, Clock(Frequency{1'000'000'000}), memory_, timeline_, statistics_};
  SdmaBulkCopies bulk_{parameters_, memory_, mover_, timeline_};
  SdmaExecutor executor_{{.parameters = parameters_,
                          .format = format_,
                          .timestamp = Clock(Frequency{100'000'000}),
                          .memory = memory_,
                          .mover = mover_,
                          .bulk = bulk_,
                          .timeline = timeline_,
                          .queues = queues_,
                          .notifier = notifier_,
                          .statistics = statistics_}};
};

TEST_F(SdmaExecutorTest, FencesWaitForDataCopiesDoNot) {
  EXPECT_EQ(execute(copy(kBase + kSource, kBase + kTarget, 64)), SdmaStep::progress);
  const Tick done = queue_.done;
  EXPECT_LT(now(), done);
  EXPECT_EQ(queue_.read, 7U * 4);
  EXPECT_EQ(execute(fence(kBase + kWords, 0x1234)), SdmaStep::progress);
  EXPECT_GE(now(), done);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0x1234U);
  EXPECT_EQ(b_.at<std::uint64_t>(kPointers), 11U * 4);
  EXPECT_EQ(statistics_.packets, 2U);
  EXPECT_EQ(statistics_.copies, 1U);
  EXPECT_EQ(statistics_.fences, 1U);
}

TEST_F(SdmaExecutorTest, PollsRepeatUntilSatisfied) {
  b_.at<std::uint32_t>(kWords) = 1;
  const Words packet = poll(kBase + kWords, 3, 0);
  EXPECT_EQ(execute(packet), SdmaStep::poll);
  EXPECT_TRUE(queue_.waits_for_memory);
  EXPECT_EQ(queue_.polled, now());
  EXPECT_EQ(queue_.read, 0U);
  b_.at<std::uint32_t>(kWords) = 0;
  EXPECT_EQ(execute(packet), SdmaStep::progress);
  EXPECT_FALSE(queue_.waits_for_memory);
  EXPECT_EQ(statistics_.polls, 2U);
}

TEST_F(SdmaExecutorTest, PollsGiveUpAfterTheirRetries) {
  b_.at<std::uint32_t>(kWords) = 1;
  const Words packet = poll(kBase + kWords, 3, 0, 2);
  EXPECT_EQ(execute(packet), SdmaStep::poll);
  EXPECT_EQ(execute(packet), SdmaStep::poll);
  EXPECT_EQ(execute(packet), SdmaStep::progress);
  EXPECT_EQ(queue_.failed_polls, 0U) << "of the next poll";
}

TEST_F(SdmaExecutorTest, TrapsReachTheListener) {
  EXPECT_EQ(execute(trap(77)), SdmaStep::progress);
  ASSERT_EQ(listener_.traps.size(), 1U);
  EXPECT_EQ(listener_.traps[0].context, 77U);
  EXPECT_EQ(listener_.traps[0].queue, queue_.id);
}

TEST_F(SdmaExecutorTest, ConditionalsSkipTheirWords) {
  b_.at<std::uint32_t>(kWords) = 5;
  const auto conditional = [](std::uint32_t reference, std::uint32_t words) -> Words {
    return {9, low(kBase + kWords), high(kBase + kWords), reference, words};
  };
  EXPECT_EQ(execute(conditional(5, 8)), SdmaStep::progress);
  EXPECT_EQ(queue_.read, 5U * 4) << "equal: the next words are executed";
  EXPECT_EQ(execute(conditional(6, 8)), SdmaStep::progress);
  EXPECT_EQ(queue_.read, (5U + 5 + 8) * 4);
  EXPECT_EQ(execute(conditional(6, kRingBytes)), SdmaStep::idle) << "they have not been announced";
}

TEST_F(SdmaExecutorTest, BadPacketsStopTheQueueAndAreNotConsumed) {
  EXPECT_EQ(execute({0xff}), SdmaStep::progress);
  EXPECT_TRUE(queue_.stopped);
  EXPECT_EQ(queue_.read, 0U);
  EXPECT_EQ(statistics_.packets, 0U);
  EXPECT_EQ(statistics_.errors, 1U);
}

}  // namespace
}  // namespace lacuna::test
