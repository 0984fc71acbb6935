#include "models/compute/initial_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

/// A dispatch with known sizes and addresses, and a wavefront with 8 VGPRs whose initial state is tested.
class InitialStateTest : public testing::Test {
 protected:
  InitialStateTest() : registers_(8 * isa::kLanes, 0xdeadbeef) {
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = 8;
    dispatch_.grid = {100, 3, 2};
    dispatch_.workgroup = {16, 2, 2};
    dispatch_.workgroups = {7, 2, 1};
    dispatch_.packet_address = 0x1111'0000'2222;
    dispatch_.queue_address = 0x3333'0000'4444;
    dispatch_.packet_index = 0x77;
    dispatch_.packet.kernarg_address = 0x5555'0000'6666;
    dispatch_.packet.private_segment_size = 24;
    dispatch_.entry = 0x9900;
    dispatch_.scratch.resource_descriptor = {0xa0, 0xa1, 0xa2, 0xa3};
    dispatch_.scratch.backing_location = 0x4000;
    dispatch_.scratch.pool_base = 0x70000;
    dispatch_.scratch.wave_bytes = 2048;
    dispatch_.needs.wavefronts = 1;
  }
  std::vector<std::uint32_t> registers_;
  isa::Wavefront wave_;
  Dispatch dispatch_;
};

// Fields of rsrc2: bits 5:1 number of user SGPRs, bits 9:7 enabled workgroup ids, bits 12:11 dimensions of work-item ids - 1.
TEST_F(InitialStateTest, UserAndSystemSgprsInDescriptorOrder) {
  dispatch_.descriptor.properties = 0x7f;  // all seven fields up to private_segment_size
  dispatch_.descriptor.rsrc2 = 1u | 15u << 1 | 1u << 7 | 1u << 8 | 1u << 9 | 2u << 11;
  set_initial_state(wave_, dispatch_, {.workgroup = {5, 1, 0}, .wave_in_group = 0, .scratch_slot = 3});
  const std::vector<std::uint32_t> expected = {0xa0,    0xa1,   0xa2, 0xa3,  // private segment buffer
                                               0x2222,  0x1111,              // dispatch pointer
                                               0x4444,  0x3333,              // queue pointer
                                               0x6666,  0x5555,              // kernarg segment pointer
                                               0x77,    0,                   // dispatch id
                                               0x4000,  24,                  // flat scratch: offset, bytes per lane (gfx8)
                                               24,                           // private segment size
                                               5,       1,      0,           // workgroup ids
                                               3 * 2048};                    // scratch offset of the wavefront
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(wave_.sgpr[i], expected[i]) << "s" << i;
  EXPECT_EQ(wave_.pc, 0x9900u);
  EXPECT_EQ(wave_.scratch_base, 0x70000u);
}

TEST_F(InitialStateTest, OnlyEnabledFieldsTakeRegisters) {
  dispatch_.descriptor.properties = 1u << 3;       // kernarg pointer
  dispatch_.descriptor.rsrc2 = 2u << 1 | 1u << 8;  // only workgroup id y
  set_initial_state(wave_, dispatch_, {.workgroup = {5, 1, 0}});
  EXPECT_EQ(wave_.sgpr[0], 0x6666u);
  EXPECT_EQ(wave_.sgpr[1], 0x5555u);
  EXPECT_EQ(wave_.sgpr[2], 1u);
  EXPECT_EQ(wave_.sgpr[3], 0u);
}

TEST_F(InitialStateTest, WorkItemIdsOfAWholeWorkgroup) {
  dispatch_.descriptor.rsrc2 = 2u << 11;
  set_initial_state(wave_, dispatch_, {.workgroup = {0, 0, 0}});
  EXPECT_EQ(wave_.exec(), ~0ull);
  for (unsigned l = 0; l < isa::kLanes; ++l) {
    EXPECT_EQ(wave_.v(0)[l], l % 16);
    EXPECT_EQ(wave_.v(1)[l], l / 16 % 2);
    EXPECT_EQ(wave_.v(2)[l], l / 32);
  }
}

// The grid ends inside the last workgroup: 100 = 6 * 16 + 4 in x, 3 = 2 + 1 in y.
TEST_F(InitialStateTest, PartialWorkgroupAtTheEndOfAGrid) {
  const auto extent = workgroup_extent(dispatch_, {6, 1, 0});
  EXPECT_EQ(extent, (std::array<std::uint32_t, 3>{4, 1, 2}));
  dispatch_.descriptor.rsrc2 = 2u << 11;
  set_initial_state(wave_, dispatch_, {.workgroup = {6, 1, 0}});
  EXPECT_EQ(wave_.exec(), 0xffull);
  EXPECT_EQ(wave_.v(0)[5], 1u);
  EXPECT_EQ(wave_.v(1)[5], 0u);
  EXPECT_EQ(wave_.v(2)[5], 1u);
}

TEST_F(InitialStateTest, UnusedDimensionsLeaveRegistersAlone) {
  dispatch_.descriptor.rsrc2 = 0;
  set_initial_state(wave_, dispatch_, {});
  EXPECT_EQ(wave_.v(1)[0], 0xdeadbeefu);
}

TEST_F(InitialStateTest, ModeComesFromTheDescriptor) {
  dispatch_.descriptor.rsrc1 = 0xc0u << 12 | 1u << 21 | 1u << 23;
  set_initial_state(wave_, dispatch_, {});
  EXPECT_EQ(wave_.mode.bits, 0xc0u | 1u << 8 | 1u << 9);
  EXPECT_TRUE(wave_.mode.denorm_in_f64_f16());
  EXPECT_FALSE(wave_.mode.denorm_in_f32());
}

TEST(RegisterNeeds, GranulesOfEachTarget) {
  hsa::KernelDescriptor d;
  d.rsrc1 = 5u | 2u << 6;
  const WorkgroupNeeds gfx8 = register_needs(d, isa::Target::gfx803);
  EXPECT_EQ(gfx8.vgprs, 24u);
  EXPECT_EQ(gfx8.sgprs, 32u) << "24 requested, rounded to the granule of 16";
  d.rsrc3 = 3;  // accumulation registers start at 16
  const WorkgroupNeeds cdna = register_needs(d, isa::Target::gfx90a);
  EXPECT_EQ(cdna.vgprs, 16u);
  EXPECT_EQ(cdna.agprs, 32u);
}

TEST(RegisterNeeds, UnifiedFileOfGfx90a) {
  hsa::KernelDescriptor d;
  d.rsrc1 = 63;  // the largest count: 64 granules of 8
  d.rsrc3 = 63;  // accumulation registers start at 256
  const WorkgroupNeeds both = register_needs(d, isa::Target::gfx90a);
  EXPECT_EQ(both.vgprs, 256u);
  EXPECT_EQ(both.agprs, 256u);
  EXPECT_EQ(check_descriptor(d, isa::Target::gfx90a), "");
  d.rsrc1 = 0;  // 8 registers, all of them below the accumulation registers
  const WorkgroupNeeds plain = register_needs(d, isa::Target::gfx90a);
  EXPECT_EQ(plain.vgprs, 8u);
  EXPECT_EQ(plain.agprs, 0u);
}

TEST_F(InitialStateTest, PackedWorkItemIdsOfGfx90a) {
  wave_.target = isa::Target::gfx90a;
  dispatch_.descriptor.rsrc2 = 2u << 11;
  set_initial_state(wave_, dispatch_, {.workgroup = {0, 0, 0}});
  for (unsigned l = 0; l < isa::kLanes; ++l) EXPECT_EQ(wave_.v(0)[l], l % 16 | l / 16 % 2 << 10 | l / 32 << 20);
  EXPECT_EQ(wave_.v(1)[0], 0xdeadbeefu);
}

TEST_F(InitialStateTest, FlatScratchOfGfx90aIsAnAddress) {
  wave_.target = isa::Target::gfx90a;
  dispatch_.scratch.backing_location = 0x7abc'1234'5000;
  dispatch_.descriptor.properties = 1u << 5;
  dispatch_.descriptor.rsrc2 = 1u | 2u << 1;
  set_initial_state(wave_, dispatch_, {.scratch_slot = 3});
  EXPECT_EQ(wave_.sgpr[0], 0x1234'5000u);
  EXPECT_EQ(wave_.sgpr[1], 0x7abcu);
  EXPECT_EQ(wave_.sgpr[2], 3u * 2048) << "the prologue adds the wavefront's offset";
}

// -- each enable bit on and off, alone and combined with every other bit

/// A field of the SGPR set-up order: the words that it occupies when its bit is set.
struct SgprField {
  unsigned bit;
  std::vector<std::uint32_t> words;
};

class EnableBitsTest : public InitialStateTest, public testing::WithParamInterface<isa::Target> {
 protected:
  EnableBitsTest() {
    wave_.target = GetParam();
    dispatch_.packet.private_segment_size = 22;  // 24 in whole dwords
    dispatch_.scratch.backing_location = 0x7abc'0000'4000;
    const bool gfx8 = GetParam() == isa::Target::gfx803;
    properties_ = {{0, {0xa0, 0xa1, 0xa2, 0xa3}},        // private segment buffer
                   {1, {0x2222, 0x1111}},                // dispatch pointer
                   {2, {0x4444, 0x3333}},                // queue pointer
                   {3, {0x6666, 0x5555}},                // kernarg segment pointer
                   {4, {0x77, 0}},                       // dispatch id
                   {5, {0x4000, gfx8 ? 24u : 0x7abcu}},  // flat scratch init
                   {6, {24}},                            // private segment size
                   {7, {7}},                             // workgroups of the grid: x, y, z
                   {8, {2}},
                   {9, {1}}};
    rsrc2_ = {{7, {6}},  // workgroup id: x, y, z
              {8, {1}},
              {9, {0}},
              {10, {1u << 31 | 1}},  // workgroup info
              {0, {3 * 2048}}};      // scratch wavefront offset
  }
  /// Words of the fields selected by `mask`, whose bit i stands for field i.
  static std::vector<std::uint32_t> words(const std::vector<SgprField>& fields, unsigned mask) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if ((mask >> i & 1) != 0) all.insert(all.end(), fields[i].words.begin(), fields[i].words.end());
    }
    return all;
  }
  static std::uint32_t bits(const std::vector<SgprField>& fields, unsigned mask) {
    std::uint32_t set = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) set |= (mask >> i & 1) << fields[i].bit;
    return set;
  }
  std::vector<SgprField> properties_;
  std::vector<SgprField> rsrc2_;
};

INSTANTIATE_TEST_SUITE_P(Targets, EnableBitsTest, testing::Values(isa::Target::gfx803, isa::Target::gfx90a),
                         [](const auto& target) { return std::string(isa::traits(target.param).name); });

TEST_P(EnableBitsTest, SgprsAreDenseInTheOrderOfTheGuide) {
  constexpr std::size_t kMostUser = 16;
  unsigned wrong = 0;
  for (unsigned user = 0; user < 1u << properties_.size(); ++user) {
    for (unsigned system = 0; system < 1u << rsrc2_.size(); ++system) {
      std::vector<std::uint32_t> expected = words(properties_, user);
      // More than 16 SGPRs may be enabled: the first 16 are set. More SGPRs may be declared than are enabled.
      expected.resize(std::min(expected.size(), kMostUser));
      if (user % 3 == 0) expected.resize(kMostUser);
      dispatch_.descriptor.properties = static_cast<std::uint16_t>(bits(properties_, user));
      dispatch_.descriptor.rsrc2 = bits(rsrc2_, system) | static_cast<std::uint32_t>(expected.size()) << 1;
      ASSERT_EQ(check_descriptor(dispatch_.descriptor, GetParam()), "");
      const std::vector<std::uint32_t> last = words(rsrc2_, system);
      expected.insert(expected.end(), last.begin(), last.end());
      expected.resize(isa::kFlatScratchLo);
      set_initial_state(wave_, dispatch_, {.workgroup = {6, 1, 0}, .wave_in_group = 0, .scratch_slot = 3});
      if (std::equal(expected.begin(), expected.end(), wave_.sgpr.begin())) continue;
      if (++wrong > 3) continue;
      for (unsigned i = 0; i < 24; ++i)
        EXPECT_EQ(wave_.sgpr[i], expected[i]) << "s" << i << ", properties " << user << ", system " << system;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_P(EnableBitsTest, FewerUserSgprsThanAreEnabledAreRefused) {
  for (unsigned user = 0; user < 1u << properties_.size(); ++user) {
    const std::size_t needed = std::min<std::size_t>(words(properties_, user).size(), 16);
    for (unsigned declared = 0; declared < 32; ++declared) {
      hsa::KernelDescriptor d;
      d.properties = static_cast<std::uint16_t>(bits(properties_, user));
      d.rsrc2 = declared << 1;
      EXPECT_EQ(check_descriptor(d, GetParam()).empty(), declared >= needed && declared <= 16) << user << ", " << declared;
    }
  }
}

// Shapes of one, two and three dimensions, with rows longer and shorter than a wavefront, and with the largest ids.
TEST_P(EnableBitsTest, OnlyEnabledWorkItemIdsAreSet) {
  const bool packed = GetParam() == isa::Target::gfx90a;
  const std::array<std::uint32_t, 3> shapes[] = {{64, 1, 1},  {1024, 1, 1}, {100, 1, 1},  {64, 16, 1},
                                                 {16, 3, 1},  {7, 9, 1},    {1, 1024, 1}, {4, 4, 4},
                                                 {128, 2, 4}, {5, 3, 7},    {1, 1, 1024}, {2, 1, 512}};
  for (const auto& shape : shapes) {
    dispatch_.workgroup = dispatch_.grid = shape;
    const unsigned items = shape[0] * shape[1] * shape[2];
    for (unsigned ids = 0; ids < 3; ++ids) {
      dispatch_.descriptor.rsrc2 = ids << 11;
      for (unsigned wave = 0; wave * isa::kLanes < items; ++wave) {
        std::fill(registers_.begin(), registers_.end(), 0xdeadbeef);
        set_initial_state(wave_, dispatch_, {.workgroup = {0, 0, 0}, .wave_in_group = wave});
        for (unsigned l = 0; l < isa::kLanes && wave * isa::kLanes + l < items; ++l) {
          const unsigned item = wave * isa::kLanes + l;
          const std::uint32_t x = item % shape[0];
          const std::uint32_t y = item / shape[0] % shape[1];
          const std::uint32_t z = item / shape[0] / shape[1];
          ASSERT_EQ(wave_.v(0)[l], packed ? x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0) : x) << ids << ", " << item;
          ASSERT_EQ(wave_.v(1)[l], !packed && ids > 0 ? y : 0xdeadbeef) << ids << ", " << item;
          ASSERT_EQ(wave_.v(2)[l], !packed && ids > 1 ? z : 0xdeadbeef) << ids << ", " << item;
        }
      }
    }
  }
}

TEST_P(EnableBitsTest, WorkgroupInfoCountsTheWavefrontsOfTheGroup) {
  dispatch_.descriptor.rsrc2 = 1u << 10;
  dispatch_.workgroup = {256, 1, 1};
  dispatch_.grid = {256 + 70, 1, 1};
  dispatch_.needs.wavefronts = 4;
  for (const auto& [group, wavefronts] : {std::pair{0u, 4u}, std::pair{1u, 2u}}) {
    for (unsigned wave = 0; wave < wavefronts; ++wave) {
      set_initial_state(wave_, dispatch_, {.workgroup = {group, 0, 0}, .wave_in_group = wave});
      EXPECT_EQ(wave_.sgpr[0], wavefronts | (wave == 0 ? 1u << 31 : 0)) << group << ", " << wave;
    }
  }
}

TEST_P(EnableBitsTest, PrivateSegmentIsThatOfTheSlot) {
  dispatch_.scratch.base = 0x7abc'0000'4000;
  dispatch_.scratch.bytes = 8 * 2048;
  set_initial_state(wave_, dispatch_, {.workgroup = {0, 0, 0}, .scratch_slot = 5});
  EXPECT_EQ(wave_.private_segment.base, 0x7abc'0000'4000u + 5 * 2048);
  EXPECT_EQ(wave_.private_segment.lane_bytes, 24u);
  EXPECT_TRUE(wave_.private_segment.is_behind(0x7abc'0000'4000u + 8 * 2048 - 1));
  EXPECT_FALSE(wave_.private_segment.is_behind(0x7abc'0000'4000u + 8 * 2048));
  EXPECT_FALSE(wave_.private_segment.is_behind(0x7abc'0000'4000u - 1));
}

// Checks for each bit whether it is refused, and whether it is copied to MODE.
TEST_P(EnableBitsTest, UnknownDescriptorBitsAreRefused) {
  const bool gfx8 = GetParam() == isa::Target::gfx803;
  const auto refusal = [](std::uint32_t rsrc1, std::uint32_t rsrc2, std::uint32_t rsrc3, std::uint16_t properties) {
    hsa::KernelDescriptor d;
    d.rsrc1 = rsrc1;
    d.rsrc2 = rsrc2 | 15u << 1;
    d.rsrc3 = rsrc3;
    d.properties = properties;
    return check_descriptor(d, GetParam());
  };
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t set = 1u << bit;
    EXPECT_EQ(refusal(set, 0, 0, 0).empty(), bit < 26) << "COMPUTE_PGM_RSRC1 bit " << bit;
    if (bit != 5) {
      EXPECT_EQ(refusal(0, set, 0, 0).empty(), bit != 31) << "COMPUTE_PGM_RSRC2 bit " << bit;
    }
    EXPECT_EQ(refusal(0, 0, set, 0).empty(), !gfx8 && (bit < 6 || bit == 16)) << "COMPUTE_PGM_RSRC3 bit " << bit;
    if (bit < 16) {
      EXPECT_EQ(refusal(0, 0, 0, static_cast<std::uint16_t>(set)).empty(), bit < 10 || bit == 11) << "property bit " << bit;
    }
    dispatch_.descriptor = {};
    dispatch_.descriptor.rsrc1 = set;
    set_initial_state(wave_, dispatch_, {});
    const std::uint32_t mode = bit >= 12 && bit < 20 ? 1u << (bit - 12) : bit == 21 ? 1u << 8 : bit == 23 ? 1u << 9 : 0;
    EXPECT_EQ(wave_.mode.bits, mode) << "COMPUTE_PGM_RSRC1 bit " << bit;
    dispatch_.descriptor = {};
    dispatch_.descriptor.rsrc2 = set;
    set_initial_state(wave_, dispatch_, {});
    EXPECT_EQ(wave_.mode.bits, bit >= 24 && bit < 31 ? 1u << (bit - 12) : 0) << "COMPUTE_PGM_RSRC2 bit " << bit;
  }
  EXPECT_EQ(refusal(0, 3u << 11, 0, 0), "kernel descriptor has 3 in ENABLE_VGPR_WORKITEM_ID, which is not defined");
  EXPECT_EQ(refusal(0, 0, 0, 1u << 10), "kernel descriptor sets bits 0x400 of the kernel code properties, which " +
                                            std::string(isa::traits(GetParam()).name) + " reserves");
}

TEST(CheckDescriptor, RefusesDescriptorsThatCannotStart) {
  hsa::KernelDescriptor d;
  d.properties = 0x7f;
  d.rsrc2 = 15u << 1;
  EXPECT_EQ(check_descriptor(d, isa::Target::gfx803), "");
  d.rsrc2 = 8u << 1;
  EXPECT_EQ(check_descriptor(d, isa::Target::gfx803), "kernel descriptor enables 15 user SGPRs but declares 8");
  d.rsrc2 = 17u << 1;
  EXPECT_NE(check_descriptor(d, isa::Target::gfx803), "");
  d = {};
  d.rsrc1 = 15u << 6;
  EXPECT_NE(check_descriptor(d, isa::Target::gfx803), "") << "128 SGPRs are more than a wavefront can have";
}

}  // namespace
}  // namespace lacuna
