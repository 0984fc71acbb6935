// Tests that Duplo rejects invalid combinations of parameters, with messages that name section, key and legal values.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/duplo/duplo.h"
#include "models/extensions.h"
#include "models/gpu/gpu_parameters.h"

namespace lacuna {
namespace {

using Problems = std::vector<std::string>;

GpuDeviceParameters with_duplo() {
  GpuDeviceParameters p;
  p.extensions = all_extensions();
  p.gpu.target = isa::Target::gfx90a;
  p.extensions.get<DuploParameterSet>().duplo.mode = DuploMode::on;
  return p;
}
DuploParameters& section_of(GpuDeviceParameters& p) { return p.extensions.get<DuploParameterSet>().duplo; }

TEST(DuploParameters, DefaultsArePossibleInBothScopes) {
  GpuDeviceParameters p = with_duplo();
  EXPECT_EQ(p.check(), Problems{});
  section_of(p).scope = DuploScope::simd;
  EXPECT_EQ(p.check(), Problems{});
}

// With duplo.mode = off no value is rejected.
TEST(DuploParameters, NeedsTimeAndMatrixInstructions) {
  GpuDeviceParameters p = with_duplo();
  p.gpu.timing = TimingMode::functional;
  EXPECT_EQ(p.check(), Problems{"duplo.mode needs time: gpu.timing = functional has none; set loose"});
  section_of(p).mode = DuploMode::off;
  EXPECT_EQ(p.check(), Problems{});
  p = with_duplo();
  p.gpu.target = isa::Target::gfx803;
  EXPECT_EQ(p.check(), Problems{"duplo.mode needs matrix instructions: gpu.target = gfx803 has none; set gfx90a"});
  section_of(p).mode = DuploMode::off;
  EXPECT_EQ(p.check(), Problems{});
}

TEST(DuploParameters, EntriesAndWaysArePowersOfTwo) {
  GpuDeviceParameters p = with_duplo();
  section_of(p).entries = 1000;
  EXPECT_EQ(p.check(), Problems{"duplo.entries = 1000: set a power of two, or 0 for any number"});
  section_of(p).entries = 0;
  EXPECT_EQ(p.check(), Problems{});
  ParameterSet set;
  set.describe("duplo", section_of(p));
  EXPECT_EQ(set.find("duplo.ways")->parse("3"), "3 is not a power of two (legal: 1..64, power of two)");
  EXPECT_EQ(set.find("duplo.ways")->parse("4"), std::nullopt);
}

// A history with an unlimited number of entries has no sets.
TEST(DuploParameters, WaysAreNoMoreThanEntries) {
  GpuDeviceParameters p = with_duplo();
  section_of(p).entries = 8;
  section_of(p).ways = 16;
  EXPECT_EQ(p.check(), Problems{"duplo.ways = 16: there are 8 entries (duplo.entries); ways must not exceed entries"});
  section_of(p).ways = 8;
  EXPECT_EQ(p.check(), Problems{});
  section_of(p).entries = 0;
  section_of(p).ways = 16;
  EXPECT_EQ(p.check(), Problems{});
}

// With scope = simd there are no copies. The effective configuration of a run that has not set duplo.copy_cycles is valid
// input.
TEST(DuploParameters, CopiesNeedOtherSimds) {
  GpuDeviceParameters p = with_duplo();
  EXPECT_EQ(section_of(p).copies(), Cycles{4});
  section_of(p).copy_cycles = Cycles{6};
  EXPECT_EQ(p.check(), Problems{});
  EXPECT_EQ(section_of(p).copies(), Cycles{6});
  section_of(p).scope = DuploScope::simd;
  EXPECT_EQ(p.check(), Problems{"duplo.copy_cycles = 6: duplo.scope = simd copies nothing between SIMDs; leave it at 0, or set "
                                "duplo.scope = core, which takes 1 to 64 cycles"});
  section_of(p).copy_cycles = Cycles{4};
  EXPECT_EQ(p.check().size(), 1U) << "set, if to the value that is the default";
  GpuDeviceParameters unset = with_duplo();
  section_of(unset).scope = DuploScope::simd;
  ParameterSet set;
  set.describe("duplo", section_of(unset));
  EXPECT_EQ(set.find("duplo.copy_cycles")->parse(set.find("duplo.copy_cycles")->text()), std::nullopt);
  EXPECT_EQ(unset.check(), Problems{});
}

}  // namespace
}  // namespace lacuna
