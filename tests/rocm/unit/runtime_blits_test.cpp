// Tests copy and fill kernels of ROCm's runtimes that Lacuna performs directly, from their arguments, instead of executing
// them. Whether the arguments are interpreted correctly is tested with the runtime itself (tests/rocm).
#include "drivers/rocm/runtime_blits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "models/command/blits.h"

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kBase = 0x100000;
constexpr std::uint64_t kBytes = 0x8000;
constexpr std::uint64_t kArguments = kBase;
constexpr std::uint64_t kSource = kBase + 0x1000;
constexpr std::uint64_t kTarget = kBase + 0x4000;
constexpr std::uint64_t kEnd = kBase + 2 * kBytes;

class RuntimeBlitsTest : public testing::Test {
 protected:
  // Creates two mappings that are adjacent only in virtual memory; a copy's target may extend over both.
  RuntimeBlitsTest() : low_(kBytes), high_(kBytes) {
    blits_.set_recogniser(runtime_);
    vm_.map(kBase, kBytes, 0, low_.data(), isa::Access::read_write);
    vm_.map(kBase + kBytes, kBytes, 0x100000, high_.data(), isa::Access::read_write);
    for (std::uint64_t i = 0; i < kEnd - kBase; ++i) at(kBase + i) = static_cast<std::byte>(i * 7 + i / 251);
  }
  std::byte& at(std::uint64_t address) {
    const std::uint64_t offset = address - kBase;
    return offset < kBytes ? low_[offset] : high_[offset - kBytes];
  }
  std::vector<std::byte> read(std::uint64_t address, std::uint64_t bytes) {
    std::vector<std::byte> result;
    for (std::uint64_t i = 0; i < bytes; ++i) result.push_back(at(address + i));
    return result;
  }
  template <class T>
  void argument(std::uint64_t offset, T value) {
    std::memcpy(&at(kArguments + offset), &value, sizeof value);
  }
  Dispatch dispatch(const char* kernel, std::uint32_t grid) {
    Dispatch d;
    d.kernel = kernel;
    d.grid = {grid, 1, 1};
    d.packet.kernarg_address = kArguments;
    d.entry = kSource;
    return d;
  }
  /// A dispatch with the kernel and grid of `asked`, in workgroups of 16 work-items.
  Dispatch like(const Dispatch& asked) {
    Dispatch d = dispatch(asked.kernel.c_str(), asked.grid[0]);
    d.workgroup = {16, 1, 1};
    d.workgroups = {(d.grid[0] + 15) / 16, 1, 1};
    return d;
  }
  void copy_arguments(std::uint64_t from, std::uint64_t to, std::uint64_t from_origin, std::uint64_t to_origin,
                      std::uint64_t size, std::uint32_t remainder, std::uint64_t global_offset = 0) {
    argument(0, from);
    argument(8, to);
    argument(16, from_origin);
    argument(24, to_origin);
    argument(32, size);
    argument(40, remainder);
    argument(48, global_offset);
  }
  void fill_arguments(unsigned log_element, std::uint64_t to, std::uint32_t elements, std::uint64_t offset,
                      std::uint64_t size) {
    for (unsigned i = 0; i < 4; ++i) argument(8 * i, i == log_element ? to : std::uint64_t{0});
    argument(32, kSource);
    argument(40, elements);
    argument(48, offset);
    argument(56, size);
    argument(64, std::uint64_t{0});
  }

  std::vector<std::byte> low_, high_;
  GpuVm vm_;
  RuntimeBlits runtime_;
  Blits blits_{vm_};
};

TEST_F(RuntimeBlitsTest, CopiesOfBytes) {
  copy_arguments(kSource, kTarget, 3, 5, 100, 8);
  const auto source = read(kSource + 3, 100);
  const auto around = read(kTarget + 105, 1);
  EXPECT_TRUE(blits_.perform(dispatch("__amd_rocclr_copyBuffer", 256)));
  EXPECT_EQ(read(kTarget + 5, 100), source);
  EXPECT_EQ(read(kTarget + 105, 1), around);
}

TEST_F(RuntimeBlitsTest, CopiesOfWordsWithARemainder) {
  copy_arguments(kSource, kTarget, 0, 0, 26, 3);
  const auto source = read(kSource, 103);
  const auto around = read(kTarget + 103, 1);
  EXPECT_TRUE(blits_.perform(dispatch("__amd_rocclr_copyBuffer", 26)));
  EXPECT_EQ(read(kTarget, 103), source);
  EXPECT_EQ(read(kTarget + 103, 1), around);
}

TEST_F(RuntimeBlitsTest, AlignedCopiesCountElements) {
  for (const std::uint32_t element : {4U, 16U}) {
    // The target extends over both mappings.
    const std::uint64_t target = kBase + kBytes - 64;
    copy_arguments(kSource, target, 2, 1, 30, element);
    const auto source = read(kSource + 2 * element, 30 * element);
    EXPECT_TRUE(blits_.perform(dispatch("__amd_rocclr_copyBufferAligned", 64)));
    EXPECT_EQ(read(target + element, 30 * element), source);
  }
}

TEST_F(RuntimeBlitsTest, FillsRepeatThePattern) {
  for (unsigned log_element = 0; log_element < 4; ++log_element) {
    fill_arguments(log_element, kTarget, 3, 2, 50);
    const std::uint64_t unit = std::uint64_t{3} << log_element;
    const auto pattern = read(kSource, unit);
    const std::uint64_t begin = kTarget + (std::uint64_t{2} << log_element);
    const auto around = read(begin + 50 * unit, 1);
    EXPECT_TRUE(blits_.perform(dispatch("__amd_rocclr_fillBufferAligned", 64)));
    for (unsigned i = 0; i < 50; ++i) ASSERT_EQ(read(begin + i * unit, unit), pattern) << log_element << ' ' << i;
    EXPECT_EQ(read(begin + 50 * unit, 1), around);
  }
}

// A kernel that is performed in two pieces has the same effect as a whole one: each piece's arguments are read as those of a
// separate dispatch.
TEST_F(RuntimeBlitsTest, PiecesMakeUpTheWhole) {
  const auto in_pieces = [this](const Dispatch& whole, std::uint64_t target, std::uint64_t bytes) {
    Dispatch d = like(whole);
    const auto arguments_before = read(kArguments, 128);
    const std::optional<Blit> blit = blits_.find(d);
    ASSERT_TRUE(blit.has_value()) << d.kernel;
    EXPECT_EQ(blit->bytes, bytes) << d.kernel;
    EXPECT_EQ(blit->destination, target) << d.kernel;
    blits_.move(*blit, 0, bytes);
    const auto expected = read(target, bytes);
    const std::uint64_t cut = blit->cut_before(bytes / 2);
    ASSERT_GT(cut, 0U) << d.kernel;
    ASSERT_LT(cut, bytes) << d.kernel;
    EXPECT_EQ((cut - blit->cut_begin) % blit->cut_step, 0U);
    for (std::uint64_t i = 0; i < bytes; ++i) at(target + i) = std::byte{0xee};
    std::uint64_t items = 0;
    for (const auto& [from, to] : {std::pair{std::uint64_t{0}, cut}, std::pair{cut, bytes}}) {
      Dispatch piece = like(whole);
      blits_.narrow(*blit, piece, from, to);
      const std::optional<Blit> narrowed = blits_.find(piece);
      ASSERT_TRUE(narrowed.has_value()) << d.kernel;
      EXPECT_EQ(narrowed->destination, target + from) << d.kernel;
      EXPECT_EQ(narrowed->bytes, to - from) << d.kernel;
      EXPECT_TRUE(blits_.perform(piece));
      items += piece.grid[0];
    }
    EXPECT_EQ(read(target, bytes), expected) << d.kernel;
    if (d.kernel.starts_with("__amd")) {
      EXPECT_LT(items, d.grid[0] + 32) << "workgroups without work";
    }
    blits_.restore(*blit, d);
    EXPECT_EQ(read(kArguments, 128), arguments_before) << d.kernel;
  };
  copy_arguments(kSource, kTarget, 3, 5, 999, 8);
  in_pieces(dispatch("__amd_rocclr_copyBuffer", 1024), kTarget + 5, 999);
  copy_arguments(kSource, kTarget, 4, 8, 260, 3);
  in_pieces(dispatch("__amd_rocclr_copyBuffer", 272), kTarget + 8, 259 * 4 + 3);
  copy_arguments(kSource, kTarget, 2, 1, 100, 16);
  in_pieces(dispatch("__amd_rocclr_copyBufferAligned", 112), kTarget + 16, 1600);
  fill_arguments(2, kTarget, 3, 2, 100);
  in_pieces(dispatch("__amd_rocclr_fillBufferAligned", 112), kTarget + 8, 1200);
  // Two work-items: blocks of 128 bytes after the first 32.
  const std::uint64_t aligned[] = {0, 0, 32, 32, 32 + 1024, 32 + 1024, 32 + 1024 + 64, 32 + 1024 + 64, 1123, 1123};
  for (std::size_t i = 0; i < std::size(aligned); ++i) argument(8 * i, (i % 2 == 0 ? kSource : kTarget) + aligned[i]);
  argument(80, std::uint32_t{2});
  in_pieces(dispatch("CopyAligned (HSA runtime)", 2), kTarget, 1123);
  const std::uint64_t misaligned[] = {1, 2, 1 + 1024, 2 + 1024, 1 + 1100, 2 + 1100};
  for (std::size_t i = 0; i < std::size(misaligned); ++i) argument(8 * i, (i % 2 == 0 ? kSource : kTarget) + misaligned[i]);
  argument(48, std::uint32_t{2});
  in_pieces(dispatch("CopyMisaligned (HSA runtime)", 2), kTarget + 2, 1100);
  const std::uint64_t fill[] = {0, 1024, 1036};
  for (std::size_t i = 0; i < std::size(fill); ++i) argument(8 * i, kTarget + fill[i]);
  argument(24, std::uint32_t{0x12345678});
  argument(28, std::uint32_t{2});
  in_pieces(dispatch("Fill (HSA runtime)", 2), kTarget, 1036);
}

TEST_F(RuntimeBlitsTest, CopiesOntoThemselvesAreTold) {
  copy_arguments(kSource, kSource + 99, 0, 0, 100, 8);
  EXPECT_TRUE(blits_.find(dispatch("__amd_rocclr_copyBuffer", 100))->overlaps());
  copy_arguments(kSource + 100, kSource, 0, 0, 100, 8);
  EXPECT_FALSE(blits_.find(dispatch("__amd_rocclr_copyBuffer", 100))->overlaps());
}

// Kernels that are not recognised with certainty are executed, and may fault, like any other kernel.
TEST_F(RuntimeBlitsTest, OtherDispatchesAreLeftAlone) {
  const auto before_low = low_;
  const auto refused = [&](const char* kernel, std::uint32_t grid) { return !blits_.perform(dispatch(kernel, grid)); };
  copy_arguments(kSource, kTarget, 0, 0, 100, 8);
  EXPECT_TRUE(refused("copyBuffer", 100));
  EXPECT_TRUE(refused("__amd_rocclr_copyBufferRect", 100));
  EXPECT_TRUE(refused("__amd_rocclr_copyBuffer", 99));
  EXPECT_TRUE(refused("kernel@0x1000", 100));
  EXPECT_EQ(blits_.name(kSource), "");
  copy_arguments(kSource, kTarget, 0, 0, 100, 8, 1);
  EXPECT_TRUE(refused("__amd_rocclr_copyBuffer", 100));
  copy_arguments(kSource, kEnd - 99, 0, 0, 100, 8);
  EXPECT_TRUE(refused("__amd_rocclr_copyBuffer", 100));
  copy_arguments(kBase - 1, kTarget, 0, 0, 100, 8);
  EXPECT_TRUE(refused("__amd_rocclr_copyBuffer", 100));
  fill_arguments(2, kEnd - 396, 1, 0, 100);
  EXPECT_TRUE(refused("__amd_rocclr_fillBufferAligned", 100));
  fill_arguments(2, kTarget, 0, 0, 100);
  EXPECT_TRUE(refused("__amd_rocclr_fillBufferAligned", 100));
  // Only the arguments, which the test has written, have changed.
  EXPECT_TRUE(std::equal(low_.begin() + 0x100, low_.end(), before_low.begin() + 0x100));
}

}  // namespace
}  // namespace lacuna::rocm
