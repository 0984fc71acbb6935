// Copy and fill kernels of HIP's runtime, done by their arguments. That the arguments mean what is taken for it is tested with
// the runtime itself (tests/rocm).
#include "models/gpu/runtime_blits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace lacuna {
namespace {

constexpr std::uint64_t kBase = 0x100000;
constexpr std::uint64_t kBytes = 0x8000;
constexpr std::uint64_t kArguments = kBase;
constexpr std::uint64_t kSource = kBase + 0x1000;
constexpr std::uint64_t kTarget = kBase + 0x4000;
constexpr std::uint64_t kEnd = kBase + 2 * kBytes;

class RuntimeBlitsTest : public testing::Test {
 protected:
  // Two mappings that are neighbours in virtual memory only; the target may lie across.
  RuntimeBlitsTest() : low_(kBytes), high_(kBytes) {
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
  RuntimeBlits blits_{vm_};
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
    // Across the two mappings.
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

// What is not certain is executed as any kernel, and faults as any kernel does.
TEST_F(RuntimeBlitsTest, OtherDispatchesAreLeftAlone) {
  const auto before_low = low_;
  const auto refused = [&](const char* kernel, std::uint32_t grid) { return !blits_.perform(dispatch(kernel, grid)); };
  copy_arguments(kSource, kTarget, 0, 0, 100, 8);
  EXPECT_TRUE(refused("copyBuffer", 100));
  EXPECT_TRUE(refused("__amd_rocclr_copyBufferRect", 100));
  EXPECT_TRUE(refused("__amd_rocclr_copyBuffer", 99));
  EXPECT_TRUE(refused("kernel@0x1000", 100));
  EXPECT_EQ(hsa_runtime_kernel(vm_, kSource), "");
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
  // Only the arguments have changed.
  EXPECT_TRUE(std::equal(low_.begin() + 0x100, low_.end(), before_low.begin() + 0x100));
}

}  // namespace
}  // namespace lacuna
