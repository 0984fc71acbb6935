// Tests packet fetch: parts of packets, the end of the ring, indirect buffers and read-ahead.
#include "models/sdma/sdma_ring_reader.h"

#include "include/lacuna/abi/gpu_registers.h"
#include "tests/sdma/sdma_parts_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaPartsBench)

class SdmaRingReaderTest : public SdmaPartsTest {
 protected:
  using Fetched = SdmaRingReader::Fetched;
  void put(const Words& words) {
    for (const std::uint32_t word : words) {
      b_.at<std::uint32_t>(queue_.written % kRingBytes) = word;
      queue_.written += 4;
    }
  }
  Words fetched() const { return {reader_.words().begin(), reader_.words().end()}; }

  const sdma::Format format_ = sdma::Format::of(isa::Target::gfx90a, {});
  SdmaRingReader reader_{parameters_, format_, memory_, timeline_, notifier_};
};

TEST_F(SdmaRingReaderTest, WaitsForTheLastWord) {
  EXPECT_EQ(reader_.fetch(queue_), Fetched::nothing);
  put(fence(kBase + kWords, 7));
  queue_.written -= 4;
  EXPECT_EQ(reader_.fetch(queue_), Fetched::nothing);
  EXPECT_STREQ(queue_.waiting_for, "the rest of a packet");
  queue_.written += 4;
  EXPECT_EQ(reader_.fetch(queue_), Fetched::packet);
  EXPECT_EQ(fetched(), fence(kBase + kWords, 7));
}

TEST_F(SdmaRingReaderTest, PacketsWrapAtTheEndOfTheRing) {
  queue_.read = queue_.written = queue_.prefetched = kRingBytes - 8;
  put(fence(kBase + kWords, 7));
  EXPECT_EQ(reader_.fetch(queue_), Fetched::packet);
  EXPECT_EQ(fetched(), fence(kBase + kWords, 7));
}

TEST_F(SdmaRingReaderTest, EachLineIsReadOnce) {
  put(trap(1));
  put(trap(2));
  const Tick start = timeline_.at();
  EXPECT_EQ(reader_.fetch(queue_), Fetched::packet);
  EXPECT_EQ(timeline_.at() - start, Tick{100'000});
  queue_.read = 8;
  EXPECT_EQ(reader_.fetch(queue_), Fetched::packet);
  EXPECT_EQ(fetched(), trap(2));
  ASSERT_EQ(b_.memory.requests.size(), 1U);
  EXPECT_EQ(b_.memory.requests[0].address, kPhysical);
  EXPECT_EQ(b_.memory.requests[0].bytes, 64U);
}

TEST_F(SdmaRingReaderTest, IndirectBuffersHoldWholePackets) {
  const Words words = fence(kBase, 9);
  std::memcpy(&b_.at<std::uint32_t>(kWords), words.data(), words.size() * 4);
  queue_.buffer = SdmaQueue::IndirectBuffer{.address = kBase + kWords, .words = 4};
  EXPECT_EQ(reader_.fetch(queue_), Fetched::packet);
  EXPECT_EQ(fetched(), words);
  EXPECT_TRUE(b_.memory.requests.empty());
  queue_.buffer->words = 3;
  EXPECT_EQ(reader_.fetch(queue_), Fetched::stopped);
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_NONE));
}

TEST_F(SdmaRingReaderTest, ARingThatIsUnmappedStopsTheQueue) {
  put(trap(1));
  queue_.description.ring = kBase - 0x10000;
  EXPECT_EQ(reader_.fetch(queue_), Fetched::stopped);
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_NOT_MAPPED));
}

}  // namespace
}  // namespace lacuna::test
