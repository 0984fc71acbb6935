// Tests single loads on devices with Duplo: which loads are looked up and why other loads are not, all forms of tiles,
// accumulation registers, and hits on loads whose wavefront has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/duplo/tile_kernels.h"

namespace lacuna::test {
namespace {

struct LoadsBench : sc_core::sc_module {
  explicit LoadsBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  TestGpu off{"off", machine(rules::off)};
  TestGpu bound{"bound", machine(rules::never)};
  TestGpu retire{"retire", machine(rules::retire)};
  TestGpu overwrite{"overwrite", machine(rules::overwrite)};
  TestGpu pairs{"pairs", machine(rules::retire)};
  const std::vector<TestGpu*> all{&bound, &retire, &overwrite};
};

LACUNA_TEST_BENCH(LoadsBench)

class DuploLoads : public testing::Test {
 protected:
  LoadsBench& b_ = bench<LoadsBench>();
};

/// Assembly lines that wait for loads into v8 to v[7 + words], fold the loaded words, and store the results of each lane.
Lines store_words(unsigned words) {
  Lines lines{"s_waitcnt vmcnt(0)"};
  for (unsigned i = 0; i < words; ++i) {
    lines.emplace_back("v_mul_lo_u32 v6, 17, v6");
    lines.push_back("v_add_u32_e32 v6, v6, v" + std::to_string(8 + i));
  }
  lines.emplace_back("v_lshlrev_b32 v1, 3, v1");
  lines.emplace_back("global_store_dwordx2 v1, v[6:7], s[10:11]");
  return lines;
}

AssembledKernel kernel_of(std::initializer_list<Lines> parts) {
  Lines lines;
  for (const Lines& part : parts) lines.insert(lines.end(), part.begin(), part.end());
  return {isa::Target::gfx90a, lines};
}

// Each row of the workspace is followed by 16 elements without data.
TEST_F(DuploLoads, LoadsThatAreNotLookedUpAreCountedByReason) {
  LoweredConvolution c = convolution();
  c.pitch += 16;
  struct Case {
    const char* what;
    Lines lines;
    std::map<DuploCount, std::uint64_t> counts;
  };
  const std::vector<Case> cases{
      {"tile", {"global_load_dwordx2 v[8:9], v2, s[8:9]"}, {{DuploCount::look_ups, 1}}},
      {"tile elsewhere", {"global_load_dwordx2 v[8:9], v2, s[8:9] offset:32"}, {{DuploCount::look_ups, 1}}},
      {"without a lane",
       {"s_mov_b64 exec, -2", "global_load_dwordx2 v[8:9], v2, s[8:9]", "s_mov_b64 exec, -1"},
       {{DuploCount::exec, 1}}},
      {"without lanes", {"s_mov_b64 exec, 0", "global_load_dwordx2 v[8:9], v2, s[8:9]", "s_mov_b64 exec, -1"}, {}},
      {"GLC", {"global_load_dwordx2 v[8:9], v2, s[8:9] glc"}, {{DuploCount::control, 1}}},
      {"SLC", {"global_load_dwordx2 v[8:9], v2, s[8:9] slc"}, {{DuploCount::control, 1}}},
      {"columns without data", {"global_load_dwordx2 v[8:9], v2, s[8:9] offset:288"}, {{DuploCount::filler, 1}}},
      {"4 bytes", {"global_load_dword v8, v2, s[8:9]"}, {{DuploCount::form, 1}}},
      {"12 bytes", {"global_load_dwordx3 v[8:10], v2, s[8:9]"}, {{DuploCount::form, 1}}},
      {"16 bytes that are 8 apart", {"global_load_dwordx4 v[8:11], v2, s[8:9]"}, {{DuploCount::form, 1}}},
      {"off the elements' grid", {"global_load_dwordx2 v[8:9], v2, s[8:9] offset:4"}, {{DuploCount::form, 1}}},
      {"lanes beside each other",
       {"v_lshlrev_b32 v2, 3, v1", "global_load_dwordx2 v[8:9], v2, s[8:9]"},
       {{DuploCount::form, 1}}},
      {"first lane before the workspace", {"global_load_dwordx2 v[8:9], v2, s[8:9] offset:-8"}, {{DuploCount::form, 1}}},
      {"outside", {"global_load_dwordx2 v[8:9], v2, s[10:11]"}, {}},
      {"behind a store", {"global_store_dwordx2 v2, v[6:7], s[10:11]", "global_load_dwordx2 v[8:9], v2, s[10:11]"}, {}},
  };
  constexpr std::array kReasons{DuploCount::look_ups,  DuploCount::form,   DuploCount::exec, DuploCount::control,
                                DuploCount::registers, DuploCount::filler, DuploCount::hits, DuploCount::stores};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const AssembledKernel kernel =
        kernel_of({begin_tiles(c), {"v_mov_b32 v8, 1", "v_mov_b32 v9, 2"}, one.lines, store_words(2)});
    const Outcome off = run(b_.off, c, kernel, 1, 64);
    const Outcome on = run(b_.bound, c, kernel, 1, 64);
    EXPECT_TRUE(on.results == off.results);
    for (const DuploCount reason : kReasons) {
      const auto expected = one.counts.find(reason);
      EXPECT_EQ(on[reason], expected == one.counts.end() ? 0U : expected->second)
          << kDuploCountTexts.at(static_cast<std::size_t>(reason)).name;
    }
  }
}

// No gfx90a assembler accepts a pair that begins at an odd register, so no kernel can test this.
TEST(ClassifiedLoad, RegistersAreAlignedPairs) {
  const IdGenerator ids(convolution(), DatumIds::exact);
  const auto of = [&](unsigned first, isa::OperandKind file) {
    return ClassifiedLoad::of(ids, 0, 0, {}, {.file = file, .first = static_cast<std::uint16_t>(first), .count = 2});
  };
  for (const isa::OperandKind file : {isa::OperandKind::vgpr, isa::OperandKind::agpr}) {
    EXPECT_TRUE(of(8, file).tile);
    EXPECT_FALSE(of(9, file).tile);
    EXPECT_EQ(of(9, file).reason, DuploCount::registers);
  }
}

TEST_F(DuploLoads, TilesOfAllForms) {
  const LoweredConvolution c = convolution();
  for (const TileForm& form : {TileForm{16, 16}, TileForm{16, 32}, TileForm{32, 8}, TileForm{32, 16}}) {
    SCOPED_TRACE(std::to_string(form.rows) + " x " + std::to_string(form.columns));
    LoweredConvolution whole = c;
    whole.channels = 32;  // columns are whole tiles
    whole.pitch = whole.columns();
    const LoweredConvolution& used = form.columns == 32 ? whole : c;
    const std::uint64_t tiles = used.rows() / form.rows * (used.columns() / form.columns);
    const AssembledKernel kernel = load_tiles(used, 6, {}, false, form);
    const Outcome off = run(b_.off, used, kernel, 1, 64);
    for (TestGpu* const gpu : b_.all) {
      const Outcome on = run(*gpu, used, kernel, 1, 64);
      EXPECT_TRUE(on.results == off.results);
      EXPECT_EQ(on[DuploCount::look_ups], tiles);
      EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
      if (gpu == &b_.bound) {
        EXPECT_EQ(on[DuploCount::hits], tiles - different_tiles(used, form));
      }
    }
  }
}

// A pair of VGPRs can share data with a pair of accumulation registers; a write to one register of a shared pair copies the
// other register.
TEST_F(DuploLoads, VgprsAndAccumulationRegistersShareDataOfEqualTiles) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = kernel_of(
      {begin_tiles(c),
       {"global_load_dwordx2 a[0:1], v2, s[8:9]", "global_load_dwordx2 a[2:3], v2, s[8:9]",
        "global_load_dwordx2 v[8:9], v2, s[8:9]", "s_waitcnt vmcnt(0)", "v_accvgpr_write_b32 a2, v1",
        "v_accvgpr_read_b32 v10, a0", "v_accvgpr_read_b32 v11, a1", "v_accvgpr_read_b32 v12, a2", "v_accvgpr_read_b32 v13, a3"},
       store_words(6)});
  const Outcome off = run(b_.off, c, kernel, 1, 64);
  for (TestGpu* const gpu : b_.all) {
    const Outcome on = run(*gpu, c, kernel, 1, 64);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on[DuploCount::look_ups], 3U);
    EXPECT_EQ(on[DuploCount::hits], 2U);
    EXPECT_EQ(on[DuploCount::hits_simd], 2U);
    EXPECT_EQ(on[DuploCount::hits_in_flight], 2U);
    // The upper-bound configuration (`bound`) renames no registers.
    EXPECT_EQ(on[DuploCount::renamed], gpu == &b_.bound ? 0U : 1U);
    EXPECT_EQ(on[DuploCount::copies], gpu == &b_.bound ? 0U : 1U);
  }
}

// Checks the maximum number of register pairs of a SIMD in use since the device was created. A wavefront of these kernels has
// 32 VGPRs and 32 AGPRs.
TEST_F(DuploLoads, TheMaximumNumberOfRegisterPairsInUseIsRecorded) {
  const LoweredConvolution c = convolution();
  const auto most = [&] {
    unsigned pairs = 0;
    for (const DetectionUnit* const unit : b_.pairs.device.extension<Duplo>()->detection_units())
      pairs = std::max(pairs, unit->most_pairs());
    return pairs;
  };
  const AssembledKernel kernel = load_tiles(c, 12);
  EXPECT_EQ(most(), 0U);
  run(b_.pairs, c, kernel, 1, 64);
  EXPECT_EQ(most(), 32U);
  run(b_.pairs, c, kernel, 1, 512);
  EXPECT_EQ(most(), 64U);
  run(b_.pairs, c, kernel, 1, 64);
  EXPECT_EQ(most(), 64U);
}

/// Wavefront 0 of a workgroup executes `first`, wavefront `number` executes `second`; other wavefronts end.
AssembledKernel two_wavefronts(const LoweredConvolution& c, const Lines& first, unsigned number, const Lines& second) {
  const std::size_t words = AssembledKernel(isa::Target::gfx90a, first).words().size();  // including s_endpgm
  return kernel_of({begin_tiles(c),
                    {"v_readfirstlane_b32 s14, v0", "s_lshr_b32 s14, s14, 6", "s_cmp_eq_u32 s14, 0",
                     "s_cbranch_scc0 " + std::to_string(words)},
                    first,
                    {"s_endpgm", "s_cmp_eq_u32 s14, " + std::to_string(number), "s_cbranch_scc1 1", "s_endpgm"},
                    second});
}

const std::string kLoad = "global_load_dwordx2 v[8:9], v2, s[8:9]";

// The wavefront of a load in flight ends, which releases the load's entry together with the registers. In the upper-bound
// configuration (`bound`) the entry stays, and a hit on it completes with the load.
TEST_F(DuploLoads, WavefrontsEndWithLoadsInFlight) {
  const LoweredConvolution c = convolution();
  Lines second{"s_sleep 1", kLoad};
  const Lines end = store_words(2);
  second.insert(second.end(), end.begin(), end.end());
  const AssembledKernel kernel = two_wavefronts(c, {kLoad}, 1, second);
  const Outcome off = run(b_.off, c, kernel, 1, 128);
  for (TestGpu* const gpu : {&b_.retire, &b_.overwrite}) {
    const Outcome on = run(*gpu, c, kernel, 1, 128);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on[DuploCount::look_ups], 2U);
    EXPECT_EQ(on[DuploCount::hits], 0U);
    EXPECT_EQ(on[DuploCount::released], 1U);
    EXPECT_GE(on[DuploCount::ended], 1U);
  }
  const Outcome on = run(b_.bound, c, kernel, 1, 128);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_EQ(on[DuploCount::hits], 1U);
  EXPECT_EQ(on[DuploCount::hits_in_flight], 1U);
  EXPECT_EQ(on[DuploCount::hits_wavefront], 0U);
  EXPECT_EQ(off.record.activity.requests - on.record.activity.requests, on[DuploCount::lines]);
  // The hit completes with the first load, at about the time at which a separate request to the same lines would complete.
  EXPECT_NEAR(static_cast<double>(on.record.cycles), static_cast<double>(off.record.cycles), 20);
}

// Wavefronts 0 and 4 are on one SIMD. Wavefront 4 hits on a load of wavefront 0, and wavefront 0 ends while this load is in
// flight. The entry stays, as wavefront 4 reads the register, and serves later loads, both while the data are in flight and
// afterwards.
TEST_F(DuploLoads, HitsAfterTheOwnersWavefrontHasEnded) {
  const LoweredConvolution c = convolution();
  Lines second{"s_nop 7",
               kLoad,
               "s_sleep 1",
               "global_load_dwordx2 v[10:11], v2, s[8:9]",
               "s_waitcnt vmcnt(0)",
               "global_load_dwordx2 v[12:13], v2, s[8:9]"};
  const Lines end = store_words(6);
  second.insert(second.end(), end.begin(), end.end());
  const AssembledKernel kernel = two_wavefronts(c, {kLoad, "s_nop 15", "s_nop 15"}, 4, second);
  const Outcome off = run(b_.off, c, kernel, 1, 320);
  for (TestGpu* const gpu : b_.all) {
    SCOPED_TRACE(gpu->name());
    const Outcome on = run(*gpu, c, kernel, 1, 320);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on[DuploCount::look_ups], 4U);
    EXPECT_EQ(on[DuploCount::hits_in_flight], 2U);
    EXPECT_EQ(on[DuploCount::hits_simd], on[DuploCount::hits]);
    // With `retire` the entry has been released with the last of the loads that shared its register.
    EXPECT_EQ(on[DuploCount::hits], gpu == &b_.retire ? 2U : 3U);
    EXPECT_EQ(on[DuploCount::hits_wavefront], 0U);
  }
}

}  // namespace
}  // namespace lacuna::test
