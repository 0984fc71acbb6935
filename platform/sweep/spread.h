// The samples of one value: their mean, and the interval that it is known within.
#pragma once

#include <cstddef>
#include <optional>

namespace lacuna {

/// The 0.975 quantile of Student's distribution: in 95 % of all cases it is between -t and t.
double student_t(std::size_t degrees_of_freedom);

class Spread {
 public:
  std::size_t samples = 0;
  double mean = 0;
  double min = 0;
  double max = 0;

  void add(double value);
  /// Of the population, as the sample has it. Nothing for fewer than two samples.
  std::optional<double> deviation() const;
  /// Half of the 95 % confidence interval of the mean by Student's t. Nothing for fewer than two samples.
  std::optional<double> half_width() const;
  /// The interval is mean ± `share` of the mean, or narrower.
  bool is_within(double share) const;
  /// How many samples have an interval of mean ± `share` of the mean, when they spread as these do; at least two. Nothing where
  /// no number is known: fewer than two samples, a mean of 0, more than a billion.
  std::optional<std::size_t> needed(double share) const;
  /// Their intervals have a value in common: then a difference between the two says nothing. One sample has no interval:
  /// its value is compared.
  bool overlaps(const Spread& other) const;

 private:
  double squares_ = 0;  ///< of the distances from the mean
};

}  // namespace lacuna
