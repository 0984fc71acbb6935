// Tests that kernels are tagged in GPU memory before they run: by the finalizer, which may move their code, or by the tags of
// their file.
#include "models/neardata/kernel_tagger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "models/isa/decode/decoder.h"
#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {
namespace {

/// Code with address arithmetic between the chain's instructions.
const std::vector<std::string> kSpread{"LOAD v8, v[2:3]",        "v_mov_b32 v7, s7",   "ADD_co_u32 v4, s6, v0",
                                       "ADDC_co_u32 v5, v7, v1", "s_waitcnt vmcnt(0)", "v_mul_f32 v8, s3, v8",
                                       "STORE v[4:5], v8"};
const std::vector<std::string> kOther{"LOAD v8, v[2:3]", "s_waitcnt vmcnt(0)", "STORE v[4:5], v8"};
constexpr isa::Target kTarget = isa::Target::gfx803;

class FileTags : public TagSource {
 public:
  std::optional<KernelTags> tags;
  bool damaged = false;

  std::optional<KernelTags> find(const isa::MemoryInterface&, std::uint64_t entry) const override {
    if (damaged) throw TagError("file.co: section .lacuna.chains: version 2 is not 1");
    return tags && tags->entry == entry ? tags : std::nullopt;
  }
};

class KernelTaggerTest : public ::testing::Test {
 protected:
  KernelTaggerTest() : host_(GpuVm::kPage) {
    clear_guest_mistakes();
    vm_.map(kEntry, GpuVm::kPage, 0, host_.data(), isa::Access::read | isa::Access::execute);
    tagger_.attach(vm_, code_);
  }

  void load(const AssembledKernel& kernel) {
    std::fill(host_.begin(), host_.end(), std::byte{0});
    std::memcpy(host_.data(), kernel.words().data(), 4 * kernel.words().size());
  }
  std::vector<std::uint32_t> loaded(std::size_t words) const {
    std::vector<std::uint32_t> all(words);
    std::memcpy(all.data(), host_.data(), 4 * words);
    return all;
  }
  /// Starts a dispatch. Returns its number.
  std::uint64_t start(unsigned vgprs = 12, const std::string& name = "kernel") {
    Dispatch dispatch;
    dispatch.index = next_++;
    dispatch.entry = kEntry;
    dispatch.kernel = name;
    dispatch.needs.vgprs = vgprs;
    tagger_.code_revalidated();  // the acquire of the packet
    tagger_.started(dispatch);
    return dispatch.index;
  }
  std::vector<Chain> chains() const {
    const auto kernel = kernels_.find(kEntry);
    return kernel == nullptr ? std::vector<Chain>() : kernel->chains();
  }
  const KernelTaggerStatistics& count() const { return tagger_.statistics(); }

  NearDataParameters parameters_;
  TaggedKernels kernels_;
  KernelTagger tagger_{parameters_, kTarget, kernels_};
  GpuVm vm_;
  isa::DecodedCode code_{vm_, kTarget};

 private:
  std::vector<std::byte> host_;
  std::uint64_t next_ = 0;
};

TEST_F(KernelTaggerTest, CodeMovesBeforeTheFirstWavefront) {
  AssembledKernel kernel(kTarget, kSpread);
  load(kernel);
  // The code has already been decoded, for another kernel in the same page.
  EXPECT_EQ(isa::disassemble(*code_.at(kEntry), kTarget), "flat_load_dword v8, v[2:3]");
  start();
  const FinalizedKernel expected = kernel.finalize({.move = true, .vgprs = 12});
  ASSERT_EQ(expected.moved, 4u);
  EXPECT_EQ(chains(), expected.chains);
  kernel.apply(expected.patches);
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
  EXPECT_EQ(isa::disassemble(*code_.at(kEntry), kTarget), "v_mov_b32_e32 v7, s7");
  EXPECT_EQ(count().found, 1u);
  EXPECT_EQ(count().chains, 1u);
  EXPECT_EQ(count().moved, 4u);
  start();
  EXPECT_EQ(count().found, 1u);
  EXPECT_EQ(count().changed, 0u);
}

TEST_F(KernelTaggerTest, WithoutMoveCodeStays) {
  parameters_.move = false;
  const AssembledKernel kernel(kTarget, kSpread);
  load(kernel);
  start();
  EXPECT_EQ(chains(), kernel.finalize({.move = false}).chains);
  EXPECT_EQ(chains().size(), 1u);
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
}

TEST_F(KernelTaggerTest, MovesUseTheRegistersOfTheDispatchAlone) {
  // The store's address is computed in registers of the load's address.
  const AssembledKernel kernel(
      kTarget, {"LOAD v4, v[2:3]", "v_mov_b32 v3, s7", "ADD_co_u32 v2, s6, v0", "ADDC_co_u32 v3, v3, v1", "s_waitcnt vmcnt(0)",
                "v_mul_f32 v4, s3, v4", "STORE v[2:3], v4"});
  load(kernel);
  start(5);
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
  tagger_.reset();
  start(8);
  EXPECT_NE(loaded(kernel.words().size()), kernel.words());
}

TEST_F(KernelTaggerTest, KernelsThatAreKnownByTheirCodeKeepIt) {
  const AssembledKernel kernel(kTarget, kSpread);
  load(kernel);
  start(12, "Fill (HSA runtime)");
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
  EXPECT_EQ(chains().size(), 1u);
}

TEST_F(KernelTaggerTest, OtherCodeIsTaggedAnewWhenNothingRuns) {
  load(AssembledKernel(kTarget, kSpread));
  tagger_.ended(start());
  const AssembledKernel other(kTarget, kOther);
  load(other);
  start();
  EXPECT_EQ(chains(), other.finalize({}).chains);
  EXPECT_EQ(chains().at(0).pattern, 3);
  EXPECT_EQ(count().changed, 1u);
  EXPECT_EQ(count().found, 2u);
}

TEST_F(KernelTaggerTest, CodeThatChangesWhileItRunsIsUntagged) {
  load(AssembledKernel(kTarget, kSpread));
  const std::uint64_t first = start();
  const AssembledKernel other(kTarget, kSpread);
  load(other);  // the code as it was before the move
  const std::uint64_t second = start();
  EXPECT_TRUE(chains().empty());
  EXPECT_EQ(loaded(other.words().size()), other.words());
  tagger_.ended(first);
  const std::uint64_t third = start();
  EXPECT_TRUE(chains().empty());
  tagger_.ended(second);
  tagger_.ended(third);
  start();
  EXPECT_EQ(chains().size(), 1u);
  EXPECT_EQ(count().changed, 1u);
}

TEST_F(KernelTaggerTest, UnknownControlFlowIsCounted) {
  load(AssembledKernel(kTarget, {"s_swappc_b64 s[0:1], s[2:3]"}));
  start();
  EXPECT_TRUE(chains().empty());
  EXPECT_EQ(count().unknown, 1u);
}

TEST_F(KernelTaggerTest, TagsOfTheFileAreUsed) {
  const AssembledKernel kernel(kTarget, kSpread);
  load(kernel);
  FileTags file;
  file.tags = kernel_tags("kernel", kEntry, kernel.finalize({.move = false}).chains, kernel.fetch(), kTarget);
  tagger_.set_source(file);
  start();
  EXPECT_EQ(chains(), file.tags->chains);
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
  EXPECT_EQ(count().from_files, 1u);
  EXPECT_EQ(count().found, 0u);
  EXPECT_EQ(count().damaged, 0u);
}

TEST_F(KernelTaggerTest, ADamagedFileIsReportedOnceAndCounted) {
  const AssembledKernel kernel(kTarget, kSpread);
  load(kernel);
  FileTags file;
  file.damaged = true;
  tagger_.set_source(file);
  tagger_.ended(start());
  EXPECT_TRUE(chains().empty());
  EXPECT_EQ(loaded(kernel.words().size()), kernel.words());
  load(AssembledKernel(kTarget, kOther));
  start();
  EXPECT_TRUE(chains().empty());
  EXPECT_EQ(count().damaged, 2u);
  ASSERT_EQ(guest_mistakes().size(), 1u);
  EXPECT_EQ(guest_mistakes().front().kind, "kernels with damaged tags");
  EXPECT_EQ(guest_mistakes().front().count, 2u);
}

TEST_F(KernelTaggerTest, TagsOfOtherCodeAreDamaged) {
  const AssembledKernel kernel(kTarget, kSpread);
  load(AssembledKernel(kTarget, kOther));
  FileTags file;
  file.tags = kernel_tags("kernel", kEntry, kernel.finalize({.move = false}).chains, kernel.fetch(), kTarget);
  tagger_.set_source(file);
  start();
  EXPECT_TRUE(chains().empty());
  EXPECT_EQ(count().damaged, 1u);
}

}  // namespace
}  // namespace lacuna::test
