// Tests whole devices with near-data computing: results are the same in all modes, networks and numbers of threads, traffic is
// that of the paper's worked examples, and queues are empty at the end of a kernel, after a fault and after a reset.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "platform/configuration.h"
#include "platform/version.h"
#include "tests/neardata/near_data_patterns.h"

namespace lacuna::test {
namespace {

// -- devices

GpuDeviceParameters mesh56(NearDataMode mode) {
  GpuDeviceParameters p;
  ParameterSet set;
  p.describe(set);
  Configuration(set).load(std::filesystem::path(kConfigurationFolder) / "mesh56.cfg");
  p.vram.size = Bytes{64 << 20};
  p.extensions.add(std::make_unique<NearDataParameterSet>());
  ndc_of(p).mode = mode;
  return p;
}

/// A network with a device for each mode, and some devices for single tests.
struct Network {
  Network(const std::string& name, const GpuDeviceParameters& p, WorkerThreads& workers)
      : none((name + "_none").c_str(), with_mode(p, NearDataMode::none)),
        llc((name + "_llc").c_str(), with_mode(p, NearDataMode::llc)),
        omni((name + "_omni").c_str(), with_mode(p, NearDataMode::omni)),
        threads((name + "_threads").c_str(), with_mode(p, NearDataMode::omni), &workers),
        fresh((name + "_fresh").c_str(), with_mode(p, NearDataMode::omni)),
        refusing((name + "_refusing").c_str(), with_single_entry(with_mode(p, NearDataMode::omni))),
        single_llc((name + "_single_llc").c_str(), with_single_entries(with_mode(p, NearDataMode::llc))),
        single_omni((name + "_single_omni").c_str(), with_single_entries(with_mode(p, NearDataMode::omni))) {}
  NearDataGpu none, llc, omni, threads, fresh, refusing, single_llc, single_omni;
};

struct DeviceBench : sc_core::sc_module {
  explicit DeviceBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  WorkerThreads workers{3};
  Network crossbar{"crossbar", small_machine(), workers};
  Network booked{"booked", small_mesh(), workers};
  Network stepped{"stepped", small_mesh(RouterModel::stepped), workers};
  NearDataGpu paper_none{"paper_none", mesh56(NearDataMode::none)};
  NearDataGpu paper_llc{"paper_llc", mesh56(NearDataMode::llc)};
  NearDataGpu paper_omni{"paper_omni", mesh56(NearDataMode::omni)};
};

LACUNA_TEST_BENCH(DeviceBench)

class NearDataDevice : public testing::TestWithParam<Network DeviceBench::*> {
 protected:
  Network& n_ = bench<DeviceBench>().*GetParam();
};

INSTANTIATE_TEST_SUITE_P(Networks, NearDataDevice,
                         testing::Values(&DeviceBench::crossbar, &DeviceBench::booked, &DeviceBench::stepped),
                         [](const auto& network) {
                           return network.param == &DeviceBench::crossbar ? "crossbar"
                                  : network.param == &DeviceBench::booked ? "booked"
                                                                          : "stepped";
                         });

// -- results

TEST_P(NearDataDevice, ResultsAreTheSameInAllModes) {
  constexpr unsigned kWorkgroups = 16;
  for (const bool divergent : {false, true}) {
    SCOPED_TRACE(divergent ? "divergent" : "in order");
    const Outcome none = run_patterns(n_.none, divergent, kWorkgroups);
    for (NearDataGpu* const gpu : {&n_.llc, &n_.omni}) {
      SCOPED_TRACE(gpu->name());
      const Outcome other = run_patterns(*gpu, divergent, kWorkgroups);
      EXPECT_EQ(other.record.wavefront_instructions, none.record.wavefront_instructions);
      EXPECT_TRUE(other.results == none.results);
      expect_conservation(other.growth);
      EXPECT_EQ(total(other.growth, ".ndc.chains"), 2U * kWorkgroups * 2 * 10);
    }
  }
  // Results of the last run, in lane order: the copy (pattern 3), and the exclusive or with s3 (pattern 7).
  const Outcome ordered = run_patterns(n_.omni, false, kWorkgroups);
  for (unsigned workgroup = 0; workgroup < kWorkgroups; ++workgroup) {
    for (unsigned item = 0; item < kWorkgroupSize; ++item) {
      const std::size_t at = workgroup * 128 + item;
      ASSERT_EQ(ordered.results[kRegion / 4 + at], n_.omni.words(kA)[at]);
      ASSERT_EQ(ordered.results[3 * kRegion / 4 + at], n_.omni.words(kA)[at] ^ workgroup << 9);
    }
  }
}

TEST_P(NearDataDevice, RepetitionsAndThreadsTakeTheSameCycles) {
  for (const bool divergent : {false, true}) {
    const Outcome first = run_patterns(n_.omni, divergent, 16);
    for (NearDataGpu* const gpu : {&n_.omni, &n_.threads}) {
      SCOPED_TRACE(gpu->name());
      const Outcome again = run_patterns(*gpu, divergent, 16);
      EXPECT_EQ(again.record.cycles, first.record.cycles);
      expect_equal(again.growth, first.growth);
      EXPECT_TRUE(again.results == first.results);
    }
  }
}

// Another kernel reads the LDS of all cores without pause. On meshes, it delays operands that wait in a core's LDS.
TEST_P(NearDataDevice, ABusyLdsDelaysOperandsAlikeOnAnyNumberOfThreads) {
  Lines reads{"v_mov_b32 v22, 0", "s_mov_b32 m0, -1", "s_movk_i32 s4, 1000"};
  append(reads, Lines(4, "ds_read_b32 v21, v22"));
  append(reads, {"s_sub_u32 s4, s4, 1", "s_cmp_lg_u32 s4, 0", "s_cbranch_scc1 65525"});
  const AssembledKernel busy(isa::Target::gfx803, reads);
  const auto run = [&](NearDataGpu& gpu) {
    gpu.start();
    write_indices(gpu);
    gpu.mark();
    gpu.dispatch(busy, {}, static_cast<unsigned>(gpu.near_data()->network().cores.size()), 64, 512);
    Outcome outcome;
    gpu.run(all_patterns(false), {kBase + kA, kBase + kB, kBase + kC, kBase + kIndices}, 16, kWorkgroupSize);
    EXPECT_EQ(gpu.records.size(), 2U);
    outcome.record = gpu.records.front();
    outcome.growth = gpu.growth();
    outcome.results = gpu.memory(kC, kStores * kRegion);
    gpu.expect_no_chains();
    return outcome;
  };
  const Outcome first = run(n_.omni);
  const bool at_cores = total(first.growth, "service_queue_cu", ".packets") > 0;
  EXPECT_EQ(total(first.growth, "service_queue_cu", ".lds_contended") > 0, at_cores);
  for (NearDataGpu* const gpu : {&n_.omni, &n_.threads}) {
    SCOPED_TRACE(gpu->name());
    const Outcome again = run(*gpu);
    EXPECT_EQ(again.record.cycles, first.record.cycles);
    expect_equal(again.growth, first.growth);
    EXPECT_TRUE(again.results == first.results);
  }
}

// In a crossbar, packets meet only at the nodes of the caches.
TEST(NearDataCrossbar, OmniComputesAsLlcDoes) {
  Network& n = bench<DeviceBench>().crossbar;
  for (const bool divergent : {false, true}) {
    const Outcome llc = run_patterns(n.llc, divergent, 16);
    const Outcome omni = run_patterns(n.omni, divergent, 16);
    EXPECT_EQ(omni.record.cycles, llc.record.cycles);
    expect_equal(omni.growth, llc.growth);
    EXPECT_EQ(total(omni.growth, ".ndc.packets"), total(omni.growth, ".ndc.packets_llc"));
    EXPECT_EQ(total(omni.growth, ".ndc.cannot_compute"), 0U);
  }
}

// -- queues

// The data of rejected packets are sent to the core, which computes.
TEST_P(NearDataDevice, RefusedPacketsComputeAtTheCore) {
  const Outcome none = run_patterns(n_.none, true, 32);
  const Outcome refused = run_patterns(n_.refusing, true, 32);
  EXPECT_TRUE(refused.results == none.results);
  expect_conservation(refused.growth);
  EXPECT_GT(total(refused.growth, ".ndc.bounced"), total(refused.growth, ".ndc.packets") / 10);
  EXPECT_GT(total(refused.growth, ".ndc.core_lanes"), 0U);
  for (const ServiceQueue* const queue : n_.refusing.near_data()->network().queues)
    EXPECT_TRUE(queue == nullptr || queue->statistics().most_entries <= 1);
}

TEST_P(NearDataDevice, SingleEntriesDoNotDeadlock) {
  constexpr unsigned kWorkgroups = 96;
  const Outcome none = run_patterns(n_.none, true, kWorkgroups);
  for (NearDataGpu* const gpu : {&n_.single_llc, &n_.single_omni}) {
    SCOPED_TRACE(gpu->name());
    const Outcome single = run_patterns(*gpu, true, kWorkgroups);
    EXPECT_TRUE(single.results == none.results);
    expect_conservation(single.growth);
    EXPECT_GT(total(single.growth, ".ndc.queue_full"), 0U);
    for (const OffloadUnit* const unit : gpu->near_data()->network().cores) EXPECT_LE(unit->statistics().most_entries, 1U);
    for (const ServiceQueue* const queue : gpu->near_data()->network().queues)
      EXPECT_TRUE(queue == nullptr || queue->statistics().most_entries <= 1);
  }
}

// In all lanes, the stores of this chain go to LDS instead of global memory. Other wavefronts of the workgroup wait for the
// packet generation unit when the first wavefront reaches the barrier.
TEST_P(NearDataDevice, StoresToLdsEndAChain) {
  const AssembledKernel kernel(isa::Target::gfx803, {"s_load_dwordx4 s[8:11], s[0:1], 0x0",
                                                     "s_load_dwordx2 s[12:13], s[0:1], 0x10",
                                                     "v_lshlrev_b32 v1, 2, v0",
                                                     "s_mov_b32 m0, -1",
                                                     "s_waitcnt lgkmcnt(0)",
                                                     "ADD_u32 v2, s8, v1",
                                                     "v_mov_b32 v3, s9",
                                                     "ADD_u32 v4, s12, v1",
                                                     "v_mov_b32 v5, s13",
                                                     "LOAD v10, v[2:3]",
                                                     kWaitVector,
                                                     "v_xor_b32 v10, 0x55, v10",
                                                     "STORE v[4:5], v10",
                                                     "s_waitcnt vmcnt(0) lgkmcnt(0)",
                                                     "s_barrier",
                                                     "v_xor_b32 v6, 0x100, v1",
                                                     "ds_read_b32 v11, v6",
                                                     "s_waitcnt lgkmcnt(0)",
                                                     "ADD_u32 v8, s10, v1",
                                                     "v_mov_b32 v9, s11",
                                                     "STORE v[8:9], v11"});
  ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  for (NearDataGpu* const gpu : {&n_.none, &n_.omni}) {
    SCOPED_TRACE(gpu->name());
    gpu->start();
    gpu->mark();
    EXPECT_FALSE(gpu->run(kernel, {kBase + kA, kBase + kC, kLdsAperture}, 4, 128, 1024).failed);
    gpu->expect_no_chains();
    for (unsigned item = 0; item < 128; ++item) ASSERT_EQ(gpu->words(kC)[item], gpu->words(kA)[item ^ 0x40] ^ 0x55U);
  }
}

// -- interruptions

// Workgroup 3 stores to an address that is not mapped, while other wavefronts have chains in flight.
TEST_P(NearDataDevice, AFaultLeavesNothingBehind) {
  const AssembledKernel kernel(
      isa::Target::gfx803,
      {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "s_load_dwordx2 s[12:13], s[0:1], 0x10", "s_lshl_b32 s3, s2, 8",
       "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)", "ADD_u32 v1, s3, v1", "ADD_u32 v2, s8, v1", "v_mov_b32 v3, s9",
       "ADD_u32 v4, s10, v1", "v_mov_b32 v5, s11", "ADD_u32 v6, s12, v1", "s_cmp_eq_u32 s2, 3", "s_cselect_b32 s13, 1, s13",
       "v_mov_b32 v7, s13", "LOAD v10, v[2:3]", "LOAD v11, v[4:5]", kWaitVector, "v_add_f32 v12, v10, v11",
       "STORE v[6:7], v12"});
  ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  NearDataGpu& gpu = n_.omni;
  gpu.start();
  gpu.mark();
  gpu.dispatch(kernel, {kBase + kA, kBase + kB, kBase + kElsewhere}, 64);
  wait_for(Tick{100'000'000});
  ASSERT_EQ(gpu.records.size(), 1U);
  EXPECT_TRUE(gpu.records[0].failed);
  EXPECT_GT(total(gpu.growth(), ".ndc.packets"), 0U);
  EXPECT_TRUE(gpu.device.idle());
  gpu.expect_no_chains();
  gpu.destroy_queue();
  gpu.create_queue();
  const KernelRecord record =
      gpu.run(all_patterns(false), {kBase + kA, kBase + kB, kBase + kC, kBase + kIndices}, 16, kWorkgroupSize);
  EXPECT_FALSE(record.failed);
  gpu.expect_no_chains();
  EXPECT_TRUE(gpu.memory(kC, kStores * kRegion) == run_patterns(n_.none, false, 16).results);
}

// After the reset, the device behaves like a device that has run no kernel.
TEST_P(NearDataDevice, ResetWithChainsInFlight) {
  const Outcome fresh = run_patterns(n_.fresh, true, 16);
  NearDataGpu& gpu = n_.omni;
  unsigned interrupted = 0;
  for (const std::uint64_t nanoseconds : {700, 1'500, 3'001, 6'000, 9'500}) {
    SCOPED_TRACE(nanoseconds);
    gpu.start();
    write_indices(gpu);
    gpu.dispatch(all_patterns(true), {kBase + kA, kBase + kB, kBase + kC, kBase + kIndices}, 64, kWorkgroupSize);
    wait_for(Tick{nanoseconds * 1000});
    ASSERT_FALSE(gpu.done());
    const auto& cores = gpu.near_data()->network().cores;
    interrupted += std::any_of(cores.begin(), cores.end(), [](const OffloadUnit* unit) { return !unit->idle(); });
    gpu.reset();
    gpu.expect_no_chains();
    EXPECT_TRUE(gpu.device.idle());
    const Outcome again = run_patterns(gpu, true, 16);
    EXPECT_EQ(again.record.cycles, fresh.record.cycles);
    expect_equal(again.growth, fresh.growth);
    EXPECT_TRUE(again.results == fresh.results);
  }
  EXPECT_GE(interrupted, 3U);
}

// After a reset, kernels are tagged again, since other code may be at their addresses.
TEST_P(NearDataDevice, ResetForgetsTags) {
  n_.omni.start();
  n_.omni.mark();
  const AssembledKernel copy(
      isa::Target::gfx803,
      {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)", "ADD_u32 v2, s8, v1",
       "v_mov_b32 v3, s9", "ADD_u32 v4, s10, v1", "v_mov_b32 v5, s11", "LOAD v10, v[2:3]", kWaitVector, "STORE v[4:5], v10"});
  n_.omni.run(copy, {kBase + kA, kBase + kC});
  EXPECT_EQ(total(n_.omni.growth(), ".ndc.chains"), 1U);
  EXPECT_EQ(total(run_patterns(n_.omni, false, 4).growth, ".ndc.chains"), 2U * 4 * 2 * 10);
}

// -- worked examples (sections 3.1 and 3.2)

/// Runs c = a + b on 32 lanes of core 15, workgroup 15 of 56; the other workgroups do nothing.
Counts one_chain_on_core_15(NearDataGpu& gpu, unsigned a, unsigned b, unsigned c) {
  const AssembledKernel kernel(
      isa::Target::gfx803,
      {"s_load_dwordx4 s[8:11], s[0:1], 0x0", "s_load_dwordx2 s[12:13], s[0:1], 0x10", "v_lshlrev_b32 v1, 2, v0",
       "s_waitcnt lgkmcnt(0)", "ADD_u32 v2, s8, v1", "v_mov_b32 v3, s9", "ADD_u32 v4, s10, v1", "v_mov_b32 v5, s11",
       "ADD_u32 v6, s12, v1", "v_mov_b32 v7, s13", "s_cmp_lg_u32 s2, 15", "s_cbranch_scc1 8", "LOAD v10, v[2:3]",
       "LOAD v11, v[4:5]", kWaitVector, "v_add_f32 v12, v10, v11", "STORE v[6:7], v12"});
  EXPECT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  gpu.start();
  gpu.mark();
  const auto line_of = [](std::uint64_t offset, unsigned cache) { return kBase + offset + 128 * cache; };
  EXPECT_FALSE(gpu.run(kernel, {line_of(kA, a), line_of(kB, b), line_of(kC, c)}, 56, 32).failed);
  const Counts counts = gpu.growth();
  EXPECT_EQ(counts.at("cu15.issued_vmem"), 3U);
  EXPECT_EQ(total(counts, ".issued_vmem"), 3U);
  return counts;
}

struct Saving {
  std::uint64_t hops;
  std::uint64_t weighted;
  bool operator==(const Saving&) const = default;
};
/// Network traffic that a mode saves, compared with mode none.
Saving saving(const Counts& none, const Counts& mode) {
  return {none.at("noc.hops") - mode.at("noc.hops"), none.at("noc.weighted_hops") - mode.at("noc.weighted_hops")};
}

// 48 hops and 144 flits x links become 16 and 16: three requests and three replies, 18 flits in all, are replaced by one
// request and one reply of one flit each.
TEST(NearDataWorkedExample, AllLinesInOneCache) {
  DeviceBench& b = bench<DeviceBench>();
  const Counts none = one_chain_on_core_15(b.paper_none, 5, 5, 5);
  for (NearDataGpu* const gpu : {&b.paper_llc, &b.paper_omni}) {
    const Counts counts = one_chain_on_core_15(*gpu, 5, 5, 5);
    EXPECT_EQ(saving(none, counts), (Saving{48 - 16, 144 - 16}));
    EXPECT_EQ(none.at("noc.packets") - counts.at("noc.packets"), 6U - 2U);
    EXPECT_EQ(none.at("noc.flits") - counts.at("noc.flits"), 18U - 2U);
    EXPECT_EQ(counts.at("cu15.ndc.packets"), 1U);
    EXPECT_EQ(counts.at("cu15.ndc.packets_llc"), 1U);
    EXPECT_EQ(counts.at("cu15.ndc.mask_flits"), 0U);
    EXPECT_EQ(counts.at("cu15.ndc.table_reads"), 1U);
    EXPECT_EQ(counts.at("service_queue_l2_5.packets"), 1U);
    // The core commits the addition without execution; it would take four cycles of a vector ALU of 16 lanes.
    EXPECT_EQ(counts.at("cu15.ndc.committed"), 1U);
    EXPECT_EQ(none.at("cu15.valu_busy_cycles") - counts.at("cu15.valu_busy_cycles"), 4U);
    EXPECT_EQ(counts.at("cu15.issued_valu"), none.at("cu15.issued_valu"));
  }
}

// 42 hops and 126 flits x links become 30 and 78 when the core at (1,5) computes: compute packet, two loads, a store, and the
// acknowledgement.
TEST(NearDataWorkedExample, LinesInThreeCaches) {
  DeviceBench& b = bench<DeviceBench>();
  const Counts none = one_chain_on_core_15(b.paper_none, 5, 6, 7);
  const Counts llc = one_chain_on_core_15(b.paper_llc, 5, 6, 7);
  EXPECT_EQ(saving(none, llc), (Saving{0, 0}));
  EXPECT_EQ(llc.at("cu15.ndc.cannot_compute"), 1U);
  EXPECT_EQ(llc.at("cu15.ndc.committed"), 0U);
  EXPECT_EQ(llc.at("cu15.valu_busy_cycles"), none.at("cu15.valu_busy_cycles"));
  const Counts omni = one_chain_on_core_15(b.paper_omni, 5, 6, 7);
  EXPECT_EQ(saving(none, omni), (Saving{42 - 30, 126 - 78}));
  EXPECT_EQ(omni.at("noc.packets") - none.at("noc.packets"), 8U - 6U);
  EXPECT_EQ(omni.at("noc.flits") - none.at("noc.flits"), 20U - 18U);
  EXPECT_EQ(omni.at("cu15.ndc.packets"), 1U);
  EXPECT_EQ(omni.at("cu15.ndc.packets_llc"), 0U);
  EXPECT_EQ(omni.at("service_queue_cu36.packets"), 1U);
  EXPECT_EQ(omni.at("service_queue_cu36.stores"), 1U);
}

}  // namespace
}  // namespace lacuna::test