// Tests the rings, packets and queues of SDMA engines.
#include "tests/sdma/sdma_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaBench)

class SdmaEngineTest : public SdmaTest {};

// Packets wrap around at the end of the ring; pointers wrap on gfx8 and only increase on gfx9.
TEST_F(SdmaEngineTest, RingsWrap) {
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9}) {
    Ring r = open(engine);
    const std::uint32_t less = engine == SdmaBench::gfx8 ? 0 : 1;
    for (std::uint32_t i = 0; i < 200; ++i) {
      Words write = {2, low(kBase + kTarget + 64 * i), high(kBase), 9 - less};
      for (std::uint32_t word = 0; word < 9; ++word) write.push_back(i * 16 + word);
      put(r, write);
      ring(r);
      microseconds(3);
      ASSERT_EQ(read_pointer(r) & 0xffff'ffff, engine == SdmaBench::gfx8 ? r.written % kRingBytes : r.written) << i;
      for (std::uint32_t word = 0; word < 9; ++word) {
        ASSERT_EQ(b_.at<std::uint32_t>(kTarget + 64 * i + 4 * word), i * 16 + word) << i << ' ' << word;
      }
    }
    b_.engine(engine).reset();
  }
}

TEST_F(SdmaEngineTest, AnIncompletePacketWaitsForItsRest) {
  Ring r = open();
  const Words words = fence(kBase + kWords, 0x1234);
  b_.at<std::uint32_t>(kWords) = 0;
  put(r, {words[0], words[1]});
  ring(r);
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0u);
  EXPECT_EQ(read_pointer(r), 0u);
  put(r, {words[2], words[3]});
  ring(r);
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0x1234u);
}

TEST_F(SdmaEngineTest, PollsDelayTheirQueueOnly) {
  Ring waiting = open();
  Ring other = open();
  b_.at<std::uint64_t>(kWords) = 1;
  b_.at<std::uint32_t>(kWords + 8) = 0;
  b_.at<std::uint32_t>(kWords + 12) = 0;
  run(waiting, {poll(kBase + kWords, 3, 0), fence(kBase + kWords + 8, 1)}, 20);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 0u);
  EXPECT_FALSE(idle(waiting));
  EXPECT_TRUE(b_.engine(waiting.engine).polling());
  run(other, {fence(kBase + kWords + 12, 1)}, 5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 12), 1u);
  b_.at<std::uint64_t>(kWords) = 0;
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_TRUE(idle(waiting));
  EXPECT_FALSE(b_.engine(waiting.engine).polling());
}

TEST_F(SdmaEngineTest, DoorbellsOfOtherQueuesDoNotDelayPolls) {
  Ring waiting = open();
  Ring other = open();
  b_.at<std::uint64_t>(kWords) = 1;
  put(waiting, poll(kBase + kWords, 3, 0));
  ring(waiting);
  constexpr Tick kMoment{50'000};
  const auto next_poll = [&] {
    const std::uint64_t before = b_.engine(waiting.engine).statistics().polls;
    while (b_.engine(waiting.engine).statistics().polls == before) wait_for(kMoment);
    return kernel_time();
  };
  next_poll();
  const Tick first = next_poll(), begin = next_poll();
  wait_for(Tick{900'000});
  put(other, fence(kBase + kWords + 12, 1));
  ring(other);
  // The other queue's packet occupies the engine for some 100 ns. If its doorbell restarted the polling interval, the poll
  // would be about 800 ns late.
  EXPECT_LE(next_poll() - begin, begin - first + kMoment * 6);
}

TEST_F(SdmaEngineTest, PollsGiveUpAfterTheirRetries) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 1;
  b_.at<std::uint32_t>(kWords + 8) = 0;
  const std::uint64_t polls = b_.engine(r.engine).statistics().polls;
  run(r, {poll(kBase + kWords, 3, 0, 4), fence(kBase + kWords + 8, 1)}, 20);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_EQ(b_.engine(r.engine).statistics().polls - polls, 5u);
  // An HDP flush is a poll without a memory address, and is satisfied immediately.
  Words flush = poll(0, 0, 0);
  flush[0] = 8 | 1u << 26;
  run(r, {flush, fence(kBase + kWords + 8, 2)}, 5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 2u);
}

TEST_F(SdmaEngineTest, AtomicsChangeSignals) {
  Ring r = open();
  b_.at<std::int64_t>(kWords) = 1;
  run(r, {atomic(47, kBase + kWords, ~std::uint64_t{0})}, 5);
  EXPECT_EQ(b_.at<std::int64_t>(kWords), 0);
  run(r, {atomic(47, kBase + kWords, ~std::uint64_t{0})}, 5);
  EXPECT_EQ(b_.at<std::int64_t>(kWords), -1);
  // 32-bit operations do not change adjacent words.
  run(r, {atomic(15, kBase + kWords + 4, 2)}, 5);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 0x1'ffff'ffffu);
  // A looping compare and exchange waits for the value and blocks its queue.
  b_.at<std::uint64_t>(kWords) = 5;
  run(r, {atomic(40, kBase + kWords, 9, 6, true), fence(kBase + kWords + 16, 0x77)}, 10);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 5u);
  EXPECT_NE(b_.at<std::uint32_t>(kWords + 16), 0x77u);
  b_.at<std::uint64_t>(kWords) = 6;
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 9u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 16), 0x77u);
}

TEST_F(SdmaEngineTest, TimestampsCountTheTimestampClock) {
  Ring r = open();
  run(r, {timestamp(2, kBase + kWords), copy(kBase + kSource, kBase + kTarget, 32768), timestamp(2, kBase + kWords + 32)});
  const std::uint64_t first = b_.at<std::uint64_t>(kWords);
  const std::uint64_t second = b_.at<std::uint64_t>(kWords + 32);
  EXPECT_GE(first, start_.ps / 10'000);
  EXPECT_LE(second, now().ps / 10'000);
  // In units of 10 ns: 1,024 cycles (102.4) and 200 ns (20) for the copy, and about 400 ns (40) for the packets.
  EXPECT_NEAR(static_cast<double>(second - first), 102.4 + 20 + 40, 25);
  // The engine's local counter continues from the value to which it is set.
  run(r, {timestamp(0, 1'000'000), timestamp(1, kBase + kWords)}, 5);
  EXPECT_NEAR(static_cast<double>(b_.at<std::uint64_t>(kWords)), 1'000'000, 60);
  run(r, {timestamp(2, kBase + kWords)}, 5);
  EXPECT_NEAR(static_cast<double>(b_.at<std::uint64_t>(kWords)), static_cast<double>(now().ps) / 10'000, 600);
}

TEST_F(SdmaEngineTest, ConditionalPacketsAreSkippedOrNot) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 1;
  b_.at<std::uint64_t>(kWords + 8) = 0;
  const Words if_one = {9, low(kBase + kWords), high(kBase), 1, 4};
  const Words if_two = {9, low(kBase + kWords), high(kBase), 2, 4};
  run(r, {if_one, fence(kBase + kWords + 8, 1), if_two, fence(kBase + kWords + 12, 1), trap(9)});
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 12), 0u);
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  EXPECT_EQ(read_pointer(r), r.written);
}

TEST_F(SdmaEngineTest, IndirectBuffersAreExecutedInPlace) {
  Ring r = open();
  const auto before = snapshot();
  Words buffer = copy(kBase + kSource, kBase + kTarget, 100);
  const Words end = fence(kBase + kWords, 0x99);
  buffer.insert(buffer.end(), end.begin(), end.end());
  std::memcpy(&b_.at<std::byte>(kWords + 0x100), buffer.data(), buffer.size() * 4);
  const auto indirect = [&](std::size_t words) -> Words {
    return {4, low(kBase + kWords + 0x100), high(kBase), static_cast<std::uint32_t>(words), 0, 0};
  };
  run(r, {indirect(buffer.size()), fence(kBase + kWords + 4, 0x98)});
  EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 100), 0);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0x99u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 4), 0x98u);
  EXPECT_EQ(read_pointer(r), r.written);
  // An indirect buffer that ends in the middle of a packet is a fault.
  run(r, {indirect(buffer.size() - 1)});
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_NE(b_.listener.faults[0].text.find("indirect buffer ends"), std::string::npos) << b_.listener.faults[0].text;
}

TEST_F(SdmaEngineTest, InvalidPacketsStopTheirQueueOnly) {
  struct Row {
    Words words;
    std::uint32_t code;
    std::uint64_t address;
    bool write;
    const char* says;
  };
  const std::uint64_t end = kBase + kBytes;
  const Row rows[] = {
      {copy(end - 64, kBase + kTarget, 256), LACUNA_FAULT_NOT_MAPPED, end, false, "not mapped"},
      {copy(kBase + kSource, end - 128, 256), LACUNA_FAULT_NOT_MAPPED, end, true, "0 bytes past the end of the mapping"},
      {fill(kReadOnly, 1, 64), LACUNA_FAULT_NOT_PERMITTED, kReadOnly, true, "not writable"},
      {copy(kNoBus, kBase + kTarget, 64), LACUNA_FAULT_NOT_MAPPED, kNoBus, false, "nothing answers at bus address 0x1000"},
      {fence(kBase + kWords + 2, 1), LACUNA_FAULT_MISALIGNED, kBase + kWords + 2, true, "not a multiple of 4"},
      {atomic(47, kBase + kWords + 4, 1), LACUNA_FAULT_MISALIGNED, kBase + kWords + 4, true, "not a multiple of 8"},
      {poll(0x1000, 3, 0), LACUNA_FAULT_NOT_MAPPED, 0x1000, false, "not mapped"},
      {{0x0c, 0, 0, 0}, LACUNA_FAULT_NONE, 0, false, "operation 12, sub-operation 0 is not supported"},
      {{2, 0, 0, 5000}, LACUNA_FAULT_NONE, 0, false, "packet of 5005 words"},
      {{4, 0x2000, 0, 16, 0, 0}, LACUNA_FAULT_NOT_MAPPED, 0x2000, false, "indirect buffer at 0x2000"},
  };
  for (const Row& row : rows) {
    b_.listener = {};
    Ring bad = open();
    Ring good = open();
    b_.at<std::uint32_t>(kWords + 64) = 0;
    run(bad, {Words{0}, row.words, fence(kBase + kWords + 64, 1)}, 5);
    run(good, {fence(kBase + kWords + 68, 0x1111)}, 5);
    ASSERT_EQ(b_.listener.faults.size(), 1u) << row.says;
    const SdmaFault& fault = b_.listener.faults[0];
    EXPECT_EQ(fault.queue, bad.queue);
    EXPECT_EQ(fault.code, row.code) << fault.text;
    EXPECT_EQ(fault.address, row.address) << fault.text;
    EXPECT_EQ(fault.write, row.write) << fault.text;
    EXPECT_NE(fault.text.find(row.says), std::string::npos) << fault.text;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords + 64), 0u) << row.says;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords + 68), 0x1111u) << row.says;
    EXPECT_LE(read_pointer(bad), 4u + 24u) << row.says;
    EXPECT_TRUE(idle(bad)) << row.says;
    b_.at<std::uint32_t>(kWords + 68) = 0;
    b_.engine(bad.engine).reset();
    made_ = 0;
  }
}

TEST_F(SdmaEngineTest, WritePointersBeyondTheRingStopTheQueue) {
  Ring r = open();
  EXPECT_TRUE(b_.engine(r.engine).ring(r.queue, kRingBytes + 4));
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_NE(b_.listener.faults[0].text.find("write pointer 0x1004"), std::string::npos) << b_.listener.faults[0].text;
}

// Memory is not accessed after destroy_queue() has returned, even if a copy was in flight.
TEST_F(SdmaEngineTest, DestroyedQueuesDoNotAccessMemory) {
  Ring r = open();
  put(r, copy(kBase + kSource, kBase + kTarget, 256 * 1024));
  put(r, fence(kBase + kWords, 0x4711));
  ring(r);
  microseconds(2);
  const auto before = snapshot();
  EXPECT_NE(std::memcmp(&b_.at<std::byte>(kTarget), &b_.at<std::byte>(kSource), 256 * 1024), 0);
  EXPECT_TRUE(b_.engine(r.engine).destroy_queue(r.queue));
  EXPECT_FALSE(b_.engine(r.engine).destroy_queue(r.queue));
  EXPECT_FALSE(b_.engine(r.engine).ring(r.queue, 4));
  b_.vm.clear();
  microseconds(50);
  EXPECT_EQ(before, b_.bytes);
  EXPECT_TRUE(b_.listener.faults.empty());
}

TEST_F(SdmaEngineTest, ResumedQueuesContinue) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 0;
  EXPECT_TRUE(b_.engine(r.engine).suspend_queue(r.queue, true));
  run(r, {fence(kBase + kWords, 5)}, 10);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0u);
  EXPECT_TRUE(idle(r));
  EXPECT_TRUE(b_.engine(r.engine).suspend_queue(r.queue, false));
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 5u);
  EXPECT_FALSE(b_.engine(r.engine).suspend_queue(99, true));
}

TEST_F(SdmaEngineTest, QueuesShareTheEngineRoundRobin) {
  Ring a = open();
  Ring b = open();
  for (unsigned i = 0; i < 8; ++i) {
    put(a, trap(i));
    put(b, trap(100 + i));
  }
  ring(a);
  ring(b);
  microseconds(20);
  ASSERT_EQ(b_.listener.traps.size(), 16u);
  for (unsigned i = 0; i + 1 < 16; ++i) EXPECT_NE(b_.listener.traps[i].queue, b_.listener.traps[i + 1].queue) << i;
}

TEST_F(SdmaEngineTest, InvalidDescriptionsAreRefused) {
  SdmaEngine& engine = b_.engine(SdmaBench::gfx9);
  const SdmaQueueDescription good{.ring = kBase, .ring_bytes = kRingBytes, .read_pointer = kBase + kPointers, .name = "test"};
  const auto refused = [&](auto change) {
    SdmaQueueDescription description = good;
    change(description);
    return !engine.create_queue(description).has_value();
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& d) { d.ring_bytes = 3000; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring_bytes = 128; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring += 4; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring = 0x1000; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring = kBase + kBytes - 256; }));
  EXPECT_TRUE(refused([](auto& d) { d.read_pointer += 4; }));
  EXPECT_TRUE(refused([](auto& d) { d.read_pointer = kReadOnly; }));
  // Ids are never 0, and differ also between the engines of a GPU.
  const auto first = engine.create_queue(good);
  const auto second = engine.create_queue(good);
  const auto other = b_.engine(SdmaBench::gfx8).create_queue(good);
  EXPECT_NE(first, second);
  EXPECT_NE(*first % 2, *other % 2);
  EXPECT_NE(*first, 0u);
}

}  // namespace
}  // namespace lacuna::test
