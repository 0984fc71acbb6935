#include "models/compute/initial_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

/// A dispatch with a known descriptor and a wavefront with 8 VGPRs to start.
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

// rsrc2: user SGPR count << 1, workgroup ids from bit 7, work-item id dimensions - 1 at 12:11
TEST_F(InitialStateTest, UserAndSystemSgprsInDescriptorOrder) {
  dispatch_.descriptor.properties = 0x7f;  // all seven up to private_segment_size
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
  dispatch_.descriptor.rsrc2 = 2u << 1 | 1u << 8;  // workgroup id y alone
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
TEST_F(InitialStateTest, PartialWorkgroupAtTheEdge) {
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
  EXPECT_EQ(gfx8.sgprs, 32u) << "24 asked for, rounded to the granule of 16";
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

TEST(CheckDescriptor, RefusesWhatCannotStart) {
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
