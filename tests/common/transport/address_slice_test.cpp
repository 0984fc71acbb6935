#include "models/common/transport/address_slice.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

TEST(AddressSlice, SlicesPartitionTheRangeAndPackTheirShare) {
  struct Shape {
    std::uint64_t base;
    std::uint64_t interleave;
    unsigned count;
    AddressHash hash = AddressHash::none;
  };
  // AddressSlice uses shifts for powers of two and divisions for other numbers; both are tested.
  constexpr AddressHash kFold = AddressHash::fold;
  for (const Shape& shape :
       {Shape{0x10000, 128, 4}, Shape{0x30, 48, 3}, Shape{0, 64, 6}, Shape{0x1000, 256, 1}, Shape{0x10000, 128, 4, kFold},
        Shape{0x40, 64, 2, kFold}, Shape{0, 64, 8, kFold}, Shape{0x30, 48, 1, kFold}}) {
    const std::uint64_t turns = shape.hash == kFold ? 21 : 5;
    const Bytes size{turns * shape.count * shape.interleave};
    std::vector<std::vector<bool>> seen(shape.count, std::vector<bool>(turns * shape.interleave, false));
    for (std::uint64_t offset = 0; offset < size.n; ++offset) {
      const std::uint64_t address = shape.base + offset;
      unsigned owners = 0;
      for (unsigned i = 0; i < shape.count; ++i) {
        const AddressSlice slice(shape.base, size, Bytes{shape.interleave}, shape.count, i, shape.hash);
        if (!slice.contains(address, 1)) continue;
        ++owners;
        EXPECT_EQ(slice.owner(address), i);
        EXPECT_EQ(slice.address(i, slice.local(address)), address);
        ASSERT_LT(slice.local(address), seen[i].size());
        EXPECT_FALSE(seen[i][slice.local(address)]) << "two addresses share a local one";
        seen[i][slice.local(address)] = true;
      }
      ASSERT_EQ(owners, 1u) << address;
    }
  }
}

// With a hash, `count` addresses at a distance of any power of two from 128 on belong to `count` different slices. Without a
// hash, they belong to a single slice if the distance is at least 128 * `count`.
TEST(AddressSlice, AHashSpreadsStridesOfPowersOfTwo) {
  constexpr std::uint64_t kBase = 0x80'0000'0000;
  constexpr Bytes kSize{std::uint64_t{1} << 36};
  for (const unsigned count : {2U, 16U, 32U}) {
    const AddressSlice plain(kBase, kSize, 128_B, count, 0);
    const AddressSlice hashed(kBase, kSize, 128_B, count, 0, AddressHash::fold);
    for (std::uint64_t stride = 128; stride * count <= kSize.n; stride *= 2) {
      std::set<unsigned> of_plain;
      std::set<unsigned> of_hashed;
      for (unsigned i = 0; i < count; ++i) {
        of_plain.insert(plain.owner(kBase + i * stride));
        of_hashed.insert(hashed.owner(kBase + i * stride));
      }
      EXPECT_EQ(of_hashed.size(), count) << count << " slices, stride " << stride;
      EXPECT_EQ(of_plain.size() == 1, stride >= 128 * std::uint64_t{count});
    }
  }
}

// Linux: bit i of MI200's channel is the XOR of address bits 8 + i, 16 + i, 21 + i and 30 + i; bits 13 to 15 select none.
TEST(AddressSlice, TheHashOfMi200) {
  constexpr std::uint64_t kBase = 0x80'0000'0000;
  constexpr Bytes kSize{std::uint64_t{1} << 36};
  const AddressSlice slice(kBase, kSize, 256_B, 32, 0, AddressHash::mi200);
  for (unsigned bit = 8; bit < 36; ++bit) {
    unsigned expected = 0;
    for (const unsigned group : {8U, 16U, 21U, 30U}) {
      if (bit >= group && bit < group + 5) expected ^= 1U << (bit - group);
    }
    EXPECT_EQ(slice.owner(kBase + (std::uint64_t{1} << bit)), expected) << "bit " << bit;
    // The hash is linear: the bits below, which are all set, add what they select on their own.
    const std::uint64_t below = (std::uint64_t{1} << bit) - 256;
    EXPECT_EQ(slice.owner(kBase + (below | std::uint64_t{1} << bit)), expected ^ slice.owner(kBase + below)) << "bit " << bit;
  }
  for (std::uint64_t offset = 0; offset < kSize.n; offset += 0x123'4567) {
    const std::uint64_t address = kBase + offset;
    EXPECT_EQ(slice.address(slice.owner(address), slice.local(address)), address);
  }
  EXPECT_NO_THROW(AddressSlice(0, 0x100000_B, 2048_B, 32, 0, AddressHash::mi200)) << "turns of 64 KiB";
  EXPECT_THROW(AddressSlice(0, 0x100000_B, 4096_B, 32, 0, AddressHash::mi200), std::invalid_argument) << "turns of 128 KiB";
}

TEST(AddressSlice, AHashRefusesWhatItCannotSpread) {
  EXPECT_THROW(AddressSlice(0, 0x1200_B, 128_B, 12, 0, AddressHash::fold), std::invalid_argument);
  EXPECT_THROW(AddressSlice(0, 0x1200_B, 96_B, 16, 0, AddressHash::fold), std::invalid_argument);
  EXPECT_THROW(AddressSlice(0, 0x880_B, 128_B, 16, 0, AddressHash::fold), std::invalid_argument) << "one turn and a chunk";
  EXPECT_NO_THROW(AddressSlice(0, 0x800_B, 128_B, 16, 0, AddressHash::fold));
}

TEST(AddressSlice, ChunkBoundaries) {
  const AddressSlice slice(0x1000, 0x400_B, 0x80_B, 2, 1);
  EXPECT_FALSE(slice.contains(0xfff, 1));
  EXPECT_FALSE(slice.contains(0x1000, 1));
  EXPECT_TRUE(slice.contains(0x1080, 0x80));
  EXPECT_FALSE(slice.contains(0x1080, 0x81));
  EXPECT_TRUE(slice.contains(0x10ff, 1));
  EXPECT_FALSE(slice.contains(0x10ff, 2));
  EXPECT_TRUE(slice.contains(0x1380, 0x80));
  EXPECT_FALSE(slice.contains(0x1480, 1));
  EXPECT_EQ(slice.chunk_begin(0x10c0), 0x1080u);
  EXPECT_EQ(slice.chunk_last(0x10c0), 0x10ffu);
}

TEST(AddressSlice, ALastChunkThatIsCutShort) {
  const AddressSlice slice(0, 0x140_B, 0x100_B, 2, 1);
  EXPECT_EQ(slice.chunk_last(0x120), 0x13fu);
  EXPECT_TRUE(slice.contains(0x100, 0x40));
  EXPECT_FALSE(slice.contains(0x100, 0x41));
}

}  // namespace
}  // namespace lacuna
