// Tests queues of a driver in the process: doorbells in memory, any number of slots, priorities, masks of compute units,
// suspension, and the driver's events.
#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

/// A bench with compute units 0 and 1 in shader array 0, and 2 and 3 in array 1.
class QueueBench : public PacketBench {
 public:
  explicit QueueBench(sc_core::sc_module_name module_name) : PacketBench(module_name, 4) {
    cp.packets.set_driver_events(driver);
  }
  RecordingDriver driver;
};

LACUNA_TEST_BENCH(QueueBench)

using Activity = PacketProcessor::Activity;

class PacketQueueTest : public PacketProcessorTest {
 protected:
  RecordingDriver& driver_ = bench<QueueBench>().driver;
  PacketProcessor& packets_ = b_.cp.packets;

  void SetUp() override {
    PacketProcessorTest::SetUp();
    driver_ = {};
    kernel(4, {0xbefc00ff, 0x0000014d, 0xbf900001, 0xbf810000});  // s_mov_b32 m0, 0x14d; s_sendmsg MSG_INTERRUPT; s_endpgm
    // v_mov_b32 v0, 0x40; v_mov_b32 v1, 0; flat_load_dword v2, v[0:1]; s_endpgm
    kernel(5, {0x7e0002ff, 0x40, 0x7e020280, 0xdc500000, 0x02000000, 0xbf810000});
  }
  /// Dispatches `workgroups` workgroups, each of which fills a compute unit.
  static hsa::KernelDispatchPacket large(unsigned k, unsigned done_signal, unsigned workgroups) {
    hsa::KernelDispatchPacket p = dispatch(k, done_signal);
    p.grid_size[0] = 64 * workgroups;
    p.group_segment_size = 65536;
    return p;
  }
  std::vector<std::uint64_t> workgroups_of_units() const {
    std::vector<std::uint64_t> counts;
    for (const auto& unit : b_.units) counts.push_back(unit->workgroups());
    return counts;
  }
};

// -- doorbells

TEST_F(PacketQueueTest, LegacyIndexIsADoorbell) {
  ASSERT_EQ(open_with(0, {.doorbell = DoorbellKind::legacy_index, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_FALSE(packets_.poll_doorbells());
  put(0, dispatch(0, 0));
  EXPECT_FALSE(packets_.poll_doorbells()) << "the write index does not matter";
  queue(0).max_legacy_doorbell_dispatch_id_plus_1 = 1;
  EXPECT_TRUE(packets_.poll_doorbells());
  EXPECT_FALSE(packets_.poll_doorbells());
  EXPECT_EQ(packets_.activity(), Activity::busy);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(packets_.activity(), Activity::idle);
}

TEST_F(PacketQueueTest, WriteIndexRunsAheadOfPackets) {
  ASSERT_EQ(open_with(0, {.doorbell = DoorbellKind::write_index, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
  hsa::KernelDispatchPacket late = dispatch(0, 0);
  late.header = header(hsa::PacketType::invalid);
  put(0, late);
  put(0, dispatch(0, 1));
  EXPECT_FALSE(packets_.poll_doorbells()) << "the first one is not written yet";
  microseconds(5);
  EXPECT_EQ(signal(1).value, 1) << "in order";
  EXPECT_EQ(packets_.activity(), Activity::idle) << "looks would take simulated time for as long as the host is slow";
  b_.at<std::uint16_t>(kRings) = header(hsa::PacketType::kernel_dispatch);
  EXPECT_TRUE(packets_.poll_doorbells());
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketQueueTest, IndicesMayBeReservedBeyondTheRing) {
  ASSERT_EQ(open_with(0, {.doorbell = DoorbellKind::write_index, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
  put(0, dispatch(1, 0));  // long: no slot is free for a while
  for (unsigned i = 1; i < kRingSize; ++i) put(0, dispatch(0, 1));
  queue(0).write_dispatch_id = kRingSize + 3;
  EXPECT_TRUE(packets_.poll_doorbells());
  signal(1).value = kRingSize;
  microseconds(20);
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(signal(1).value, 1) << "each packet ran once";
  EXPECT_EQ(queue(0).read_dispatch_id, kRingSize);
  written_[0] = kRingSize;
  for (unsigned i = 0; i < 3; ++i) put(0, dispatch(0, 2 + i));
  EXPECT_TRUE(packets_.poll_doorbells());
  microseconds(5);
  EXPECT_EQ(queue(0).read_dispatch_id, kRingSize + 3);
  EXPECT_EQ(signal(4).value, 0);
}

TEST_F(PacketQueueTest, QueuesBeyondTheRegistersAreAddedOnDemand) {
  for (unsigned i = 0; i < 12; ++i) {
    ASSERT_EQ(packets_.free_slot(), i);
    ASSERT_EQ(open_with(i, {.doorbell = DoorbellKind::write_index, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
    put(i, dispatch(0, i));
  }
  EXPECT_TRUE(packets_.poll_doorbells());
  microseconds(20);
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(signal(i).value, 0) << i;
  EXPECT_EQ(b_.reg(LACUNA_GPU_QUEUE_SLOTS), 8u);
  EXPECT_EQ(packets_.destroy_queue(3), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.free_slot(), 3u);
  EXPECT_EQ(packets_.destroy_queue(200), LACUNA_QUEUE_ERROR_SLOT);
}

// -- priorities

TEST_F(PacketQueueTest, PacketsOfHigherPriorityStartFirst) {
  ASSERT_EQ(open_with(0, {.priority = -1, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
  ASSERT_EQ(open_with(1, {.priority = 1, .cu_mask = {}}), LACUNA_QUEUE_ERROR_NONE);
  for (unsigned i = 0; i < 4; ++i) {
    put(0, dispatch(0, i));
    put(1, dispatch(0, 4 + i));
  }
  packets_.ring(0, 3, now());
  packets_.ring(1, 3, now());
  microseconds(10);
  EXPECT_LT(signal(7).start_timestamp, signal(0).start_timestamp) << "all of the one before any of the other";
}

TEST_F(PacketQueueTest, QueuesOfEqualPriorityTakeTurns) {
  open(0);
  open(1);
  for (unsigned i = 0; i < 4; ++i) {
    put(0, dispatch(0, i));
    put(1, dispatch(0, 4 + i));
  }
  packets_.ring(0, 3, now());
  packets_.ring(1, 3, now());
  microseconds(10);
  EXPECT_LT(signal(4).start_timestamp, signal(1).start_timestamp);
  EXPECT_LT(signal(1).start_timestamp, signal(5).start_timestamp);
}

TEST_F(PacketQueueTest, WorkgroupsOfHigherPriorityArePlacedFirst) {
  for (const int priority : {0, 1}) {
    signal(0).value = signal(1).value = 1;
    ASSERT_EQ(open_with(0, {}), LACUNA_QUEUE_ERROR_NONE);
    ASSERT_EQ(open_with(1, {}), LACUNA_QUEUE_ERROR_NONE);
    ASSERT_EQ(packets_.set_priority(1, priority), LACUNA_QUEUE_ERROR_NONE);
    put(0, large(1, 0, 16));  // four rounds of 8 us
    packets_.ring(0, 0, now());
    microseconds(4);
    put(1, large(1, 1, 4));
    packets_.ring(1, 0, now());
    microseconds(60);
    ASSERT_EQ(signal(0).value, 0);
    ASSERT_EQ(signal(1).value, 0);
    // Running workgroups are not preempted: with higher priority, queue 1 gets the second round; with equal priority, it gets
    // the last.
    const std::uint64_t to_end = signal(1).end_timestamp - signal(0).start_timestamp;
    if (priority == 0) {
      EXPECT_GT(to_end, 32'000u);
    } else {
      EXPECT_LT(to_end, 18'000u);
    }
    packets_.destroy_queue(0);
    packets_.destroy_queue(1);
  }
}

// -- masks of compute units

TEST_F(PacketQueueTest, MaskCountsAcrossShaderArraysFirst) {
  const std::array<unsigned, 4> unit_of_bit = {0, 2, 1, 3};
  for (unsigned bit = 0; bit < 4; ++bit) {
    ASSERT_EQ(open_with(0, {.cu_mask = {1u << bit}}), LACUNA_QUEUE_ERROR_NONE);
    const auto before = workgroups_of_units();
    signal(0).value = 1;
    put(0, large(0, 0, 5));
    packets_.ring(0, 0, now());
    microseconds(10);
    ASSERT_EQ(signal(0).value, 0);
    const auto after = workgroups_of_units();
    for (unsigned unit = 0; unit < 4; ++unit) {
      EXPECT_EQ(after[unit] - before[unit], unit == unit_of_bit[bit] ? 5u : 0u) << "bit " << bit << ", unit " << unit;
    }
    packets_.destroy_queue(0);
  }
}

TEST_F(PacketQueueTest, MaskCanBeChanged) {
  open(0);
  ASSERT_EQ(packets_.set_cu_mask(0, {0x3}), LACUNA_QUEUE_ERROR_NONE);
  auto before = workgroups_of_units();
  put(0, large(0, 0, 8));
  ring(0);
  microseconds(10);
  EXPECT_EQ(workgroups_of_units()[0] - before[0], 4u);
  EXPECT_EQ(workgroups_of_units()[2] - before[2], 4u);
  ASSERT_EQ(packets_.set_cu_mask(0, {}), LACUNA_QUEUE_ERROR_NONE);
  before = workgroups_of_units();
  put(0, large(0, 0, 8));
  ring(0);
  microseconds(10);
  for (unsigned unit = 0; unit < 4; ++unit) EXPECT_EQ(workgroups_of_units()[unit] - before[unit], 2u);
}

TEST_F(PacketQueueTest, MaskMustEnableAComputeUnit) {
  EXPECT_EQ(open_with(0, {.cu_mask = {0, 0}}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  EXPECT_EQ(open_with(0, {.cu_mask = {0xfffffff0, 0xffffffff}}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  open(0);
  EXPECT_EQ(packets_.set_cu_mask(0, {0}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  EXPECT_EQ(packets_.set_cu_mask(1, {1}), LACUNA_QUEUE_ERROR_SLOT);
}

// -- suspension

TEST_F(PacketQueueTest, SuspendedQueueStartsNoPacket) {
  open(0);
  ASSERT_EQ(packets_.suspend_queue(0), LACUNA_QUEUE_ERROR_NONE);
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(packets_.activity(), Activity::idle);
  ASSERT_EQ(packets_.resume_queue(0), LACUNA_QUEUE_ERROR_NONE);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(packets_.suspend_queue(1), LACUNA_QUEUE_ERROR_SLOT);
  EXPECT_EQ(packets_.resume_queue(1), LACUNA_QUEUE_ERROR_SLOT);
}

TEST_F(PacketQueueTest, SuspendedQueueLaunchesNoWorkgroup) {
  open(0);
  const auto before = workgroups_of_units();
  put(0, large(1, 0, 8));
  ring(0);
  microseconds(4);
  ASSERT_EQ(packets_.suspend_queue(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.activity(), Activity::busy) << "four workgroups run";
  microseconds(20);
  EXPECT_TRUE(b_.units_idle());
  EXPECT_EQ(packets_.activity(), Activity::idle);
  EXPECT_EQ(workgroups_of_units()[0] - before[0], 1u);
  EXPECT_EQ(signal(0).value, 1);
  ASSERT_EQ(packets_.resume_queue(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.activity(), Activity::busy);
  microseconds(10);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(workgroups_of_units()[0] - before[0], 2u);
}

TEST_F(PacketQueueTest, FailedQueueMayBeSuspendedAndDestroyed) {
  open(0);
  put(0, dispatch(3, 0));
  ring(0);
  microseconds(5);
  ASSERT_EQ(status(0), LACUNA_QUEUE_FAILED);
  EXPECT_EQ(packets_.suspend_queue(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.resume_queue(0), LACUNA_QUEUE_ERROR_NONE);
  microseconds(5);
  EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED);
  EXPECT_EQ(packets_.destroy_queue(0), LACUNA_QUEUE_ERROR_NONE);
}

// -- global wave sync

TEST_F(PacketQueueTest, OneQueueHasGlobalWaveSync) {
  open(0);
  open(1);
  EXPECT_EQ(packets_.allocate_gws(2), LACUNA_QUEUE_ERROR_SLOT);
  EXPECT_EQ(packets_.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(packets_.allocate_gws(1), LACUNA_QUEUE_ERROR_SLOT);
  packets_.destroy_queue(0);
  EXPECT_EQ(packets_.allocate_gws(1), LACUNA_QUEUE_ERROR_NONE);
}

// -- the driver's events

TEST_F(PacketQueueTest, CompletionPostsTheSignalsEvent) {
  open(0);
  signal(0).event_mailbox = kBase + kMailbox + 8;
  signal(0).event_id = 0x1234;
  put(0, dispatch(0, 0));
  put(0, dispatch(0, 1));  // its signal has no event
  ring(0);
  microseconds(5);
  ASSERT_EQ(driver_.events.size(), 1u);
  EXPECT_EQ(driver_.events[0].id, 0x1234u);
  EXPECT_EQ(driver_.events[0].mailbox, kBase + kMailbox + 8);
  EXPECT_EQ(b_.at<std::uint64_t>(kMailbox + 8), 0x1234u);
}

TEST_F(PacketQueueTest, MessageInterruptPassesM0) {
  open(0);
  put(0, dispatch(4, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(driver_.messages, std::vector<std::uint32_t>{0x14d});
  EXPECT_TRUE(driver_.events.empty());
  EXPECT_EQ(b_.reg(LACUNA_GPU_INTERRUPT_STATUS), LACUNA_INTERRUPT_SIGNAL);
}

TEST_F(PacketQueueTest, MemoryFaultIsReportedByTheDriver) {
  for (const bool told : {true, false}) {
    driver_ = {};
    driver_.reports_to_runtime = told;
    open(0);
    queue(0).queue_inactive_signal = signal_handle(5);
    signal(5).value = 0;
    put(0, dispatch(5, 0));
    ring(0);
    microseconds(5);
    EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED);
    ASSERT_EQ(driver_.faults.size(), 1u);
    EXPECT_EQ(driver_.faults[0].code, LACUNA_FAULT_NOT_MAPPED);
    EXPECT_EQ(driver_.faults[0].address, 0x40u);
    EXPECT_EQ(driver_.errors, std::vector<std::uint32_t>{LACUNA_QUEUE_ERROR_MEMORY_FAULT});
    EXPECT_EQ(signal(5).value, told ? 0 : 0x20000000);
    packets_.destroy_queue(0);
  }
}

TEST_F(PacketQueueTest, RuntimeReceivesTheQueuesErrorCode) {
  using Packet = hsa::KernelDispatchPacket;
  const struct {
    const char* what;
    void (*spoil)(Packet&);
    std::int64_t code;
  } table[] = {
      {"type", [](Packet& p) { p.header = 77; }, 0x20},
      {"dimensions", [](Packet& p) { p.setup = 0; }, 2},
      {"LDS", [](Packet& p) { p.group_segment_size = 65537; }, 4},
      {"kernel object", [](Packet& p) { p.kernel_object += 4; }, 8},
      {"trap", [](Packet& p) { p.kernel_object = kBase + kKernels + 0x3000; }, 0x80000000},
      {"illegal instruction", [](Packet& p) { p.kernel_object = kBase + kKernels + 0x6000; }, 0x40000000},
  };
  kernel(6, {0xbf9f0000});  // no such instruction
  for (const auto& row : table) {
    driver_ = {};
    open(0);
    queue(0).queue_inactive_signal = signal_handle(5);
    signal(5).value = 0;
    signal(5).event_mailbox = kBase + kMailbox;
    signal(5).event_id = 3;
    Packet packet = dispatch(0, 0);
    row.spoil(packet);
    put(0, packet);
    ring(0);
    microseconds(5);
    EXPECT_EQ(signal(5).value, row.code) << row.what;
    EXPECT_EQ(driver_.events.size(), 1u) << row.what;
    EXPECT_EQ(driver_.errors.size(), 1u) << row.what;
    packets_.destroy_queue(0);
  }
}

}  // namespace
}  // namespace lacuna::test
