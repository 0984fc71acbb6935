// Tests long random traffic through minimal hardware: one entry in each offload queue, service queue and buffer. On meshes,
// crossbars and butterflies, booked and stepped, no packet is lost, and each kernel ends with the right results.
//
// LACUNA_NEAR_DATA_PACKETS: number of packets per device.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/neardata/near_data_patterns.h"

namespace lacuna::test {
namespace {

// -- devices

GpuDeviceParameters single(GpuDeviceParameters p, NearDataMode mode) {
  return with_single_entries(with_mode(std::move(p), mode));
}

struct TrafficBench : sc_core::sc_module {
  explicit TrafficBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  NearDataGpu crossbar{"crossbar", single(small_machine(), NearDataMode::llc)};
  NearDataGpu mesh{"mesh", single(small_mesh(), NearDataMode::omni)};
  NearDataGpu mesh_stepped{"mesh_stepped", single(small_mesh(RouterModel::stepped), NearDataMode::omni)};
  NearDataGpu butterfly{"butterfly", single(small_butterfly(RouterModel::booked), NearDataMode::omni)};
  NearDataGpu butterfly_stepped{"butterfly_stepped", single(small_butterfly(RouterModel::stepped), NearDataMode::omni)};
};

LACUNA_TEST_BENCH(TrafficBench)

// -- the kernel

constexpr std::uint32_t kFactor = 1'664'525;
constexpr std::uint32_t kSummand = 0x3c6ef35f;
constexpr std::uint32_t kGolden = 0x9e3779b9;
constexpr unsigned kLanes = 32;
constexpr unsigned kWorkgroups = 18;  ///< three workgroups on each core
constexpr std::uint64_t kOperandMask = 0xfff80;
constexpr std::uint64_t kTrafficB = kA + 0x140000;  ///< operand b, after the 1 MiB of operand a and further lines
constexpr std::uint64_t kResults = 0x2000;          ///< bytes of a workgroup's results

enum class Traffic : std::uint8_t { combine, copy, compare };
constexpr std::array kTraffic{Traffic::combine, Traffic::copy, Traffic::compare};

/// Computes the lanes' addresses: operands in v[2:3] and v[4:5], each anywhere in 1 MiB, and a result in v[6:7]. The lanes
/// access one, two or eight lines, at random words; each result has a separate word.
Lines addresses() {
  return {"s_mul_i32 s16, s16, s17", "s_add_u32 s16, s16, 0x3c6ef35f", "v_mul_lo_u32 v24, v24, s17",
          "ADD_u32 v24, 0x3c6ef35f, v24",
          // Number of lines: 1, 1, 2 or 8, selected by two bits.
          "s_lshr_b32 s18, s16, 30", "s_lshl_b32 s18, s18, 2", "s_lshr_b32 s19, 0x7100, s18", "s_and_b32 s19, s19, 15",
          "v_and_b32 v1, s19, v0", "v_lshlrev_b32 v1, 7, v1", "s_lshr_b32 s4, s16, 1", "s_and_b32 s4, s4, 0xfff80",
          "ADD_u32 v2, s4, v1", "v_lshrrev_b32 v3, 20, v24", "v_and_b32 v3, 0x7c, v3", "v_or_b32 v2, v2, v3",
          "ADD_u32 v2, s8, v2", "v_mov_b32 v3, s9", "s_lshr_b32 s4, s16, 9", "s_and_b32 s4, s4, 0xfff80", "ADD_u32 v4, s4, v1",
          "v_lshrrev_b32 v5, 9, v24", "v_and_b32 v5, 0x7c, v5", "v_or_b32 v4, v4, v5", "ADD_u32 v4, s10, v4",
          "v_mov_b32 v5, s11", "s_lshr_b32 s4, s16, 13", "s_and_b32 s4, s4, 0xf80", "ADD_u32 v6, s4, v1",
          "s_lshr_b32 s4, s16, 3", "v_mul_u32_u24 v7, 5, v0", "ADD_u32 v7, s4, v7", "v_and_b32 v7, 31, v7",
          "v_lshlrev_b32 v7, 2, v7", "v_or_b32 v6, v6, v7", "ADD_u32 v6, s12, v6", "v_mov_b32 v7, s13"};
}

Lines chain(Traffic what) {
  const Lines both{"LOAD v10, v[2:3]", "LOAD v11, v[4:5]", kWaitVector};
  Lines lines;
  switch (what) {
    case Traffic::combine:
      append(lines, both);
      append(lines, {"v_and_b32 v12, s14, v11", "v_xor_b32 v12, v10, v12", "STORE v[6:7], v12"});
      break;
    case Traffic::copy:  // executed by lanes whose random number has bit 30 set
      append(lines, {"v_lshlrev_b32 v12, 1, v24", "v_cmp_gt_i32 vcc, 0, v12", "s_and_b64 exec, exec, vcc", "LOAD v10, v[2:3]",
                     kWaitVector, "STORE v[6:7], v10", "s_mov_b64 exec, s[20:21]"});
      break;
    case Traffic::compare:
      append(lines, both);
      append(lines, {"v_cmp_lt_u32 vcc, v10, v11", "v_cndmask_b32 v13, 0, v24, vcc", "v_xor_b32 v22, v22, v13"});
      break;
  }
  return lines;
}

/// The kernel. Arguments: both operands, results, and a word with the seed and the number of repetitions.
AssembledKernel traffic() {
  Lines lines{"s_load_dwordx8 s[8:15], s[0:1], 0x0",
              "s_mov_b64 s[20:21], exec",
              "s_mov_b32 s17, 0x19660d",
              "s_mov_b32 s5, 0x9e3779b9",
              "s_lshl_b32 s3, s2, 13",
              "s_lshl_b32 s4, s2, 5",
              "ADD_u32 v24, s4, v0",
              "v_mul_lo_u32 v24, v24, s5",
              "s_mul_i32 s16, s2, s5",
              "v_mov_b32 v22, 0",
              "s_waitcnt lgkmcnt(0)",
              "s_add_u32 s12, s12, s3",
              "v_xor_b32 v24, s14, v24",
              "s_add_u32 s16, s16, s14"};
  const std::size_t loop = lines.size();
  for (const Traffic what : kTraffic) {
    append(lines, addresses());
    append(lines, chain(what));
  }
  append(lines, {"s_sub_u32 s15, s15, 1", "s_cmp_lg_u32 s15, 0"});
  const std::size_t branch = lines.size();
  // Stores results to memory after the lines to which chains store.
  append(lines, {"s_cbranch_scc1 0", "v_lshlrev_b32 v1, 2, v0", "ADD_u32 v6, s12, v1", "ADD_u32 v6, 0x1f80, v6",
                 "v_mov_b32 v7, s13", "STORE v[6:7], v22"});
  const AssembledKernel without(isa::Target::gfx803, lines);
  const std::uint64_t words = (without.address(branch) + 4 - without.address(loop)) / 4;
  lines[branch] = "s_cbranch_scc1 " + std::to_string(65536 - words);
  return {isa::Target::gfx803, lines};
}

/// Computes on the host what the kernel computes for a workgroup.
class Reference {
 public:
  Reference(const std::uint32_t* a, const std::uint32_t* b) : a_(a), b_(b) {}

  void run(std::uint32_t workgroup, std::uint32_t seed, std::uint32_t repetitions, std::uint32_t* results) {
    std::uint32_t shared = workgroup * kGolden + seed;
    std::array<std::uint32_t, kLanes> random;
    std::array<std::uint32_t, kLanes> sums{};
    for (unsigned lane = 0; lane < kLanes; ++lane) random[lane] = ((workgroup * kLanes + lane) * kGolden) ^ seed;
    for (std::uint32_t i = 0; i < repetitions; ++i) {
      for (const Traffic what : kTraffic) {
        shared = shared * kFactor + kSummand;
        for (std::uint32_t& r : random) r = r * kFactor + kSummand;
        for (unsigned lane = 0; lane < kLanes; ++lane) perform(what, lane, shared, random[lane], seed, sums[lane], results);
      }
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) results[0x1f80 / 4 + lane] = sums[lane];
  }

 private:
  void perform(Traffic what, unsigned lane, std::uint32_t shared, std::uint32_t random, std::uint32_t seed, std::uint32_t& sum,
               std::uint32_t* results) const {
    constexpr std::array<std::uint32_t, 4> kMasks{0, 0, 1, 7};
    const std::uint32_t line = (lane & kMasks[shared >> 30]) << 7;
    const std::uint32_t a = a_[(((shared >> 1 & kOperandMask) + line) | (random >> 20 & 0x7c)) / 4];
    const std::uint32_t b = b_[(((shared >> 9 & kOperandMask) + line) | (random >> 9 & 0x7c)) / 4];
    std::uint32_t& result = results[((shared >> 13 & 0xf80) + line) / 4 + ((lane * 5 + (shared >> 3)) & 31)];
    switch (what) {
      case Traffic::combine:
        result = a ^ (b & seed);
        break;
      case Traffic::copy:
        if ((random >> 30 & 1) != 0) result = a;
        break;
      case Traffic::compare:
        if (a < b) sum ^= random;
        break;
    }
  }

  const std::uint32_t* a_;
  const std::uint32_t* b_;
};

// -- tests

class NearDataTraffic : public testing::TestWithParam<NearDataGpu TrafficBench::*> {};

INSTANTIATE_TEST_SUITE_P(Networks, NearDataTraffic,
                         testing::Values(&TrafficBench::crossbar, &TrafficBench::mesh, &TrafficBench::mesh_stepped,
                                         &TrafficBench::butterfly, &TrafficBench::butterfly_stepped),
                         [](const auto& gpu) {
                           return gpu.param == &TrafficBench::crossbar       ? "Crossbar"
                                  : gpu.param == &TrafficBench::mesh         ? "Mesh"
                                  : gpu.param == &TrafficBench::mesh_stepped ? "MeshStepped"
                                  : gpu.param == &TrafficBench::butterfly    ? "Butterfly"
                                                                             : "ButterflyStepped";
                         });

TEST_P(NearDataTraffic, SingleEntriesDoNotDeadlock) {
  const char* const text = std::getenv("LACUNA_NEAR_DATA_PACKETS");
  const std::uint64_t wanted = text == nullptr ? 20'000 : std::strtoull(text, nullptr, 10);
  NearDataGpu& gpu = bench<TrafficBench>().*GetParam();
  const AssembledKernel kernel = traffic();
  ASSERT_EQ(kernel.finalize({.move = false}).chains.size(), kTraffic.size());
  constexpr std::uint32_t kRepetitions = 100;
  constexpr std::uint64_t kBytes = kResults * kWorkgroups;
  const std::uint64_t entries = gpu.near_data()->network().cores.size();
  std::uint64_t packets = 0;
  std::uint64_t bounced = 0;
  std::uint64_t flits = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint32_t seed = 1; packets < wanted; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    gpu.start();
    gpu.mark();
    std::vector<std::uint32_t> expected = gpu.memory(kC, kBytes);
    Reference reference(gpu.words(kA), gpu.words(kTrafficB));
    for (unsigned workgroup = 0; workgroup < kWorkgroups; ++workgroup)
      reference.run(workgroup, seed * kGolden, kRepetitions, expected.data() + workgroup * kResults / 4);
    const KernelRecord record = gpu.run(
        kernel, {kBase + kA, kBase + kTrafficB, kBase + kC, std::uint64_t{kRepetitions} << 32 | std::uint32_t{seed * kGolden}},
        kWorkgroups, kLanes);
    ASSERT_FALSE(record.failed);
    ASSERT_TRUE(gpu.done());
    gpu.expect_no_chains();
    ASSERT_TRUE(gpu.memory(kC, kBytes) == expected);
    const Counts counts = gpu.growth();
    expect_conservation(counts);
    ASSERT_GT(total(counts, ".ndc.packets"), 0U);
    packets += total(counts, ".ndc.packets");
    bounced += total(counts, ".ndc.bounced");
    flits += total(counts, ".ndc.packets") + total(counts, ".ndc.mask_flits");
    if (HasFailure()) return;
  }
  for (const OffloadUnit* const unit : gpu.near_data()->network().cores) EXPECT_EQ(unit->statistics().most_entries, 1U);
  for (const ServiceQueue* const queue : gpu.near_data()->network().queues) {
    if (queue == nullptr) continue;
    EXPECT_LE(queue->statistics().most_entries, 1U);
    EXPECT_LE(queue->statistics().most_input, entries);
  }
  EXPECT_GT(bounced, packets / 100);
  EXPECT_GT(flits, 2 * packets);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::cout << packets << " packets with " << flits << " flits, " << bounced << " not taken, in " << took.count() << " s\n";
}

}  // namespace
}  // namespace lacuna::test
