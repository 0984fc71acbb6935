// Samples of a value: their mean and the mean's confidence interval. A sample that is an estimate also has an interval.
#pragma once

#include <cstddef>
#include <optional>

namespace lacuna {

/// The 0.975 quantile t of Student's distribution: 95 % of all values are between -t and t.
double student_t(std::size_t degrees_of_freedom);

class Spread {
 public:
  std::size_t samples = 0;
  double mean = 0;
  double min = 0;
  double max = 0;

  /// Adds a sample. `half_width`: half of the sample's own 95 % confidence interval, if the value is an estimate.
  void add(double value, double half_width = 0);
  /// Standard deviation of the population, estimated from the samples. nullopt for fewer than two samples.
  std::optional<double> deviation() const;
  /// Half of the 95 % confidence interval of the mean: sqrt(a^2 + own_half_width()^2), where a = t s / sqrt(n), with Student's
  /// t and the standard deviation s. For a single sample: half of the sample's own interval, or nullopt if it has none. nullopt
  /// without samples.
  std::optional<double> half_width() const;
  /// Part of half_width() that is due to the samples' own intervals: the mean of their half-widths. The mean is not divided by
  /// sqrt(n), because the errors of the samples are not independent: further samples do not reduce this part. 0 if no sample
  /// has an interval.
  double own_half_width() const { return samples == 0 ? 0 : own_sum_ / static_cast<double>(samples); }
  /// Whether half_width() of at least two samples is at most `share` of the mean.
  bool is_within(double share) const;
  /// Whether own_half_width() alone is more than `share` of the mean. No number of samples is then enough.
  bool is_beyond(double share) const;
  /// Estimated number of samples, at least two, for an interval of mean ± `share` of the mean with the deviation and the mean
  /// own interval of these samples. nullopt if there are fewer than two samples, is_beyond(share), or more than a billion
  /// samples would be needed, for example because the mean of different samples is 0.
  std::optional<std::size_t> needed(double share) const;
  /// Whether the confidence intervals of the two means overlap. If they do, the means do not differ significantly. For a single
  /// sample without an interval of its own, its value is used.
  bool overlaps(const Spread& other) const;

 private:
  double squares_ = 0;  ///< sum of squared distances from the mean
  double own_sum_ = 0;  ///< sum of the samples' own half-widths
};

}  // namespace lacuna
