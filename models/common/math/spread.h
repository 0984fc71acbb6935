// Samples of a value: their mean and its confidence interval.
#pragma once

#include <cstddef>
#include <optional>

namespace lacuna {

/// The 0.975 quantile of Student's distribution: 95 % of all cases are between -t and t.
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
  /// Whether the interval is mean ± `share` of the mean, or narrower.
  bool is_within(double share) const;
  /// Estimated number of samples for an interval of mean ± `share` of the mean, with the spread of these samples; at least two.
  /// nullopt if it is unknown: fewer than two samples, a mean of 0, more than a billion.
  std::optional<std::size_t> needed(double share) const;
  /// Whether their intervals overlap: then the difference between the two is not significant. A single sample has no interval:
  /// its value is compared.
  bool overlaps(const Spread& other) const;

 private:
  double squares_ = 0;  ///< sum of squared distances from the mean
};

}  // namespace lacuna
