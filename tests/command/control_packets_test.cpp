// Tests packets without a dispatch: the time that they take, and queues that change in the meantime.
#include "models/command/control_packets.h"

#include "tests/command/queue_memory.h"
#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

using Kind = PacketOutcome::Kind;

class ControlBench : public sc_core::sc_module {
 public:
  explicit ControlBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    SC_HAS_PROCESS(ControlBench);
    SC_METHOD(change_queue);
    sensitive << change;
    dont_initialize();
  }
  void change_queue() { *queue = QueueSlot{}; }  // as if the queue had been destroyed

  QueueMemory memory;
  isa::DecodedCode code{memory.vm, isa::Target::gfx803};
  Dispatcher dispatcher{"dispatcher", DispatcherParameters{}, Clock(Frequency{}), Cycles{0}};
  QueueSlot* queue = nullptr;
  sc_core::sc_event change;
};

LACUNA_TEST_BENCH(ControlBench)

class ControlPacketsTest : public testing::Test {
 protected:
  static constexpr Tick kLatency{100'000};  // 100 cycles of 1 ns

  ControlPacketsTest() {
    queue_.state = QueueSlot::State::active;
    queue_.generation = 1;
    queue_.next = 6;
    b_.queue = &queue_;
  }
  const std::byte* raw(const auto& packet) { return reinterpret_cast<const std::byte*>(&packet); }
  static constexpr hsa::PacketHeader kBarrierHeader{static_cast<std::uint16_t>(hsa::PacketType::barrier_and) | 2u << 11};

  ControlBench& b_ = bench<ControlBench>();
  PacketProcessorStatistics statistics_;
  Fences fences_{
      {.mode = TimingMode::loose, .vm = b_.memory.vm, .code = b_.code, .dispatcher = b_.dispatcher, .statistics = statistics_}};
  ControlPackets controls_{{.clock = Clock(Frequency{1'000'000'000}),
                            .packet_latency = Cycles{100},
                            .vm = b_.memory.vm,
                            .signals = b_.memory.signals,
                            .fences = fences_,
                            .statistics = statistics_}};
  QueueSlot queue_;
};

TEST_F(ControlPacketsTest, BarriersTakeThePacketLatency) {
  hsa::BarrierPacket packet{};
  packet.dependencies[0] = QueueMemory::signal_handle(0);
  packet.completion_signal = QueueMemory::signal_handle(1);
  b_.memory.signal(0).value = 1;
  const Tick start = now();
  EXPECT_EQ(controls_.start_barrier(queue_, raw(packet), kBarrierHeader).kind, Kind::poll);
  EXPECT_EQ(now(), start);
  b_.memory.signal(0).value = 0;
  EXPECT_EQ(controls_.start_barrier(queue_, raw(packet), kBarrierHeader).kind, Kind::completed);
  EXPECT_EQ(now() - start, kLatency);
  ASSERT_EQ(queue_.in_flight.size(), 1U);
  EXPECT_EQ(queue_.in_flight[0].index, 6U);
  EXPECT_EQ(queue_.in_flight[0].completion_signal, QueueMemory::signal_handle(1));
  EXPECT_EQ(queue_.in_flight[0].release, hsa::FenceScope::system);
  EXPECT_EQ(queue_.next, 7U);
  EXPECT_EQ(statistics_.barriers, 1U);
}

TEST_F(ControlPacketsTest, AQueueDestroyedMeanwhileStartsNothing) {
  b_.change.notify(sc_core::sc_time(50, sc_core::SC_NS));
  EXPECT_EQ(controls_.start_barrier(queue_, raw(hsa::BarrierPacket{}), kBarrierHeader).kind, Kind::progress);
  EXPECT_TRUE(queue_.in_flight.empty());
  EXPECT_EQ(queue_.next, 0U);
}

TEST_F(ControlPacketsTest, UnknownVendorFormatsAreRefused) {
  std::array<std::byte, hsa::kPacketBytes> packet{};
  packet[2] = std::byte{9};
  const PacketOutcome outcome = controls_.start_vendor_specific(queue_, packet.data(), {});
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_PACKET_TYPE));
  EXPECT_EQ(outcome.refusal.why, "vendor-specific packet of unknown format 9");
}

TEST_F(ControlPacketsTest, BadPm4CommandsAreRefused) {
  std::array<std::uint32_t, 16> slot{};
  slot[0] = 3u << 30 | 0xfeu << 8;  // an opcode that is not supported
  const PacketOutcome outcome = controls_.start_pm4(queue_, raw(slot));
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(statistics_.pm4_packets, 0U);
}

}  // namespace
}  // namespace lacuna::test
