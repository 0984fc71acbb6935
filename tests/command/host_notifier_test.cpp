// Tests notifications to software: signals, interrupts and the driver's events, and when each of them is sent.
#include "models/command/host_notifier.h"

#include "tests/command/queue_memory.h"

namespace lacuna::test {
namespace {

struct Driver : DriverEvents {
  std::vector<std::uint32_t> events, messages, errors;
  unsigned progress = 0;
  unsigned memory_faults = 0;
  void signal_event(std::uint32_t id, std::uint64_t) override { events.push_back(id); }
  void progress_visible() override { ++progress; }
  void message_interrupt(std::uint32_t m0) override { messages.push_back(m0); }
  bool memory_fault(unsigned, const WavefrontFault&) override { return ++memory_faults > 0; }
  void queue_failed(unsigned, std::uint32_t error) override { errors.push_back(error); }
};

using Raised = std::vector<std::uint32_t>;

class HostNotifierTest : public testing::Test {
 protected:
  QueueMemory memory_;
  RecordingInterrupts interrupts_;
  Driver driver_;
  PacketProcessorStatistics statistics_;
  HostNotifier host_{{.owner = "test",
                      .vm = memory_.vm,
                      .signals = memory_.signals,
                      .timestamp = Clock(Frequency{100'000'000}),
                      .interrupts = interrupts_,
                      .statistics = statistics_}};
};

TEST_F(HostNotifierTest, CompletionSignalsHaveTimeStampsAndEvents) {
  memory_.signal(1).value = 2;
  host_.complete_signal(QueueMemory::signal_handle(1), Tick{25'000}, Tick{59'999});  // timestamp clock: 10 ns period
  EXPECT_EQ(memory_.signal(1).value, 1);
  EXPECT_EQ(memory_.signal(1).start_timestamp, 2U);
  EXPECT_EQ(memory_.signal(1).end_timestamp, 5U);
  EXPECT_TRUE(interrupts_.raised.empty()) << "no mailbox, no event";
  host_.set_driver_events(driver_);
  memory_.signal(1).event_mailbox = QueueMemory::kBase + 0x3000;
  memory_.signal(1).event_id = 9;
  host_.complete_signal(QueueMemory::signal_handle(1), {}, {});
  EXPECT_EQ(interrupts_.raised, Raised{LACUNA_INTERRUPT_SIGNAL});
  EXPECT_EQ(driver_.events, Raised{9});
  EXPECT_EQ(driver_.progress, 1U);
  EXPECT_EQ(statistics_.signals, 2U);
  EXPECT_EQ(statistics_.events, 1U);
  host_.complete_signal(0x40, {}, {});
  EXPECT_EQ(statistics_.signals, 2U) << "not mapped";
}

TEST_F(HostNotifierTest, InactiveSignalsAreOptional) {
  hsa::Queue queue{};
  EXPECT_FALSE(host_.store_inactive_signal(nullptr, 1));
  EXPECT_FALSE(host_.store_inactive_signal(&queue, 1));
  queue.queue_inactive_signal = 0x40;
  EXPECT_FALSE(host_.store_inactive_signal(&queue, 1));
  queue.queue_inactive_signal = QueueMemory::signal_handle(0);
  EXPECT_TRUE(host_.store_inactive_signal(&queue, 512));
  EXPECT_EQ(memory_.signal(0).value, 512);
}

TEST_F(HostNotifierTest, FailedQueuesReportTheRuntimesCode) {
  struct Row {
    std::uint32_t error;
    std::int64_t code;
  };
  const Row rows[] = {{LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS, 2},
                      {LACUNA_QUEUE_ERROR_PACKET_SEGMENT, 4},
                      {LACUNA_QUEUE_ERROR_KERNEL_OBJECT, 8},
                      {LACUNA_QUEUE_ERROR_MEMORY_FAULT, 0x20000000},
                      {LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION, 0x40000000},
                      {LACUNA_QUEUE_ERROR_TRAP, 0x80000000},
                      {LACUNA_QUEUE_ERROR_SIGNAL, 0x20}};
  host_.set_driver_events(driver_);
  hsa::Queue queue{};
  queue.queue_inactive_signal = QueueMemory::signal_handle(0);
  for (const Row& row : rows) {
    memory_.signal(0).value = 0;
    host_.queue_failed(0, &queue, row.error, true);
    EXPECT_EQ(memory_.signal(0).value, row.code) << row.error;
    memory_.signal(0).value = 0;
    host_.queue_failed(0, &queue, row.error, false);
    EXPECT_EQ(memory_.signal(0).value, 0) << row.error;
    EXPECT_EQ(driver_.errors.back(), row.error);
  }
  EXPECT_EQ(interrupts_.raised, Raised(2 * std::size(rows), LACUNA_INTERRUPT_QUEUE_ERROR));
}

TEST_F(HostNotifierTest, MemoryFaultsAreReportedByTheDriver) {
  const WavefrontFault memory_fault{.code = LACUNA_FAULT_NOT_MAPPED, .what = {}, .where = {}};
  const WavefrontFault trap{.code = LACUNA_FAULT_TRAP, .what = {}, .where = {}};
  EXPECT_FALSE(host_.wavefront_fault(3, memory_fault)) << "no driver";
  host_.set_driver_events(driver_);
  EXPECT_TRUE(host_.wavefront_fault(3, memory_fault));
  EXPECT_FALSE(host_.wavefront_fault(3, trap));
  EXPECT_EQ(driver_.memory_faults, 1U);
  ASSERT_EQ(interrupts_.faults.size(), 3U);
  EXPECT_EQ(interrupts_.faults[2].first, 3U);
  EXPECT_EQ(interrupts_.raised, Raised(3, LACUNA_INTERRUPT_MEMORY_FAULT));
  EXPECT_EQ(queue_error_of_fault(LACUNA_FAULT_TRAP), static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_TRAP));
  EXPECT_EQ(queue_error_of_fault(LACUNA_FAULT_NOT_PERMITTED), static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_MEMORY_FAULT));
  EXPECT_EQ(queue_error_of_fault(LACUNA_FAULT_ILLEGAL_INSTRUCTION),
            static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION));
}

TEST_F(HostNotifierTest, MessagesAndReadIndicesGoToTheDriverIfThereIsOne) {
  host_.message_interrupt(5, {});
  host_.read_index_changed();
  EXPECT_EQ(interrupts_.raised, Raised{LACUNA_INTERRUPT_SIGNAL});
  host_.set_driver_events(driver_);
  host_.message_interrupt(5, {});
  host_.read_index_changed();
  EXPECT_EQ(driver_.messages, Raised{5});
  EXPECT_EQ(driver_.progress, 1U);
  host_.record_illegal_instruction(2, 0x1234);
  ASSERT_EQ(interrupts_.faults.size(), 1U);
  EXPECT_EQ(interrupts_.faults[0].second.code, static_cast<std::uint32_t>(LACUNA_FAULT_ILLEGAL_INSTRUCTION));
  EXPECT_EQ(interrupts_.faults[0].second.pc, 0x1234U);
}

}  // namespace
}  // namespace lacuna::test
