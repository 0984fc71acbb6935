// Tests energies at a voltage, clock, size or data other than the reference, and the intervals of energies.
#include "models/energy/energy_parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace lacuna::test {
namespace {

TEST(EnergyParameters, VoltageScalesTheCoreOnly) {
  EnergyParameters p;
  p.compute.valu_f32_fma = 3;
  p.compute.cu_static = 0.2;
  p.compute.cu_clock = 0.4;
  p.dram.read = 18;
  p.board_static = 10;
  p.reference_voltage = 0.9;
  p.voltage = 1.1;
  const EnergyParameters at = p.at_operating_point();
  EXPECT_DOUBLE_EQ(at.compute.valu_f32_fma, 3 * (1.1 / 0.9) * (1.1 / 0.9)) << "1.49 times as much";
  EXPECT_DOUBLE_EQ(at.compute.cu_clock, 0.4 * (1.1 / 0.9) * (1.1 / 0.9));
  EXPECT_DOUBLE_EQ(at.compute.cu_static, 0.2 * 1.1 / 0.9);
  EXPECT_DOUBLE_EQ(at.dram.read, 18);
  EXPECT_DOUBLE_EQ(at.board_static, 10);
  p.voltage = p.reference_voltage;
  EXPECT_DOUBLE_EQ(p.at_operating_point().compute.valu_f32_fma, 3);
}

// Half the clock halves the power of the clock tree; energies of events and leakage stay.
TEST(EnergyParameters, ClockScalesClockTreesOnly) {
  EnergyParameters p;
  p.compute.valu_f32_fma = 3;
  p.compute.cu_static = 0.2;
  p.compute.cu_clock = 0.4;
  p.l2.clock = 0.1;
  p.noc.clock = 2;
  p.reference_clock = Frequency{1'000'000'000};
  const EnergyParameters at = p.at_operating_point();
  const ComputeEnergy slow = at.compute.of(Bytes{65536}, Bytes{65536}, Frequency{500'000'000});
  EXPECT_DOUBLE_EQ(slow.cu_clock, 0.2);
  EXPECT_DOUBLE_EQ(slow.cu_static, 0.2);
  EXPECT_DOUBLE_EQ(slow.valu_f32_fma, 3);
  EXPECT_DOUBLE_EQ(at.l2.of(Bytes{1}, Frequency{1'500'000'000}).clock, 0.15);
  EXPECT_DOUBLE_EQ(at.noc.of(Frequency{1'400'000'000}).clock, 2.8);
}

// Horowitz, ISSCC 2014: 8 KB cost 10 pJ, 32 KB 20 pJ, 1 MB 100 pJ. An exponent of 0.475 fits the first and the last value, and
// the second value within 4 %.
TEST(EnergyParameters, ArraysFollowTheirSize) {
  EnergyParameters p;
  p.sram_exponent = 0.475;
  p.l2 = {.tag = 20, .read = 10, .write = 5, .leakage = 0.1, .reference = Bytes{8 << 10}};
  p.compute.vgpr_read = 1;
  p.compute.vgpr_static = 0.01;
  p.compute.vgpr_reference = Bytes{64 << 10};
  p.compute.lds_word = 6;
  p.compute.lds_reference = Bytes{64 << 10};
  p.l1_tlb = {.lookup = 5, .leakage = 0.01, .reference = 64};
  const EnergyParameters at = p.at_operating_point();
  const CacheEnergy mega = at.l2.of(Bytes{1 << 20}, {});
  EXPECT_NEAR(mega.read, 100, 0.5);
  EXPECT_NEAR(mega.write, 50, 0.25);
  EXPECT_NEAR(mega.tag, 200, 1);
  EXPECT_DOUBLE_EQ(mega.leakage, 12.8);
  EXPECT_NEAR(at.l2.of(Bytes{32 << 10}, {}).read, 20, 0.8);
  EXPECT_DOUBLE_EQ(at.l2.of(Bytes{8 << 10}, {}).read, 10);
  const ComputeEnergy half = at.compute.of(Bytes{32 << 10}, Bytes{128 << 10}, {});
  EXPECT_DOUBLE_EQ(half.vgpr_read, std::pow(0.5, 0.475));
  EXPECT_DOUBLE_EQ(half.vgpr_static, 0.005);
  EXPECT_DOUBLE_EQ(half.lds_word, 6 * std::pow(2, 0.475));
  EXPECT_DOUBLE_EQ(at.l1_tlb.of(128, {}).leakage, 0.02);
  EXPECT_DOUBLE_EQ(at.l1_tlb.of(128, {}).lookup, 5 * std::pow(2, 0.475));
  p.l2.reference = Bytes{0};
  EXPECT_DOUBLE_EQ(p.at_operating_point().l2.of(Bytes{1 << 20}, {}).read, 10) << "of any size";
}

TEST(EnergyParameters, TogglesScaleTheDataShareOfEachEnergy) {
  EnergyParameters p;
  p.compute.valu_f32 = 2;
  p.compute.vgpr_read = 1;
  p.compute.decode = 12;
  p.noc.link = 5;
  p.dram.read = 20;
  p.dram.activate = 900;
  p.alu = {.toggles = 0, .share = 0.75};
  p.arrays = {.toggles = 2, .share = 0.5};
  p.links = {.toggles = 0, .share = 1};
  p.dram_data = {.toggles = 0.5, .share = 0.5};
  const EnergyParameters at = p.at_operating_point();
  EXPECT_DOUBLE_EQ(at.compute.valu_f32, 0.5);
  EXPECT_DOUBLE_EQ(at.compute.vgpr_read, 1.5);
  EXPECT_DOUBLE_EQ(at.compute.decode, 12);
  EXPECT_DOUBLE_EQ(at.noc.link, 0);
  EXPECT_DOUBLE_EQ(at.dram.read, 15);
  EXPECT_DOUBLE_EQ(at.dram.activate, 900);
  p.alu = p.arrays = p.links = p.dram_data = {.toggles = 1, .share = 0.9};
  EXPECT_DOUBLE_EQ(p.at_operating_point().noc.link, 5) << "energies are of random data";
}

TEST(EnergyParameters, BoundsFollowTheClassOfEachNumber) {
  EnergyParameters p;
  p.compute.valu_f32 = 6;
  p.compute.vgpr_read = 6;
  p.board_static = 6;
  p.measured = "board_static";
  p.published = " vgpr_read  salu";
  p.spread_measured = 1.2;
  p.spread_published = 1.5;
  p.spread_estimated = 2;
  const EnergyParameters low = p.bound(EnergyBound::low), high = p.bound(EnergyBound::high);
  EXPECT_DOUBLE_EQ(low.board_static, 5);
  EXPECT_DOUBLE_EQ(high.board_static, 7.2);
  EXPECT_DOUBLE_EQ(low.compute.vgpr_read, 4);
  EXPECT_DOUBLE_EQ(high.compute.vgpr_read, 9);
  EXPECT_DOUBLE_EQ(low.compute.valu_f32, 3);
  EXPECT_DOUBLE_EQ(high.compute.valu_f32, 12);
}

TEST(EnergyParameters, UnknownNamesInAClassAreRefused) {
  EnergyParameters p;
  p.model = EnergyModel::on;
  p.compute.salu = 1;
  p.published = "salu l2_read board_static";
  EXPECT_TRUE(p.check().empty());
  p.measured = "voltage";
  ASSERT_EQ(p.check().size(), 1U);
  EXPECT_NE(p.check().front().find("energy.measured: there is no energy or power \"voltage\""), std::string::npos);
}

TEST(EnergyParameters, EveryNumberIsListedOnce) {
  EnergyParameters p;
  std::set<std::string> names;
  std::set<const double*> members;
  const EnergyNumbers all = p.numbers();
  for (const EnergyNumber& number : all.list()) {
    EXPECT_TRUE(names.insert(number.name).second) << number.name;
    EXPECT_TRUE(members.insert(number.value).second) << number.name;
    EXPECT_EQ(number.unit == "W",
              number.name.ends_with("_static") || number.name.ends_with("_clock") || number.name == "dram_background")
        << number.name;
  }
}

}  // namespace
}  // namespace lacuna::test
