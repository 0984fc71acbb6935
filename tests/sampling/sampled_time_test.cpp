#include "models/sampling/sampled_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace lacuna {
namespace {

constexpr double kTolerance = 0.02;

std::vector<TimedSlice> slices_of(std::initializer_list<std::uint64_t> instructions) {
  std::vector<TimedSlice> slices;
  for (const std::uint64_t count : instructions) slices.push_back({.cycles = 500, .instructions = count});
  return slices;
}

TimeSample sample_of(double cycles_per_instruction) {
  return {.cycles_per_instruction = cycles_per_instruction, .error = 0.001 * cycles_per_instruction, .instructions = 1000};
}

TEST(SteadySample, TakesTheRateOfAllSlices) {
  const auto sample = steady_sample(slices_of({100, 101, 99, 100}), kTolerance);
  ASSERT_TRUE(sample);
  EXPECT_DOUBLE_EQ(sample->cycles_per_instruction, 5);
  EXPECT_EQ(sample->instructions, 400U);
  EXPECT_GT(sample->error, 0);
}

TEST(SteadySample, RefusesADrift) {
  EXPECT_FALSE(steady_sample(slices_of({100, 100, 100, 100, 110, 110, 110, 110}), kTolerance));
  EXPECT_FALSE(steady_sample(slices_of({80, 85, 90, 95, 100, 105, 110, 115}), kTolerance));
}

TEST(SteadySample, RefusesRatesThatScatter) { EXPECT_FALSE(steady_sample(slices_of({10, 190, 15, 185}), kTolerance)); }

TEST(SteadySample, RefusesSlicesWithoutInstructionsAndTooFewSlices) {
  EXPECT_FALSE(steady_sample(slices_of({0, 0, 0, 0}), kTolerance));
  EXPECT_FALSE(steady_sample(slices_of({100, 100, 100}), kTolerance));
}

TEST(SampledTime, APartTakesTheMeanOfTheSamplesAroundIt) {
  SampledTime time(0);
  time.add(sample_of(2));
  time.add_untimed(1000);
  time.add(sample_of(4));
  EXPECT_DOUBLE_EQ(time.estimate().cycles, 3000);
  EXPECT_EQ(time.untimed(), 1000U);
}

TEST(SampledTime, ThePartAfterTheLastSampleIsLessCertain) {
  SampledTime confirmed(0);
  SampledTime unconfirmed(0);
  for (SampledTime* const time : {&confirmed, &unconfirmed}) {
    time->add(sample_of(2));
    time->add_untimed(1000);
  }
  confirmed.add(sample_of(2));
  EXPECT_DOUBLE_EQ(confirmed.estimate().cycles, unconfirmed.estimate().cycles);
  EXPECT_LT(confirmed.estimate().half_width, 0.5 * unconfirmed.estimate().half_width);
}

// The end of a kernel, where the rate of few wavefronts is low, does not change the estimate of the parts before it.
TEST(SampledTime, APartBeforeANewPhaseTakesTheSampleBeforeIt) {
  SampledTime time(0);
  time.add(sample_of(2));
  time.add_untimed(1000);
  time.add(sample_of(2));
  time.add_untimed(1000);
  const TimeEstimate before = time.estimate();
  time.add(sample_of(20), true);
  EXPECT_DOUBLE_EQ(time.estimate().cycles, 4000);
  EXPECT_DOUBLE_EQ(time.estimate().half_width, before.half_width);
  time.add_untimed(100);
  time.add(sample_of(20));
  EXPECT_DOUBLE_EQ(time.estimate().cycles, 6000);
  EXPECT_LT(time.estimate().half_width, 600);
}

// Longer samples do not reduce the error that samples cannot show.
TEST(SampledTime, TheHalfWidthOfSamplesIsAPartOfTheWhole) {
  SampledTime time(0.1);
  time.add(sample_of(2));
  time.add_untimed(1000);
  time.add(sample_of(2));
  const TimeEstimate estimate = time.estimate();
  EXPECT_GT(estimate.seen, 0);
  EXPECT_LT(estimate.seen, 20);
  EXPECT_GE(estimate.half_width, 200);
}

TEST(SampledTime, DoubtWidensTheIntervalToTheWholePart) {
  SampledTime time(0);
  time.add(sample_of(2));
  time.add_untimed(1000);
  time.add(sample_of(2));
  time.doubt(1000);
  EXPECT_GE(time.estimate().half_width, 2000);
}

TEST(SampledTime, SamplesAgreeWithinTheToleranceOrTheirErrors) {
  SampledTime time(0);
  time.add(sample_of(1));
  EXPECT_FALSE(time.settled(kTolerance));
  time.add(sample_of(1.015));
  EXPECT_TRUE(time.settled(kTolerance));
  time.add(sample_of(1.1));
  EXPECT_FALSE(time.settled(kTolerance));
}

// The rate of a kernel varies at random; parts of random length are not timed.
TEST(SampledTime, TheIntervalHoldsTheTrueTimeInNineteenOfTwentyCases) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.03);
  std::uniform_int_distribution<std::uint64_t> length(2, 12);
  unsigned held = 0;
  constexpr unsigned kKernels = 1000;
  for (unsigned kernel = 0; kernel < kKernels; ++kernel) {
    SampledTime time(0);
    double truth = 0;
    for (unsigned part = 0; part < 8; ++part) {
      time.add({.cycles_per_instruction = 1 + noise(random), .error = 0.03, .instructions = 1000});
      if (part == 7) break;
      const std::uint64_t pieces = length(random);
      for (std::uint64_t piece = 0; piece < pieces; ++piece) truth += 1000 * (1 + noise(random));
      time.add_untimed(1000 * pieces);
    }
    const TimeEstimate estimate = time.estimate();
    held += std::abs(estimate.cycles - truth) <= estimate.half_width ? 1 : 0;
  }
  EXPECT_GE(held, kKernels * 93 / 100);
}

}  // namespace
}  // namespace lacuna
