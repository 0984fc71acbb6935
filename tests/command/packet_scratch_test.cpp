// Tests scratch memory on demand. The test has the role of the runtime: requests arrive through the queue's inactive signal,
// responses are in amd_queue_t.
#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

class ScratchBench : public PacketBench {
 public:
  explicit ScratchBench(sc_core::sc_module_name module_name) : PacketBench(module_name) {
    cp.packets.set_driver_events(driver);
  }
  RecordingDriver driver;
};

LACUNA_TEST_BENCH(ScratchBench)

constexpr unsigned kInactive = 6;  // the inactive signal
constexpr std::uint64_t kPool = 0x200000;
constexpr std::uint32_t kOnce = hsa::kUseScratchOnce;

class PacketScratchTest : public PacketProcessorTest {
 protected:
  RecordingDriver& driver_ = bench<ScratchBench>().driver;

  void SetUp() override {
    PacketProcessorTest::SetUp();
    driver_ = {};
    open(0);
    queue(0).queue_inactive_signal = signal_handle(kInactive);
    signal(kInactive).value = 0;
    signal(kInactive).event_mailbox = kBase + kMailbox;
    signal(kInactive).event_id = 77;
  }
  static hsa::KernelDispatchPacket with_scratch(unsigned k, unsigned done_signal, std::uint32_t bytes) {
    hsa::KernelDispatchPacket p = dispatch(k, done_signal);
    p.private_segment_size = bytes;
    return p;
  }
  /// Writes the fields of the runtime's response to a request, but not the signal.
  void fill_fields(std::uint32_t lane_bytes, std::uint32_t wave_slots, std::uint64_t offset, std::uint32_t properties = 0) {
    const std::uint64_t base = kPool + offset;
    queue(0).scratch_resource_descriptor[0] = static_cast<std::uint32_t>(base);
    queue(0).scratch_resource_descriptor[1] = static_cast<std::uint32_t>(base >> 32) | 1u << 31;
    queue(0).scratch_backing_memory_location = offset;
    queue(0).compute_tmpring_size = wave_slots | (lane_bytes * 64 + 1023) / 1024 << 12;
    queue(0).queue_properties = properties;
    queue(0).scratch_wave64_lane_byte_size = lane_bytes;
  }
  std::int64_t asked() { return signal(kInactive).value; }
};

TEST_F(PacketScratchTest, ADispatchThatNeedsMoreRequestsItAndWaits) {
  put(0, with_scratch(0, 0, 272));
  ring(0);
  microseconds(5);
  EXPECT_EQ(asked(), hsa::kScratchRequest);
  ASSERT_EQ(driver_.events.size(), 1u);
  EXPECT_EQ(driver_.events[0].id, 77u);
  EXPECT_EQ(driver_.events[0].mailbox, kBase + kMailbox);
  EXPECT_EQ(b_.at<std::uint64_t>(kMailbox), 77u);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(queue(0).read_dispatch_id, 0u) << "the runtime reads the packet there";
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  EXPECT_EQ(b_.cp.packets.activity(), PacketProcessor::Activity::waits_for_memory);

  fill_fields(272, 256, 0x10000);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1) << "the fields do not count before the signal says so";
  signal(kInactive).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(asked(), 0);
  ASSERT_EQ(b_.scratch.size(), 1u);
  EXPECT_EQ(b_.scratch[0].wave_slots, 256u);
  EXPECT_EQ(b_.scratch[0].wave_bytes, 17u * 1024);
  EXPECT_EQ(b_.scratch[0].backing_location, 0x10000u);
  EXPECT_EQ(b_.scratch[0].pool_base, kPool);

  put(0, with_scratch(0, 1, 272));
  put(0, with_scratch(0, 2, 16));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
  EXPECT_EQ(signal(2).value, 0);
  EXPECT_EQ(driver_.events.size(), 1u) << "the existing memory suffices";
}

TEST_F(PacketScratchTest, EarlierDispatchesAreDoneBeforeTheRequest) {
  fill_fields(16, 8, 0);
  put(0, with_scratch(1, 0, 16));  // 8,192 cycles
  put(0, with_scratch(0, 1, 32));
  ring(0);
  microseconds(5);
  EXPECT_EQ(asked(), 0);
  microseconds(10);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(queue(0).read_dispatch_id, 1u);
  EXPECT_EQ(asked(), hsa::kScratchRequest);
  fill_fields(32, 8, 0);
  signal(kInactive).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketScratchTest, OtherQueuesContinueMeanwhile) {
  open(1);
  put(0, with_scratch(0, 0, 64));
  put(1, dispatch(0, 1));
  ring(0);
  ring(1);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketScratchTest, AnInsufficientGrantFailsTheQueue) {
  put(0, with_scratch(0, 0, 64));
  ring(0);
  microseconds(5);
  ASSERT_EQ(asked(), hsa::kScratchRequest);
  fill_fields(32, 8, 0);
  signal(kInactive).value = 0;
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_PACKET_SEGMENT);
  EXPECT_EQ(asked(), 4);
  EXPECT_EQ(driver_.errors, std::vector<std::uint32_t>{LACUNA_QUEUE_ERROR_PACKET_SEGMENT});
}

TEST_F(PacketScratchTest, LentMemoryIsReturnedAfterTheDispatch) {
  put(0, with_scratch(1, 0, 4096));
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(5);
  ASSERT_EQ(asked(), hsa::kScratchRequest);
  fill_fields(4096, 4, 0, kOnce);
  signal(kInactive).value = 0;
  microseconds(5);
  EXPECT_EQ(asked(), 0) << "the kernel still runs";
  EXPECT_EQ(signal(1).value, 1) << "nothing starts after it";
  microseconds(10);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(asked(), hsa::kScratchReclaim);
  EXPECT_EQ(driver_.events.size(), 2u);
  EXPECT_EQ(signal(1).value, 1);
  EXPECT_EQ(b_.cp.packets.activity(), PacketProcessor::Activity::waits_for_memory);
  signal(kInactive).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(1).value, 1) << "the property counts, not the signal";
  fill_fields(0, 0, 0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);

  put(0, with_scratch(0, 2, 8192));
  ring(0);
  microseconds(5);
  EXPECT_EQ(asked(), hsa::kScratchRequest) << "a later grid requests again";
}

// A guest changes the layout of its scratch memory while dispatches hold slots of the old layout. The next dispatch must wait:
// in the new layout, the same slot numbers denote other addresses.
TEST_F(PacketScratchTest, AnotherLayoutWaitsForTheSlotsOfTheOldOne) {
  const struct {
    const char* what;
    std::uint32_t lane_bytes;
    std::uint32_t slots;
    std::uint64_t offset;
  } changes[] = {
      {"fewer slots", 16, 4, 0}, {"more slots", 16, 16, 0}, {"larger slots", 64, 8, 0}, {"another place", 16, 8, 0x8000}};
  unsigned done = 0;
  for (const auto& [what, lane_bytes, slots, offset] : changes) {
    fill_fields(16, 8, 0);
    put(0, with_scratch(1, done, 16));  // 8,192 cycles
    put(0, with_scratch(0, done + 1, 16));
    ring(0);
    microseconds(3);
    EXPECT_EQ(signal(done + 1).value, 0) << what << ": the same layout needs no wait";
    EXPECT_EQ(signal(done).value, 1);
    fill_fields(lane_bytes, slots, offset);
    put(0, with_scratch(0, done + 2, 16));
    ring(0);
    microseconds(3);
    EXPECT_EQ(signal(done).value, 1) << "still running";
    EXPECT_EQ(signal(done + 2).value, 1) << what << ": a slot has been given twice";
    microseconds(10);
    EXPECT_EQ(signal(done).value, 0);
    EXPECT_EQ(signal(done + 2).value, 0) << what;
    done += 3;
    if (done == kInactive) done += 1;
  }
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
}

TEST_F(PacketScratchTest, DispatchesWithoutScratchIgnoreTheProperty) {
  queue(0).queue_properties = kOnce;
  put(0, dispatch(0, 0));
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
  EXPECT_EQ(asked(), 0);
}

}  // namespace
}  // namespace lacuna::test
