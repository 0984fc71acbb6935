// Tests whole devices with row entries (duplo.entry = row): the number of hits follows from the geometry, results equal those
// without Duplo, and no wait hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

struct RowsBench : RuleBench {
  explicit RowsBench(sc_core::sc_module_name module_name) : RuleBench(module_name, DuploEntry::row) {}
  TestGpu tile{"tile", machine(rules::never)};
};

LACUNA_TEST_BENCH(RowsBench)

class DuploRows : public testing::Test {
 protected:
  RowsBench& b_ = bench<RowsBench>();
};

constexpr TileForm kRow{1, 16};

TEST_F(DuploRows, HitsAreLookUpsLessDifferentRows) {
  LoweredConvolution c = convolution();
  for (const unsigned height : {16U, 9U}) {  // 256 and 144 rows
    c.height = height;
    const unsigned tiles = static_cast<unsigned>(c.rows()) / 16 * 9;
    for (const unsigned in_flight : {1U, 4U, 12U}) {
      const Outcome off = run(b_.off, c, load_tiles(c, in_flight), 1, 64);
      const Outcome tile = run(b_.tile, c, load_tiles(c, in_flight), 1, 64);
      const Outcome on = run(b_.bound, c, load_tiles(c, in_flight), 1, 64);
      EXPECT_TRUE(on.results == off.results);
      EXPECT_EQ(on[DuploCount::loads_by_row], tiles);
      EXPECT_EQ(on[DuploCount::look_ups], 16 * tiles);
      EXPECT_EQ(on[DuploCount::hits], 16 * tiles - different_tiles(c, kRow));
      EXPECT_EQ(on[DuploCount::compulsory], different_tiles(c, kRow));
      EXPECT_EQ(on[DuploCount::hits_address], 0U);
      EXPECT_EQ(on[DuploCount::hits_wavefront], on[DuploCount::hits]);
      EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
      EXPECT_EQ(on[DuploCount::form] + on[DuploCount::exec] + on[DuploCount::filler], 0U);
      EXPECT_EQ(off.record.activity.requests - on.record.activity.requests, on[DuploCount::lines]);
      // With row entries, more rows hit than the tiles that hit have rows.
      EXPECT_GT(on[DuploCount::hits], 16 * tile[DuploCount::hits]);
      EXPECT_GE(on[DuploCount::whole_by_row], tile[DuploCount::hits]);
      EXPECT_LT(on.record.cycles, tile.record.cycles);
    }
  }
}

// 15 positions per side: 225 rows, so the last tile has one row of data, and tiles begin within rows of the image.
TEST_F(DuploRows, RowsWithoutDataAreRequested) {
  LoweredConvolution c = convolution();
  c.height = c.width = 15;
  const Outcome off = run(b_.off, c, load_tiles(c, 4), 1, 64);
  const Outcome on = run(b_.bound, c, load_tiles(c, 4), 1, 64);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_EQ(on[DuploCount::loads_by_row], 15U * 9);
  EXPECT_EQ(on[DuploCount::look_ups], 225U * 9);
  EXPECT_EQ(on[DuploCount::hits], 225U * 9 - different_tiles(c, kRow));
  EXPECT_EQ(off.record.activity.requests - on.record.activity.requests, on[DuploCount::lines]);
}

TEST_F(DuploRows, ResultsAreTheSameInAllConfigurations) {
  for (const LoweredConvolution& c : with_both_orders(convolution())) {
    for (const unsigned size : {64U, 256U}) {
      for (const unsigned in_flight : {1U, 12U}) {
        const AssembledKernel kernel = load_tiles(c, in_flight, {}, in_flight == 12);
        const Outcome off = run(b_.off, c, kernel, 12, size);
        expect_results_with_all_rules(b_, off, std::uint64_t{kTiles} * 16 * 12 * (size / 64), [&](TestGpu& gpu) {
          const Outcome on = run(gpu, c, kernel, 12, size);
          EXPECT_EQ(on[DuploCount::renamed] + on[DuploCount::copies], 0U);
          return on;
        });
      }
    }
  }
}

// Loads wait for rows that several other loads, some of them from other wavefronts, have requested. Cycles and counts do not
// depend on the number of threads.
TEST_F(DuploRows, LoadsWaitForSeveralOthers) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12);
  const Outcome one = run(b_.retire, c, kernel, 1, 64);
  EXPECT_GT(one[DuploCount::hits_in_flight], 0U);
  EXPECT_EQ(one[DuploCount::hits_wavefront], one[DuploCount::hits]);
  const Outcome four = run(b_.retire, c, kernel, 1, 256);
  EXPECT_GT(four[DuploCount::hits_in_flight], four[DuploCount::hits_wavefront]);
  const Outcome once = run(b_.retire, c, kernel, 12, 256);
  const Outcome again = run(b_.threads, c, kernel, 12, 256);
  EXPECT_EQ(again.record.cycles, once.record.cycles);
  EXPECT_EQ(again.counts, once.counts);
}

// An entry exists as long as any register has its row.
TEST_F(DuploRows, EntriesGoWithTheirLastRegister) {
  const LoweredConvolution c = convolution();
  // With one register pair, each load overwrites the rows of the previous load.
  EXPECT_EQ(run(b_.retire, c, load_tiles(c, 1), 1, 64)[DuploCount::hits], 0U);
  const Outcome one = run(b_.overwrite, c, load_tiles(c, 1), 1, 64);
  EXPECT_EQ(one[DuploCount::hits], 0U);
  EXPECT_EQ(one[DuploCount::overwritten], one[DuploCount::look_ups] - 16);
  EXPECT_EQ(one[DuploCount::ended], 16U);
  const Outcome many = run(b_.overwrite, c, load_tiles(c, 12), 1, 64);
  EXPECT_GT(many[DuploCount::hits], 0U);
  EXPECT_LE(many[DuploCount::overwritten], many.misses());
}

TEST_F(DuploRows, StoresIntoTheWorkspaceDropEntries) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12,
                                            {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "global_load_dword v1, v[4:5], off",
                                             "s_waitcnt vmcnt(0)", "global_store_dword v[4:5], v1, off"});
  const Outcome on = run(b_.overwrite, c, kernel, 1, 64);
  EXPECT_TRUE(on.results == run(b_.off, c, kernel, 1, 64).results);
  EXPECT_GT(on[DuploCount::stores], 0U);
  EXPECT_LT(on[DuploCount::hits], run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits]);
}

// Loads of 16 bytes per lane are not looked up.
TEST_F(DuploRows, LoadsOfOtherFormsAreNotLookedUp) {
  const LoweredConvolution c = convolution();
  const unsigned pitch = c.pitch * kElementBytes;
  const AssembledKernel kernel(
      isa::Target::gfx90a,
      {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "v_and_b32 v2, 15, v0", "v_mul_u32_u24 v2, " + std::to_string(pitch) + ", v2",
       "v_lshrrev_b32 v3, 4, v0", "v_lshlrev_b32 v3, 4, v3", "v_add_u32_e32 v2, v2, v3", "s_waitcnt lgkmcnt(0)",
       "global_load_dwordx4 v[8:11], v2, s[8:9]", "v_lshlrev_b32 v1, 4, v0", "s_waitcnt vmcnt(0)",
       "global_store_dwordx4 v1, v[8:11], s[10:11]"});
  const Outcome on = run(b_.bound, c, kernel, 1, 64);
  EXPECT_EQ(on[DuploCount::form], 1U);
  EXPECT_EQ(on[DuploCount::look_ups], 0U);
  EXPECT_EQ(run(b_.tile, c, kernel, 1, 64)[DuploCount::look_ups], 1U);
}

// Row entries are an upper bound that has no hardware counterpart.
TEST_F(DuploRows, RowsHaveNoBitsAndNoEnergy) {
  const auto described = [](TestGpu& gpu, bool with_cost) {
    const Duplo& duplo = *gpu.device.extension<Duplo>();
    StatisticsGroup statistics("device");
    duplo.describe(statistics);
    EXPECT_EQ(statistics.groups().size(), with_cost ? 2U : 1U) << "duplo, and duplo_hardware";
    EnergyMeter meter;
    const std::uint64_t none = 0;
    meter.add("vgpr", "write", none, 1);
    meter.add("lds", "word", none, 1);
    duplo.detection_units().front()->describe_energy(meter, ComputeEnergy{});
    EXPECT_EQ(meter.blocks().size(), with_cost ? 3U : 2U) << "vgpr and lds, and duplo";
  };
  described(b_.tile, true);
  described(b_.bound, false);
}

// The device continues like a new device, regardless of what was in flight.
TEST_F(DuploRows, ResetsAndAbortsLeaveNothingBehind) {
  for (TestGpu* const gpu : {&b_.retire, &b_.overwrite})
    expect_interruptions_leave_nothing(*gpu, convolution(), {1'500, 2'001, 3'000, 5'501});
}

}  // namespace
}  // namespace lacuna::test
