#include "models/gpu/coalescer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace lacuna {
namespace {

using isa::kLanes;
using isa::MemoryAccess;

std::unique_ptr<MemoryAccess> access(unsigned bytes, std::uint64_t lanes, auto address_of) {
  auto a = std::make_unique<MemoryAccess>();
  a->space = MemoryAccess::Space::global;
  a->bytes_per_lane = static_cast<std::uint8_t>(bytes);
  a->lanes = lanes;
  for (unsigned l = 0; l < kLanes; ++l) a->address[l] = address_of(l);
  return a;
}

TEST(Coalescer, ConsecutiveDwordsAreFourLines) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned l) { return 0x1000 + 4ull * l; });
  const auto lines = coalescer.coalesce(*a);
  ASSERT_EQ(lines.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(lines[i].address, 0x1000 + 64ull * i);
    EXPECT_EQ(lines[i].byte_mask, ~0ull);
  }
}

TEST(Coalescer, MisalignedRunTouchesOneLineMore) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned l) { return 0x1004 + 4ull * l; });
  const auto lines = coalescer.coalesce(*a);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].byte_mask, ~0ull << 4);
  EXPECT_EQ(lines[4].byte_mask, 0xfull);
}

TEST(Coalescer, SameAddressIsOneLine) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned) { return 0x2008ull; });
  const auto lines = coalescer.coalesce(*a);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].byte_mask, 0xf00ull);
}

TEST(Coalescer, InactiveLanesAndCacheControlsMakeNoRequests) {
  Coalescer coalescer(64);
  const auto none = access(4, 0, [](unsigned l) { return 64ull * l; });
  EXPECT_TRUE(coalescer.coalesce(*none).empty());
  const auto control = access(0, ~0ull, [](unsigned l) { return 64ull * l; });
  EXPECT_TRUE(coalescer.coalesce(*control).empty());
}

TEST(Coalescer, WorstCaseFits) {
  Coalescer coalescer(32);
  const auto a = access(16, ~0ull, [](unsigned l) { return 0x1000ull * l + 24; });  // every lane straddles two lines
  EXPECT_EQ(coalescer.coalesce(*a).size(), 2u * kLanes);
}

TEST(Coalescer, RejectsOtherLineSizes) { EXPECT_THROW(Coalescer(128), std::invalid_argument); }

// Against a map from byte to line, for random addresses of random density.
TEST(Coalescer, CoversExactlyTheTouchedBytes) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    const unsigned line_bytes = round % 2 == 0 ? 64 : 32;
    const unsigned bytes = 1u << (random() % 5);
    const std::uint64_t spread = 1ull << (4 + random() % 12);
    const std::uint64_t lanes = round % 3 == 0 ? ~0ull : random();
    const bool contiguous = round % 5 == 0;
    const std::uint64_t base = 0x10000 + random() % 256;
    const auto a = access(bytes, lanes,
                          [&](unsigned l) { return contiguous ? base + std::uint64_t{l} * bytes : base + random() % spread; });
    std::map<std::uint64_t, std::uint64_t> expected;
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      for (unsigned b = 0; b < bytes; ++b) {
        const std::uint64_t byte = a->address[l] + b;
        expected[byte / line_bytes * line_bytes] |= 1ull << (byte % line_bytes);
      }
    }
    Coalescer coalescer(line_bytes);
    std::map<std::uint64_t, std::uint64_t> got;
    for (const LineRequest& line : coalescer.coalesce(*a)) {
      EXPECT_TRUE(got.emplace(line.address, line.byte_mask).second) << "line requested twice";
    }
    ASSERT_EQ(got, expected);
  }
}

}  // namespace
}  // namespace lacuna
