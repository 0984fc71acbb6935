// Samples of a value: their mean and its confidence interval.
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

  void add(double value);
  /// Standard deviation of the population, estimated from the samples. nullopt for fewer than two samples.
  std::optional<double> deviation() const;
  /// Half of the 95 % confidence interval of the mean by Student's t. nullopt for fewer than two samples.
  std::optional<double> half_width() const;
  /// Whether half_width() is at most `share` of the mean.
  bool is_within(double share) const;
  /// Estimated number of samples, at least two, for an interval of mean ± `share` of the mean with the deviation of these
  /// samples. nullopt if there are fewer than two samples, the mean is 0, or more than a billion samples would be needed.
  std::optional<std::size_t> needed(double share) const;
  /// Whether the confidence intervals of the two means overlap, so that their difference is not significant. For a single
  /// sample, which has no interval, its value is used.
  bool overlaps(const Spread& other) const;

 private:
  double squares_ = 0;  ///< sum of squared distances from the mean
};

}  // namespace lacuna
