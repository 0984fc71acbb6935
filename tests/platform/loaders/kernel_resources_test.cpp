// Compares numbers of resident wavefronts with numbers computed by hand.
#include "platform/loaders/kernel_resources.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

constexpr isa::Target kGcn3 = isa::Target::gfx803;
constexpr isa::Target kCdna2 = isa::Target::gfx90a;

TEST(Occupancy, IsWhatTheScarcestResourceAllows) {
  struct Row {
    isa::KernelRegisters registers;
    std::uint32_t lds;
    std::uint32_t workgroup;
    isa::Target target;
    double wavefronts;
    const char* limit;
  };
  const Row rows[] = {
      {{24, 0, 16}, 0, 256, kGcn3, 10, "wavefront slots"},
      {{28, 0, 16}, 0, 256, kGcn3, 9, "VGPRs"},
      {{256, 0, 16}, 0, 256, kGcn3, 1, "VGPRs"},
      {{24, 0, 96}, 0, 64, kGcn3, 8, "SGPRs"},
      {{24, 0, 16}, 32768, 256, kGcn3, 2, "LDS"},
      {{24, 0, 16}, 40000, 64, kGcn3, 0.25, "LDS"},
      {{24, 0, 16}, 6400, 256, kGcn3, 9, "LDS"},  // 6,656 bytes in granules of 512
      {{64, 0, 16}, 0, 1024, kGcn3, 4, "VGPRs"},
      {{68, 0, 16}, 0, 1024, kGcn3, 0, "VGPRs"},           // the workgroup has 16 wavefronts, 12 fit
      {{24, 0, 16}, 0, 384, kGcn3, 9, "wavefront slots"},  // six workgroups of six wavefronts
      {{64, 0, 16}, 0, 256, kCdna2, 8, "wavefront slots"},
      {{64, 8, 16}, 0, 256, kCdna2, 7, "VGPRs"},
      {{256, 256, 16}, 0, 256, kCdna2, 1, "VGPRs"},
      {{24, 0, 16}, UINT32_MAX, 64, kGcn3, 0, "LDS"},  // a damaged file may contain any number
      {{24, 0, 16}, 0, UINT32_MAX, kGcn3, 0, "wavefront slots"},
  };
  for (const Row& row : rows) {
    const Occupancy result = occupancy(row.registers, row.lds, row.workgroup, row.target);
    EXPECT_EQ(result.wavefronts_per_simd, row.wavefronts) << row.registers.vgprs << ' ' << row.lds << ' ' << row.workgroup;
    EXPECT_EQ(result.limit, row.limit) << row.registers.vgprs << ' ' << row.lds << ' ' << row.workgroup;
    EXPECT_EQ(result.workgroup_size, row.workgroup);
  }
}

TEST(Occupancy, IsForTheRequiredSizeElseTheLargest) {
  KernelMetadata kernel;
  EXPECT_EQ(largest_workgroup(kernel), 256u);
  kernel.max_workgroup_size = 1024;
  EXPECT_EQ(largest_workgroup(kernel), 1024u);
  kernel.required_workgroup_size = {32, 2, 1};
  EXPECT_EQ(largest_workgroup(kernel), 64u);
  kernel.required_workgroup_size = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_EQ(largest_workgroup(kernel), UINT32_MAX);
}

}  // namespace
}  // namespace lacuna
