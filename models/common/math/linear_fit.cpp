#include "models/common/math/linear_fit.h"

#include <algorithm>
#include <cmath>

#include "models/common/math/spread.h"

namespace lacuna {

void LinearFit::add(double x, double y) {
  min_x_ = samples_ == 0 ? x : std::min(min_x_, x);
  max_x_ = samples_ == 0 ? x : std::max(max_x_, x);
  ++samples_;
  // Welford's method avoids cancellation if the values are large compared with their differences.
  const double n = static_cast<double>(samples_);
  const double dx = x - mean_x_;
  const double dy = y - mean_y_;
  mean_x_ += dx / n;
  mean_y_ += dy / n;
  xx_ += dx * (x - mean_x_);
  xy_ += dx * (y - mean_y_);
  yy_ += dy * (y - mean_y_);
}

double LinearFit::slope() const { return xx_ > 0 ? xy_ / xx_ : 0; }

// Standard deviation of the points from the line: two degrees of freedom are lost to the line's two parameters.
double LinearFit::deviation() const {
  const double residuals = std::max(0.0, yy_ - slope() * xy_);
  return std::sqrt(residuals / static_cast<double>(samples_ - 2));
}

double LinearFit::leverage(double x) const {
  const double distance = x - mean_x_;
  return 1 / static_cast<double>(samples_) + (xx_ > 0 ? distance * distance / xx_ : 0);
}

double LinearFit::half_width(double x) const { return student_t(samples_ - 2) * deviation() * std::sqrt(leverage(x)); }

double LinearFit::half_width_of_one(double x) const {
  return student_t(samples_ - 2) * deviation() * std::sqrt(1 + leverage(x));
}

double LinearFit::beyond(double x) const { return std::max({0.0, min_x_ - x, x - max_x_}); }

}  // namespace lacuna
