// Tests copies and fills of SDMA engines: the value of every byte, and the time that copies take.
#include "tests/sdma/sdma_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaBench)

class SdmaCopyTest : public SdmaTest {};

TEST_F(SdmaCopyTest, CopiesThenFencesThenTraps) {
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9, SdmaBench::functional, SdmaBench::serial}) {
    b_.listener = {};
    Ring r = open(engine);
    const auto before = snapshot();
    const std::uint32_t less = engine == SdmaBench::gfx8 ? 0 : 1;
    run(r, {copy(kBase + kSource, kBase + kTarget, 5000, less), fence(kBase + kWords, 0xabcd), trap(77)});
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 5000), 0) << engine;
    EXPECT_EQ(b_.at<std::byte>(kTarget + 5000), before[kTarget + 5000]) << engine;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0xabcdu);
    ASSERT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_EQ(b_.listener.traps[0].context, 77u);
    EXPECT_EQ(b_.listener.traps[0].queue, r.queue);
    EXPECT_EQ(read_pointer(r) & 0xffff'ffff, r.written);
    EXPECT_TRUE(idle(r));
    b_.engine(engine).reset();
    for (std::byte& byte : b_.bytes) byte ^= std::byte{0x5a};
  }
}

// A fence signals that the data are in memory: it must not be visible before memory has accepted the copy's last write.
TEST_F(SdmaCopyTest, FenceIsWrittenWhenAllDataAreInMemory) {
  Ring r = open();
  run(r, {copy(kBase + kSource, kBase + kTarget, 4096), fence(kBase + kWords, 1)});
  const auto& requests = b_.memories[SdmaBench::gfx9]->requests;
  Tick last_data{};
  unsigned lines = 0;
  for (const auto& request : requests) {
    if (!request.write || request.bytes != 64) continue;
    last_data = later(last_data, request.at + Tick{100'000});
    ++lines;
  }
  ASSERT_EQ(lines, 4096U / 64);
  EXPECT_EQ(requests.back().bytes, 4u);
  EXPECT_GE(requests.back().at, last_data);
}

// The ring's line is read (100 ns), the packet is decoded (100 cycles), a line departs every two cycles, and the last line is
// read and written (200 ns). The trap's packet is decoded in the meantime.
TEST_F(SdmaCopyTest, CopiesTakeTheTimeOfTheirBytes) {
  struct Row {
    std::uint32_t size;
    std::uint64_t ns;
  };
  const Row rows[] = {{64, 400}, {128, 402}, {4096, 526}, {65536, 2446}};
  for (const Row& row : rows) {
    b_.listener = {};
    Ring r = open();
    wait_for(Tick{1'000'000 - now().ps % 1'000'000});
    const Tick start = now();
    run(r, {copy(kBase + kSource, kBase + kTarget, row.size), trap(0)});
    ASSERT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_NEAR(static_cast<double>((b_.listener.traps[0].at - start).ps) / 1000, static_cast<double>(row.ns), 1) << row.size;
    b_.engine(r.engine).reset();
  }
}

TEST_F(SdmaCopyTest, OneRequestInFlightWaitsForEachWrite) {
  Ring r = open(SdmaBench::serial);
  run(r, {copy(kBase + kSource, kBase + kTarget, 6400), trap(0)});
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  // 100 lines, each read and written before the next (200 ns), plus about 300 ns for fetching and decoding the packets.
  EXPECT_NEAR(static_cast<double>(since_start(b_.listener.traps[0].at).ps) / 1000, 100 * 200 + 300, 110);
}

TEST_F(SdmaCopyTest, FunctionalTakesTimeButNoRequests) {
  Ring r = open(SdmaBench::functional);
  run(r, {copy(kBase + kSource, kBase + kTarget, 64 * 1024), fence(kBase + kWords, 3), trap(0)});
  EXPECT_TRUE(b_.memories[SdmaBench::functional]->requests.empty());
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  EXPECT_NEAR(static_cast<double>(since_start(b_.listener.traps[0].at).ps) / 1000, 2048 + 300, 60);
}

TEST_F(SdmaCopyTest, EveryMisalignmentCopiesEveryByte) {
  Ring r = open();
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 70; to += 23) {
      for (const std::uint32_t size : {1u, 3u, 63u, 64u, 65u, 191u}) {
        auto expected = snapshot();
        std::memcpy(&expected[kTarget + to], &expected[kSource + from + 61], size);
        put(r, copy(kBase + kSource + from + 61, kBase + kTarget + to, size));
        ring(r);
        microseconds(3);
        ASSERT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &expected[kTarget], 512), 0) << from << ' ' << to << ' ' << size;
      }
    }
  }
  // No line is read or written twice for one copy.
  b_.memories[r.engine]->requests.clear();
  run(r, {copy(kBase + kSource + 5, kBase + kTarget + 40, 640)});
  std::size_t reads = 0;
  std::size_t writes = 0;
  for (const auto& request : b_.memories[r.engine]->requests) {
    if (request.address >= kPhysical + kTarget) ++writes;
    if (request.address >= kPhysical + kSource && request.address < kPhysical + kTarget) ++reads;
  }
  EXPECT_EQ(reads, 11u);
  EXPECT_EQ(writes, 11u);
}

TEST_F(SdmaCopyTest, BroadcastWritesBothDestinations) {
  for (const Engine engine : {SdmaBench::gfx9, SdmaBench::functional}) {
    Ring r = open(engine);
    const auto before = snapshot();
    Words words = copy(kBase + kSource, kBase + kTarget, 300);
    words[0] |= 1u << 27;
    words.insert(words.end(), {low(kBase + kTarget + 0x1011), high(kBase + kTarget)});
    run(r, {words});
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 300), 0);
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget + 0x1011), &before[kSource], 300), 0);
    EXPECT_EQ(b_.at<std::byte>(kTarget + 0x1010), before[kTarget + 0x1010]);
    b_.engine(engine).reset();
    for (std::byte& byte : b_.bytes) byte ^= std::byte{0x5a};
  }
}

TEST_F(SdmaCopyTest, SubWindowsCopyABox) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9}) {
    Ring r = open(engine);
    for (int i = 0; i < 20; ++i) {
      const unsigned log_element = below(5);
      const unsigned element = 1U << log_element;
      const std::uint32_t width = 1 + below(20), height = 1 + below(6), depth = 1 + below(4);
      struct Array {
        std::uint32_t x, y, z, pitch, slice;
      } from{below(4), below(3), below(2), 24 + below(10), 0}, to{below(4), below(3), below(2), 24 + below(10), 0};
      from.slice = from.pitch * 10;
      to.slice = to.pitch * 9;
      auto expected = snapshot();
      for (std::uint32_t z = 0; z < depth; ++z) {
        for (std::uint32_t y = 0; y < height; ++y) {
          const auto row = [&](const Array& a) {
            return std::uint64_t{(a.z + z) * a.slice + (a.y + y) * a.pitch + a.x} * element;
          };
          std::memcpy(&expected[kTarget + row(to)], &expected[kSource + row(from)], std::size_t{width} * element);
        }
      }
      Words words = {1 | 4u << 8 | log_element << 29};
      for (const auto& [base, a] : {std::pair{kBase + kSource, from}, {kBase + kTarget, to}}) {
        words.insert(words.end(), {low(base), high(base), a.x | a.y << 16, a.z | (a.pitch - 1) << 13, a.slice - 1});
      }
      words.insert(words.end(), {(width - 1) | (height - 1) << 16, depth - 1});
      run(r, {words});
      ASSERT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &expected[kTarget], kBytes - kTarget), 0) << i;
    }
    b_.engine(engine).reset();
  }
}

TEST_F(SdmaCopyTest, FillsRepeatTheirUnit) {
  Ring r = open();
  const auto before = snapshot();
  const std::uint64_t written = b_.engine(r.engine).statistics().bytes_written;
  run(r, {fill(kBase + kTarget + 4, 0x04030201, 1000), fill(kBase + kTarget + 0x1000, 0xbbaa, 130, 1),
          fill(kBase + kTarget + 0x2001, 0x77, 67, 0)});
  EXPECT_EQ(b_.at<std::byte>(kTarget + 3), before[kTarget + 3]);
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 4 + i), i % 4 + 1) << i;
  EXPECT_EQ(b_.at<std::byte>(kTarget + 1004), before[kTarget + 1004]);
  for (unsigned i = 0; i < 130; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 0x1000 + i), i % 2 != 0 ? 0xbb : 0xaa) << i;
  for (unsigned i = 0; i < 67; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 0x2001 + i), 0x77) << i;
  EXPECT_EQ(b_.at<std::byte>(kTarget + 0x2001 + 67), before[kTarget + 0x2001 + 67]);
  EXPECT_EQ(b_.engine(r.engine).statistics().bytes_written - written, 1000u + 130u + 67u);
}

}  // namespace
}  // namespace lacuna::test
