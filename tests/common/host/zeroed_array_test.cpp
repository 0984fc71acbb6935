// Tests zero-initialised arrays that occupy host memory only where they are accessed.
#include "models/common/host/zeroed_array.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <vector>

namespace lacuna {
namespace {

/// Number of resident host pages of a range that begins at a page boundary.
std::size_t resident(const void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<void*>(memory), bytes, pages.data()), 0);
  std::size_t count = 0;
  for (const unsigned char flags : pages) count += flags & 1;
  return count;
}

struct Element {
  std::uint64_t a = 0;
  std::uint32_t b = 0;
};

class ZeroedArrayTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ZeroedArrayTest, BeginsAsZerosAndIsZeroAfterClear) {
  ZeroedArray<Element> array(GetParam());
  ASSERT_EQ(array.size(), GetParam());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < array.size(); i += 97) {
      EXPECT_EQ(array[i].a, 0U) << i;
      EXPECT_EQ(array[i].b, 0U) << i;
      array[i] = {i + 1, 7};
    }
    for (std::size_t i = 0; i < array.size(); i += 97) EXPECT_EQ(array[i].a, i + 1);
    array.clear();
  }
}

TEST_P(ZeroedArrayTest, MovesWithItsElements) {
  ZeroedArray<Element> array(GetParam());
  array[GetParam() - 1].b = 5;
  ZeroedArray<Element> other(std::move(array));
  EXPECT_TRUE(array.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other[GetParam() - 1].b, 5U);
  array = std::move(other);
  EXPECT_EQ(array.size(), GetParam());
  EXPECT_EQ(array[GetParam() - 1].b, 5U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ZeroedArrayTest, testing::Values(1, 100, 8191, 8192, 1'000'000));

TEST(ZeroedArray, OnlyAccessedPagesExist) {
  constexpr std::size_t kBytes = 64U << 20;
  ZeroedArray<std::uint64_t> array(kBytes / 8);
  EXPECT_EQ(resident(&array[0], kBytes), 0U);
  array[kBytes / 16] = 1;
  const std::size_t touched = resident(&array[0], kBytes);
  EXPECT_GE(touched, 1U);
  EXPECT_LE(touched, kBytes / 4096 / 16) << "a page, or a huge one";
  array.clear();
  EXPECT_EQ(resident(&array[0], kBytes), 0U);
  EXPECT_EQ(array[kBytes / 16], 0U);
}

// Small arrays share mappings. More arrays are allocated than fit into one mapping, and freed in a different order.
TEST(ZeroedArray, ManySmallOnesAreApartAndZero) {
  constexpr std::size_t kSize = 1000;
  for (unsigned round = 0; round < 2; ++round) {
    std::vector<ZeroedArray<std::uint64_t>> arrays;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      ZeroedArray<std::uint64_t>& array = arrays.emplace_back(kSize);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&array[0]) % 64, 0U);
      EXPECT_EQ(array[0], 0U);
      EXPECT_EQ(array[kSize - 1], 0U);
      array[0] = array[kSize - 1] = i + 1;
      if (i % 3 == 1) arrays[i / 2] = {};
    }
    for (std::uint64_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].empty()) continue;
      EXPECT_EQ(arrays[i][0], i + 1);
      EXPECT_EQ(arrays[i][kSize - 1], i + 1);
    }
  }
}

TEST(ZeroedArray, AnEmptyOneHasNoMemory) {
  ZeroedArray<std::uint64_t> none;
  EXPECT_TRUE(none.empty());
  none.clear();
  EXPECT_TRUE(ZeroedArray<std::uint64_t>(0).empty());
}

}  // namespace
}  // namespace lacuna
