#include "models/compute/memory/coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <random>
#include <vector>

namespace lacuna {
namespace {

using isa::kLanes;
using isa::MemoryAccess;

struct Access {
  MemoryAccess access;
  Coalescer::Addresses addresses{};
};

Access access(unsigned bytes, std::uint64_t lanes, auto address_of) {
  Access a;
  a.access.space = MemoryAccess::Space::global;
  a.access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  a.access.lanes = lanes;
  for (unsigned l = 0; l < kLanes; ++l) a.addresses[l] = address_of(l);
  return a;
}

TEST(Coalescer, ConsecutiveDwordsAreFourLines) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned l) { return 0x1000 + 4ull * l; });
  const auto lines = coalescer.coalesce(a.access, a.addresses);
  ASSERT_EQ(lines.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(lines[i].address, 0x1000 + 64ull * i);
    EXPECT_EQ(lines[i].byte_mask, ByteMask::first(64));
  }
}

TEST(Coalescer, MisalignedRunTouchesOneLineMore) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned l) { return 0x1004 + 4ull * l; });
  const auto lines = coalescer.coalesce(a.access, a.addresses);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].byte_mask, ByteMask(~0ull << 4));
  EXPECT_EQ(lines[4].byte_mask, ByteMask(0xf));
}

TEST(Coalescer, SameAddressIsOneLine) {
  Coalescer coalescer(64);
  const auto a = access(4, ~0ull, [](unsigned) { return 0x2008ull; });
  const auto lines = coalescer.coalesce(a.access, a.addresses);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].byte_mask, ByteMask(0xf00));
}

TEST(Coalescer, InactiveLanesAndCacheControlsMakeNoRequests) {
  Coalescer coalescer(64);
  const auto none = access(4, 0, [](unsigned l) { return 64ull * l; });
  EXPECT_TRUE(coalescer.coalesce(none.access, none.addresses).empty());
  const auto control = access(0, ~0ull, [](unsigned l) { return 64ull * l; });
  EXPECT_TRUE(coalescer.coalesce(control.access, control.addresses).empty());
}

TEST(Coalescer, WorstCaseFits) {
  Coalescer coalescer(32);
  const auto a = access(16, ~0ull, [](unsigned l) { return 0x1000ull * l + 24; });  // every lane straddles two lines
  EXPECT_EQ(coalescer.coalesce(a.access, a.addresses).size(), 2u * kLanes);
}

// Lanes return to lines of earlier lanes, near and far, with strides that are powers of two; one object serves all calls. Lines
// and their order equal those of a plain search.
TEST(Coalescer, LinesComeInOrderOfTheirFirstLane) {
  Coalescer coalescer(64);
  std::mt19937_64 random(5);
  for (unsigned call = 0; call < 3000; ++call) {
    const std::uint64_t stride = std::uint64_t{4} << random() % 20;
    const std::uint64_t places = 1 + random() % 100;
    const std::uint64_t lanes = call % 3 == 0 ? random() : ~0ull;
    const unsigned bytes = 4u << random() % 3;
    const auto a = access(bytes, lanes, [&](unsigned) { return 0x7f00'0000'0000 + random() % places * stride; });
    std::vector<CoalescedLine> expected;
    for (unsigned l = 0; l < kLanes; ++l) {
      for (unsigned byte = 0; byte < bytes && (lanes >> l & 1) != 0; ++byte) {
        const std::uint64_t at = a.addresses[l] + byte;
        auto line = std::find_if(expected.begin(), expected.end(), [at](const auto& e) { return e.address == at / 64 * 64; });
        if (line == expected.end()) line = expected.insert(line, {at / 64 * 64, ByteMask{}});
        line->byte_mask |= ByteMask(1) << at % 64;
      }
    }
    const auto lines = coalescer.coalesce(a.access, a.addresses);
    ASSERT_EQ(lines.size(), expected.size()) << call;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(lines[i].address, expected[i].address) << call;
      ASSERT_EQ(lines[i].byte_mask, expected[i].byte_mask) << call;
    }
  }
}

TEST(Coalescer, RejectsOtherLineSizes) {
  for (const unsigned bytes : {0U, 16U, 96U, 256U}) EXPECT_THROW(Coalescer{bytes}, std::invalid_argument) << bytes;
}

// Compares the lines with a map from line to bytes, for random addresses of random density.
TEST(Coalescer, CoversExactlyTheTouchedBytes) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    const unsigned line_bytes = 32U << round % 3;
    const unsigned bytes = 1u << (random() % 5);
    const std::uint64_t spread = 1ull << (4 + random() % 12);
    const std::uint64_t lanes = round % 4 == 0 ? ~0ull : random();
    const bool contiguous = round % 5 == 0;
    const std::uint64_t base = 0x10000 + random() % 256;
    // Address patterns: all lanes in one row, in rows of 8, 16 or 32 lanes anywhere, or each lane anywhere.
    const unsigned row = contiguous ? kLanes : round % 7 == 0 ? 8u << random() % 3 : 1;
    std::uint64_t start = base;
    const auto a = access(bytes, lanes, [&](unsigned l) {
      if (l % row == 0 && !contiguous) start = base + random() % spread;
      return start + std::uint64_t{l % row} * bytes;
    });
    std::map<std::uint64_t, std::bitset<ByteMask::kBytes>> expected;
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      for (unsigned b = 0; b < bytes; ++b) {
        const std::uint64_t byte = a.addresses[l] + b;
        expected[byte / line_bytes * line_bytes].set(byte % line_bytes);
      }
    }
    Coalescer coalescer(line_bytes);
    std::map<std::uint64_t, std::bitset<ByteMask::kBytes>> got;
    unsigned lane = 0;
    for (const CoalescedLine& line : coalescer.coalesce(a.access, a.addresses)) {
      std::bitset<ByteMask::kBytes> mask = line.byte_mask.high();
      mask = mask << 64 | std::bitset<ByteMask::kBytes>(line.byte_mask.low());
      EXPECT_TRUE(got.emplace(line.address, mask).second) << "line requested twice";
      // Lines are in the order of the first lane that accesses each.
      const auto touches = [&](unsigned l) {
        return (lanes >> l & 1) != 0 && a.addresses[l] < line.address + line_bytes && a.addresses[l] + bytes > line.address;
      };
      unsigned first = 0;
      while (!touches(first)) ++first;
      EXPECT_GE(first, lane);
      lane = first;
    }
    ASSERT_EQ(got, expected);
  }
}

}  // namespace
}  // namespace lacuna
