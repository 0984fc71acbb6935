#include "models/common/address_slice.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

using namespace literals;

TEST(AddressSlice, SlicesPartitionTheRangeAndPackTheirShare) {
  struct Shape {
    std::uint64_t base;
    std::uint64_t interleave;
    unsigned count;
  };
  // Powers of two take shifts, the others divisions.
  for (const Shape& shape : {Shape{0x10000, 128, 4}, Shape{0x30, 48, 3}, Shape{0, 64, 6}, Shape{0x1000, 256, 1}}) {
    const std::uint64_t chunks = 5 * shape.count;
    const Bytes size{chunks * shape.interleave};
    std::vector<std::vector<bool>> seen(shape.count, std::vector<bool>(5 * shape.interleave, false));
    for (std::uint64_t offset = 0; offset < size.n; ++offset) {
      const std::uint64_t address = shape.base + offset;
      unsigned owners = 0;
      for (unsigned i = 0; i < shape.count; ++i) {
        const AddressSlice slice(shape.base, size, Bytes{shape.interleave}, shape.count, i);
        if (!slice.contains(address, 1)) continue;
        ++owners;
        EXPECT_EQ(slice.owner(address), i);
        ASSERT_LT(slice.local(address), seen[i].size());
        EXPECT_FALSE(seen[i][slice.local(address)]) << "two addresses share a local one";
        seen[i][slice.local(address)] = true;
      }
      ASSERT_EQ(owners, 1u) << address;
    }
  }
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
