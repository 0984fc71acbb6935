// Tests requests for scratch memory; the test has the role of the runtime.
#include "models/command/scratch_requests.h"

#include "tests/command/queue_memory.h"

namespace lacuna::test {
namespace {

using Kind = PacketOutcome::Kind;
using Scratch = QueueSlot::Scratch;

class ScratchRequestsTest : public testing::Test {
 protected:
  ScratchRequestsTest() {
    aql_.queue_inactive_signal = QueueMemory::signal_handle(0);
    queue_.state = QueueSlot::State::active;
  }
  std::int64_t& inactive() { return memory_.signal(0).value; }

  QueueMemory memory_;
  RecordingInterrupts interrupts_;
  PacketProcessorStatistics statistics_;
  HostNotifier host_{{.owner = "test",
                      .vm = memory_.vm,
                      .signals = memory_.signals,
                      .timestamp = Clock(Frequency{}),
                      .interrupts = interrupts_,
                      .statistics = statistics_}};
  ScratchRequests scratch_{memory_.signals, host_, statistics_};
  hsa::Queue aql_{};
  QueueSlot queue_;
};

TEST_F(ScratchRequestsTest, RequestIsGrantedWhenTheSignalIsZero) {
  EXPECT_FALSE(scratch_.advance(queue_, aql_));
  queue_.in_flight.emplace_back();
  EXPECT_EQ(scratch_.request(queue_, aql_)->kind, Kind::idle) << "earlier packets use the memory";
  EXPECT_EQ(inactive(), 0);
  queue_.in_flight.clear();
  EXPECT_EQ(scratch_.request(queue_, aql_)->kind, Kind::progress);
  EXPECT_EQ(inactive(), hsa::kScratchRequest);
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::poll);
  inactive() = 0;
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::progress);
  EXPECT_EQ(queue_.scratch, Scratch::granted);
  EXPECT_FALSE(scratch_.advance(queue_, aql_));
  EXPECT_FALSE(scratch_.request(queue_, aql_)) << "granted, and still too little";
  EXPECT_EQ(statistics_.scratch_requests, 1U);
}

TEST_F(ScratchRequestsTest, WithoutASignalNothingIsRequested) {
  aql_.queue_inactive_signal = 0;
  EXPECT_FALSE(scratch_.request(queue_, aql_));
  EXPECT_EQ(queue_.scratch, Scratch::settled);
  queue_.scratch = Scratch::lent;
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::progress);
  EXPECT_EQ(queue_.scratch, Scratch::settled);
}

TEST_F(ScratchRequestsTest, LentMemoryIsReturned) {
  queue_.scratch = Scratch::lent;
  aql_.queue_properties = hsa::kUseScratchOnce;
  queue_.in_flight.emplace_back();
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::idle);
  queue_.in_flight.clear();
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::progress);
  EXPECT_EQ(inactive(), hsa::kScratchReclaim);
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::poll);
  aql_.queue_properties = 0;
  EXPECT_EQ(scratch_.advance(queue_, aql_)->kind, Kind::progress);
  EXPECT_EQ(queue_.scratch, Scratch::settled);
  EXPECT_EQ(statistics_.scratch_requests, 1U);
}

}  // namespace
}  // namespace lacuna::test
