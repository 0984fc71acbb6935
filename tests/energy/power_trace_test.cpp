// Power samples are means of sampling intervals, and do not depend on the times at which counters are read.
#include "models/energy/power_trace.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace lacuna::test {
namespace {

/// A block with events of 1 pJ, and another block with a static power of 2 W. One event per nanosecond is 1 mW.
class PowerTraceTest : public testing::Test {
 protected:
  PowerTraceTest() {
    meter_.add("block", "event", events_, 1);
    meter_.add_static("rest", 2);
  }
  PowerTrace trace(std::uint64_t interval) {
    return {meter_, nanoseconds(interval), [this](const PowerSample& s) { samples_.push_back(s); }};
  }
  static constexpr Tick nanoseconds(std::uint64_t n) { return {n * 1000}; }
  double milliwatts(std::size_t sample) const { return samples_[sample].watts[0] * 1e3; }

  std::uint64_t events_ = 0;
  EnergyMeter meter_;
  std::vector<PowerSample> samples_;
};

TEST_F(PowerTraceTest, IntervalsHaveThePowerOfTheirEvents) {
  PowerTrace power = trace(100);
  events_ = 200;
  power.advance(nanoseconds(50));
  EXPECT_TRUE(samples_.empty());
  power.advance(nanoseconds(100));
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_EQ(samples_[0].begin, nanoseconds(0));
  EXPECT_EQ(samples_[0].end, nanoseconds(100));
  EXPECT_DOUBLE_EQ(milliwatts(0), 2);
  EXPECT_DOUBLE_EQ(samples_[0].watts[1], 2);
  EXPECT_DOUBLE_EQ(samples_[0].total(), 2.002);
}

TEST_F(PowerTraceTest, SamplesHaveTheBoundsOfTheirEnergies) {
  const auto with_energies = [this](double event, double watts) {
    EnergyMeter meter;
    meter.add("block", "event", events_, event);
    meter.add_static("rest", watts);
    return meter;
  };
  meter_.set_bounds(with_energies(0.5, 1.5), with_energies(2, 3));
  PowerTrace power = trace(100);
  events_ = 200;
  power.advance(nanoseconds(100));
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_DOUBLE_EQ(samples_[0].total(), 2.002);
  EXPECT_DOUBLE_EQ(samples_[0].bounds.low, 1.501);
  EXPECT_DOUBLE_EQ(samples_[0].bounds.high, 3.004);
}

TEST_F(PowerTraceTest, CountsBetweenReadingsAreSpreadEvenly) {
  PowerTrace power = trace(100);
  events_ = 150;
  power.advance(nanoseconds(150));  // one event per nanosecond, 50 of them in the second interval
  events_ += 30;
  power.advance(nanoseconds(180));  // no sample yet: the interval continues
  events_ += 120;
  power.advance(nanoseconds(250));
  ASSERT_EQ(samples_.size(), 2U);
  EXPECT_DOUBLE_EQ(milliwatts(0), 1);
  EXPECT_DOUBLE_EQ(milliwatts(1), (50 + 75) / 100.0);
}

TEST_F(PowerTraceTest, ADeviceThatIsNotReadIsOneSample) {
  PowerTrace power = trace(100);
  events_ = 100;
  power.advance(nanoseconds(100));
  power.advance(nanoseconds(100'050));
  ASSERT_EQ(samples_.size(), 3U);
  EXPECT_EQ(samples_[1].end, nanoseconds(200));
  EXPECT_EQ(samples_[2].begin, nanoseconds(200));
  EXPECT_EQ(samples_[2].end, nanoseconds(100'000));
  EXPECT_DOUBLE_EQ(milliwatts(2), 0);
  EXPECT_DOUBLE_EQ(samples_[2].total(), 2);
}

TEST_F(PowerTraceTest, TheLastIntervalMayBeShort) {
  PowerTrace power = trace(100);
  events_ = 30;
  power.finish(nanoseconds(10));
  power.finish(nanoseconds(10));
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_DOUBLE_EQ(milliwatts(0), 3);
  events_ += 90;
  power.advance(nanoseconds(100));  // advances to the beginning of an interval
  ASSERT_EQ(samples_.size(), 2U);
  EXPECT_EQ(samples_[1].begin, nanoseconds(10));
  EXPECT_EQ(samples_[1].end, nanoseconds(100));
  EXPECT_DOUBLE_EQ(milliwatts(1), 1);
}

TEST_F(PowerTraceTest, SamplesJoinAndAddUp) {
  std::mt19937 random(2);  // NOLINT: the same numbers in every run
  PowerTrace power = trace(100);
  Tick at{};
  for (int step = 0; step < 1000; ++step) {
    events_ += random() % 1000;
    at += Tick{random() % 300'000};
    power.advance(at);
  }
  power.finish(at);
  Tick until{};
  double joules = 0;
  for (const PowerSample& sample : samples_) {
    EXPECT_EQ(sample.begin, until);
    until = sample.end;
    joules += sample.watts[0] * static_cast<double>((sample.end - sample.begin).ps) * 1e-12;
  }
  EXPECT_EQ(until, at);
  const double used = static_cast<double>(events_) * 1e-12;
  EXPECT_NEAR(joules, used, 1e-9 * used);
}

TEST_F(PowerTraceTest, AnIntervalOfZeroIsRefused) { EXPECT_THROW(trace(0), std::invalid_argument); }

}  // namespace
}  // namespace lacuna::test
