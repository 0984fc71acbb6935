// Tests the start of kernel dispatches: time until Dispatch::start, limits, and queues that change during the start.
#include "models/command/dispatch_starter.h"

#include "tests/command/packet_bench.h"
#include "tests/command/queue_memory.h"

namespace lacuna::test {
namespace {

using Kind = PacketOutcome::Kind;

/// PacketBench with a memory port, blits, and a change of the queue at a later time; each test has a new queue table and
/// starter.
class StarterBench : public PacketBench {
 public:
  explicit StarterBench(sc_core::sc_module_name module_name) : PacketBench(module_name) {
    port.bind(port_sink.socket);
    SC_HAS_PROCESS(StarterBench);
    SC_METHOD(change_queue);
    sensitive << change;
    dont_initialize();
  }
  void change_queue() { apply(); }

  tlm_utils::simple_initiator_socket<StarterBench> port{"port"};
  Sink port_sink{"port_sink"};
  Blits blits{vm};
  BulkBlits bulk{"bulk_under_test", blits, dispatcher, cp.packets};
  std::function<void()> apply = [] {};
  sc_core::sc_event change;
};

LACUNA_TEST_BENCH(StarterBench)

class DispatchStarterTest : public PacketProcessorTest {
 protected:
  void SetUp() override {
    PacketProcessorTest::SetUp();
    lay_out(0);
    ASSERT_EQ(queues_.create(0, kBase + kQueues, {}), LACUNA_QUEUE_ERROR_NONE);
    parameters_.packet_latency = Cycles{100};
    parameters_.launch_latency = Cycles{40};
  }
  void TearDown() override {
    for (const InFlightPacket& packet : queues_[0].in_flight) b_.dispatcher.abort(*packet.dispatch);
    PacketProcessorTest::TearDown();
  }
  PacketOutcome start(const hsa::KernelDispatchPacket& packet) {
    return starter_.start(0, reinterpret_cast<const std::byte*>(&packet), hsa::PacketHeader{packet.header});
  }
  void after(std::uint64_t ns, std::function<void()> apply) {
    starter_bench_.apply = std::move(apply);
    starter_bench_.change.notify(to_sc_time(Tick{ns * 1'000}));
  }

  StarterBench& starter_bench_ = bench<StarterBench>();
  const Clock clock_{Frequency{1'000'000'000}};
  PacketProcessorParameters parameters_;
  PacketProcessorStatistics statistics_;
  Signals signals_{b_.vm};
  RecordingInterrupts interrupts_;
  HostNotifier host_{{.owner = "test",
                      .vm = b_.vm,
                      .signals = signals_,
                      .timestamp = clock_,
                      .interrupts = interrupts_,
                      .statistics = statistics_}};
  QueueTable queues_{"test", 1, b_.vm, [](std::span<const std::uint32_t>) { return true; }};
  DispatchPacketReader reader_{b_.vm, isa::Target::gfx803, b_.code.matrix_codes(), starter_bench_.blits};
  ScratchRequests scratch_{signals_, host_, statistics_};
  Fences fences_{
      {.mode = TimingMode::loose, .vm = b_.vm, .code = b_.code, .dispatcher = b_.dispatcher, .statistics = statistics_}};
  TimingPort port_{starter_bench_.port};
  KernelRecorder recorder_{clock_, b_.dispatcher};
  DispatchStarter starter_{{.parameters = parameters_,
                            .clock = clock_,
                            .mode = TimingMode::loose,
                            .vm = b_.vm,
                            .queues = queues_,
                            .signals = signals_,
                            .reader = reader_,
                            .scratch = scratch_,
                            .fences = fences_,
                            .port = port_,
                            .dispatcher = b_.dispatcher,
                            .blits = starter_bench_.blits,
                            .bulk = starter_bench_.bulk,
                            .recorder = recorder_,
                            .listener = b_.cp.packets,
                            .statistics = statistics_}};
};

TEST_F(DispatchStarterTest, StartIsAfterThePacketLatencyAndBeforeTheLaunchLatency) {
  const Tick before = now();
  EXPECT_EQ(start(dispatch(1, 0)).kind, Kind::progress);
  EXPECT_EQ(now() - before, Tick{140'000});
  ASSERT_EQ(queues_[0].in_flight.size(), 1U);
  const InFlightPacket& packet = queues_[0].in_flight[0];
  EXPECT_EQ(packet.started - before, Tick{100'000});
  EXPECT_EQ(packet.dispatch->start, packet.started);
  EXPECT_EQ(packet.dispatch->index, 0U);
  EXPECT_EQ(packet.completion_signal, signal_handle(0));
  EXPECT_EQ(queues_[0].next, 1U);
  EXPECT_EQ(b_.dispatcher.active(), 1U);
  EXPECT_EQ(statistics_.dispatches, 1U);
}

TEST_F(DispatchStarterTest, DispatchesInFlightAreLimited) {
  parameters_.dispatches_in_flight = 1;
  EXPECT_EQ(start(dispatch(1, 0)).kind, Kind::progress);
  const Tick before = now();
  EXPECT_EQ(start(dispatch(1, 1)).kind, Kind::idle);
  EXPECT_EQ(now(), before);
}

TEST_F(DispatchStarterTest, BadPacketsAreRefusedWithoutTakingTime) {
  const Tick before = now();
  hsa::KernelDispatchPacket packet = dispatch(0, 0);
  packet.grid_size[0] = 0;
  EXPECT_EQ(start(packet).refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS));
  packet = dispatch(0, 0);
  packet.kernel_object += 8;
  EXPECT_EQ(start(packet).refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_KERNEL_OBJECT));
  packet = dispatch(0, 0);
  packet.group_segment_size = 1u << 20;
  EXPECT_EQ(start(packet).refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_PACKET_SEGMENT));
  packet = dispatch(0, 0);
  packet.completion_signal = 8;
  EXPECT_EQ(start(packet).refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_SIGNAL));
  EXPECT_EQ(now(), before);
  EXPECT_EQ(queues_[0].next, 0U);
  EXPECT_EQ(statistics_.dispatches, 0U);
}

TEST_F(DispatchStarterTest, AQueueThatChangesMeanwhileStartsNothing) {
  after(50, [this] { queues_.suspend(0, true); });
  EXPECT_EQ(start(dispatch(1, 0)).kind, Kind::idle);
  EXPECT_EQ(queues_[0].next, 0U) << "the packet starts after the queue is resumed";
  queues_.suspend(0, false);
  after(120, [this] { queues_.remove(0); });
  EXPECT_EQ(start(dispatch(1, 0)).kind, Kind::progress);
  EXPECT_TRUE(queues_[0].in_flight.empty());
  EXPECT_EQ(b_.dispatcher.active(), 0U);
}

TEST_F(DispatchStarterTest, ScratchIsRequestedFirst) {
  queue(0).queue_inactive_signal = signal_handle(6);
  hsa::KernelDispatchPacket packet = dispatch(0, 0);
  packet.private_segment_size = 64;
  EXPECT_EQ(start(packet).kind, Kind::progress);
  EXPECT_EQ(signal(6).value, hsa::kScratchRequest);
  EXPECT_EQ(queues_[0].scratch, QueueSlot::Scratch::requested);
  EXPECT_TRUE(queues_[0].in_flight.empty());
}

}  // namespace
}  // namespace lacuna::test
