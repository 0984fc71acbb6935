#include "models/tlb/gpuvm.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

namespace lacuna {
namespace {

constexpr isa::Access kReadWrite = isa::Access::read_write;

class GpuVmTest : public testing::Test {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(64 * GpuVm::kPage);
  GpuVm vm_;
  std::byte* host(std::uint64_t page) { return memory_.data() + page * GpuVm::kPage; }
};

TEST_F(GpuVmTest, FindsTheWindowAroundAnAddress) {
  ASSERT_EQ(vm_.map(0x10000, 2 * GpuVm::kPage, 0x8000'0000, host(3), kReadWrite), GpuVm::Status::ok);
  const isa::MemoryWindow w = vm_.find(0x10000 + GpuVm::kPage + 5);
  EXPECT_EQ(w.base, 0x10000u);
  EXPECT_EQ(w.size, 2 * GpuVm::kPage);
  EXPECT_EQ(w.physical, 0x8000'0000u);
  EXPECT_EQ(w.host, host(3));
  EXPECT_EQ(vm_.find(0xffff).size, 0u);
  EXPECT_EQ(vm_.find(0x10000 + 2 * GpuVm::kPage).size, 0u);
}

TEST_F(GpuVmTest, RefusesMisalignedEmptyAndWrappingRanges) {
  EXPECT_EQ(vm_.map(0x10001, GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::misaligned);
  EXPECT_EQ(vm_.map(0x10000, GpuVm::kPage + 1, 0, host(0), kReadWrite), GpuVm::Status::misaligned);
  EXPECT_EQ(vm_.map(0x10000, GpuVm::kPage, 8, host(0), kReadWrite), GpuVm::Status::misaligned);
  EXPECT_EQ(vm_.map(0x10000, 0, 0, host(0), kReadWrite), GpuVm::Status::misaligned);
  EXPECT_EQ(vm_.map(~std::uint64_t{0} - GpuVm::kPage + 1, 2 * GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::misaligned);
}

TEST_F(GpuVmTest, PiecesOfARangeKeepItsSharing) {
  ASSERT_EQ(vm_.map(0x10000, 3 * GpuVm::kPage, 0, host(0), kReadWrite, isa::Sharing::other_threads), GpuVm::Status::ok);
  ASSERT_EQ(vm_.map(0x20000, GpuVm::kPage, 0x20000, host(8), kReadWrite), GpuVm::Status::ok);
  ASSERT_EQ(vm_.unmap(0x10000 + GpuVm::kPage, GpuVm::kPage), GpuVm::Status::ok);
  EXPECT_EQ(vm_.find(0x10000).sharing, isa::Sharing::other_threads);
  EXPECT_EQ(vm_.find(0x10000 + 2 * GpuVm::kPage).sharing, isa::Sharing::other_threads);
  EXPECT_EQ(vm_.find(0x20000).sharing, isa::Sharing::device);
}

TEST_F(GpuVmTest, RefusesOverlapOnEitherSide) {
  ASSERT_EQ(vm_.map(4 * GpuVm::kPage, 4 * GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::ok);
  EXPECT_EQ(vm_.map(3 * GpuVm::kPage, 2 * GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::overlap);
  EXPECT_EQ(vm_.map(7 * GpuVm::kPage, 2 * GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::overlap);
  EXPECT_EQ(vm_.map(5 * GpuVm::kPage, GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::overlap);
  EXPECT_EQ(vm_.map(8 * GpuVm::kPage, GpuVm::kPage, 0, host(8), kReadWrite), GpuVm::Status::ok);
}

TEST_F(GpuVmTest, PointerChecksPermissionAndExtent) {
  ASSERT_EQ(vm_.map(GpuVm::kPage, GpuVm::kPage, 0, host(1), isa::Access::read), GpuVm::Status::ok);
  EXPECT_EQ(vm_.pointer(GpuVm::kPage + 8, 8, isa::Access::read), host(1) + 8);
  EXPECT_EQ(vm_.pointer(GpuVm::kPage + 8, 8, isa::Access::write), nullptr);
  EXPECT_NE(vm_.pointer(2 * GpuVm::kPage - 8, 8, isa::Access::read), nullptr);
  EXPECT_EQ(vm_.pointer(2 * GpuVm::kPage - 7, 8, isa::Access::read), nullptr);
}

TEST_F(GpuVmTest, UnmapSplitsAndNeedsTheWholeRange) {
  ASSERT_EQ(vm_.map(8 * GpuVm::kPage, 8 * GpuVm::kPage, 0x100000, host(0), kReadWrite), GpuVm::Status::ok);
  const std::uint64_t before = vm_.epoch();
  EXPECT_EQ(vm_.unmap(10 * GpuVm::kPage, 2 * GpuVm::kPage), GpuVm::Status::ok);
  EXPECT_NE(vm_.epoch(), before);
  EXPECT_EQ(vm_.find(9 * GpuVm::kPage).size, 2 * GpuVm::kPage);
  EXPECT_EQ(vm_.find(10 * GpuVm::kPage).size, 0u);
  const isa::MemoryWindow back = vm_.find(12 * GpuVm::kPage);
  EXPECT_EQ(back.base, 12 * GpuVm::kPage);
  EXPECT_EQ(back.host, host(4));
  EXPECT_EQ(back.physical, 0x100000 + 4 * GpuVm::kPage);
  EXPECT_EQ(vm_.unmap(9 * GpuVm::kPage, 2 * GpuVm::kPage), GpuVm::Status::not_mapped);
  EXPECT_NE(vm_.find(9 * GpuVm::kPage).size, 0u) << "a refused unmap changes nothing";
}

// Compares random maps and unmaps with an array of one entry per page.
TEST_F(GpuVmTest, AgreesWithAPageArray) {
  std::mt19937 random(7);
  std::map<std::uint64_t, std::byte*> pages;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t first = random() % 60;
    const std::uint64_t count = 1 + random() % 4;
    bool all = true;
    bool any = false;
    for (std::uint64_t p = first; p < first + count; ++p) {
      all &= pages.contains(p);
      any |= pages.contains(p);
    }
    if (random() % 2 == 0) {
      EXPECT_EQ(vm_.map(first * GpuVm::kPage, count * GpuVm::kPage, first * GpuVm::kPage, host(first), kReadWrite) ==
                    GpuVm::Status::ok,
                !any);
      if (!any) {
        for (std::uint64_t p = first; p < first + count; ++p) pages[p] = host(p);
      }
    } else {
      EXPECT_EQ(vm_.unmap(first * GpuVm::kPage, count * GpuVm::kPage) == GpuVm::Status::ok, all);
      if (all) {
        for (std::uint64_t p = first; p < first + count; ++p) pages.erase(p);
      }
    }
    for (std::uint64_t p = 0; p < 64; ++p) {
      const auto expected = pages.find(p);
      ASSERT_EQ(vm_.pointer(p * GpuVm::kPage, 1, kReadWrite), expected == pages.end() ? nullptr : expected->second)
          << "page " << p;
    }
  }
}

TEST_F(GpuVmTest, NearestMappingIsNamed) {
  EXPECT_EQ(vm_.nearest(5), "nothing is mapped");
  ASSERT_EQ(vm_.map(0x10000, GpuVm::kPage, 0, host(0), kReadWrite), GpuVm::Status::ok);
  ASSERT_EQ(vm_.map(0x40000, GpuVm::kPage, 0, host(1), kReadWrite), GpuVm::Status::ok);
  EXPECT_EQ(vm_.nearest(0x11004), "4 bytes past the end of the mapping [0x10000, 0x11000)");
  EXPECT_EQ(vm_.nearest(0x3fff0), "16 bytes before the mapping [0x40000, 0x41000)");
}

}  // namespace
}  // namespace lacuna
