#include "models/common/math/spread.h"

#include <gtest/gtest.h>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

/// The probability that Student's t is in [-t, t]: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, formulas
/// 26.7.3 and 26.7.4.
double probability_inside(double t, unsigned degrees) {
  const double angle = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (unsigned power = odd ? 3 : 2; power + 2 <= degrees; power += 2) {
    term *= cosine * cosine * (power - 1) / power;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

TEST(StudentT, IsThatOfPublishedTables) {
  // Results of qt(0.975, df) in R 4.2.2, with all digits.
  const std::map<std::size_t, double> r{
      {1, 12.7062047361747},  {2, 4.30265272974946},  {3, 3.18244630528371},  {4, 2.77644510519779},  {5, 2.57058183563631},
      {6, 2.44691185114497},  {7, 2.36462425159278},  {8, 2.30600413520417},  {9, 2.26215716279820},  {10, 2.22813885198627},
      {15, 2.13144954555978}, {20, 2.08596344726586}, {30, 2.04227245630124}, {60, 2.00029782201426}, {120, 1.97993040508242}};
  for (const auto& [degrees, t] : r) EXPECT_NEAR(student_t(degrees), t, 1e-12 * t) << degrees;
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper critical values, column 0.975.
  const std::vector<double> nist{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  for (std::size_t i = 0; i < nist.size(); ++i) EXPECT_NEAR(student_t(i + 1), nist[i], 0.0005) << i + 1;
  EXPECT_NEAR(student_t(100), 1.984, 0.0005);
  EXPECT_NEAR(student_t(1'000'000'000), 1.959963985, 1e-8) << "that of the normal distribution";
}

TEST(StudentT, TheIntervalHasAProbabilityOf95PerCent) {
  for (unsigned degrees = 1; degrees <= 400; ++degrees)
    EXPECT_NEAR(probability_inside(student_t(degrees), degrees), 0.95, 1e-12) << degrees;
}

Spread of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.add(value);
  return spread;
}

TEST(Spreads, HaveAnIntervalFromTwoSamplesOn) {
  EXPECT_EQ(Spread().half_width(), std::nullopt);
  EXPECT_EQ(of({5}).half_width(), std::nullopt);
  EXPECT_EQ(of({5}).deviation(), std::nullopt);
  EXPECT_EQ(of({5}).needed(0.01), std::nullopt);
  EXPECT_FALSE(of({5}).is_within(0.5));
  const Spread two = of({9, 11});
  EXPECT_EQ(two.mean, 10);
  EXPECT_DOUBLE_EQ(*two.deviation(), std::sqrt(2));
  EXPECT_NEAR(*two.half_width(), 12.7062047361747, 1e-12);
  EXPECT_EQ(of({7, 7, 7}).half_width(), 0);
  EXPECT_TRUE(of({7, 7, 7}).is_within(1e-9));
  EXPECT_TRUE(of({0, 0}).is_within(0.01));
  // Samples with a large common offset.
  EXPECT_NEAR(*of({1e15 + 1, 1e15 + 2, 1e15 + 3}).deviation(), 1, 1e-9);
}

TEST(Spreads, AreThoseOfAPublishedExample) {
  // NIST/SEMATECH e-Handbook, 1.3.5.2: 195 values with mean 9.261460 and standard deviation 0.022789 have the 95 % confidence
  // interval 9.258242 .. 9.264679. The values here have the same mean and deviation, and therefore the same interval.
  Spread spread;
  spread.add(9.261460);
  for (int i = 0; i < 97; ++i) {
    spread.add(9.261460 - 0.022789);
    spread.add(9.261460 + 0.022789);
  }
  EXPECT_EQ(spread.samples, 195U);
  EXPECT_NEAR(*spread.deviation(), 0.022789, 1e-9);
  EXPECT_NEAR(spread.mean - *spread.half_width(), 9.258242, 1e-6);
  EXPECT_NEAR(spread.mean + *spread.half_width(), 9.264679, 1e-6);
}

TEST(Spreads, KnowHowManySamplesAnIntervalNeeds) {
  const Spread spread = of({98, 101, 97, 104, 100});
  for (const double share : {0.5, 0.1, 0.05, 0.02, 0.01, 0.003, 0.0001}) {
    const std::size_t needed = spread.needed(share).value();
    const auto half = [&](std::size_t n) { return student_t(n - 1) * *spread.deviation() / std::sqrt(static_cast<double>(n)); };
    EXPECT_LE(half(needed), share * spread.mean) << share;
    if (needed > 2) {
      EXPECT_GT(half(needed - 1), share * spread.mean) << share;
    }
  }
  EXPECT_EQ(of({7, 7}).needed(0.01), 2U);
  EXPECT_EQ(of({-1, 1}).needed(0.01), std::nullopt) << "of a mean of 0 no share is wide enough";
  EXPECT_EQ(of({-98, -101, -97, -104, -100}).needed(0.01), spread.needed(0.01));
  EXPECT_EQ(spread.needed(1e-9), std::nullopt) << "more than a billion";
}

TEST(Spreads, OverlapWithTheirIntervals) {
  const Spread low = of({10, 11, 12});   // interval 8.5 .. 13.5
  const Spread high = of({14, 15, 16});  // interval 12.5 .. 17.5
  EXPECT_TRUE(low.overlaps(high)) << "though no sample of one is among those of the other";
  EXPECT_TRUE(high.overlaps(low));
  EXPECT_FALSE(low.overlaps(of({17, 18, 19})));
  EXPECT_TRUE(low.overlaps(of({13}))) << "the value of one sample is compared";
  EXPECT_FALSE(low.overlaps(of({14})));
  EXPECT_FALSE(of({5}).overlaps(of({6})));
  EXPECT_TRUE(of({5}).overlaps(of({5})));
}

Spread of_estimates(const std::vector<std::pair<double, double>>& values) {
  Spread spread;
  for (const auto& [value, half_width] : values) spread.add(value, half_width);
  return spread;
}

TEST(SpreadsOfEstimates, IncludeTheMeanOfTheSamplesIntervals) {
  const Spread two = of_estimates({{9, 4}, {11, 6}});
  EXPECT_EQ(two.mean, 10);
  EXPECT_EQ(two.own_half_width(), 5) << "their mean, not divided by the root of their number";
  EXPECT_DOUBLE_EQ(*two.deviation(), std::sqrt(2)) << "that of the values";
  EXPECT_NEAR(*two.half_width(), std::hypot(12.7062047361747, 5), 1e-12);
  // The interval of equal samples is their own interval, regardless of their number.
  EXPECT_EQ(of_estimates({{100, 3}, {100, 3}, {100, 3}, {100, 3}}).half_width(), 3);
  // A sample that is not an estimate has an interval of 0.
  EXPECT_EQ(of_estimates({{100, 3}, {100, 0}, {100, 0}}).own_half_width(), 1);
  EXPECT_EQ(of({9, 11}).own_half_width(), 0);
  EXPECT_EQ(Spread().own_half_width(), 0);
}

TEST(SpreadsOfEstimates, HaveAnIntervalFromOneSampleOn) {
  const Spread one = of_estimates({{100, 3}});
  EXPECT_EQ(one.half_width(), 3);
  EXPECT_EQ(one.deviation(), std::nullopt);
  EXPECT_EQ(one.needed(0.05), std::nullopt);
  EXPECT_FALSE(one.is_within(0.05)) << "how much samples differ is unknown";
  EXPECT_TRUE(one.overlaps(of({103})));
  EXPECT_FALSE(one.overlaps(of({103.1})));
  EXPECT_TRUE(one.overlaps(of_estimates({{105, 2}})));
}

TEST(SpreadsOfEstimates, NeedMoreSamplesThanExactValues) {
  const Spread spread = of_estimates({{98, 0.9}, {101, 0.9}, {97, 0.9}, {104, 0.9}, {100, 0.9}});
  EXPECT_GT(spread.needed(0.01).value(), of({98, 101, 97, 104, 100}).needed(0.01).value());
  // The samples' own half-width is 0.9 % of the mean, which leaves sqrt(1 - 0.9^2) % for their deviation.
  EXPECT_EQ(spread.needed(0.01), of({98, 101, 97, 104, 100}).needed(std::sqrt(1 - 0.81) / 100));
  EXPECT_EQ(spread.needed(0.0089), std::nullopt);
  EXPECT_TRUE(spread.is_beyond(0.0089));
  EXPECT_FALSE(spread.is_beyond(0.01));
  const Spread equal = of_estimates({{100, 3}, {100, 3}});
  EXPECT_TRUE(equal.is_within(0.03));
  EXPECT_FALSE(equal.is_within(0.029));
  EXPECT_EQ(equal.needed(0.03), 2U);
  EXPECT_EQ(equal.needed(0.029), std::nullopt);
  EXPECT_FALSE(of({0, 0}).is_beyond(0.01));
}

}  // namespace
}  // namespace lacuna
