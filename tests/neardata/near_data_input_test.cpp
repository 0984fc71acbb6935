// Checks the exact fill of a service queue's input for packets that leave one core in the same cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/neardata/near_data_gpu.h"

namespace lacuna::test {
namespace {

using Lines = std::vector<std::string>;

/// A machine with cores at 1 GHz. With flits of 64 bytes, every packet is one flit.
GpuDeviceParameters machine(unsigned network_ghz, unsigned flit, unsigned entries) {
  GpuDeviceParameters p = small_mesh();
  p.noc.clock = Frequency{network_ghz * 1'000'000'000ULL};
  p.noc.width = flit;
  ndc_of(p).mode = NearDataMode::llc;
  ndc_of(p).sq_entries = entries;
  ndc_of(p).check = true;
  return p;
}

struct InputBench : sc_core::sc_module {
  explicit InputBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  NearDataGpu slow{"slow", machine(1, 64, 96)};
  NearDataGpu fast{"fast", machine(4, 64, 96)};
  NearDataGpu narrow{"narrow", machine(4, 32, 96)};
  NearDataGpu slow_refusing{"slow_refusing", machine(1, 64, 1)};
  NearDataGpu fast_refusing{"fast_refusing", machine(4, 64, 1)};
};

LACUNA_TEST_BENCH(InputBench)

/// A kernel of comparisons by 64 lanes, in eight lines of one last-level cache.
AssembledKernel comparisons(unsigned loads) {
  Lines lines{"s_load_dwordx2 s[8:9], s[0:1], 0x0",
              "v_and_b32 v1, 7, v0",
              "v_lshlrev_b32 v1, 2, v1",
              "v_lshrrev_b32 v2, 3, v0",
              "v_lshlrev_b32 v2, 9, v2",
              "v_or_b32 v1, v1, v2",
              "s_waitcnt lgkmcnt(0)",
              "ADD_u32 v2, s8, v1",
              "v_mov_b32 v3, s9",
              "ADD_u32 v4, 0x40000, v2",
              "v_mov_b32 v5, s9",
              "LOAD v10, v[2:3]"};
  if (loads == 2) lines.emplace_back("LOAD v11, v[4:5]");
  lines.emplace_back("s_waitcnt vmcnt(0)");
  lines.emplace_back(loads == 2 ? "v_cmp_lt_u32 vcc, v10, v11" : "v_cmp_gt_i32 vcc, 0x12345, v10");
  return {isa::Target::gfx803, lines};
}

struct Fills {
  std::uint64_t kernel;  ///< highest fill according to the kernel's record
  std::uint64_t queue;   ///< highest fill of cache 2's service queue since the device was created
};
Fills fills(NearDataGpu& gpu, unsigned loads, unsigned refused) {
  const AssembledKernel kernel = comparisons(loads);
  EXPECT_EQ(kernel.finalize({.move = false}).chains.size(), 1U);
  gpu.start();
  gpu.mark();
  const KernelRecord record = gpu.run(kernel, {NearDataGpu::kBase + NearDataGpu::kData + 2 * 128});
  gpu.expect_no_chains();
  const Counts counts = gpu.growth();
  EXPECT_EQ(counts.at("service_queue_l2_2.packets"), 8U - refused);
  EXPECT_EQ(counts.at("service_queue_l2_2.bounced"), refused);
  const auto& network = gpu.near_data()->network();
  return {record.activity.extension[near_data_slots().first_count + static_cast<std::size_t>(NearDataCount::most_input)],
          network.queues[network.meeting->caches()[2]]->statistics().most_input};
}

// One packet arrives per cycle and is decoded in the next cycle.
TEST(NearDataInput, TheFillIsOneWhenPacketsAreDecodedAsTheyArrive) {
  NearDataGpu& gpu = bench<InputBench>().slow;
  for (const unsigned loads : {1U, 2U}) {
    const Fills f = fills(gpu, loads, 0);
    EXPECT_EQ(f.kernel, 1U);
    EXPECT_EQ(f.queue, 1U);
  }
}

// Four flits arrive per core cycle: four packets of one flit, or two packets of two flits.
TEST(NearDataInput, TheFillCountsPacketsThatArriveInTheSameCycle) {
  EXPECT_EQ(fills(bench<InputBench>().fast, 2, 0).kernel, 4U);
  EXPECT_EQ(fills(bench<InputBench>().narrow, 2, 0).kernel, 2U);
}

// The first packet is accepted. Of every refused packet, one load leaves in the cycle in which the packet is decoded, the
// second load one cycle later.
TEST(NearDataInput, RefusedPacketsRemainUntilTheirLoadsLeave) {
  EXPECT_EQ(fills(bench<InputBench>().slow_refusing, 1, 7).kernel, 1U);
  EXPECT_EQ(fills(bench<InputBench>().slow_refusing, 2, 7).kernel, 2U);
  EXPECT_EQ(fills(bench<InputBench>().fast_refusing, 1, 7).kernel, 4U);
  // The packets arrive within less than two cycles; the accepted packet leaves when the fifth arrives.
  const Fills f = fills(bench<InputBench>().fast_refusing, 2, 7);
  EXPECT_EQ(f.kernel, 7U);
  EXPECT_EQ(f.queue, 7U);
}

// Kernel records contain the count of that kernel, the queue's statistics the maximum over all kernels.
TEST(NearDataInput, EachKernelHasItsOwnCount) {
  NearDataGpu& gpu = bench<InputBench>().fast_refusing;
  EXPECT_EQ(fills(gpu, 2, 7).kernel, 7U);
  const Fills f = fills(gpu, 1, 7);
  EXPECT_EQ(f.kernel, 4U);
  EXPECT_EQ(f.queue, 7U);
}

}  // namespace
}  // namespace lacuna::test
