// Tests vendor-specific packets: PM4 commands in the ring (gfx8) and in an indirect buffer (gfx9), and barriers on a signal's
// value.
#include <cstring>
#include <random>

#include "models/command/pm4.h"
#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(PacketBench)

constexpr std::uint64_t kCommands = 0x3000;  // the indirect buffer
constexpr std::uint32_t kAcquireAll = 0x28840000;

constexpr std::uint32_t pm4(unsigned opcode, unsigned payload_words) {
  return 3u << 30 | (payload_words - 1) << 16 | opcode << 8;
}

using Slot = std::array<std::uint32_t, 16>;

class VendorPacketTest : public PacketProcessorTest {
 protected:
  /// Writes commands at kCommands; returns their number.
  unsigned write_commands(const std::vector<std::uint32_t>& words) {
    std::memcpy(&b_.at<std::uint32_t>(kCommands), words.data(), words.size() * 4);
    return static_cast<unsigned>(words.size());
  }
  static std::vector<std::uint32_t> acquire_mem(std::uint32_t what) { return {pm4(0x58, 6), what, ~0u, 0xff, 0, 0, 10}; }
  static std::array<std::uint32_t, 4> indirect(unsigned words) {
    return {pm4(0x3f, 3), static_cast<std::uint32_t>(kBase + kCommands), 0, words | 1u << 23};
  }
  /// A packet as AMD's runtime writes it for gfx8: padding, the indirect buffer, and the event that retires the slot.
  static Slot gfx8_slot(unsigned words) {
    const auto ib = indirect(words);
    return {pm4(0x10, 4), 0, 0, 0, 0, ib[0], ib[1], ib[2], ib[3], pm4(0x49, 6), 0x700, 0, 0, 0, 0, 0};
  }
  Slot gfx9_packet(unsigned words, unsigned done_signal) {
    const auto ib = indirect(words);
    Slot slot{0x00010000, ib[0], ib[1], ib[2], ib[3], 0xa};
    const std::uint64_t handle = signal_handle(done_signal);
    std::memcpy(&slot[14], &handle, sizeof handle);
    return slot;
  }
  static hsa::BarrierValuePacket barrier_value(unsigned on, std::int64_t value, std::int64_t mask,
                                               hsa::SignalCondition condition, unsigned done_signal) {
    hsa::BarrierValuePacket p{};
    p.header = header(hsa::PacketType::vendor_specific);
    p.format = static_cast<std::uint8_t>(hsa::VendorFormat::barrier_value);
    p.signal = signal_handle(on);
    p.value = value;
    p.mask = mask;
    p.condition = static_cast<std::uint32_t>(condition);
    p.completion_signal = signal_handle(done_signal);
    return p;
  }
};

TEST_F(VendorPacketTest, CommandsInTheRingMaintainCachesAndRetire) {
  open(0);
  put(0, gfx8_slot(write_commands(acquire_mem(kAcquireAll))));
  ring(0);
  microseconds(5);
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  EXPECT_EQ(queue(0).read_dispatch_id, 1u);
  EXPECT_EQ(b_.at<std::uint16_t>(kRings), header(hsa::PacketType::invalid));
  EXPECT_EQ(b_.l1.invalidations, 1u);
  EXPECT_EQ(b_.l2.invalidations, 1u);
  EXPECT_EQ(b_.cp.packets.statistics().pm4_packets, 1u);
}

TEST_F(VendorPacketTest, ARetiredCommandIsNotExecutedAgain) {
  open(0);
  put(0, gfx8_slot(write_commands(acquire_mem(kAcquireAll))));
  ring(0);
  microseconds(5);
  ASSERT_EQ(queue(0).read_dispatch_id, 1u);
  for (unsigned i = 1; i < kRingSize; ++i) put(0, barrier(hsa::PacketType::barrier_and, {}, i));
  ring(0, kRingSize);  // also announces the ring slot of the retired command, which is not written again
  microseconds(10);
  EXPECT_EQ(queue(0).read_dispatch_id, kRingSize);
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  EXPECT_EQ(b_.l1.invalidations, 1u);
}

TEST_F(VendorPacketTest, CommandsInAnIndirectBufferMaintainCachesAndSignal) {
  open(0);
  const std::uint64_t before = b_.cp.packets.statistics().pm4_packets;
  put(0, gfx9_packet(write_commands(acquire_mem(1u << 18)), 4));  // write back L2, nothing else
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(4).value, 0);
  EXPECT_EQ(queue(0).read_dispatch_id, 1u);
  EXPECT_EQ(b_.l1.invalidations, 0u);
  EXPECT_EQ(b_.l2.invalidations, 0u);
  EXPECT_EQ(b_.l2.write_backs, 1u);
  EXPECT_EQ(b_.cp.packets.statistics().pm4_packets, before + 1);
}

TEST_F(VendorPacketTest, NewCodeIsSeenAfterTheFlush) {
  open(0);
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  ASSERT_EQ(signal(0).value, 0);
  kernel(0, {0xbf920002});  // s_trap 2 where s_endpgm was
  put(0, gfx9_packet(write_commands(acquire_mem(kAcquireAll)), 1));
  put(0, dispatch(0, 2));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_TRAP);
}

TEST_F(VendorPacketTest, BadCommandsFailTheQueue) {
  const struct {
    const char* what;
    std::vector<std::uint32_t> commands;
  } table[] = {
      {"unknown opcode", {pm4(0x15, 2), 0, 0}},
      {"nested", {pm4(0x3f, 3), 0, 0, 1}},
      {"cut off", {pm4(0x58, 6), 0, 0}},
      {"type 0", {0x00010000, 0}},
      {"release of memory", {pm4(0x49, 6), 0x514, 0, 0, 0, 0, 0}},
  };
  for (const auto& row : table) {
    open(0);
    queue(0).queue_inactive_signal = signal_handle(5);
    put(0, gfx8_slot(write_commands(row.commands)));
    ring(0);
    microseconds(5);
    EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_PACKET_TYPE) << row.what;
    EXPECT_EQ(signal(5).value, 0x20) << row.what;
    EXPECT_EQ(b_.cp.packets.destroy_queue(0), LACUNA_QUEUE_ERROR_NONE);
  }
  EXPECT_EQ(b_.l1.invalidations, 0u);
}

TEST_F(VendorPacketTest, FillersAreSkipped) {
  const unsigned words =
      write_commands({0x80000000, 0xffff1000, pm4(0x10, 2), 0, 0, pm4(0x58, 6), 1u << 27, ~0u, 0xff, 0, 0, 10});
  const Slot slot = gfx8_slot(words);
  const Pm4Actions actions = Pm4Reader(b_.vm).read_slot(reinterpret_cast<const std::byte*>(slot.data()));
  EXPECT_EQ(actions.error, "");
  EXPECT_TRUE(actions.invalidate_l1);
  EXPECT_FALSE(actions.invalidate_l2);
  EXPECT_FALSE(actions.write_back_l2);
}

TEST_F(VendorPacketTest, IndirectBufferMustBeMapped) {
  Slot slot = gfx8_slot(8);
  slot[7] = 0x77;
  const Pm4Actions actions = Pm4Reader(b_.vm).read_slot(reinterpret_cast<const std::byte*>(slot.data()));
  EXPECT_NE(actions.error.find("0x7700103000"), std::string::npos) << actions.error;
}

TEST_F(VendorPacketTest, RandomWordsAreAcceptedOrRefusedWithoutAnInvalidAccess) {
  const Pm4Reader reader(b_.vm);
  std::mt19937 random(1);
  const std::array<std::uint32_t, 5> opcodes = {0x10, 0x3f, 0x49, 0x58, 0x15};
  unsigned accepted = 0;
  unsigned refused = 0;
  for (unsigned round = 0; round < 200'000; ++round) {
    Slot slot;
    for (std::uint32_t& word : slot) {
      // Mostly words that resemble a command, with an indirect buffer that may be mapped and holds random words.
      word = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : pm4(opcodes[random() % 5], 1 + random() % 16);
      if (random() % 4 == 0) word = static_cast<std::uint32_t>(kBase + random() % kBytes);
      if (random() % 4 == 0) word = random() % 64;
    }
    std::memcpy(&b_.at<std::uint32_t>(kCommands), slot.data(), sizeof slot);
    const auto* raw = reinterpret_cast<const std::byte*>(slot.data());
    ++(reader.read_slot(raw).error.empty() ? accepted : refused);
    ++(reader.read_vendor_packet(raw).error.empty() ? accepted : refused);
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST_F(VendorPacketTest, UnknownFormatFailsTheQueue) {
  open(0);
  put(0, Slot{0x00070000});
  ring(0);
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_PACKET_TYPE);
}

TEST_F(VendorPacketTest, BarrierValueConditions) {
  using Condition = hsa::SignalCondition;
  const struct {
    Condition condition;
    std::int64_t mask;
    std::int64_t before;  // value for which the condition does not hold
    std::int64_t after;   // value for which it holds
  } table[] = {
      {Condition::equal, ~std::int64_t{0}, 6, 5},         {Condition::equal, 0xf, 0x56, 0x75},
      {Condition::not_equal, ~std::int64_t{0}, 5, 6},     {Condition::not_equal, 0xf, 0x75, 0x56},
      {Condition::less, ~std::int64_t{0}, 5, -1},         {Condition::less, 0xf, 0x75, 0x74},
      {Condition::greater_equal, ~std::int64_t{0}, 4, 5}, {Condition::greater_equal, 0xf, 0x74, 0x76},
  };
  open(0);
  for (const auto& row : table) {
    const auto i = static_cast<unsigned>(&row - table);
    signal(1).value = row.before;
    signal(2).value = 1;
    signal(3).value = 1;
    put(0, barrier_value(1, 5, row.mask, row.condition, 2));
    put(0, dispatch(0, 3));
    ring(0);
    microseconds(5);
    EXPECT_EQ(signal(2).value, 1) << "row " << i;
    EXPECT_EQ(signal(3).value, 1) << "row " << i << ": later packets wait";
    EXPECT_EQ(b_.cp.packets.activity(), PacketProcessor::Activity::waits_for_memory);
    signal(1).value = row.after;
    microseconds(5);
    EXPECT_EQ(signal(2).value, 0) << "row " << i;
    EXPECT_EQ(signal(3).value, 0) << "row " << i;
    EXPECT_EQ(b_.cp.packets.activity(), PacketProcessor::Activity::idle);
  }
}

TEST_F(VendorPacketTest, BarrierValueWithoutASignalWaitsForNothing) {
  open(0);
  auto packet = barrier_value(1, 0, 0, hsa::SignalCondition::less, 2);
  packet.signal = 0;
  put(0, packet);
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(2).value, 0);
}

TEST_F(VendorPacketTest, BarrierValueIsChecked) {
  open(0);
  auto packet = barrier_value(1, 0, 0, hsa::SignalCondition::less, 2);
  packet.condition = 4;
  put(0, packet);
  ring(0);
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_PACKET_TYPE);
  open(1);
  packet = barrier_value(1, 0, 0, hsa::SignalCondition::less, 2);
  packet.signal = 0x40;
  put(1, packet);
  ring(1);
  microseconds(5);
  EXPECT_EQ(error(1), LACUNA_QUEUE_ERROR_SIGNAL);
}

}  // namespace
}  // namespace lacuna::test
