// Tests queue slots: creation, order, doorbells and retirement, without a packet processor.
#include "models/command/queue_table.h"

#include <algorithm>
#include <sstream>

#include "tests/command/queue_memory.h"

namespace lacuna::test {
namespace {

class QueueTableTest : public testing::Test {
 protected:
  std::uint32_t create(unsigned slot, QueueSetup setup = {}) { return table_.create(slot, memory_.lay_out(slot), setup); }
  void write(unsigned slot, std::uint64_t index) {
    memory_.header(slot, index) = static_cast<std::uint16_t>(hsa::PacketType::barrier_and);
    memory_.aql(slot).write_dispatch_id = index + 1;
  }

  QueueMemory memory_;
  QueueTable table_{"table", 4, memory_.vm, [](std::span<const std::uint32_t> mask) {
                      return mask.empty() || std::any_of(mask.begin(), mask.end(), [](std::uint32_t m) { return m != 0; });
                    }};
};

TEST_F(QueueTableTest, ChecksItsArguments) {
  EXPECT_EQ(create(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(create(0), LACUNA_QUEUE_ERROR_SLOT) << "in use";
  EXPECT_EQ(create(4), LACUNA_QUEUE_ERROR_SLOT) << "does not exist";
  EXPECT_EQ(create(1, {.cu_mask = {0}}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  EXPECT_EQ(table_.create(1, QueueMemory::aql_address(0) + 8, {}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  memory_.lay_out(1);
  memory_.aql(1).size = 3;
  EXPECT_EQ(table_.create(1, QueueMemory::aql_address(1), {}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  memory_.aql(1).size = 1024;  // beyond the mapping
  EXPECT_EQ(table_.create(1, QueueMemory::aql_address(1), {}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
  EXPECT_EQ(table_[1].state, QueueSlot::State::inactive);
  for (const auto& request : {table_.suspend(1, true), table_.set_priority(1, 1), table_.set_cu_mask(1, {1}),
                              table_.allocate_gws(1), table_.set_priority(99, 1)}) {
    EXPECT_EQ(request, LACUNA_QUEUE_ERROR_SLOT);
  }
  EXPECT_EQ(table_.set_cu_mask(0, {0}), LACUNA_QUEUE_ERROR_DESCRIPTOR);
}

TEST_F(QueueTableTest, SlotsAreReusedAndAdded) {
  for (unsigned i = 0; i < 6; ++i) {
    ASSERT_EQ(table_.free_slot(), i);
    ASSERT_EQ(create(i), LACUNA_QUEUE_ERROR_NONE);
  }
  const std::uint64_t generation = table_[2].generation;
  table_.remove(2);
  EXPECT_EQ(table_.free_slot(), 2U);
  ASSERT_EQ(create(2), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_FALSE(table_[2].active_since(generation));
  EXPECT_TRUE(table_[2].active_since(table_[2].generation));
}

TEST_F(QueueTableTest, OrderIsByPriorityThenSlot) {
  for (unsigned i = 0; i < 4; ++i) create(i, {.priority = i == 2 ? 1 : 0, .cu_mask = {}});
  EXPECT_EQ(table_.by_priority(), (std::vector<unsigned>{2, 0, 1, 3}));
  table_.set_priority(3, 2);
  EXPECT_EQ(table_.by_priority(), (std::vector<unsigned>{3, 2, 0, 1}));
  table_.remove(2);
  EXPECT_EQ(table_.by_priority(), (std::vector<unsigned>{3, 0, 1}));
  table_.clear();
  EXPECT_TRUE(table_.by_priority().empty());
}

TEST_F(QueueTableTest, GlobalWaveSyncHasOneOwner) {
  create(0);
  create(1);
  EXPECT_EQ(table_.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(table_.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(table_.allocate_gws(1), LACUNA_QUEUE_ERROR_SLOT);
  EXPECT_TRUE(table_.has_gws(0));
  table_.remove(0);
  EXPECT_FALSE(table_.has_gws(0));
  EXPECT_EQ(table_.allocate_gws(1), LACUNA_QUEUE_ERROR_NONE);
}

TEST_F(QueueTableTest, SuspensionHoldsDispatches) {
  create(0);
  table_[0].in_flight.push_back({.dispatch = std::make_unique<Dispatch>()});
  table_[0].in_flight.push_back({.dispatch = nullptr});
  EXPECT_EQ(table_.suspend(0, true), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_TRUE(table_[0].suspended);
  EXPECT_TRUE(table_[0].in_flight[0].dispatch->held);
  EXPECT_EQ(table_.activity(), QueueActivity::idle);
  EXPECT_EQ(table_.suspend(0, false), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_FALSE(table_[0].in_flight[0].dispatch->held);
  EXPECT_EQ(table_.activity(), QueueActivity::busy);
}

TEST_F(QueueTableTest, DoorbellRegistersOnlyAdvance) {
  EXPECT_FALSE(table_.ring(0, 0)) << "not in use";
  create(0);
  EXPECT_TRUE(table_.ring(0, 4));
  EXPECT_TRUE(table_.ring(0, 2));
  EXPECT_EQ(QueueTable::end_of_packets(table_[0]), 5U);
  EXPECT_FALSE(table_.has_doorbells()) << "the doorbell is not an index in memory";
  EXPECT_TRUE(table_.ring(0, 100));
  EXPECT_EQ(QueueTable::end_of_packets(table_[0]), 101U) << "an overflow, for the packet processor to report";
  EXPECT_TRUE(table_.fail(0, LACUNA_QUEUE_ERROR_OVERFLOW, 3));
  EXPECT_FALSE(table_.fail(0, LACUNA_QUEUE_ERROR_SIGNAL, 4)) << "the first error counts";
  EXPECT_EQ(table_[0].error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_OVERFLOW));
  EXPECT_EQ(table_[0].error_packet, 3U);
  EXPECT_FALSE(table_.ring(0, 101));
}

TEST_F(QueueTableTest, PacketsInMemoryAreAnnouncedByTheirHeaders) {
  create(0, {.doorbell = DoorbellKind::write_index, .cu_mask = {}});
  create(1, {.doorbell = DoorbellKind::legacy_index, .cu_mask = {}});
  EXPECT_EQ(table_.poll_doorbells(), 0U);
  write(0, 0);
  write(0, 1);
  memory_.aql(0).write_dispatch_id = 4;  // packets 2 and 3 are reserved, not written
  EXPECT_TRUE(table_.has_doorbells());
  EXPECT_EQ(table_.poll_doorbells(), 1U);
  EXPECT_EQ(table_[0].announced, 2U);
  unsigned visited = 0;
  table_.visit_packets([&](const std::byte* raw) { EXPECT_EQ(raw, memory_.packet(0, visited++)); });
  EXPECT_EQ(visited, 2U);
  memory_.aql(1).max_legacy_doorbell_dispatch_id_plus_1 = 3;
  write(0, 2);
  EXPECT_EQ(table_.poll_doorbells(), 2U);
  EXPECT_EQ(table_[0].announced, 3U);
  EXPECT_EQ(table_[1].announced, 3U);
  EXPECT_FALSE(table_.has_doorbells());
  EXPECT_EQ(table_.activity(), QueueActivity::busy);
  for (const unsigned slot : {0, 1}) table_[slot].polls = true;
  EXPECT_EQ(table_.activity(), QueueActivity::waits_for_memory);
  EXPECT_FALSE(table_.idle());
}

TEST_F(QueueTableTest, IndicesBeyondTheRingWaitForRoom) {
  create(0, {.doorbell = DoorbellKind::write_index, .cu_mask = {}});
  for (std::uint64_t i = 0; i < QueueMemory::kRingSize; ++i) write(0, i);
  memory_.aql(0).write_dispatch_id = QueueMemory::kRingSize + 3;
  table_.poll_doorbells();
  EXPECT_EQ(QueueTable::end_of_packets(table_[0]), QueueMemory::kRingSize);
}

TEST_F(QueueTableTest, RetiresInOrder) {
  create(0);
  QueueSlot& queue = table_[0];
  for (std::uint64_t i = 0; i < 3; ++i) {
    write(0, i);
    queue.in_flight.push_back({.index = i, .dispatch = nullptr});
  }
  queue.next = 3;
  queue.in_flight[1].done = true;
  EXPECT_FALSE(table_.retire(queue)) << "packet 0 runs";
  EXPECT_EQ(memory_.aql(0).read_dispatch_id, 0U);
  queue.in_flight[0].done = true;
  EXPECT_TRUE(table_.retire(queue));
  EXPECT_EQ(memory_.aql(0).read_dispatch_id, 2U);
  EXPECT_EQ(queue.retired, 2U);
  const auto type = [&](std::uint64_t i) { return hsa::PacketHeader{memory_.header(0, i)}.type(); };
  EXPECT_EQ(type(0), hsa::PacketType::invalid);
  EXPECT_EQ(type(1), hsa::PacketType::invalid);
  EXPECT_EQ(type(2), hsa::PacketType::barrier_and);
  queue.in_flight[0].done = true;
  memory_.vm.clear();
  EXPECT_FALSE(table_.retire(queue)) << "its memory is no longer mapped";
}

TEST_F(QueueTableTest, DiagnosisNamesTheWaitReason) {
  create(1);
  table_.ring(1, 0);
  table_[1].waiting_for = "a test";
  std::ostringstream text;
  table_.diagnose(text);
  EXPECT_EQ(text.str(), "  queue 1: active, next packet 0, announced 1, retired 0, waits for: a test\n");
}

}  // namespace
}  // namespace lacuna::test
