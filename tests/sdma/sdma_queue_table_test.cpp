// Tests the queues of an SDMA engine: ids, doorbells of both generations, and the read pointer in memory.
#include "models/sdma/sdma_queue_table.h"

#include <sstream>

#include "tests/sdma/sdma_parts_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaPartsBench)

class SdmaQueueTableTest : public SdmaPartsTest {
 protected:
  using Doorbell = SdmaQueueTable::Doorbell;
  SdmaQueueDescription describe(unsigned i) {
    return {.ring = kBase + kRingBytes * i, .ring_bytes = kRingBytes, .read_pointer = kBase + kPointers + 8 * i, .name = "q"};
  }
  const sdma::Format gfx8_format_ = sdma::Format::of(isa::Target::gfx803, {});
  const sdma::Format gfx9_format_ = sdma::Format::of(isa::Target::gfx90a, {});
  SdmaQueueTable gfx8_{b_.vm, gfx8_format_, {.first_id = 1, .stride = 2}, notifier_};
  SdmaQueueTable gfx9_{b_.vm, gfx9_format_, {.first_id = 2, .stride = 2}, notifier_};
};

TEST_F(SdmaQueueTableTest, IdsOfEnginesDifferAndAreNotReused) {
  EXPECT_EQ(gfx8_.create(describe(0)), 1U);
  EXPECT_EQ(gfx9_.create(describe(1)), 2U);
  EXPECT_EQ(gfx8_.create(describe(2)), 3U);
  EXPECT_TRUE(gfx8_.destroy(3));
  EXPECT_FALSE(gfx8_.destroy(3));
  EXPECT_EQ(gfx8_.create(describe(2)), 5U);
  EXPECT_EQ(b_.at<std::uint32_t>(kPointers), 0U) << "the read pointer, of 32 bits on gfx8";
  EXPECT_EQ(b_.at<std::uint64_t>(kPointers + 8), 0U);
}

TEST_F(SdmaQueueTableTest, DescriptionsAreChecked) {
  SdmaQueueDescription bad = describe(0);
  bad.ring_bytes = 0x180;
  EXPECT_FALSE(gfx9_.create(bad));
  bad = describe(0);
  bad.ring += 4;
  EXPECT_FALSE(gfx9_.create(bad));
  bad = describe(0);
  bad.read_pointer = kReadOnly;
  EXPECT_FALSE(gfx9_.create(bad));
  EXPECT_EQ(gfx9_.size(), 0U);
}

TEST_F(SdmaQueueTableTest, PointersWrapOnGfx8Only) {
  struct Row {
    SdmaQueueTable& table;
    std::uint64_t second_write_pointer, read_pointer;
  };
  for (const Row& row : {Row{gfx8_, 0x40, 0x40}, Row{gfx9_, kRingBytes + 0x40, kRingBytes + 0x40}}) {
    const std::uint32_t id = *row.table.create(describe(0));
    EXPECT_EQ(row.table.ring(id, kRingBytes - 8), Doorbell::rung);
    const auto queue = row.table.next();
    EXPECT_EQ(queue->available_words(), (kRingBytes - 8) / 4);
    row.table.consume(*queue, (kRingBytes - 8) / 4);
    EXPECT_EQ(row.table.ring(id, row.second_write_pointer), Doorbell::rung);
    EXPECT_EQ(queue->available_words(), 18U);
    row.table.consume(*queue, 18);
    EXPECT_EQ(b_.at<std::uint32_t>(kPointers), row.read_pointer);
    EXPECT_TRUE(row.table.idle());
  }
}

TEST_F(SdmaQueueTableTest, BadWritePointersStopTheQueue) {
  const std::uint32_t id = *gfx9_.create(describe(0));
  EXPECT_EQ(gfx9_.ring(99, 4), Doorbell::unknown_queue);
  EXPECT_EQ(gfx9_.ring(id, 6), Doorbell::ignored);
  EXPECT_EQ(fault(), 0U);
  EXPECT_EQ(gfx9_.ring(id, 8), Doorbell::ignored) << "stopped";
  EXPECT_TRUE(gfx9_.idle());
  EXPECT_TRUE(gfx9_.contains(id));
}

TEST_F(SdmaQueueTableTest, QueuesTakeTurns) {
  for (unsigned i = 0; i < 3; ++i) gfx9_.create(describe(i));  // ids 2, 4, 6
  for (const std::uint32_t id : {2U, 4U, 6U, 2U}) EXPECT_EQ(gfx9_.next()->id, id);
  gfx9_.destroy(4);
  EXPECT_EQ(gfx9_.next()->id, 6U);
  const auto held = gfx9_.next();
  gfx9_.clear();
  EXPECT_FALSE(held->alive);
  EXPECT_EQ(gfx9_.size(), 0U);
}

TEST_F(SdmaQueueTableTest, SuspendedAndPollingQueuesAreNotBusy) {
  const std::uint32_t id = *gfx9_.create(describe(0));
  gfx9_.ring(id, 4);
  EXPECT_FALSE(gfx9_.idle());
  EXPECT_FALSE(gfx9_.polling());
  gfx9_.next()->waits_for_memory = true;
  EXPECT_TRUE(gfx9_.polling());
  EXPECT_TRUE(gfx9_.suspend(id, true));
  EXPECT_TRUE(gfx9_.idle());
  EXPECT_FALSE(gfx9_.polling());
  std::ostringstream text;
  gfx9_.diagnose(text);
  EXPECT_EQ(text.str(), "  SDMA queue 2 (q): suspended, read 0x0, written 0x4\n");
}

TEST_F(SdmaQueueTableTest, WordsOfAnIndirectBufferDoNotAdvanceTheRing) {
  const std::uint32_t id = *gfx9_.create(describe(0));
  gfx9_.ring(id, 16);
  const auto queue = gfx9_.next();
  queue->buffer = SdmaQueue::IndirectBuffer{.address = kBase, .words = 3};
  gfx9_.consume(*queue, 2);
  EXPECT_EQ(queue->available_words(), 1U);
  gfx9_.consume(*queue, 1);
  EXPECT_FALSE(queue->buffer);
  EXPECT_EQ(queue->read, 0U);
  EXPECT_EQ(queue->available_words(), 4U);
}

}  // namespace
}  // namespace lacuna::test
