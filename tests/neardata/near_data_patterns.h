// A kernel with chains of all patterns, for devices with near-data computing, and the invariants of its runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/neardata/near_data_gpu.h"

namespace lacuna::test {

using Lines = std::vector<std::string>;
constexpr const char* kWaitVector = "s_waitcnt vmcnt(0)";
constexpr std::uint64_t kBase = NearDataGpu::kBase;
constexpr std::uint64_t kData = NearDataGpu::kData;
// Addresses of the operands a and b, of the indices, and of the results, which have a region for each store of the kernel.
constexpr std::uint64_t kA = kData, kB = kData + 0x100000, kIndices = kData + 0x200000, kC = kData + 0x300000;
constexpr std::uint64_t kRegion = 0x10000;
constexpr std::uint64_t kElsewhere = kData + 0x500000;  ///< address outside of the results of all_patterns()
/// FLAT addresses of LDS begin here after a reset.
constexpr std::uint64_t kLdsAperture = 0x2000'0000'0000'0000;
constexpr unsigned kStores = 6 * 2 + 3;

inline void append(Lines& all, const Lines& more) { all.insert(all.end(), more.begin(), more.end()); }

/// A kernel with chains of all patterns in a loop of two iterations: in the second iteration, operand a is in lines that the
/// first does not use, and 32 consecutive lanes of b extend over two lines. `divergent`: each lane has operands and results at
/// unrelated addresses. Arguments: a, b, c, indices.
inline AssembledKernel all_patterns(bool divergent) {
  Lines lines{"s_load_dwordx8 s[8:15], s[0:1], 0x0",
              "s_lshl_b32 s3, s2, 9",
              "v_lshlrev_b32 v1, 2, v0",
              "s_waitcnt lgkmcnt(0)",
              "ADD_u32 v1, s3, v1",
              "v_mov_b32 v16, v1",
              "v_mov_b32 v17, v1",
              "v_mov_b32 v18, v1"};
  if (divergent) {
    append(lines, {"ADD_u32 v2, s14, v1", "v_mov_b32 v3, s15", "LOAD v16, v[2:3]", "ADD_u32 v2, 0x10000, v2",
                   "LOAD v17, v[2:3]", "ADD_u32 v2, 0x10000, v2", "LOAD v18, v[2:3]", kWaitVector});
  }
  append(lines, {"ADD_u32 v2, s8, v16", "v_mov_b32 v3, s9", "ADD_u32 v4, s10, v17", "v_mov_b32 v5, s11", "ADD_u32 v6, s12, v18",
                 "v_mov_b32 v7, s13", "v_mov_b32 v20, 0", "v_mov_b32 v22, 0", "v_mov_b32 v23, 0", "s_mov_b32 s20, 0"});
  const std::size_t loop = lines.size();
  const std::string next = "ADD_u32 v6, 0x10000, v6";
  const Lines both{"LOAD v10, v[2:3]", "LOAD v11, v[4:5]", kWaitVector};
  const Lines one{"LOAD v10, v[2:3]", kWaitVector};
  // patterns 1 and 2
  append(lines, both);
  append(lines, {"v_add_f32 v12, v10, v11", "STORE v[6:7], v12", next});
  append(lines, both);
  append(lines, {"v_mac_f32 v20, v10, v11"});
  // patterns 3 and 4
  append(lines, one);
  append(lines, {"STORE v[6:7], v10", next});
  append(lines, {"LOAD v10, v[2:3]", "LOAD v11, v[6:7]", kWaitVector, "v_xor_b32 v12, v10, v11", "STORE v[6:7], v12", next});
  // patterns 5 and 6
  append(lines, both);
  append(lines, {"v_cmp_lt_u32 vcc, v10, v11", "v_cndmask_b32 v13, 0, v1, vcc", "v_xor_b32 v22, v22, v13"});
  append(lines, one);
  append(lines, {"v_cmp_gt_i32 vcc, 0x12345, v10", "v_cndmask_b32 v13, 0, v0, vcc", "v_xor_b32 v22, v22, v13"});
  // pattern 7
  append(lines, one);
  append(lines, {"v_xor_b32 v11, s3, v10", "STORE v[6:7], v11", next});
  // patterns 8 and 9
  append(lines, both);
  append(lines, {"v_mul_f32 v12, s3, v11", "v_add_f32 v14, v10, v12", "v_xor_b32 v23, v23, v14"});
  append(lines, both);
  append(lines, {"v_mul_f32 v12, 2.0, v11", "v_add_f32 v12, v10, v12", "STORE v[6:7], v12", next});
  // a chain that no row of the table describes
  append(lines, one);
  append(lines, {"v_mul_f32 v11, s3, v10", "v_add_f32 v11, s3, v11", "STORE v[6:7], v11", next});
  append(lines, {"ADD_u32 v2, 0x2000, v2", "ADD_u32 v4, 0x40, v4", "s_add_u32 s20, s20, 1", "s_cmp_lt_u32 s20, 2"});
  const std::size_t branch = lines.size();
  append(lines, {"s_cbranch_scc1 0", "STORE v[6:7], v20", next, "STORE v[6:7], v22", next, "STORE v[6:7], v23"});
  const AssembledKernel without(isa::Target::gfx803, lines);
  const std::uint64_t words = (without.address(branch) + 4 - without.address(loop)) / 4;
  lines[branch] = "s_cbranch_scc1 " + std::to_string(65536 - words);
  return {isa::Target::gfx803, lines};
}

/// Writes byte offsets for divergent lanes: operands anywhere in 32 KiB, each result at a different offset.
inline void write_indices(NearDataGpu& gpu) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> places(kRegion / 4);
  std::iota(places.begin(), places.end(), 0U);
  std::shuffle(places.begin(), places.end(), random);
  for (std::size_t i = 0; i < kRegion / 4; ++i) {
    gpu.words(kIndices)[i] = 4 * (random() % 0x2000);
    gpu.words(kIndices + kRegion)[i] = 4 * (random() % 0x2000);
    gpu.words(kIndices + 2 * kRegion)[i] = 4 * places[i];
  }
}

/// Work-items of a workgroup: two wavefronts, the second with 36 lanes.
constexpr unsigned kWorkgroupSize = 100;

struct Outcome {
  KernelRecord record;
  Counts growth;
  std::vector<std::uint32_t> results;
};

/// Runs all_patterns() on a device that has been reset, and checks the invariants.
inline Outcome run_patterns(NearDataGpu& gpu, bool divergent, unsigned workgroups) {
  gpu.start();
  write_indices(gpu);
  gpu.mark();
  const AssembledKernel kernel = all_patterns(divergent);
  EXPECT_EQ(kernel.finalize({.move = false}).chains.size(), 10U);
  Outcome outcome;
  outcome.record = gpu.run(kernel, {kBase + kA, kBase + kB, kBase + kC, kBase + kIndices}, workgroups, kWorkgroupSize);
  outcome.growth = gpu.growth();
  outcome.results = gpu.memory(kC, kStores * kRegion);
  EXPECT_FALSE(outcome.record.failed);
  EXPECT_TRUE(gpu.device.idle());
  gpu.expect_no_chains();
  return outcome;
}

inline std::uint64_t total(const Counts& counts, const std::string& part) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) {
    if (name.ends_with(part)) sum += count;
  }
  return sum;
}
inline std::uint64_t total(const Counts& counts, const std::string& prefix, const std::string& part) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) {
    if (name.starts_with(prefix) && name.ends_with(part)) sum += count;
  }
  return sum;
}

/// Compares all counters except maxima, which do not increase when a kernel is repeated.
inline void expect_equal(const Counts& a, const Counts& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, count] : a) {
    if (name.ends_with("most_entries") || name.ends_with("most_input")) continue;
    EXPECT_EQ(count, b.at(name)) << name;
  }
}

/// Checks that every packet has been accepted or rejected.
inline void expect_conservation(const Counts& counts) {
  EXPECT_GT(total(counts, ".ndc.packets"), 0U);
  EXPECT_EQ(total(counts, ".ndc.packets"),
            total(counts, "service_queue", ".packets") + total(counts, "service_queue", ".bounced"));
  EXPECT_EQ(total(counts, ".ndc.bounced"), total(counts, "service_queue", ".bounced"));
}

// -- devices

inline GpuDeviceParameters small_butterfly(RouterModel routers) {
  GpuDeviceParameters p = small_machine();
  p.noc.topology = FabricTopology::butterfly;
  p.noc.radix = 4;
  p.noc.stages = 2;
  p.noc.placement = "0 5 10 15 12";
  p.noc.routers = routers;
  return p;
}

/// Sets the mode and ndc.check, which counts each kernel's packets, loads, stores and results and ends the test if any is
/// missing.
inline GpuDeviceParameters with_mode(GpuDeviceParameters p, NearDataMode mode) {
  ndc_of(p).mode = mode;
  ndc_of(p).check = true;
  return p;
}
inline GpuDeviceParameters with_single_entries(GpuDeviceParameters p) {
  ndc_of(p).oq_entries = ndc_of(p).sq_entries = ndc_of(p).sq_buffer = 1;
  return p;
}
/// Reduces service queues to a single entry, so that they refuse most packets.
inline GpuDeviceParameters with_single_entry(GpuDeviceParameters p) {
  ndc_of(p).sq_entries = 1;
  return p;
}

}  // namespace lacuna::test
