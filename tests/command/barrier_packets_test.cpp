// Tests the conditions of barrier packets: when a packet may start, waits, or is refused.
#include "models/command/barrier_packets.h"

#include "tests/command/queue_memory.h"

namespace lacuna::test {
namespace {

using Kind = PacketOutcome::Kind;

class BarrierPacketsTest : public testing::Test {
 protected:
  /// Kind of the outcome; `progress`: the packet may start.
  static Kind kind(const std::optional<PacketOutcome>& outcome) { return outcome ? outcome->kind : Kind::progress; }
  Kind check(hsa::PacketType type, std::initializer_list<unsigned> dependencies) {
    hsa::BarrierPacket packet{};
    std::size_t i = 1;  // the first dependency is unused
    for (const unsigned d : dependencies) packet.dependencies[i++] = QueueMemory::signal_handle(d);
    return kind(check_barrier(memory_.signals, type, packet));
  }
  std::optional<PacketOutcome> check_value(std::int64_t signal, hsa::SignalCondition condition, std::int64_t value,
                                           std::int64_t mask = -1) {
    memory_.signal(3).value = signal;
    hsa::BarrierValuePacket packet{};
    packet.signal = QueueMemory::signal_handle(3);
    packet.condition = static_cast<std::uint32_t>(condition);
    packet.value = value;
    packet.mask = mask;
    return check_barrier_value(memory_.signals, packet);
  }

  QueueMemory memory_;
};

TEST_F(BarrierPacketsTest, AndNeedsAllOrNeedsAny) {
  memory_.signal(1).value = 1;
  for (const auto type : {hsa::PacketType::barrier_and, hsa::PacketType::barrier_or}) {
    const bool all = type == hsa::PacketType::barrier_and;
    EXPECT_EQ(check(type, {}), Kind::progress);
    EXPECT_EQ(check(type, {0}), Kind::progress);
    EXPECT_EQ(check(type, {1}), Kind::poll);
    EXPECT_EQ(check(type, {0, 1}), all ? Kind::poll : Kind::progress);
    EXPECT_EQ(check(type, {1, 1, 0, 0}), all ? Kind::poll : Kind::progress);
  }
}

TEST_F(BarrierPacketsTest, SignalsAreChecked) {
  hsa::BarrierPacket packet{};
  packet.dependencies[2] = 0x40;
  const auto dependency = check_barrier(memory_.signals, hsa::PacketType::barrier_or, packet);
  ASSERT_EQ(kind(dependency), Kind::refused);
  EXPECT_EQ(dependency->refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_SIGNAL));
  EXPECT_TRUE(dependency->refusal.why.starts_with("signal handle 0x40 is not"));
  packet.dependencies[2] = 0;
  packet.completion_signal = QueueMemory::signal_handle(0) + 8;
  EXPECT_EQ(kind(check_barrier(memory_.signals, hsa::PacketType::barrier_and, packet)), Kind::refused);
  hsa::BarrierValuePacket value{};
  EXPECT_EQ(kind(check_barrier_value(memory_.signals, value)), Kind::progress) << "no signal: nothing to wait for";
  value.signal = 0x40;
  EXPECT_EQ(kind(check_barrier_value(memory_.signals, value)), Kind::refused);
}

TEST_F(BarrierPacketsTest, ValuesAreComparedUnderTheMask) {
  struct Row {
    hsa::SignalCondition condition;
    bool less, equal, greater;  // whether the condition holds for the values 4, 5 and 6 with a reference value of 5
  };
  const Row rows[] = {{hsa::SignalCondition::equal, false, true, false},
                      {hsa::SignalCondition::not_equal, true, false, true},
                      {hsa::SignalCondition::less, true, false, false},
                      {hsa::SignalCondition::greater_equal, false, true, true}};
  for (const Row& row : rows) {
    const bool expected[] = {row.less, row.equal, row.greater};
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(kind(check_value(0x10 + 4 + i, row.condition, 5, 0xf)), expected[i] ? Kind::progress : Kind::poll) << i;
    }
  }
  EXPECT_EQ(kind(check_value(-1, hsa::SignalCondition::less, 0)), Kind::progress) << "signed";
  const auto unknown = check_value(0, static_cast<hsa::SignalCondition>(4), 0);
  ASSERT_EQ(kind(unknown), Kind::refused);
  EXPECT_EQ(unknown->refusal.error, static_cast<std::uint32_t>(LACUNA_QUEUE_ERROR_PACKET_TYPE));
}

}  // namespace
}  // namespace lacuna::test
