// Direct convolution on the host, in double precision.
#pragma once

#include <cmath>
#include <vector>

#include "workloads/common/tensor.h"
#include "workloads/conv2d/convolution.h"

namespace conv {

/// Converts halves to the product's factors. Matrix units flush denormals to zero; vector ALUs do not.
inline std::vector<double> factors(const std::vector<Half>& halves, bool on_matrix_units) {
  std::vector<double> values(halves.begin(), halves.end());
  if (!on_matrix_units) return values;
  for (double& value : values) {
    if (std::fabs(value) < 0x1p-14) value = 0;
  }
  return values;
}

/// Calls use(row of y, tap, index in x of channel 0) for each position of the filter over an element of x. Rows of y have
/// images outermost.
template <class Use>
void for_each_tap(Convolution c, Use use) {
  c.images_innermost = 0;
  for (unsigned row = 0; row < c.rows(); ++row) {
    const Convolution::Corner corner = c.corner(row);
    for (unsigned tap = 0; tap < c.filter_height * c.filter_width; ++tap) {
      const int y = corner.y + static_cast<int>(tap / c.filter_width), x = corner.x + static_cast<int>(tap % c.filter_width);
      if (c.inside(y, x)) use(size_t{row}, size_t{tap}, size_t{c.element(corner.image, y, x)});
    }
  }
}

/// Returns the weights reordered to [column][filter], from filters `pitch` elements apart, so that sums over filters read them
/// in order.
inline std::vector<double> by_column(const Convolution& c, const std::vector<double>& weights, size_t pitch) {
  std::vector<double> values(size_t{c.columns()} * c.filters);
  for (size_t filter = 0; filter < c.filters; ++filter) {
    for (size_t k = 0; k < c.columns(); ++k) values[k * c.filters + filter] = weights[filter * pitch + k];
  }
  return values;
}

/// Returns y, computed from the product's factors. Products of halves are exact in single precision, so only sums are rounded:
/// those of `parts` parts along K. The first `channels` channels are real; the others are zeros.
inline workload::Expected convolved(const Convolution& c, unsigned channels, const std::vector<double>& x,
                                    const std::vector<double>& weights, size_t pitch, unsigned parts) {
  const size_t filters = c.filters;
  const std::vector<double> columns = by_column(c, weights, pitch);
  workload::Expected expected(c.rows() * filters);
  for_each_tap(c, [&](size_t row, size_t tap, size_t from) {
    double* const values = expected.values.data() + row * filters;
    double* const magnitudes = expected.magnitudes.data() + row * filters;
    for (size_t channel = 0; channel < channels; ++channel) {
      const double value = x[from + channel];
      const double* const weight = columns.data() + (tap * c.channels + channel) * filters;
      for (size_t filter = 0; filter < filters; ++filter) {
        const double product = value * weight[filter];
        values[filter] += product;
        magnitudes[filter] += std::fabs(product);
      }
    }
  });
  expected.factor = workload::sum_factor(double{1} * c.columns() + parts);
  return expected;
}

}  // namespace conv
