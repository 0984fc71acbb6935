// Least-squares line through points (x, y), with the confidence intervals of the line and of a further point.
#pragma once

#include <cstddef>

namespace lacuna {

class LinearFit {
 public:
  void add(double x, double y);

  std::size_t samples() const { return samples_; }
  double mean_x() const { return mean_x_; }
  double min_x() const { return min_x_; }
  double max_x() const { return max_x_; }
  /// Slope of the line; 0 if all points have the same x.
  double slope() const;
  /// y of the line at `x`. Without points 0.
  double at(double x) const { return mean_y_ + slope() * (x - mean_x_); }
  /// Half of the 95 % confidence interval of the line's y at `x`. At least three points.
  double half_width(double x) const;
  /// Half of the 95 % interval of the y of one further point at `x`. At least three points.
  double half_width_of_one(double x) const;
  /// Distance of `x` from the nearest x of a point, if it is smaller or larger than that of all points; otherwise 0.
  double beyond(double x) const;

 private:
  double deviation() const;
  double leverage(double x) const;

  std::size_t samples_ = 0;
  double mean_x_ = 0;
  double mean_y_ = 0;
  double min_x_ = 0;
  double max_x_ = 0;
  // Sums of products of distances from the means.
  double xx_ = 0;
  double xy_ = 0;
  double yy_ = 0;
};

}  // namespace lacuna
