// Blocks register events; energy is the sum of count times energy per event, and of static power times time.
#include "models/energy/energy_meter.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "models/energy/energy_parameters.h"

namespace lacuna::test {
namespace {

TEST(EnergyMeter, InstancesOfABlockAreOneEvent) {
  EnergyMeter meter;
  std::uint64_t first = 3;
  std::uint64_t second = 4;
  std::uint64_t other = 5;
  meter.add("l2", "read", first, 10);
  meter.add("l1", "read", other, 1);
  meter.add("l2", "read", second, 10);
  ASSERT_EQ(meter.events().size(), 2U);
  EXPECT_EQ(meter.blocks(), (std::vector<std::string>{"l2", "l1"}));
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{7, 5}));
  second = 40;
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{43, 5}));
}

TEST(EnergyMeter, JoulesAreEventEnergyPlusStaticPowerTimesTime) {
  EnergyMeter meter;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  meter.add("l2", "read", reads, 10);
  meter.add("l2", "write", writes, 20);
  meter.add_static("l2", 0.25);
  meter.add_static("l2", 0.25);
  meter.add_static("board", 2);
  const std::vector<double> joules = meter.joules(std::vector<double>{1e9, 0.5e9}, 4e12);  // 4 s
  ASSERT_EQ(joules.size(), 2U);
  EXPECT_DOUBLE_EQ(joules[0], 0.01 + 0.01 + 2);
  EXPECT_DOUBLE_EQ(joules[1], 8);
}

TEST(EnergyMeter, AvoidedEventsAreNotCounted) {
  EnergyMeter meter;
  std::uint64_t writes = 10;
  std::uint64_t spared = 4;
  EXPECT_THROW(meter.spare("vgpr", "write", spared), std::logic_error);
  meter.add("vgpr", "write", writes, 2);
  meter.spare("vgpr", "write", spared);
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{6}));
  writes = 20;
  spared = 5;
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{15}));
}

TEST(EnergyMeter, DiscardedEventsAreNotCounted) {
  EnergyMeter meter;
  std::uint64_t writes = 10;
  std::uint64_t reads = 1;
  meter.add("vgpr", "write", writes, 2);
  meter.add("vgpr", "read", reads, 1);
  for (unsigned part = 0; part < 2; ++part) {
    meter.begin_discarding();
    writes += 100;
    meter.end_discarding();
    ++writes;
    ++reads;
  }
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{12, 3}));
}

TEST(EnergyMeter, RejectsNegativeAndNanEnergies) {
  EnergyMeter meter;
  const std::uint64_t counter = 0;
  EXPECT_THROW(meter.add("l2", "read", counter, -1), std::invalid_argument);
  EXPECT_THROW(meter.add("l2", "read", counter, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
  EXPECT_THROW(meter.add_static("l2", -0.1), std::invalid_argument);
  EXPECT_TRUE(meter.events().empty());
  meter.add("l2", "read", counter, 1);
  EXPECT_THROW(meter.add("l2", "read", counter, 2), std::logic_error);
}

TEST(EnergyMeter, StaticPowerIsKeptByKind) {
  EnergyMeter meter;
  meter.add_static("l2", 0.25, StaticPower::leakage);
  meter.add_static("l2", 0.5, StaticPower::clock);
  meter.add_static("board", 2, StaticPower::constant);
  EXPECT_EQ(meter.static_watts(), (std::vector<double>{0.75, 2}));
  EXPECT_EQ(meter.static_watts(StaticPower::leakage), (std::vector<double>{0.25, 0}));
  EXPECT_EQ(meter.static_watts(StaticPower::clock), (std::vector<double>{0.5, 0}));
  EXPECT_EQ(meter.static_watts(StaticPower::constant), (std::vector<double>{0, 2}));
}

TEST(EnergyMeter, BoundsAreTheSumsOfLowAndHighEnergies) {
  const std::uint64_t counter = 0;
  const auto filled = [&counter](double factor) {
    EnergyMeter meter;
    meter.add("l2", "read", counter, 10 * factor);
    meter.add_static("l2", 3 * factor);
    meter.add_static("board", 1);
    return meter;
  };
  EnergyMeter meter = filled(1);
  const std::vector<double> counts{1e12};
  EXPECT_DOUBLE_EQ(total_of(meter.bounds(counts, 2e12)).low, 18) << "without bounds the energies are exact";
  EXPECT_DOUBLE_EQ(total_of(meter.bounds(counts, 2e12)).high, 18);
  meter.set_bounds(filled(0.5), filled(4));
  const std::vector<EnergyBounds> bounds = meter.bounds(counts, 2e12);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_DOUBLE_EQ(bounds[0].low, 8);
  EXPECT_DOUBLE_EQ(bounds[0].high, 64);
  EXPECT_DOUBLE_EQ(bounds[1].low, 2);
  EXPECT_DOUBLE_EQ(total_of(bounds).high, 66);
  EnergyMeter other = filled(1);
  other.add("l2", "write", counter, 1);
  EXPECT_THROW(meter.set_bounds(filled(1), other), std::logic_error);
}

// Random data change 16 of 32 bits. The part of an event's energy that follows the data is a separate event.
TEST(EnergyMeter, TheDataPartOfAnEventFollowsMeasuredToggles) {
  EnergyMeter meter;
  ToggleCount toggles;
  std::uint64_t reads = 0;
  std::uint64_t tags = 0;
  meter.measure(DataKind::arrays, 0.75, [&toggles] { return toggles; });
  meter.add("l2", "read", reads, 40, DataKind::arrays);
  meter.add("l2", "tag", tags, 5);
  ASSERT_EQ(meter.events().size(), 3U);
  EXPECT_EQ(meter.events()[1].name, "read_data");
  EXPECT_DOUBLE_EQ(meter.events()[0].picojoules, 10);
  EXPECT_DOUBLE_EQ(meter.events()[1].picojoules, 30);
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{0, 0, 0}));
  reads = 100;
  tags = 7;
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{100, 100, 7})) << "without samples, data are taken as random";
  reads = 200;
  toggles = {.bits = 0, .words = 50};
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{200, 100, 7})) << "constant data";
  reads = 300;
  toggles = {.bits = 32 * 50, .words = 100};
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{300, 300, 7})) << "each bit changes";
  reads = 310;
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{310, 320, 7})) << "the latest samples apply until the next";
}

TEST(EnergyMeter, CountsIncludeAddedCountersAndUpdatesBeforeReading) {
  EnergyMeter meter;
  std::uint64_t derived = 0;
  std::uint64_t kept = 7;
  std::uint64_t in_bulk = 100;
  const std::uint64_t unknown = 1;
  meter.add("block", "derived", derived, 1);
  meter.add("block", "also", derived, 1);
  meter.before_reading([&] { derived = 2 * kept; });
  meter.count_also(derived, in_bulk);
  meter.count_also(unknown, in_bulk);
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{114, 114}));
  kept = 8;
  in_bulk = 0;
  EXPECT_EQ(meter.counts(), (EnergyMeter::Counts{16, 16}));
}

TEST(EnergyParameters, TheModelNeedsAtLeastOneEnergyAboveZero) {
  EnergyParameters parameters;
  EXPECT_TRUE(parameters.check().empty());
  parameters.model = EnergyModel::on;
  ASSERT_EQ(parameters.check().size(), 1U);
  EXPECT_NE(parameters.check().front().find("energy/r9nano"), std::string::npos);
  parameters.interval = Tick{1};
  parameters.table = true;
  EXPECT_EQ(parameters.check().size(), 1U) << "neither is an energy";
  // A single energy above zero, of any kind, suffices.
  for (double* energy : {&parameters.compute.decode, &parameters.compute.lds_word, &parameters.l1_tlb.leakage,
                         &parameters.dram.refresh, &parameters.cp_workgroup}) {
    *energy = 1;
    EXPECT_TRUE(parameters.check().empty());
    *energy = 0;
  }
}

}  // namespace
}  // namespace lacuna::test
