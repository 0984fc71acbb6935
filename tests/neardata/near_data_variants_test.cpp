// Tests near-data computing with various parameters, on butterflies, together with kernels without chains, and with changing
// code. Also tests the checks of ndc.check.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/neardata/near_data_texts.h"
#include "tests/neardata/near_data_patterns.h"

namespace lacuna::test {
namespace {

// -- devices

/// A device with last-level caches of two lines per set, with service-queue buffers so small and ALUs so slow that operands
/// wait.
GpuDeviceParameters evicting(GpuDeviceParameters p) {
  p.l2.size = Bytes{4096};
  p.l2.ways = 2;
  ndc_of(p).sq_buffer = 1;
  ndc_of(p).llc_alu_lanes = 1;
  return p;
}
GpuDeviceParameters with_builders(GpuDeviceParameters p) {
  ndc_of(p).builders = 64;
  return p;
}
GpuDeviceParameters filling_misses(GpuDeviceParameters p) {
  ndc_of(p).pending_fill = PendingFill::miss;
  return p;
}

/// Devices with the same parameters, one for each mode.
struct Modes {
  Modes(const std::string& name, const GpuDeviceParameters& p)
      : none((name + "_none").c_str(), with_mode(p, NearDataMode::none)),
        llc((name + "_llc").c_str(), with_mode(p, NearDataMode::llc)),
        omni((name + "_omni").c_str(), with_mode(p, NearDataMode::omni)) {}
  NearDataGpu none, llc, omni;
};

struct VariantsBench : sc_core::sc_module {
  explicit VariantsBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  Modes booked{"booked", small_mesh()};
  Modes stepped{"stepped", small_mesh(RouterModel::stepped)};
  NearDataGpu evicted{"evicting", evicting(with_mode(small_mesh(), NearDataMode::omni))};
  NearDataGpu builders{"builders", with_builders(with_mode(small_mesh(), NearDataMode::omni))};
  NearDataGpu fills{"fills", filling_misses(with_mode(small_mesh(), NearDataMode::omni))};
  NearDataGpu butterfly_none{"butterfly_none", with_mode(small_butterfly(RouterModel::booked), NearDataMode::none)};
  NearDataGpu butterfly{"butterfly", with_single_entries(with_mode(small_butterfly(RouterModel::booked), NearDataMode::llc))};
  NearDataGpu butterfly_stepped{"butterfly_stepped",
                                with_single_entries(with_mode(small_butterfly(RouterModel::stepped), NearDataMode::llc))};
  NearDataGpu switches{"switches", with_mode(small_butterfly(RouterModel::booked), NearDataMode::omni)};
  NearDataGpu switches_single{"switches_single",
                              with_single_entries(with_mode(small_butterfly(RouterModel::booked), NearDataMode::omni))};
  NearDataGpu switches_stepped{"switches_stepped",
                               with_single_entries(with_mode(small_butterfly(RouterModel::stepped), NearDataMode::omni))};
};

LACUNA_TEST_BENCH(VariantsBench)

class NearDataOnMesh : public testing::TestWithParam<Modes VariantsBench::*> {
 protected:
  Modes& n_ = bench<VariantsBench>().*GetParam();
};

INSTANTIATE_TEST_SUITE_P(Meshes, NearDataOnMesh, testing::Values(&VariantsBench::booked, &VariantsBench::stepped),
                         [](const auto& mesh) { return mesh.param == &VariantsBench::booked ? "booked" : "stepped"; });

// -- butterflies

// Single entries do not deadlock on butterflies where the nodes of the caches compute, with or without the last switches.
TEST(NearDataButterfly, SingleEntriesDoNotDeadlock) {
  VariantsBench& b = bench<VariantsBench>();
  const Outcome none = run_patterns(b.butterfly_none, true, 96);
  for (NearDataGpu* const gpu : {&b.butterfly, &b.butterfly_stepped, &b.switches_single, &b.switches_stepped}) {
    SCOPED_TRACE(gpu->name());
    const Outcome single = run_patterns(*gpu, true, 96);
    EXPECT_TRUE(single.results == none.results);
    expect_conservation(single.growth);
  }
}

// The last switch before a core computes on operands from different caches.
TEST(NearDataButterfly, SwitchesCompute) {
  VariantsBench& b = bench<VariantsBench>();
  for (const bool divergent : {false, true}) {
    const Outcome none = run_patterns(b.butterfly_none, divergent, 16);
    const Outcome omni = run_patterns(b.switches, divergent, 16);
    EXPECT_TRUE(omni.results == none.results);
    expect_conservation(omni.growth);
    EXPECT_GT(total(omni.growth, "service_queue_switch", ".packets"), total(omni.growth, ".ndc.packets") / 8);
    EXPECT_EQ(total(omni.growth, ".ndc.cannot_compute") + total(omni.growth, ".ndc.no_node"), 0U);
    EXPECT_EQ(total(omni.growth, ".ndc.lds"), 0U);
  }
}

// -- variants

// Lines that are evicted from the last-level cache between arrival and fetch are loaded again.
TEST(NearDataVariants, EvictedLinesAreLoadedAgain) {
  VariantsBench& b = bench<VariantsBench>();
  for (const bool divergent : {false, true}) {
    const Outcome none = run_patterns(b.booked.none, divergent, 64);
    const Outcome evicted = run_patterns(b.evicted, divergent, 64);
    EXPECT_TRUE(evicted.results == none.results);
    expect_conservation(evicted.growth);
    if (divergent) {
      EXPECT_GT(total(evicted.growth, "service_queue", ".evicted"), 0U);
    }
  }
}

TEST(NearDataVariants, WithABuilderForEachWavefrontNoneWaits) {
  VariantsBench& b = bench<VariantsBench>();
  const auto waits = [](const Outcome& outcome) {
    return outcome.record.activity
        .all()[extension_stall(near_data_slots().first_cause + static_cast<std::size_t>(NearDataCause::builder))];
  };
  for (const bool divergent : {false, true}) {
    const Outcome one = run_patterns(b.booked.omni, divergent, 48);
    const Outcome many = run_patterns(b.builders, divergent, 48);
    EXPECT_TRUE(many.results == one.results);
    expect_conservation(many.growth);
    EXPECT_GT(waits(one), 0U);
    EXPECT_EQ(waits(many), 0U);
  }
}

TEST(NearDataVariants, FillsThatCountAsMissesDoNotKeepLanes) {
  VariantsBench& b = bench<VariantsBench>();
  const Outcome hits = run_patterns(b.booked.omni, true, 48);
  const Outcome misses = run_patterns(b.fills, true, 48);
  EXPECT_TRUE(misses.results == hits.results);
  expect_conservation(misses.growth);
  EXPECT_GT(total(hits.growth, ".ndc.pending_fill"), 0U);
  EXPECT_EQ(total(misses.growth, ".ndc.pending_fill"), 0U);
}

// -- order of a wavefront's accesses

// The store of a chain drops its line from the core's L1, in which an earlier load has left it, so that the next load misses. A
// chain stays at the core while a plain store to one of its lines is in flight.
TEST_P(NearDataOnMesh, ChainsAndOtherAccessesToTheSameLines) {
  const Lines addresses{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
                        "v_lshlrev_b32 v1, 2, v0",
                        "s_waitcnt lgkmcnt(0)",
                        "ADD_u32 v2, s8, v1",
                        "v_mov_b32 v3, s9",
                        "ADD_u32 v4, s10, v1",
                        "v_mov_b32 v5, s11"};
  const Lines copy{"LOAD v10, v[2:3]", kWaitVector, "STORE v[4:5], v10", "s_waitcnt vmcnt(0)"};
  Lines reload = addresses;
  append(reload, {"LOAD v12, v[4:5]", "s_waitcnt vmcnt(0)", "v_mov_b32 v13, v12"});
  append(reload, copy);
  append(reload,
         {"LOAD v14, v[4:5]", "s_waitcnt vmcnt(0)", "v_mov_b32 v13, v14", "ADD_u32 v2, 0x8000, v4", "STORE v[2:3], v14"});
  Lines overtaking = addresses;
  append(overtaking, {"v_mov_b32 v12, 7", "STORE v[2:3], v12"});
  append(overtaking, copy);
  for (NearDataGpu* const gpu : {&n_.llc, &n_.omni}) {
    SCOPED_TRACE(gpu->name());
    const auto growth_of = [&](const Lines& lines) {
      const AssembledKernel kernel(isa::Target::gfx803, lines);
      EXPECT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
      gpu->start();
      gpu->mark();
      EXPECT_FALSE(gpu->run(kernel, {kBase + kA, kBase + kC}, 1, 32).failed);
      gpu->expect_no_chains();
      return gpu->growth();
    };
    const Counts reloaded = growth_of(reload);
    EXPECT_EQ(reloaded.at("l1v0.reads"), 2U);
    EXPECT_EQ(reloaded.at("l1v0.read_misses"), 2U);
    EXPECT_EQ(total(reloaded, ".ndc.packets"), 1U);
    for (unsigned item = 0; item < 32; ++item) ASSERT_EQ(gpu->words(kC + 0x8000)[item], gpu->words(kA)[item]);
    const Counts overtaken = growth_of(overtaking);
    EXPECT_EQ(total(overtaken, ".ndc.own_store"), 1U);
    EXPECT_EQ(total(overtaken, ".ndc.packets"), 0U);
    for (unsigned item = 0; item < 32; ++item) ASSERT_EQ(gpu->words(kC)[item], 7U);
  }
}

// A chain stays at the core if the first load hits in the L1. If only the second one hits, the first is sent after its look-up.
TEST_P(NearDataOnMesh, ChainsWhoseLinesAreInTheL1StayAtTheCore) {
  const Lines before{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
                     "s_load_dwordx2 s[12:13], s[0:1], 0x10",
                     "v_lshlrev_b32 v1, 2, v0",
                     "s_waitcnt lgkmcnt(0)",
                     "ADD_u32 v2, s8, v1",
                     "v_mov_b32 v3, s9",
                     "ADD_u32 v4, s10, v1",
                     "v_mov_b32 v5, s11",
                     "ADD_u32 v6, s12, v1",
                     "v_mov_b32 v7, s13"};
  struct Case {
    const char* loaded_before;
    const char* reason;
  };
  for (const Case& c : {Case{"LOAD v12, v[2:3]", ".ndc.hit_first"}, Case{"LOAD v12, v[4:5]", ".ndc.hit_second"}}) {
    SCOPED_TRACE(c.reason);
    Lines lines = before;
    append(lines, {c.loaded_before, "s_waitcnt vmcnt(0)", "v_mov_b32 v13, v12", "LOAD v10, v[2:3]", "LOAD v11, v[4:5]",
                   kWaitVector, "v_xor_b32 v14, v10, v11", "STORE v[6:7], v14"});
    const AssembledKernel kernel(isa::Target::gfx803, lines);
    ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
    for (NearDataGpu* const gpu : {&n_.llc, &n_.omni}) {
      SCOPED_TRACE(gpu->name());
      gpu->start();
      gpu->mark();
      EXPECT_FALSE(gpu->run(kernel, {kBase + kA, kBase + kB, kBase + kC}, 1, 32).failed);
      gpu->expect_no_chains();
      const Counts counts = gpu->growth();
      EXPECT_EQ(total(counts, c.reason), 1U);
      EXPECT_EQ(total(counts, ".ndc.packets"), 0U);
      EXPECT_EQ(total(counts, ".ndc.hit_first") + total(counts, ".ndc.hit_second"), 1U);
      EXPECT_EQ(counts.at("l1v0.reads"), 3U);  // the load before the chain, and the chain's
      for (unsigned item = 0; item < 32; ++item) ASSERT_EQ(gpu->words(kC)[item], gpu->words(kA)[item] ^ gpu->words(kB)[item]);
    }
  }
}

// -- several kernels

TEST_P(NearDataOnMesh, AKernelWithoutChainsBesideOneWithThem) {
  const AssembledKernel sums(isa::Target::gfx803,
                             {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "s_lshl_b32 s3, s2, 8", "v_lshlrev_b32 v1, 2, v0",
                              "s_waitcnt lgkmcnt(0)", "ADD_u32 v1, s3, v1", "ADD_u32 v2, s8, v1", "v_mov_b32 v3, s9",
                              "ADD_u32 v4, s10, v1", "v_mov_b32 v5, s11", "flat_load_dword v10, v[2:3] glc", kWaitVector,
                              "ADD_u32 v11, v10, v10", "v_xor_b32 v12, v10, v11", "STORE v[4:5], v12"});
  ASSERT_TRUE(sums.finalize({.move = false}).chains.empty());
  std::vector<std::uint32_t> expected;
  for (NearDataGpu* const gpu : {&n_.none, &n_.llc, &n_.omni}) {
    SCOPED_TRACE(gpu->name());
    gpu->start();
    write_indices(*gpu);
    gpu->mark();
    const std::vector<std::uint64_t> of_patterns{kBase + kA, kBase + kB, kBase + kC, kBase + kIndices};
    gpu->dispatch(all_patterns(true), of_patterns, 32, kWorkgroupSize);
    gpu->dispatch(sums, {kBase + kA, kBase + kElsewhere}, 64);
    gpu->finish();
    ASSERT_EQ(gpu->records.size(), 2U);
    // The kernels have run at the same time.
    EXPECT_LT(later(gpu->records[0].start, gpu->records[1].start), earlier(gpu->records[0].end, gpu->records[1].end));
    gpu->expect_no_chains();
    std::vector<std::uint32_t> results = gpu->memory(kC, kStores * kRegion);
    const std::vector<std::uint32_t> others = gpu->memory(kElsewhere, 64 * 256);
    results.insert(results.end(), others.begin(), others.end());
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
    if (gpu->near_data() == nullptr) continue;
    const std::size_t chains = near_data_slots().first_count + static_cast<std::size_t>(NearDataCount::chains);
    std::uint64_t of_tagged = 0;
    for (const KernelRecord& record : gpu->records) {
      if (record.workgroups == 64) {
        EXPECT_EQ(record.activity.extension[chains], 0U);
      } else {
        of_tagged = record.activity.extension[chains];
      }
    }
    EXPECT_EQ(of_tagged, 2U * 32 * 2 * 10);
  }
}

// Chains are not computed at cores while a kernel runs whose LDS leaves no room for operands: their own kernel or another one.
TEST_P(NearDataOnMesh, LdsThatKernelsUseHoldsNoOperands) {
  const AssembledKernel idle(isa::Target::gfx803, {"s_sleep 127", "s_sleep 127", "s_sleep 127"});
  const std::vector<std::uint64_t> arguments{kBase + kA, kBase + kB, kBase + kC, kBase + kIndices};
  const auto all_lds = static_cast<unsigned>(ComputeUnitParameters{}.lds.n);
  NearDataGpu& gpu = n_.omni;
  const auto counts_of = [&](unsigned lds, unsigned lds_of_other) {
    gpu.start();
    write_indices(gpu);
    gpu.mark();
    if (lds_of_other != 0) gpu.dispatch(idle, {}, 64, 64, lds_of_other);
    gpu.dispatch(all_patterns(true), arguments, 32, kWorkgroupSize, lds);
    gpu.finish();
    gpu.expect_no_chains();
    return gpu.growth();
  };
  const Counts room = counts_of(0, 64);
  EXPECT_EQ(total(room, ".ndc.lds"), 0U);
  EXPECT_GT(total(room, "service_queue_cu", ".packets"), 0U);
  const Counts none = counts_of(all_lds / 2, 0);
  EXPECT_GT(total(none, ".ndc.lds"), 0U);
  EXPECT_EQ(total(none, "service_queue_cu", ".packets"), 0U);
  const Counts other = counts_of(0, all_lds);
  EXPECT_GT(total(other, ".ndc.lds"), 0U);
  EXPECT_LT(total(other, "service_queue_cu", ".packets"), total(room, "service_queue_cu", ".packets"));
}

// -- code that changes

/// A kernel that copies 64 words. The copy is a chain if `load` can be part of a chain.
AssembledKernel copy_of_words(const std::string& load = "LOAD v10, v[2:3]") {
  return {isa::Target::gfx803,
          {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)", "ADD_u32 v2, s8, v1",
           "v_mov_b32 v3, s9", "ADD_u32 v4, s10, v1", "v_mov_b32 v5, s11", load, kWaitVector, "STORE v[4:5], v10"}};
}

// Runs several kernels at the same address, without a reset in between.
TEST_P(NearDataOnMesh, OtherCodeAtTheAddressOfAKernelHasTagsOfItsOwn) {
  NearDataGpu& gpu = n_.omni;
  gpu.start();
  const auto run = [&](const AssembledKernel& kernel, std::uint64_t changed) {
    gpu.reuse_code();
    gpu.mark();
    EXPECT_FALSE(gpu.run(kernel, {kBase + kA, kBase + kC, kBase + kElsewhere, kBase + kIndices}).failed);
    const Counts counts = gpu.growth();
    EXPECT_EQ(counts.at("kernel_tagger.kernels_changed"), changed);
    gpu.expect_no_chains();
    return total(counts, ".ndc.chains");
  };
  EXPECT_EQ(run(copy_of_words(), 0), 1U);
  EXPECT_EQ(run(copy_of_words(), 0), 1U);
  EXPECT_EQ(run(copy_of_words("flat_load_dword v10, v[2:3] glc"), 1), 0U);
  for (unsigned item = 0; item < 64; ++item) ASSERT_EQ(gpu.words(kC)[item], gpu.words(kA)[item]);
  EXPECT_EQ(run(copy_of_words(), 0), 1U);  // the previous kernel at this address had no chains
  EXPECT_EQ(run(AssembledKernel(isa::Target::gfx803, {"s_nop 0"}), 1), 0U);
  EXPECT_EQ(run(all_patterns(false), 0), 2U * 10);
}

// A kernel writes its own code: the first workgroup changes the constant of a chain that it executes afterwards, while the
// other workgroups are in the middle of chains.
TEST_P(NearDataOnMesh, CodeThatAKernelChangesIsUntagged) {
  Lines lines{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
              "s_load_dwordx2 s[12:13], s[0:1], 0x10",
              "s_lshl_b32 s3, s2, 8",
              "v_lshlrev_b32 v1, 2, v0",
              "s_waitcnt lgkmcnt(0)",
              "ADD_u32 v1, s3, v1",
              "ADD_u32 v2, s8, v1",
              "v_mov_b32 v3, s9",
              "ADD_u32 v4, s10, v1",
              "v_mov_b32 v5, s11",
              "s_movk_i32 s20, 12"};
  const std::size_t loop = lines.size();
  append(lines, {"LOAD v10, v[2:3]", kWaitVector, "v_xor_b32 v12, 0x12345, v10", "STORE v[4:5], v12"});
  const std::size_t operation = loop + 2;
  append(lines, {"s_waitcnt vmcnt(0)", "s_cmp_lg_u32 s2, 0", "s_cbranch_scc1 0"});
  const std::size_t skip = lines.size() - 1;
  // Only the first workgroup modifies the code: it overwrites the literal, which is the second word of the operation.
  append(lines, {"v_mov_b32 v6, s12", "v_mov_b32 v7, s13", "v_mov_b32 v8, 0x54321", "STORE v[6:7], v8", "s_waitcnt vmcnt(0)",
                 "s_icache_inv"});
  const std::size_t after = lines.size();
  append(lines, {"s_sub_u32 s20, s20, 1", "s_cmp_lg_u32 s20, 0", "s_cbranch_scc1 0"});
  AssembledKernel kernel(isa::Target::gfx803, lines);
  const auto branch = [&](std::size_t line, std::size_t to) {
    const auto words =
        (static_cast<std::int64_t>(kernel.address(to)) - static_cast<std::int64_t>(kernel.address(line)) - 4) / 4;
    kernel.words()[(kernel.address(line) - kEntry) / 4] |= static_cast<std::uint16_t>(words);
  };
  branch(skip, after);
  branch(lines.size() - 1, loop);
  ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  for (NearDataGpu* const gpu : {&n_.none, &n_.llc, &n_.omni}) {
    SCOPED_TRACE(gpu->name());
    gpu->start();
    gpu->mark();
    const std::uint64_t literal = NearDataGpu::code_address(0) + kernel.address(operation) - kEntry + 4;
    EXPECT_FALSE(gpu->run(kernel, {kBase + kA, kBase + kC, literal}, 12).failed);
    gpu->expect_no_chains();
    for (unsigned item = 0; item < 12 * 64; ++item) ASSERT_EQ(gpu->words(kC)[item], gpu->words(kA)[item] ^ 0x54321U) << item;
    if (gpu->near_data() == nullptr) continue;
    const Counts counts = gpu->growth();
    EXPECT_EQ(counts.at("kernel_tagger.kernels_changed"), 1U);
    EXPECT_GT(total(counts, ".ndc.chains"), 0U);
    EXPECT_LT(total(counts, ".ndc.chains"), 12U * 12);
  }
}

// -- ndc.check

// The check reports chains in flight, whose messages have been sent and have not arrived.
TEST_P(NearDataOnMesh, ChainsInFlightAreReportedByTheCheck) {
  NearDataGpu& gpu = n_.omni;
  gpu.start();
  write_indices(gpu);
  gpu.dispatch(all_patterns(true), {kBase + kA, kBase + kB, kBase + kC, kBase + kIndices}, 64, kWorkgroupSize);
  unsigned in_flight = 0;
  for (unsigned i = 0; i < 20 && !gpu.done(); ++i) {
    wait_for(Tick{500'000});
    in_flight += gpu.near_data()->violations().empty() ? 0 : 1;
  }
  EXPECT_GT(in_flight, 3U);
  EXPECT_FALSE(gpu.finish().failed);
  gpu.expect_no_chains();
  EXPECT_EQ(gpu.sum(NearDataCount::lanes_changed), 0U);
}

}  // namespace
}  // namespace lacuna::test
