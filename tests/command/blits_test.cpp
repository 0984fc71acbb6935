// Tests blits: which of the copies and fills that a driver recognises are performed, and which are refused.
#include "models/command/blits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace lacuna {
namespace {

constexpr std::uint64_t kBase = 0x100000;
constexpr std::uint64_t kBytes = 0x4000;
constexpr std::uint64_t kReadOnly = kBase + 2 * kBytes;
constexpr std::uint64_t kReadOnlyEnd = kReadOnly + kBytes;
constexpr std::uint64_t kArguments = kBase;

/// Treats the kernel named "known" as the blit that the test sets; narrow() overwrites the arguments.
struct Recogniser : BlitRecogniser {
  Blit known;
  std::string_view name(const GpuVm&, std::uint64_t entry) const override { return entry == kBase ? "known" : ""; }
  std::optional<Blit> find(const GpuVm&, const Dispatch& dispatch) const override {
    return dispatch.kernel == "known" ? std::optional(known) : std::nullopt;
  }
  void narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const override {
    std::memset(vm.pointer(dispatch.packet.kernarg_address, blit.arguments.size(), isa::Access::read), 0xcc,
                blit.arguments.size());
    dispatch.grid[0] = static_cast<std::uint32_t>(to - from);
  }
};

class BlitsTest : public testing::Test {
 protected:
  // The three mappings are adjacent only in virtual memory; the last one is read-only.
  BlitsTest() : memory_(3, std::vector<std::byte>(kBytes)) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      vm_.map(kBase + i * kBytes, kBytes, i * 0x100000, memory_[i].data(),
              kBase + i * kBytes == kReadOnly ? isa::Access::read : isa::Access::read_write);
    }
    for (std::uint64_t i = kBase; i < kReadOnlyEnd; ++i) at(i) = static_cast<std::byte>(i * 7 + i / 251);
    blits_.set_recogniser(recogniser_);
    dispatch_.kernel = "known";
    dispatch_.packet.kernarg_address = kArguments;
  }
  std::byte& at(std::uint64_t address) { return memory_[(address - kBase) / kBytes][(address - kBase) % kBytes]; }
  std::vector<std::byte> read(std::uint64_t address, std::uint64_t bytes) {
    std::vector<std::byte> result;
    for (std::uint64_t i = 0; i < bytes; ++i) result.push_back(at(address + i));
    return result;
  }
  bool known(std::uint64_t source, std::uint64_t destination, std::uint64_t bytes) {
    recogniser_.known = {.source = source, .destination = destination, .bytes = bytes};
    return blits_.find(dispatch_).has_value();
  }

  std::vector<std::vector<std::byte>> memory_;
  GpuVm vm_;
  Recogniser recogniser_;
  Blits blits_{vm_};
  Dispatch dispatch_;
};

TEST_F(BlitsTest, WithoutARecogniserNoKernelIsABlit) {
  const Blits none(vm_);
  EXPECT_FALSE(none.find(dispatch_).has_value());
  EXPECT_FALSE(none.perform(dispatch_));
  EXPECT_EQ(none.name(kBase), "");
  EXPECT_EQ(blits_.name(kBase), "known");
  EXPECT_EQ(blits_.name(kBase + 256), "");
}

TEST_F(BlitsTest, CopiesGoOverTheEndsOfMappings) {
  const std::uint64_t source = kReadOnly - 100;
  const std::uint64_t destination = kBase + kBytes - 300;
  ASSERT_TRUE(known(source, destination, 1000));
  const auto expected = read(source, 1000);
  const auto behind = read(destination + 1000, 1);
  EXPECT_TRUE(blits_.perform(dispatch_));
  EXPECT_EQ(read(destination, 1000), expected);
  EXPECT_EQ(read(destination + 1000, 1), behind);
}

TEST_F(BlitsTest, FillsInPiecesKeepThePatternsPhase) {
  const std::uint64_t destination = kBase + kBytes - 300;
  Blit blit{.destination = destination, .bytes = 1000};
  for (int i = 1; i <= 12; ++i) blit.pattern.push_back(static_cast<std::byte>(i));
  blits_.move(blit, 500, 1000);
  blits_.move(blit, 0, 7);
  blits_.move(blit, 7, 500);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(at(destination + i), static_cast<std::byte>(i % 12 + 1)) << i;
}

TEST_F(BlitsTest, UnusableMemoryIsRefused) {
  EXPECT_TRUE(known(kReadOnly, kBase, kBytes));
  EXPECT_FALSE(known(kReadOnly, kBase, kBytes + 1));
  EXPECT_FALSE(known(kBase - 1, kBase + kBytes, 16));
  EXPECT_TRUE(known(kBase, kReadOnly - 16, 16));
  EXPECT_FALSE(known(kBase, kReadOnly - 16, 17));
  dispatch_.kernel = "another";
  EXPECT_FALSE(known(kReadOnly, kBase, 16));
}

TEST_F(BlitsTest, OverlappingCopiesAreReported) {
  EXPECT_TRUE((Blit{.source = kBase, .destination = kBase + 99, .bytes = 100}).overlaps());
  EXPECT_TRUE((Blit{.source = kBase + 99, .destination = kBase, .bytes = 100}).overlaps());
  EXPECT_FALSE((Blit{.source = kBase + 100, .destination = kBase, .bytes = 100}).overlaps());
  EXPECT_FALSE((Blit{.destination = kBase, .bytes = 100, .pattern = {std::byte{1}}}).overlaps());
}

TEST_F(BlitsTest, ACutIsRoundedDownToAWholeStep) {
  const Blit blit{.bytes = 1000, .cut_begin = 32, .cut_end = 900, .cut_step = 128};
  EXPECT_EQ(blit.cut_before(31), 0U);
  EXPECT_EQ(blit.cut_before(32), 32U);
  EXPECT_EQ(blit.cut_before(159), 32U);
  EXPECT_EQ(blit.cut_before(160), 160U);
  EXPECT_EQ(blit.cut_before(1000), 32U + 6 * 128);
  EXPECT_EQ((Blit{.bytes = 1000}).cut_before(500), 0U);
}

TEST_F(BlitsTest, ArgumentsAreRestored) {
  recogniser_.known = {.source = kBase, .destination = kBase + kBytes, .bytes = 100, .arguments = read(kArguments, 32)};
  const auto before = read(kArguments, 64);
  const std::optional<Blit> blit = blits_.find(dispatch_);
  ASSERT_TRUE(blit.has_value());
  blits_.narrow(*blit, dispatch_, 10, 30);
  EXPECT_EQ(dispatch_.grid[0], 20U);
  EXPECT_NE(read(kArguments, 64), before);
  blits_.restore(*blit, dispatch_);
  EXPECT_EQ(read(kArguments, 64), before);
  vm_.clear();
  blits_.restore(*blit, dispatch_);
}

}  // namespace
}  // namespace lacuna
