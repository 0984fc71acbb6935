// Tests that near-data computing refuses invalid combinations of parameters: each message names section and key.
#include "models/neardata/near_data_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/extensions.h"
#include "models/gpu/gpu_parameters.h"
#include "models/lazy/lazy_gpu.h"
#include "models/neardata/near_data.h"

namespace lacuna {
namespace {

GpuDeviceParameters device(NearDataMode mode) {
  GpuDeviceParameters p;
  p.extensions = all_extensions();
  p.extensions.get<NearDataParameterSet>().ndc.mode = mode;
  return p;
}
NearDataParameters& ndc_of(GpuDeviceParameters& p) { return p.extensions.get<NearDataParameterSet>().ndc; }
using Texts = std::vector<std::string>;

TEST(NearDataParameters, DefaultsArePossibleInAllModes) {
  for (const NearDataMode mode : {NearDataMode::none, NearDataMode::llc, NearDataMode::omni})
    EXPECT_EQ(device(mode).check(), Texts{});
}

TEST(NearDataParameters, NeedsTime) {
  GpuDeviceParameters p = device(NearDataMode::llc);
  p.gpu.timing = TimingMode::functional;
  EXPECT_EQ(p.check(),
            Texts{"ndc.mode needs time: gpu.timing = functional has none; set gpu.timing = loose, or ndc.mode = none"});
  ndc_of(p).mode = NearDataMode::none;
  EXPECT_EQ(p.check(), Texts{});
}

TEST(NearDataParameters, ExcludesHeldLoads) {
  GpuDeviceParameters p = device(NearDataMode::llc);
  p.extensions.get<LazyGpuParameters>().lazy.mode = LazyMode::lazy;
  const Texts problems = p.check();
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const std::string& problem) {
    return problem.starts_with("ndc.mode and ") && problem.find("lazy.mode") != std::string::npos;
  }));
  ndc_of(p).mode = NearDataMode::none;
  EXPECT_EQ(p.check(), Texts{});
}

// A packet has eight bits for the core's number.
TEST(NearDataParameters, MoreThan256CoresAreRefused) {
  GpuDeviceParameters p = device(NearDataMode::llc);
  p.gpu.shader_arrays = 64;
  p.gpu.cus_per_shader_array = 4;
  EXPECT_EQ(p.check(), Texts{});
  p.gpu.shader_arrays = 65;
  EXPECT_EQ(p.check(), Texts{"ndc.mode: gpu.shader_arrays x gpu.cus_per_shader_array = 65 x 4 are 260 compute units, a compute "
                             "packet names at most 256; set fewer of them, or ndc.mode = none"});
}

TEST(NearDataParameters, CoresAndCachesHaveNodesOfTheirOwn) {
  GpuDeviceParameters p = device(NearDataMode::omni);
  p.gpu.shader_arrays = 4;
  p.gpu.cus_per_shader_array = 1;
  p.gpu.cus_per_l1v = 1;
  p.gpu.memory_partitions = 4;
  p.noc.topology = FabricTopology::mesh;
  p.noc.columns = p.noc.rows = 4;
  p.noc.placement = "0,0 1,0 2,0 3,0 3,3";
  EXPECT_EQ(p.check(), Texts{});
  p.noc.source_placement = "0,1 1,1 2,0 3,1";
  EXPECT_EQ(p.check(), Texts{"ndc.mode: core 2 and last-level cache 2 are at one node of the network; set noc.placement to a "
                             "node for each cache, and noc.source_placement to other ones"});
  ndc_of(p).mode = NearDataMode::none;
  EXPECT_EQ(p.check(), Texts{});
}

// Switches of a butterfly that compute have separate buffers, which need no LDS.
TEST(NearDataParameters, SwitchesOfAButterflyCompute) {
  GpuDeviceParameters p = device(NearDataMode::llc);
  p.noc.topology = FabricTopology::butterfly;
  EXPECT_EQ(p.check(), Texts{});
  ndc_of(p).mode = NearDataMode::omni;
  EXPECT_EQ(p.check(), Texts{});
  EXPECT_EQ(p.placement().nodes, 64U + 16U);
  ndc_of(p).sq_entries = 1024;
  EXPECT_EQ(p.check(), Texts{});
  ndc_of(p).sq_entries = 96;
  ndc_of(p).mode = NearDataMode::llc;
  EXPECT_EQ(p.placement().nodes, 64U);
  p.noc.topology = FabricTopology::mesh;
  EXPECT_EQ(p.check(), Texts{});
}

// In mode omni a core's LDS has room for two lines of each entry.
TEST(NearDataParameters, OperandsFitTheLds) {
  GpuDeviceParameters p = device(NearDataMode::omni);
  p.noc.topology = FabricTopology::mesh;
  p.cu.transaction_bytes = 64;
  p.cu.lds = Bytes{64 * 1024};
  ndc_of(p).sq_entries = 512;
  EXPECT_EQ(p.check(), Texts{});
  ndc_of(p).sq_entries = 513;
  EXPECT_EQ(p.check(), Texts{"ndc.sq_entries = 513: their operands take 65664 bytes of LDS, cu.lds has 65536; at most 512 "
                             "entries fit"});
  ndc_of(p).mode = NearDataMode::llc;
  EXPECT_EQ(p.check(), Texts{});
}

}  // namespace
}  // namespace lacuna
