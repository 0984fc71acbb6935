// Tests stores into the workspace of a running convolution by other kernels: those of the same core drop the entries of the
// convolution, whatever instruction stores; those of other cores and of the host are found by duplo.check.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

constexpr const char* kMistake = "kernels that store into the workspace of a running convolution";
constexpr unsigned kStores = 150;
constexpr unsigned kLoads = 400;

/// A device with a single compute unit, on which kernels run together.
GpuDeviceParameters one_core(const Rule& rule, DuploEntry entry = DuploEntry::tile) {
  GpuDeviceParameters p = machine(rule, entry);
  p.gpu.shader_arrays = 1;
  return p;
}

/// Rules with IDs of addresses: a store into one copy of an element of the input makes tiles with equal elements differ.
Rule by_address(const Rule& rule) {
  return [rule](DuploParameters& d) {
    rule(d);
    d.ids = DatumIds::address;
  };
}

struct StoresBench : sc_core::sc_module {
  explicit StoresBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}

  TestGpu never{"never", one_core(rules::address)};
  TestGpu retire{"retire", one_core(by_address(rules::retire))};
  TestGpu overwrite{"overwrite", one_core(by_address(rules::overwrite))};
  TestGpu simd{"simd", one_core([](DuploParameters& d) {
                 rules::address(d);
                 d.scope = DuploScope::simd;
               })};
  TestGpu rows{"rows", one_core(by_address(rules::overwrite), DuploEntry::row)};
  TestGpu exact{"exact", one_core(rules::never)};
  TestGpu cores{"cores", machine(rules::address)};
  WorkerThreads workers{3};
  TestGpu one_thread{"one_thread", machine(by_address(rules::overwrite))};
  TestGpu threads{"threads", machine(by_address(rules::overwrite)), &workers};
};

LACUNA_TEST_BENCH(StoresBench)

class DuploStores : public testing::Test {
 protected:
  void SetUp() override { clear_guest_mistakes(); }
  void TearDown() override { clear_guest_mistakes(); }

  StoresBench& b_ = bench<StoresBench>();
  const LoweredConvolution c_ = convolution();
};

/// Stores another value at `address` each time, or adds to the value.
KernelBeside storing(const Lines& store, std::uint64_t address = kBase + kWorkspace) {
  Lines each{"v_add_u32_e32 v1, 1, v1", "s_add_u32 s4, s4, 1"};
  each.insert(each.end(), store.begin(), store.end());
  return {.kernel = repeated(each, kStores), .arguments = {address}};
}

const Lines kStore{"global_store_dword v[4:5], v1, off"};

struct StoringInstruction {
  const char* name;
  Lines store;
};

// The same wavefronts load the same tile again and again, and nothing else drops entries: without the drop, all loads after the
// first store would hit on old data.
TEST_F(DuploStores, AnyInstructionOfAnyKernelDropsEntries) {
  for (const StoringInstruction& one : {
           StoringInstruction{"global", kStore},
           StoringInstruction{"byte", {"global_store_byte v[4:5], v1, off"}},
           StoringInstruction{"two registers",
                              {"v_mov_b32 v2, v1", "v_mov_b32 v3, v1", "global_store_dwordx2 v[4:5], v[2:3], off"}},
           StoringInstruction{"accumulation register", {"v_accvgpr_write_b32 a1, v1", "global_store_dword v[4:5], a1, off"}},
           StoringInstruction{"flat", {"flat_store_dword v[4:5], v1"}},
           StoringInstruction{"buffer", {"buffer_store_dword v1, off, s[12:15], 0"}},
           StoringInstruction{"scalar", {"s_store_dword s4, s[8:9], 0x0"}},
           StoringInstruction{"scalar buffer", {"s_buffer_store_dword s4, s[12:15], 0x0"}},
           StoringInstruction{"global atomic", {"global_atomic_add v[4:5], v1, off"}},
           StoringInstruction{"global atomic that returns", {"global_atomic_add v2, v[4:5], v1, off glc"}},
           StoringInstruction{"flat atomic", {"flat_atomic_add v[4:5], v1"}},
           StoringInstruction{"buffer atomic", {"buffer_atomic_add v1, off, s[12:15], 0"}},
           StoringInstruction{"scalar atomic", {"s_atomic_add s4, s[8:9], 0x0"}},
       }) {
    SCOPED_TRACE(one.name);
    const Outcome on = run_beside(b_.never, c_, reload_tile(c_, kLoads), 1, 256, storing(one.store));
    EXPECT_GT(on[DuploCount::stores], 5U);
    EXPECT_GT(on[DuploCount::hits], 2 * kLoads);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_FALSE(any_failed_check());
  }
}

TEST_F(DuploStores, DropEntriesWithEveryRuleOfReleaseAndScope) {
  for (TestGpu* const gpu : {&b_.retire, &b_.overwrite, &b_.simd, &b_.rows}) {
    SCOPED_TRACE(gpu->name());
    const Outcome on = run_beside(*gpu, c_, reload_tile(c_, kLoads), 1, 256, storing(kStore));
    EXPECT_GT(on[DuploCount::stores], 0U);
    EXPECT_GT(on[DuploCount::hits], 0U);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_FALSE(any_failed_check());
  }
}

// Stores directly in front of and behind the workspace drop none.
TEST_F(DuploStores, OnlyStoresIntoTheWorkspaceDropEntries) {
  const ParameterBlock block{.workspace = 0, .lds = std::nullopt, .convolution = c_};
  for (const std::uint64_t address : {kBase + kWorkspace - 4, kBase + kWorkspace + block.bytes()}) {
    const Outcome on = run_beside(b_.never, c_, reload_tile(c_, kLoads), 1, 256, storing(kStore, address));
    EXPECT_EQ(on[DuploCount::stores], 0U);
    EXPECT_EQ(on[DuploCount::hits], 4 * kLoads - 1);
  }
  EXPECT_TRUE(guest_mistakes().empty());
  const Outcome last =
      run_beside(b_.never, c_, reload_tile(c_, kLoads), 1, 256, storing(kStore, kBase + kWorkspace + block.bytes() - 4));
  EXPECT_GT(last[DuploCount::stores], 0U);
}

// The storing kernel has a convolution of its own: in another workspace, in the same one, or in LDS. In the same workspace, the
// entries of both convolutions go.
TEST_F(DuploStores, KernelsWithAConvolutionDropEntriesOfOthers) {
  DuploBlock lds = block_of(c_, 0);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&lds.at(at), &value, sizeof value); };
  put(2, std::uint16_t{16});       // row stride of 128 bytes
  put(4, std::uint16_t{16 * 16});  // buffer stride
  put(6, std::uint8_t{16});        // rows
  put(7, std::uint8_t{1});         // buffers
  put(28, std::uint8_t{1});        // form
  struct Block {
    const char* name;
    DuploBlock block;
    unsigned lds_bytes;
  };
  for (const Block& of : {Block{"other workspace", block_of(c_, kBase + kResults + 0x100000), 0},
                          Block{"same workspace", block_of(c_, kBase + kWorkspace), 0}, Block{"LDS", lds, 0x800}}) {
    SCOPED_TRACE(of.name);
    clear_guest_mistakes();
    KernelBeside beside = storing(kStore);
    beside.block = of.block;
    beside.lds_bytes = of.lds_bytes;
    const Outcome on = run_beside(b_.never, c_, reload_tile(c_, kLoads), 1, 256, beside);
    EXPECT_GT(on[DuploCount::stores], 5U);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_FALSE(any_failed_check());
  }
}

// A pair of kernels is reported once, with both names.
TEST_F(DuploStores, WarnsOncePerPairOfKernels) {
  KernelBeside beside = storing(kStore);
  beside.block = block_of(c_, kBase + kResults + 0x100000);
  TestGpu& gpu = b_.exact;
  run_beside(gpu, c_, load_tiles(c_, 12), 1, 64, storing({"s_nop 0"}));
  EXPECT_TRUE(guest_mistakes().empty());
  // The stores write what is there: with exact IDs, other elements would be errors.
  beside.kernel =
      repeated({"global_load_dword v1, v[4:5], off", "s_waitcnt vmcnt(0)", "global_store_dword v[4:5], v1, off"}, 40);
  for (unsigned i = 0; i < 2; ++i) run_beside(gpu, c_, reload_tile(c_, kLoads), 1, 64, beside);
  ASSERT_EQ(guest_mistakes().size(), 1U);
  EXPECT_EQ(guest_mistakes().front().kind, kMistake);
  EXPECT_EQ(guest_mistakes().front().count, 1U);
  EXPECT_FALSE(any_failed_check());
}

// Stores of another core are not seen, as on the paper's machine: the check finds loads that would have got old data.
TEST_F(DuploStores, StoresOfOtherCoresAreFoundByTheCheck) {
  const Outcome on = run_beside(b_.cores, c_, reload_tile(c_, kLoads), 1, 256, storing(kStore));
  EXPECT_EQ(on[DuploCount::stores], 0U);
  EXPECT_GT(on[DuploCount::hits_wrong], 0U);
  EXPECT_TRUE(any_failed_check());
}

// The same holds for writes by the host, which copies or maps memory.
TEST_F(DuploStores, WritesOfTheHostAreFoundByTheCheck) {
  TestGpu& gpu = b_.never;
  gpu.start();
  lower(gpu, c_);
  load_symbols(gpu, "k", block_of(c_, kBase + kWorkspace));
  const std::uint64_t stores = sum(gpu, DuploCount::stores), wrong = sum(gpu, DuploCount::hits_wrong);
  const std::uint64_t hits = sum(gpu, DuploCount::hits);
  gpu.dispatch(reload_tile(c_, kLoads), {kBase + kWorkspace, kBase + kResults}, 1, 256);
  for (unsigned i = 0; i < 1000 && sum(gpu, DuploCount::hits) == hits; ++i) wait_for(Tick{100'000});
  EXPECT_FALSE(gpu.done());
  gpu.at<std::uint32_t>(kWorkspace) += 1;
  gpu.finish();
  EXPECT_EQ(sum(gpu, DuploCount::stores), stores);
  EXPECT_GT(sum(gpu, DuploCount::hits_wrong), wrong);
  EXPECT_TRUE(any_failed_check());
}

TEST_F(DuploStores, DoNotDependOnThreads) {
  KernelBeside beside = storing({"global_store_dword v[4:5], v1, off", "global_atomic_add v[4:5], v1, off"});
  beside.workgroups = 6;
  const AssembledKernel kernel = reload_tile(c_, kLoads);
  const Outcome one = run_beside(b_.one_thread, c_, kernel, 12, 256, beside);
  const Outcome many = run_beside(b_.threads, c_, kernel, 12, 256, beside);
  EXPECT_GT(one[DuploCount::stores], 0U);
  EXPECT_EQ(many.record.cycles, one.record.cycles);
  EXPECT_EQ(many.counts, one.counts);
}

}  // namespace
}  // namespace lacuna::test
