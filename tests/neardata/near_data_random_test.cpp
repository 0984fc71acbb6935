// Tests random kernels with chains, for both targets, on devices with all modes and networks: results are the same, and queues
// are empty at the end.
//
// LACUNA_RANDOM_KERNELS: number of kernels per target. LACUNA_RANDOM_SEED: seed of the first kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "tests/neardata/near_data_gpu.h"
#include "tests/neardata/random_code.h"

namespace lacuna::test {
namespace {

using Lines = std::vector<std::string>;

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// Bytes of a wavefront's region of memory, which contains operands in lane order, scattered operands, results in lane order
/// and scattered results.
constexpr std::uint64_t kRandomRegion = 0x8000;
constexpr std::uint64_t kScattered = 0x5000;
constexpr unsigned kWorkgroups = 8;
/// Work-items of a workgroup: two wavefronts, the second with 36 lanes.
constexpr unsigned kRandomWorkgroupSize = 100;
constexpr unsigned kRegions = 2 * kWorkgroups;
constexpr std::uint64_t kScalars = NearDataGpu::kData;
constexpr std::uint64_t kRegions0 = NearDataGpu::kData + 0x1000;

/// Instructions that set the registers as RandomCode expects. Arguments: regions, scalars.
Lines prelude() {
  Lines lines{
      "s_load_dwordx4 s[8:11], s[0:1], 0x0",
      "s_mov_b64 s[14:15], exec",
      "v_and_b32 v2, 63, v0",
      "v_lshrrev_b32 v3, 6, v0",
      "v_lshlrev_b32 v3, 15, v3",
      "s_lshl_b32 s3, s2, 16",
      "s_waitcnt lgkmcnt(0)",
      "ADD_u32 v3, s3, v3",
      "v_mov_b32 v1, s9",
      // Offsets of the lanes, in lane order.
      "v_lshlrev_b32 v4, 2, v2",
      "ADD_u32 v4, v3, v4",
      "ADD_co_u32 v0, s8, v4",
      "ADDC_co_u32 v1, 0, v1",
      // Scattered offsets: lane * 37 mod 64, in steps of 132 bytes.
      "v_mul_u32_u24 v2, 37, v2",
      "v_and_b32 v2, 63, v2",
      "v_mul_u32_u24 v2, 132, v2",
      "ADD_u32 v2, v3, v2",
      "ADD_u32 v2, 0x5000, v2",
      "v_mov_b32 v21, s9",
      "ADD_co_u32 v20, s8, v2",
      "ADDC_co_u32 v21, 0, v21",
      "s_mov_b64 s[8:9], s[10:11]",
      "s_load_dword s12, s[8:9], 0x0",
      "s_load_dword s13, s[8:9], 0x4",
      "s_movk_i32 s4, 0x100",
      "s_movk_i32 s6, 0x143",
      "s_mov_b32 s5, 0",
      "s_mov_b32 s7, 0",
      "s_mov_b32 s3, 0x3f800000",
      "s_mov_b32 s10, 0x40400000",
      "s_waitcnt lgkmcnt(0)",
  };
  for (unsigned r = 2; r < 20; ++r) {
    lines.push_back("v_mul_u32_u24 v" + std::to_string(r) + ", " + std::to_string(r) + ", v4");
    if (r == 4) lines.back() = "v_and_b32 v4, 0xffff, v20";
  }
  return lines;
}

GpuDeviceParameters device(GpuDeviceParameters p, isa::Target target, NearDataMode mode) {
  p.gpu.target = target;
  ndc_of(p).mode = mode;
  return p;
}
GpuDeviceParameters with_one_entry_each(GpuDeviceParameters p) {
  ndc_of(p).oq_entries = ndc_of(p).sq_entries = ndc_of(p).sq_buffer = 1;
  ndc_of(p).chain_end = ChainEnd::computation;
  return p;
}
GpuDeviceParameters with_two_builders(GpuDeviceParameters p) {
  ndc_of(p).builders = 2;
  ndc_of(p).pending_fill = PendingFill::miss;
  return p;
}

GpuDeviceParameters with_interleaved_chains(GpuDeviceParameters p) {
  ndc_of(p).interleaved = true;
  ndc_of(p).store_counts = false;
  return p;
}

struct Devices {
  Devices(const std::string& name, isa::Target t, WorkerThreads& workers)
      : none((name + "_none").c_str(), device(small_mesh(), t, NearDataMode::none)),
        llc((name + "_llc").c_str(), device(small_mesh(), t, NearDataMode::llc)),
        omni((name + "_omni").c_str(), with_two_builders(device(small_mesh(), t, NearDataMode::omni)), &workers),
        crossbar((name + "_crossbar").c_str(), with_interleaved_chains(device(small_machine(), t, NearDataMode::llc))),
        stepped((name + "_stepped").c_str(),
                with_one_entry_each(device(small_mesh(RouterModel::stepped), t, NearDataMode::omni))) {}
  NearDataGpu none, llc, omni, crossbar, stepped;
};

struct RandomBench : sc_core::sc_module {
  explicit RandomBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  WorkerThreads workers{2};
  Devices gfx803{"gfx803", isa::Target::gfx803, workers};
  Devices gfx90a{"gfx90a", isa::Target::gfx90a, workers};
};

LACUNA_TEST_BENCH(RandomBench)

class NearDataRandom : public testing::TestWithParam<isa::Target> {
 protected:
  Devices& devices_ = GetParam() == isa::Target::gfx803 ? bench<RandomBench>().gfx803 : bench<RandomBench>().gfx90a;
};

INSTANTIATE_TEST_SUITE_P(Targets, NearDataRandom, testing::Values(isa::Target::gfx803, isa::Target::gfx90a),
                         [](const auto& target) { return std::string(isa::traits(target.param).name); });

/// Checks that the peak occupancy of the service queues' input is at most the total number of offload queue entries, and is
/// nonzero if and only if packets arrived.
void expect_input(NearDataGpu& gpu, const KernelRecord& record) {
  if (gpu.near_data() == nullptr) return;
  const auto count = [&](NearDataCount what) {
    return record.activity.extension[near_data_slots().first_count + static_cast<std::size_t>(what)];
  };
  const NearDataNetwork& network = gpu.near_data()->network();
  EXPECT_LE(count(NearDataCount::most_input), network.cores.size() * network.parameters.oq_entries);
  EXPECT_EQ(count(NearDataCount::most_input) == 0, count(NearDataCount::packets) == 0);
}

std::uint64_t chains(NearDataGpu& gpu) { return gpu.near_data() == nullptr ? 0 : gpu.sum(NearDataCount::chains); }

TEST_P(NearDataRandom, ResultsAreTheSameWithoutNearDataComputing) {
  const unsigned kernels = from_environment("LACUNA_RANDOM_KERNELS", 100);
  const unsigned first = from_environment("LACUNA_RANDOM_SEED", 1);
  constexpr unsigned kBatch = 200;
  std::uint64_t offloaded = 0;
  for (unsigned done = 0; done < kernels; done += kBatch) {
    std::vector<Lines> programs;
    for (unsigned seed = first + done; seed < first + std::min(kernels, done + kBatch); ++seed) {
      programs.push_back(prelude());
      const Lines code = RandomCode(seed, GetParam()).lines();
      programs.back().insert(programs.back().end(), code.begin(), code.end());
    }
    const auto codes = assembled(programs, GetParam());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(first + done + i));
      std::vector<std::uint32_t> expected;
      for (NearDataGpu* const gpu : {&devices_.none, &devices_.llc, &devices_.omni, &devices_.crossbar, &devices_.stepped}) {
        SCOPED_TRACE(gpu->name());
        gpu->start();
        const std::uint64_t before = chains(*gpu);
        const AssembledKernel kernel = AssembledKernel::from_words(GetParam(), codes[i]);
        const KernelRecord record = gpu->run(kernel, {NearDataGpu::kBase + kRegions0, NearDataGpu::kBase + kScalars},
                                             kWorkgroups, kRandomWorkgroupSize);
        ASSERT_FALSE(record.failed);
        ASSERT_TRUE(gpu->device.idle());
        gpu->expect_no_chains();
        expect_input(*gpu, record);
        const std::vector<std::uint32_t> results = gpu->memory(kRegions0, kRegions * kRandomRegion);
        if (expected.empty()) {
          expected = results;
        } else {
          ASSERT_TRUE(results == expected);
        }
        offloaded += chains(*gpu) - before;
        if (HasFailure()) return;
      }
    }
  }
  std::cout << offloaded << " chains offloaded\n";
  EXPECT_GT(offloaded, 8U * kernels);
}

}  // namespace
}  // namespace lacuna::test
