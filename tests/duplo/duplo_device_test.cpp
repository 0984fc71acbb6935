// Tests whole devices with Duplo: results equal those without Duplo, loads hit only on equal data, the number of hits follows
// from the geometry, and errors in parameter blocks are reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

constexpr double kL1Watts = 0.1;

/// Parameters with an energy model in which the L1 cache, and therefore Duplo's bits, have leakage power.
GpuDeviceParameters with_energy(const Rule& rule, DuploEntry entry = DuploEntry::tile) {
  GpuDeviceParameters p = machine(rule, entry);
  p.energy.model = EnergyModel::on;
  p.energy.l1v.leakage = kL1Watts;
  return p;
}

struct DeviceBench : RuleBench {
  using RuleBench::RuleBench;
  /// Machine like `bound`, but the L1 cache is accessed after the history.
  TestGpu after{"after", machine([](DuploParameters& d) {
                  rules::never(d);
                  d.l1 = DuploL1::after;
                })};
  /// Machines like `bound`, but copies between SIMDs take 20 and 60 cycles.
  TestGpu copies_20{"copies_20", machine([](DuploParameters& d) {
                      rules::never(d);
                      d.copy_cycles = Cycles{20};
                    })};
  TestGpu copies_60{"copies_60", machine([](DuploParameters& d) {
                      rules::never(d);
                      d.copy_cycles = Cycles{60};
                    })};
  /// Machine like `bound`, but without duplo.check.
  TestGpu unchecked{"unchecked", machine([](DuploParameters& d) {
                      rules::never(d);
                      d.check = false;
                    })};
  TestGpu powered{"powered", with_energy(rules::retire)};
  TestGpu powered_rows{"powered_rows", with_energy(rules::retire, DuploEntry::row)};
};

LACUNA_TEST_BENCH(DeviceBench)

class DuploDevice : public testing::Test {
 protected:
  DeviceBench& b_ = bench<DeviceBench>();
};

// With unlimited entries that are never released, every load hits except the first load of each tile.
TEST_F(DuploDevice, HitsAreLookUpsLessDifferentTiles) {
  const LoweredConvolution c = convolution();
  for (const unsigned in_flight : {1U, 4U, 12U}) {
    const Outcome off = run(b_.off, c, load_tiles(c, in_flight), 1, 64);
    const Outcome on = run(b_.bound, c, load_tiles(c, in_flight), 1, 64);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on[DuploCount::look_ups], kTiles);
    EXPECT_EQ(on[DuploCount::hits], kTiles - different_tiles(c));
    EXPECT_EQ(on[DuploCount::compulsory], different_tiles(c));
    EXPECT_EQ(on[DuploCount::hits_address], 0U);
    EXPECT_EQ(on[DuploCount::hits_simd], on[DuploCount::hits]);
    EXPECT_EQ(on[DuploCount::hits_wavefront], on[DuploCount::hits]);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_EQ(on[DuploCount::form] + on[DuploCount::exec] + on[DuploCount::control] + on[DuploCount::registers], 0U);
    EXPECT_LT(on.record.cycles, off.record.cycles);
    EXPECT_EQ(off.record.activity.requests - on.record.activity.requests, on[DuploCount::lines]);
  }
}

// A renamed load writes no register, which saves energy. The upper-bound configuration (`bound`) does not track registers, and
// therefore renames none.
TEST_F(DuploDevice, RenamedLoadsSpareRegisterWrites) {
  const LoweredConvolution c = convolution();
  const auto unwritten = [](TestGpu& gpu) { return sum(gpu, &DuploStatistics::unwritten); };
  constexpr unsigned kRegisters = 2;  // registers per lane
  const std::uint64_t before = unwritten(b_.overwrite);
  const Outcome on = run(b_.overwrite, c, load_tiles(c, 12), 1, 64);
  EXPECT_GT(on[DuploCount::hits_simd], 0U);
  EXPECT_EQ(unwritten(b_.overwrite) - before, on[DuploCount::hits_simd] * kRegisters * 64);
  EXPECT_GT(run(b_.bound, c, load_tiles(c, 12), 1, 64)[DuploCount::hits_simd], 0U);
  EXPECT_EQ(unwritten(b_.bound), 0U);
}

TEST_F(DuploDevice, ResultsAreTheSameInAllConfigurations) {
  for (const LoweredConvolution& c : with_both_orders(convolution())) {
    for (const unsigned size : {64U, 256U}) {
      for (const unsigned in_flight : {1U, 12U}) {
        const AssembledKernel kernel = load_tiles(c, in_flight);
        const Outcome off = run(b_.off, c, kernel, 12, size);
        expect_results_with_all_rules(b_, off, std::uint64_t{kTiles} * 12 * (size / 64),
                                      [&](TestGpu& gpu) { return run(gpu, c, kernel, 12, size); });
      }
    }
  }
}

// The results equal those without hits, and the run ends with an error.
TEST_F(DuploDevice, BlocksOfOtherConvolutionsFailTheCheck) {
  const LoweredConvolution c = convolution();
  LoweredConvolution other = c;
  other.filter_height = 9;
  other.filter_width = 1;
  other.pad_top = other.pad_bottom = 4;
  other.pad_left = other.pad_right = 0;
  ASSERT_EQ(other.columns(), c.columns());
  ASSERT_EQ(other.rows(), c.rows());
  const AssembledKernel kernel = load_tiles(c);
  const Outcome off = run(b_.off, c, kernel, 1, 256, other);
  clear_guest_mistakes();
  const Outcome right = run(b_.bound, c, kernel, 1, 256);
  EXPECT_FALSE(any_failed_check());
  const Outcome wrong = run(b_.bound, c, kernel, 1, 256, other);
  EXPECT_EQ(right.results, off.results);
  EXPECT_EQ(wrong.results, off.results);
  EXPECT_GT(wrong[DuploCount::hits_wrong], 0U);
  EXPECT_TRUE(any_failed_check());
  // Without duplo.check nothing is compared, except in debug builds.
  clear_guest_mistakes();
  const Outcome unchecked = run(b_.unchecked, c, kernel, 1, 256, other);
  EXPECT_EQ(unchecked.results, off.results);
#ifdef NDEBUG
  EXPECT_EQ(unchecked[DuploCount::hits_wrong], 0U);
  EXPECT_FALSE(any_failed_check());
#else
  EXPECT_EQ(unchecked[DuploCount::hits_wrong], wrong[DuploCount::hits_wrong]);
  EXPECT_TRUE(any_failed_check());
#endif
  // Wrong hits of the formula printed in the paper are not failed checks: the formula yields wrong IDs for correct blocks, too.
  clear_guest_mistakes();
  run(b_.paper, c, kernel, 1, 256, other);
  EXPECT_FALSE(any_failed_check());
}

// Wavefronts of a workgroup are on different SIMDs and load the same tiles at the same time.
TEST_F(DuploDevice, LoadsInFlightServeOtherWavefronts) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4);
  const Outcome core = run(b_.retire, c, kernel, 1, 256);
  EXPECT_GT(core[DuploCount::hits_in_flight], kTiles);
  EXPECT_GT(core[DuploCount::hits_address], kTiles);
  EXPECT_LT(core[DuploCount::hits_simd], core[DuploCount::hits]);
  EXPECT_EQ(run(b_.threads, c, kernel, 12, 256).record.cycles, run(b_.retire, c, kernel, 12, 256).record.cycles);
}

// The second wavefront has only hits on the registers of the first one, in another SIMD, and waits for each of them.
TEST_F(DuploDevice, HitsOnOtherSimdsTakeTheCyclesOfACopy) {
  const LoweredConvolution c = convolution();
  constexpr unsigned kLoads = 100;
  const AssembledKernel kernel = reload_tile(c, kLoads);
  const Outcome soon = run(b_.copies_20, c, kernel, 1, 128);
  const Outcome late = run(b_.copies_60, c, kernel, 1, 128);
  EXPECT_EQ(soon[DuploCount::hits], 2 * kLoads - 1);
  EXPECT_EQ(soon[DuploCount::hits] - soon[DuploCount::hits_simd], kLoads);
  // A few cycles of copies pass while the wavefront also waits for something else.
  EXPECT_NEAR(static_cast<double>(late.record.cycles - soon.record.cycles), kLoads * 40, kLoads);
  EXPECT_LT(run(b_.bound, c, kernel, 1, 128).record.cycles, soon.record.cycles);
}

// Entries are released at the end of the kernel, at retirement, by overwritten registers, at the end of a wavefront, and by
// replacement.
TEST_F(DuploDevice, EachReleasedEntryIsCountedUnderOneReason) {
  const LoweredConvolution c = convolution();
  const AssembledKernel one = load_tiles(c, 1), many = load_tiles(c, 12);
  const Outcome bound = run(b_.bound, c, many, 1, 64);
  EXPECT_EQ(bound.kernel_ended, different_tiles(c));
  EXPECT_EQ(bound.gone(), bound.kernel_ended);
  // With one load at a time, a load has retired before the next load overwrites its register.
  const Outcome retire = run(b_.retire, c, one, 1, 64);
  EXPECT_EQ(retire[DuploCount::retired], kTiles);
  EXPECT_EQ(retire.gone(), kTiles);
  // Without release at retirement, the last register pair keeps its entry until its wavefront ends.
  const Outcome overwrite = run(b_.overwrite, c, one, 1, 64);
  EXPECT_EQ(overwrite[DuploCount::overwritten], kTiles - 1);
  EXPECT_EQ(overwrite[DuploCount::ended], 1U);
  const Outcome few = run(b_.few, c, many, 1, 64);
  EXPECT_GT(few[DuploCount::replaced], kTiles / 2);
  EXPECT_EQ(few[DuploCount::retired], 0U);
}

// L1 look-ups that have started before the hit is known are cancelled: one per cycle, duplo.latency for each hit. They change
// nothing else in the L1 cache (FirstLevelCacheTest.OccupyingABankChangesNothingElse).
TEST_F(DuploDevice, HitsCancelLookUpsOfTheL1) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12);
  const Outcome parallel = run(b_.bound, c, kernel, 1, 64);
  EXPECT_EQ(parallel[DuploCount::cancelled], 2 * parallel[DuploCount::hits]);
  const auto l1v = [](TestGpu& gpu) {
    Counts counts;
    for (const auto& [name, amount] : gpu.growth()) {
      // Times shift with the latency of the history.
      const bool is_time = name.ends_with("_latency") || name.ends_with("_stall");
      if (name.starts_with("l1v") && !is_time) counts[name] = amount;
    }
    return counts;
  };
  const Counts of_parallel = l1v(b_.bound);
  ASSERT_FALSE(of_parallel.empty());
  // With the L1 cache accessed after the history, there are the same hits, and no look-up is cancelled.
  const Outcome after = run(b_.after, c, kernel, 1, 64);
  EXPECT_EQ(after[DuploCount::hits], parallel[DuploCount::hits]);
  EXPECT_EQ(after[DuploCount::cancelled], 0U);
  EXPECT_EQ(l1v(b_.after), of_parallel);
}

// Retired entries are not found: with one load at a time, none is in flight at the next look-up.
TEST_F(DuploDevice, RetiredLoadsAreGone) {
  const LoweredConvolution c = convolution();
  const Outcome retire = run(b_.retire, c, load_tiles(c, 1), 1, 64);
  EXPECT_EQ(retire[DuploCount::hits], 0U);
  EXPECT_EQ(retire[DuploCount::released], kTiles - different_tiles(c));
  // With a single register pair, the next load overwrites it.
  EXPECT_EQ(run(b_.overwrite, c, load_tiles(c, 1), 1, 64)[DuploCount::hits], 0U);
}

TEST_F(DuploDevice, StoresIntoTheWorkspaceDropEntries) {
  const LoweredConvolution c = convolution();
  // A lane stores the value that it has loaded, so that memory does not change.
  const AssembledKernel kernel = load_tiles(c, 12,
                                            {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "global_load_dword v1, v[4:5], off",
                                             "s_waitcnt vmcnt(0)", "global_store_dword v[4:5], v1, off"});
  clear_guest_mistakes();
  const Outcome off = run(b_.off, c, kernel, 1, 64);
  EXPECT_TRUE(guest_mistakes().empty());
  const Outcome on = run(b_.overwrite, c, kernel, 1, 64);
  run(b_.overwrite, c, kernel, 1, 64);
  ASSERT_EQ(guest_mistakes().size(), 1U);  // one mistake for two dispatches
  EXPECT_EQ(guest_mistakes().front().kind, "kernels that store into the workspace of a running convolution");
  EXPECT_EQ(guest_mistakes().front().count, 1U);
  clear_guest_mistakes();
  EXPECT_TRUE(on.results == off.results);
  EXPECT_GT(on[DuploCount::stores], 0U);
  EXPECT_GT(on[DuploCount::form], 0U);
  EXPECT_LT(on[DuploCount::hits], run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits]);
  // The atomic adds 0.
  const Outcome atomic =
      run(b_.overwrite, c,
          load_tiles(c, 12, {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "v_mov_b32 v1, 0", "global_atomic_add v[4:5], v1, off"}),
          1, 64);
  EXPECT_GT(atomic[DuploCount::stores], 0U);
  EXPECT_TRUE(atomic.results == off.results);
}

// The atomic operations add 0, so that memory does not change. One of them returns the old value.
TEST_F(DuploDevice, AtomicsOnTheWorkspaceDropEntries) {
  const LoweredConvolution c = convolution();
  for (const char* const atomic : {"global_atomic_add v[4:5], v1, off", "global_atomic_add v1, v[4:5], v1, off glc"}) {
    SCOPED_TRACE(atomic);
    const AssembledKernel kernel =
        load_tiles(c, 12, {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "v_mov_b32 v1, 0", atomic, "s_waitcnt vmcnt(0)"});
    const Outcome off = run(b_.off, c, kernel, 1, 64);
    const Outcome on = run(b_.overwrite, c, kernel, 1, 64);
    clear_guest_mistakes();
    EXPECT_TRUE(on.results == off.results);
    EXPECT_GT(on[DuploCount::stores], 0U);
    EXPECT_LT(on[DuploCount::hits], run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits]);
  }
}

// Loads hit on loads in flight; there is no lazy core. The upper-bound configuration (`bound`) keeps entries of aborted
// wavefronts.
TEST_F(DuploDevice, ResetsAndAbortsLeaveNothingBehind) {
  for (TestGpu* const gpu : {&b_.retire, &b_.overwrite, &b_.bound})
    expect_interruptions_leave_nothing(*gpu, convolution(), {1'500, 2'001, 3'000, 5'501});
}

// Memory after the workspace's rows belongs to another array, although the last tile of rows extends into it.
TEST_F(DuploDevice, StoresBehindTheWorkspaceDropNone) {
  LoweredConvolution c = convolution();
  c.height = c.width = 12;
  const ParameterBlock block{.workspace = 0, .lds = std::nullopt, .convolution = c};
  ASSERT_LT(block.bytes(), block.tile_bytes());
  const AssembledKernel kernel =
      load_tiles(c, 12,
                 {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "v_add_co_u32 v4, vcc, " + std::to_string(block.bytes()) + ", v4",
                  "v_addc_co_u32 v5, vcc, 0, v5, vcc", "global_load_dword v1, v[4:5], off", "s_waitcnt vmcnt(0)",
                  "global_store_dword v[4:5], v1, off"});
  const Outcome on = run(b_.overwrite, c, kernel, 1, 64);
  EXPECT_EQ(on[DuploCount::stores], 0U);
  EXPECT_EQ(on[DuploCount::form], 0U);
  EXPECT_EQ(on[DuploCount::hits], run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits]);
}

// Loads after an invalidation may see stores of other units.
TEST_F(DuploDevice, InvalidationsDropEntries) {
  const LoweredConvolution c = convolution();
  const auto invalidated = [&] { return sum(b_.overwrite, &DuploStatistics::invalidated); };
  const std::uint64_t without = run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits];
  const std::uint64_t before = invalidated();
  const Outcome with = run(b_.overwrite, c, load_tiles(c, 12, {"buffer_wbinvl1_vol"}), 1, 64);
  EXPECT_GT(invalidated(), before);
  EXPECT_LT(with[DuploCount::hits], without);
  EXPECT_TRUE(with.results == run(b_.off, c, load_tiles(c, 12), 1, 64).results);
}

// Stores of the core's own wavefronts have been seen when a barrier is reached.
TEST_F(DuploDevice, BarriersDropNone) {
  const LoweredConvolution c = convolution();
  const Outcome without = run(b_.overwrite, c, load_tiles(c, 12), 1, 64);
  const Outcome with = run(b_.overwrite, c, load_tiles(c, 12, {"s_barrier"}), 1, 64);
  EXPECT_EQ(with[DuploCount::hits], without[DuploCount::hits]);
  EXPECT_EQ(with.gone(), without.gone());
}

// The second of two kernels gets the convolution number of the first kernel.
TEST_F(DuploDevice, KernelsAreCountedApart) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12);
  TestGpu& gpu = b_.overwrite;
  const Outcome first = run(gpu, c, kernel, 1, 64);
  const std::uint64_t before = sum(gpu, DuploCount::compulsory);
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 1, 64);
  EXPECT_EQ(sum(gpu, DuploCount::compulsory) - before, first[DuploCount::compulsory]);
}

// Like the L1 vector cache, Duplo's bits use leakage power, but only while a kernel with a convolution runs.
TEST_F(DuploDevice, StaticPowerWhileAConvolutionRuns) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4);
  const auto joules = [](TestGpu& gpu, const KernelEnergy& energy) {
    const auto& blocks = gpu.device.energy()->meter().blocks();
    const auto block = std::find(blocks.begin(), blocks.end(), "duplo");
    return block == blocks.end() ? -1 : energy.joules.at(static_cast<std::size_t>(block - blocks.begin()));
  };
  TestGpu& gpu = b_.powered;
  gpu.device.energy()->begin();
  const Outcome with = run(gpu, c, kernel, 4, 256);
  const auto& units = gpu.device.extension<Duplo>()->detection_units();
  const double bits = static_cast<double>(units.front()->hardware().total_bits() * units.size());
  const double l1_bits = static_cast<double>(small_gpu().l1v.size.n) * 8;
  const double seconds = static_cast<double>((with.record.end - with.record.start).ps) * 1e-12;
  EXPECT_NEAR(joules(gpu, with.record.energy), kL1Watts * bits / l1_bits * seconds, 1e-6 * seconds);
  gpu.start();
  lower(gpu, c);
  gpu.mark();
  EXPECT_EQ(joules(gpu, gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 4, 256).energy), 0.0);
  // A kernel that a reset interrupts consumes no further energy, so the energy of the next kernel is 0.
  EXPECT_TRUE(interrupt_by_reset(gpu, c, kernel, 1'500));
  gpu.start();
  lower(gpu, c);
  gpu.mark();
  EXPECT_EQ(joules(gpu, gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 4, 256).energy), 0.0);
  // Row entries model no hardware and use no energy.
  b_.powered_rows.device.energy()->begin();
  EXPECT_EQ(joules(b_.powered_rows, run(b_.powered_rows, c, kernel, 4, 256).record.energy), -1);
}

// A kernel without a parameter block takes the same cycles on a device with Duplo as on a device without Duplo.
TEST_F(DuploDevice, KernelsWithoutABlockTakeTheSameCycles) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4);
  std::vector<std::uint64_t> cycles;
  const std::uint64_t mapped = sum(b_.retire, &DuploStatistics::mapped);
  for (TestGpu* const gpu : {&b_.off, &b_.retire}) {
    gpu->start();
    lower(*gpu, c);
    gpu->mark();
    cycles.push_back(gpu->run(kernel, {kBase + kWorkspace, kBase + kResults}, 4, 256).cycles);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
  EXPECT_EQ(sum(b_.retire, &DuploStatistics::mapped), mapped) << "instructions pass the detection unit";
}

// -- blocks

TEST(ParameterBlock, ReadsWhatProgramsWrite) {
  LoweredConvolution c = convolution();
  c.images = 3;
  c.width = 20;
  c.stride_x = 2;
  c.pad_right = 5;
  c.pitch = 160;
  c.order = RowOrder::images_innermost;
  const auto bytes = block_of(c, 0x7000);
  const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
  const auto* const block = std::get_if<ParameterBlock>(&read);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->workspace, 0x7000U);
  EXPECT_EQ(block->convolution.images, 3U);
  EXPECT_EQ(block->convolution.width, 20U);
  EXPECT_EQ(block->convolution.stride_x, 2U);
  EXPECT_EQ(block->convolution.pad_right, 5U);
  EXPECT_EQ(block->convolution.pitch, 160U);
  EXPECT_EQ(block->convolution.order, RowOrder::images_innermost);
}

TEST(ParameterBlock, ProblemsNameFieldValueAndLegalValues) {
  const auto problem = [](std::size_t at, std::uint8_t value) {
    auto bytes = block_of(convolution(), 0x7000);
    bytes.at(at) = value;
    const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
    const auto* const text = std::get_if<std::string>(&read);
    return text == nullptr ? std::string() : *text;
  };
  EXPECT_EQ(problem(0, 4), "workspace is 0x7004; it is a multiple of 16");
  EXPECT_EQ(problem(8, 1), "pitch is 1; a row of the workspace has 144 elements");
  EXPECT_EQ(problem(12, 0), "images is 0; it is at least 1");
  EXPECT_EQ(problem(13, 5), "images is 1281; a tag names at most 1024");
  EXPECT_EQ(problem(14, 0), "height is 0; it is at least 1");
  EXPECT_EQ(problem(16, 0), "width is 0; it is at least 1");
  EXPECT_EQ(problem(18, 0), "channels is 0; it is at least 1");
  EXPECT_EQ(problem(20, 0), "filter height is 0; it is at least 1");
  EXPECT_EQ(problem(20, 30), "filter height is 30; the padded input has 18 rows");
  EXPECT_EQ(problem(21, 0), "filter width is 0; it is at least 1");
  EXPECT_EQ(problem(21, 30), "filter width is 30; the padded input has 18 columns");
  EXPECT_EQ(problem(22, 0), "vertical stride is 0; it is at least 1");
  EXPECT_EQ(problem(23, 0), "horizontal stride is 0; it is at least 1");
  EXPECT_EQ(problem(28, 2), "form is 2; it is 0 (the workspace is in memory) or 1 (slabs of it are in LDS)");
  EXPECT_EQ(problem(29, 2), "row order is 2; it is 0 (images outermost) or 1 (images innermost)");
  EXPECT_EQ(problem(31, 1), "bytes 30 and 31 is 256; they are 0");
}

TEST_F(DuploDevice, WrongBlocksRefuseTheDispatch) {
  const LoweredConvolution c = convolution();
  TestGpu& gpu = b_.retire;
  auto unmapped = block_of(c, 0x70000000);
  // The last 16 bytes of the last row are beyond the mapped memory.
  const auto cut = block_of(c, kBase + TestGpu::kMapped - c.rows() * c.pitch * kElementBytes + 16);
  auto zero = block_of(c, kBase + kWorkspace);
  zero[22] = 0;
  const auto right = block_of(c, kBase + kWorkspace);
  constexpr std::uint64_t kEnd = TestGpu::kMapped - kImage;  // end of the mapped memory, from the code object
  struct Case {
    const DuploBlock& block;
    std::uint64_t bytes;
    const char* says;
    std::uint64_t at = 0;
  };
  for (const Case& one : {Case{unmapped, 32, "k_duplo: workspace is 0x70000000; 73728 bytes from there on have to be mapped"},
                          Case{cut, 32, "; 73728 bytes from there on have to be mapped"},
                          Case{zero, 32, "k_duplo: vertical stride is 0; it is at least 1"},
                          Case{right, 24, "k_duplo has 24 bytes; a parameter block of Duplo has 32"},
                          // The mapped memory ends within the block.
                          Case{right, 32, "k_duplo is at 0x8ffff0; its 32 bytes have to be mapped", kEnd - 16}}) {
    gpu.start();
    load_symbols(
        gpu, {{.name = "k", .block = one.block, .descriptor = gpu.next_descriptor(), .bytes = one.bytes, .block_at = one.at}});
    Dispatch dispatch;
    dispatch.kernel = "k";
    dispatch.packet.kernel_object = kBase + gpu.next_descriptor();
    const std::string why = gpu.device.extension<Duplo>()->dispatch_check()->refusal(dispatch).value_or("");
    EXPECT_NE(why.find(one.says), std::string::npos) << why;
    gpu.dispatch(load_tiles(c), {kBase + kWorkspace, kBase + kResults});
    wait_for(Tick{100'000'000});
    EXPECT_FALSE(gpu.done());
    gpu.destroy_queue();
  }
}

// The rows that fill the last tile of 128 need not be mapped: a load of them faults as it does without Duplo. The workspace's
// real rows end where the mapped memory ends, or, in the second case, 16 bytes beyond it, which is refused.
TEST_F(DuploDevice, RowsThatFillTheLastTileNeedNotBeMapped) {
  LoweredConvolution c = convolution();
  c.height = 14;  // 224 rows
  const ParameterBlock block{.workspace = 0, .lds = std::nullopt, .convolution = c};
  ASSERT_LT(block.bytes(), block.tile_bytes());
  TestGpu& gpu = b_.retire;
  for (const bool fits : {true, false}) {
    gpu.start();
    load_symbols(gpu, "k", block_of(c, kBase + TestGpu::kMapped - block.bytes() + (fits ? 0 : 16)));
    Dispatch dispatch;
    dispatch.kernel = "k";
    dispatch.packet.kernel_object = kBase + gpu.next_descriptor();
    EXPECT_EQ(gpu.device.extension<Duplo>()->dispatch_check()->refusal(dispatch).has_value(), !fits);
  }
}

}  // namespace
}  // namespace lacuna::test
