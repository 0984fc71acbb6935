// Tests whole devices with Duplo and the lazy core, in all modes of the lazy core: results equal those without Duplo, hits are
// never held, and only loads whose requests are all sent get entries.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "models/lazy/lazy_gpu.h"
#include "models/lazy/lazy_texts.h"
#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

struct Variant {
  LazyMode mode = LazyMode::lazy;
  Rule rule = rules::retire;
  FirstUse first_use = FirstUse::needed;
  AddressUnit address_unit = AddressUnit::once;
};

GpuDeviceParameters both(const Variant& variant) {
  GpuDeviceParameters p = machine(variant.rule);
  ExtensionSet machines;
  machines.add(std::make_unique<LazyGpuParameters>());
  machines.add(p.extensions.get<DuploParameterSet>().clone());
  p.extensions = machines;
  LazyParameters& lazy = p.extensions.get<LazyGpuParameters>().lazy;
  lazy.mode = variant.mode;
  lazy.first_use = variant.first_use;
  lazy.address_unit = variant.address_unit;
  lazy.check = true;
  std::vector<std::string> problems;
  for (const auto& extension : p.extensions.all()) {
    if (extension->is_on()) extension->check(p, problems);
  }
  EXPECT_TRUE(problems.empty()) << problems.front();
  return p;
}

void rows(DuploParameters& d) { d.entry = DuploEntry::row; }
void rows_never(DuploParameters& d) {
  rows(d);
  rules::never(d);
}

constexpr std::array kModes{LazyMode::eager, LazyMode::eager_zero, LazyMode::lazy, LazyMode::lazy_zero,
                            LazyMode::lazy_zero_otimes};

struct LazyBench : sc_core::sc_module {
  explicit LazyBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    for (const LazyMode mode : kModes) {
      const std::string name = "mode" + std::to_string(static_cast<int>(mode));
      const auto add = [&](std::vector<std::unique_ptr<TestGpu>>& to, const std::string& kind, const Variant& variant) {
        to.push_back(std::make_unique<TestGpu>((name + kind).c_str(), both(variant)));
      };
      add(alone, "_alone", {.mode = mode, .rule = rules::off});
      add(retire, "_retire", {.mode = mode});
      add(bound, "_never", {.mode = mode, .rule = rules::never});
      add(by_row, "_row", {.mode = mode, .rule = rows});
    }
    const auto other = [this](const char* name, const Variant& variant) {
      others.push_back(std::make_unique<TestGpu>(name, both(variant)));
    };
    constexpr LazyMode kAll = LazyMode::lazy_zero_otimes;
    other("after", {.mode = kAll, .rule = rules::overwrite});
    other("address", {.mode = kAll, .rule = [](DuploParameters& d) { d.ids = DatumIds::address; }});
    other("simd", {.mode = kAll, .rule = [](DuploParameters& d) {
                     rules::never(d);
                     d.scope = DuploScope::simd;
                   }});
    other("rows_never", {.mode = kAll, .rule = rows_never});
    other("twice", {.mode = LazyMode::lazy, .address_unit = AddressUnit::twice});
    other("all", {.mode = LazyMode::lazy, .first_use = FirstUse::all});
    other("rows_all", {.mode = LazyMode::lazy_zero, .rule = rows, .first_use = FirstUse::all});
    other("rows_after", {.mode = LazyMode::eager_zero, .rule = [](DuploParameters& d) {
                           rows(d);
                           d.l1 = DuploL1::after;
                           d.release = HistoryKeep::until_overwritten;
                         }});
  }
  WorkerThreads workers{3};
  // Devices by mode of the lazy core.
  std::vector<std::unique_ptr<TestGpu>> alone, retire, bound, by_row;
  std::vector<std::unique_ptr<TestGpu>> others;
  TestGpu threads{"threads", both({.mode = LazyMode::lazy_zero_otimes}), &workers};
  TestGpu threads_row{"threads_row", both({.mode = LazyMode::lazy_zero_otimes, .rule = rows}), &workers};
};

LACUNA_TEST_BENCH(LazyBench)

class DuploLazy : public testing::Test {
 protected:
  TestGpu& of(std::vector<std::unique_ptr<TestGpu>>& devices, LazyMode mode) {
    return *devices.at(static_cast<std::size_t>(mode));
  }
  LazyBench& b_ = bench<LazyBench>();
};

std::uint64_t lazy_count(const Outcome& outcome, LazyCount what) {
  return outcome.record.activity.extension[lazy_slots().first_count + static_cast<std::size_t>(what)];
}

TEST_F(DuploLazy, ResultsAreTheSameInAllCombinations) {
  for (const LoweredConvolution& c : with_both_orders(convolution())) {
    for (const bool unused : {false, true}) {
      const AssembledKernel kernel = load_tiles(c, unused ? 12 : 3, {}, unused);
      const Outcome eager = run(of(b_.alone, LazyMode::eager), c, kernel, 7, 256);
      std::vector<TestGpu*> devices;
      for (auto* const list : {&b_.alone, &b_.retire, &b_.bound, &b_.by_row, &b_.others}) {
        for (const auto& device : *list) devices.push_back(device.get());
      }
      for (TestGpu* const gpu : devices) {
        SCOPED_TRACE(gpu->name());
        const Outcome on = run(*gpu, c, kernel, 7, 256);
        EXPECT_TRUE(on.results == eager.results);
        EXPECT_EQ(on.record.wavefront_instructions, eager.record.wavefront_instructions);
        EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
        EXPECT_EQ(lazy_count(on, LazyCount::lanes_changed), 0U);
        EXPECT_GE(on[DuploCount::held], on[DuploCount::asked_again]);
        if (gpu->device.extension<Duplo>() == nullptr) continue;
        const std::uint64_t loads = on[DuploCount::loads_by_row] != 0 ? on[DuploCount::loads_by_row] : on[DuploCount::look_ups];
        EXPECT_EQ(loads, std::uint64_t{kTiles} * 7 * 4);
        EXPECT_GT(on[DuploCount::hits], 0U);
      }
    }
  }
}

// Each load is used, and therefore sent, before the next load executes: there are as many hits as on the eager core, and
// exactly the loads that miss are held.
TEST_F(DuploLazy, HitsAreNeverHeld) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 1);
  const Outcome eager = run(of(b_.bound, LazyMode::eager), c, kernel, 1, 64);
  const Outcome lazy = run(of(b_.bound, LazyMode::lazy), c, kernel, 1, 64);
  const std::uint64_t different = different_tiles(c);
  EXPECT_EQ(eager[DuploCount::held], 0U);
  EXPECT_EQ(lazy[DuploCount::hits], eager[DuploCount::hits]);
  EXPECT_EQ(lazy[DuploCount::hits], kTiles - different);
  EXPECT_EQ(lazy[DuploCount::held], different);
  EXPECT_EQ(lazy[DuploCount::asked_again], different);
  EXPECT_EQ(lazy[DuploCount::compulsory], different);
  EXPECT_EQ(lazy[DuploCount::partly_held], 0U);
  EXPECT_EQ(lazy_count(lazy, LazyCount::loads_held), different);
}

// A tile has no entry when a load of it executes, but has one when the load's requests leave, because another wavefront has
// requested the tile meanwhile.
TEST_F(DuploLazy, HeldLoadsHitWhenTheyLeave) {
  const LoweredConvolution c = convolution();
  const Outcome on = run(of(b_.retire, LazyMode::lazy), c, load_tiles(c, 12), 1, 256);
  EXPECT_GT(on[DuploCount::asked_again], on.misses());
  const Outcome alone = run(of(b_.alone, LazyMode::lazy), c, load_tiles(c, 12), 1, 256);
  EXPECT_LT(on.record.activity.requests, alone.record.activity.requests);
  EXPECT_TRUE(on.results == alone.results);
}

// Loads whose data no instruction uses are never sent and therefore have no entries.
TEST_F(DuploLazy, LoadsThatNeverLeaveHaveNoEntries) {
  const LoweredConvolution c = convolution();
  const Outcome on = run(of(b_.bound, LazyMode::lazy), c, load_tiles(c, 12, {}, true), 1, 64);
  EXPECT_GT(on[DuploCount::held], on[DuploCount::asked_again]);
  EXPECT_GT(lazy_count(on, LazyCount::dead), 0U);
  EXPECT_EQ(on.misses(), on[DuploCount::compulsory]);
}

// Tiles at the border have zeros: zero caches fill these lanes, and the loads are not looked up.
TEST_F(DuploLazy, LoadsWithPartiallyZeroDataAreNotLookedUp) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 3);
  for (const LazyMode mode : {LazyMode::eager_zero, LazyMode::lazy_zero, LazyMode::lazy_zero_otimes}) {
    const Outcome on = run(of(b_.bound, mode), c, kernel, 1, 64);
    EXPECT_GT(on[DuploCount::partly_held], 0U);
    const Outcome without = run(of(b_.bound, LazyMode::lazy), c, kernel, 1, 64);
    EXPECT_LT(on[DuploCount::hits], without[DuploCount::hits]);
    EXPECT_EQ(without[DuploCount::partly_held], 0U);
  }
}

// No tile of this workspace has zeros.
TEST_F(DuploLazy, LoadsWithoutZerosHitAsEagerly) {
  LoweredConvolution c = convolution();
  c.height = c.width = 18;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 0;
  const Outcome eager = run(of(b_.bound, LazyMode::eager), c, load_tiles(c, 1), 1, 64);
  for (const LazyMode mode : kModes) {
    const Outcome on = run(of(b_.bound, mode), c, load_tiles(c, 1), 1, 64);
    EXPECT_EQ(on[DuploCount::hits], eager[DuploCount::hits]);
    EXPECT_EQ(on[DuploCount::partly_held], 0U);
  }
}

TEST_F(DuploLazy, StoresIntoTheWorkspaceDropEntries) {
  const LoweredConvolution c = convolution();
  const Lines store{"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "global_load_dword v1, v[4:5], off", "s_waitcnt vmcnt(0)",
                    "global_store_dword v[4:5], v1, off"};
  for (const LazyMode mode : kModes) {
    const Outcome on = run(of(b_.bound, mode), c, load_tiles(c, 12, store), 1, 64);
    EXPECT_GT(on[DuploCount::stores], 0U);
    EXPECT_TRUE(on.results == run(of(b_.alone, mode), c, load_tiles(c, 12, store), 1, 64).results);
  }
}

// The stores of the other kernel write what is there; of zeros, modes with zero masks write only the mask.
TEST_F(DuploLazy, StoresOfOtherKernelsDropEntries) {
  const LoweredConvolution c = convolution();
  const KernelBeside beside{
      .kernel = repeated({"global_load_dword v1, v[4:5], off", "s_waitcnt vmcnt(0)", "global_store_dword v[4:5], v1, off"}, 60),
      .arguments = {kBase + kWorkspace},
      .workgroups = 6};
  for (const LazyMode mode : kModes) {
    const Outcome on = run_beside(of(b_.bound, mode), c, load_tiles(c, 12), 1, 64, beside);
    EXPECT_GT(on[DuploCount::stores], 0U);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_TRUE(on.results == run(of(b_.alone, mode), c, load_tiles(c, 12), 1, 64).results);
  }
}

// A kernel without a block takes as many cycles as on the lazy core without Duplo.
TEST_F(DuploLazy, KernelsWithoutABlockTakeTheSameCycles) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4, {}, true);
  for (const LazyMode mode : kModes) {
    std::vector<std::uint64_t> cycles;
    for (TestGpu* const gpu : {&of(b_.alone, mode), &of(b_.retire, mode), &of(b_.by_row, mode)}) {
      gpu->start();
      lower(*gpu, c);
      gpu->mark();
      cycles.push_back(gpu->run(kernel, {kBase + kWorkspace, kBase + kResults}, 4, 256).cycles);
    }
    EXPECT_EQ(cycles[0], cycles[1]);
    EXPECT_EQ(cycles[0], cycles[2]);
  }
}

TEST_F(DuploLazy, ThreadsDoNotMatter) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12, {}, true);
  for (const auto& [one, many] : {std::pair{&of(b_.retire, LazyMode::lazy_zero_otimes), &b_.threads},
                                  std::pair{&of(b_.by_row, LazyMode::lazy_zero_otimes), &b_.threads_row}}) {
    const Outcome once = run(*one, c, kernel, 12, 256);
    const Outcome again = run(*many, c, kernel, 12, 256);
    EXPECT_EQ(once.record.cycles, again.record.cycles);
    EXPECT_EQ(once.counts, again.counts);
    EXPECT_TRUE(once.results == again.results);
  }
}

TEST_F(DuploLazy, ResetsAndAbortsLeaveNothingBehind) {
  for (TestGpu* const gpu : {&of(b_.retire, LazyMode::eager_zero), &of(b_.retire, LazyMode::lazy),
                             &of(b_.retire, LazyMode::lazy_zero_otimes), &of(b_.by_row, LazyMode::lazy_zero)})
    expect_interruptions_leave_nothing(*gpu, convolution(), {1'500, 3'001, 5'501});
}

}  // namespace
}  // namespace lacuna::test
