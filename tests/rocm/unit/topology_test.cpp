// Tests the machine's topology as reported to the runtime, including properties that the runtime asserts.
#include "drivers/rocm/topology.h"

#include <gtest/gtest.h>
#include <array>
#include <set>
#include <string>

#include "platform/run/run_parameters.h"

namespace lacuna::rocm {
namespace {

struct Machines {
  std::string name;
  std::vector<ConfigurationSource> sources;
};

class TopologyTest : public testing::TestWithParam<Machines> {
 protected:
  RunParameters parameters_{GetParam().sources, Machine::process};
  Topology topology_{parameters_.values()};
};

TEST_P(TopologyTest, TheHostIsNodeZero) {
  const HsaNodeProperties host = topology_.properties(0);
  EXPECT_GT(HSAuint32{host.NumCPUCores}, 0U);
  EXPECT_EQ(HSAuint32{host.NumFComputeCores}, 0U);
  EXPECT_EQ(HSAint32{host.DrmRenderMinor}, -1);
  ASSERT_EQ(topology_.memory(0).size(), HSAuint32{host.NumMemoryBanks});
  const HsaMemoryProperties bank = topology_.memory(0).front();
  EXPECT_EQ(HSA_HEAPTYPE{bank.HeapType}, HSA_HEAPTYPE_SYSTEM);
  EXPECT_EQ(HSAuint64{bank.SizeInBytes} % 4096, 0U);
  EXPECT_GT(HSAuint64{bank.SizeInBytes}, 0U);
  EXPECT_EQ(topology_.links(0).size(), HSAuint32{host.NumIOLinks});
  EXPECT_EQ(topology_.links(0).size(), topology_.nodes() - 1) << "to every GPU";
}

TEST_P(TopologyTest, EveryNodeHasADataCache) {
  for (HSAuint32 node = 0; node < topology_.nodes(); ++node) {
    const auto caches = topology_.caches(node);
    ASSERT_EQ(caches.size(), HSAuint32{topology_.properties(node).NumCaches});
    bool data = false;
    for (const HsaCacheProperties& cache : caches) {
      data |= cache.CacheType.ui32.Data == 1 && (node == 0 ? cache.CacheType.ui32.CPU : cache.CacheType.ui32.HSACU) == 1;
      EXPECT_GT(HSAuint32{cache.CacheSize}, 0U);
    }
    EXPECT_TRUE(data) << node;
  }
}

TEST_P(TopologyTest, GpusAreWhatIsSimulated) {
  const GpuParameters& gpu = parameters_.values().gpu.gpu;
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node) {
    const HsaNodeProperties p = topology_.properties(node);
    EXPECT_EQ(HSAuint32{p.NumCPUCores}, 0U);
    EXPECT_EQ(HSAuint32{p.NumFComputeCores}, gpu.shader_arrays * gpu.cus_per_shader_array * 4);
    EXPECT_EQ(HSAuint32{p.NumShaderBanks} * p.NumArrays * p.NumCUPerArray * 4, HSAuint32{p.NumFComputeCores});
    EXPECT_EQ(HSAuint32{p.NumSIMDPerCU}, 4U);
    EXPECT_EQ(HSAuint32{p.WaveFrontSize}, 64U);
    EXPECT_EQ(HSAuint64{p.LocalMemSize}, parameters_.values().gpu.vram.size.n);
    EXPECT_EQ(HSAuint32{p.NumMemoryBanks}, topology_.memory(node).size());
    EXPECT_EQ(HSAuint32{p.NumIOLinks}, topology_.links(node).size());
    const bool gfx803 = topology_.targets()[node - 1] == isa::Target::gfx803;
    EXPECT_EQ(p.EngineId.ui32.Major, gfx803 ? 8U : 9U);
    EXPECT_EQ(p.EngineId.ui32.Minor, 0U);
    EXPECT_EQ(p.EngineId.ui32.Stepping, gfx803 ? 3U : 10U);
    EXPECT_GE(p.EngineId.ui32.uCode, 685U) << "older microcode of gfx8: no cache flush after code was loaded";
    EXPECT_EQ(p.Capability.ui32.DoorbellType, gfx803 ? 1U : 2U);
    EXPECT_EQ(p.Capability.ui32.SVMAPISupported, 0U);
  }
}

// Runtime: "wave count for scratch is divisible by the number of shader engines".
TEST_P(TopologyTest, ScratchSlotsAreSharedOutEvenly) {
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node) {
    const HsaNodeProperties p = topology_.properties(node);
    const HSAuint32 waves = p.MaxSlotsScratchCU * (p.NumFComputeCores / p.NumSIMDPerCU);
    EXPECT_EQ(waves % p.NumShaderBanks, 0U);
  }
}

TEST_P(TopologyTest, AperturesAreOutOfTheWayOfPointers) {
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node) {
    std::set<HSAuint64> bases;
    for (const HsaMemoryProperties& bank : topology_.memory(node)) {
      if (bank.HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE) {
        EXPECT_EQ(HSAuint64{bank.SizeInBytes}, parameters_.values().gpu.vram.size.n);
        continue;
      }
      const HSAuint64 base = bank.VirtualBaseAddress;
      EXPECT_GE(base, HSAuint64{1} << 47);
      EXPECT_EQ(base & 0xffffffff, 0U) << "the runtime passes the upper half on";
      bases.insert(base);
    }
    EXPECT_EQ(bases.size(), 2U) << "LDS and scratch";
    const Apertures windows = apertures(topology_.targets()[node - 1]);
    EXPECT_EQ(bases, (std::set<HSAuint64>{windows.shared, windows.private_base}));
  }
}

TEST_P(TopologyTest, LinksLeadBothWays) {
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node) {
    const HsaIoLinkProperties there = topology_.links(0)[node - 1];
    const HsaIoLinkProperties back = topology_.links(node).front();
    EXPECT_EQ(HSAuint32{there.NodeTo}, node);
    EXPECT_EQ(HSAuint32{back.NodeFrom}, node);
    EXPECT_EQ(HSAuint32{back.NodeTo}, 0U);
    EXPECT_EQ(HSA_IOLINKTYPE{back.IoLinkType}, HSA_IOLINKTYPE_PCIEXPRESS);
    EXPECT_GT(HSAuint32{back.MaximumBandwidth}, 0U);
    // Each GPU has a link to every other GPU, with a larger weight than the link to the host.
    const auto links = topology_.links(node);
    ASSERT_EQ(links.size(), topology_.nodes() - 1);
    for (std::size_t i = 1; i < links.size(); ++i) {
      EXPECT_NE(HSAuint32{links[i].NodeTo}, node);
      EXPECT_GT(HSAuint32{links[i].Weight}, HSAuint32{back.Weight});
    }
  }
}

TEST_P(TopologyTest, GpusAreDistinguishable) {
  std::set<HSAuint64> ids;
  std::set<HSAuint32> locations;
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node) {
    ids.insert(topology_.properties(node).UniqueID);
    locations.insert(topology_.properties(node).LocationId);
  }
  EXPECT_EQ(ids.size(), topology_.nodes() - 1);
  EXPECT_EQ(locations.size(), topology_.nodes() - 1);
}

INSTANTIATE_TEST_SUITE_P(Presets, TopologyTest,
                         testing::Values(Machines{"default", {}}, Machines{"tiny", {{true, "tiny"}}},
                                         Machines{"r9nano", {{true, "r9nano"}}}, Machines{"mi210", {{true, "mi210"}}},
                                         Machines{"mi250x", {{true, "mi250x-gcd"}}},
                                         Machines{"two", {{true, "tiny"}, {false, "rocm.gpus=gfx803,gfx90a"}}}),
                         [](const auto& machine) { return machine.param.name; });

// The ROCm runtime and its image library assert these values.
TEST(TileConfiguration, IsWhatTheImageLibraryAsserts) {
  for (const isa::Target target : {isa::Target::gfx803, isa::Target::gfx90a}) {
    std::array<HSAuint32, 40> tiles{};
    std::array<HSAuint32, 40> macro_tiles{};
    HsaGpuTileConfig config{};
    config.TileConfig = tiles.data();
    config.MacroTileConfig = macro_tiles.data();
    config.NumTileConfigs = tiles.size();
    config.NumMacroTileConfigs = macro_tiles.size();
    ASSERT_TRUE(tile_configuration(target, config));
    EXPECT_LE(HSAuint32{config.NumBanks}, 2U);
    EXPECT_LE(HSAuint32{config.NumRanks}, 1U);
    EXPECT_LE(HSAuint32{config.NumTileConfigs}, 32U);
    EXPECT_EQ(HSAuint32{config.NumMacroTileConfigs}, 16U);
    EXPECT_EQ(tiles[8] >> 2 & 0xf, 1U) << "entry 8 is linear aligned";
    EXPECT_NE(HSAuint32{config.GbAddrConfig}, 0U);
  }
}

TEST(TileConfiguration, IsRefusedWithoutRoomForAllEntries) {
  std::array<HSAuint32, 8> few{};
  HsaGpuTileConfig config{};
  EXPECT_FALSE(tile_configuration(isa::Target::gfx803, config));
  config.TileConfig = config.MacroTileConfig = few.data();
  config.NumTileConfigs = config.NumMacroTileConfigs = few.size();
  EXPECT_FALSE(tile_configuration(isa::Target::gfx803, config));
}

}  // namespace
}  // namespace lacuna::rocm
