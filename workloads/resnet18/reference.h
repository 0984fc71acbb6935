// Reference implementation of the layers of ResNet-18 on the host, in double precision; it also computes the inputs of a range
// of layers. Arrays have the kernels' layout (convolution.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "workloads/common/tensor.h"
#include "workloads/resnet18/convolution.h"
#include "workloads/resnet18/layer_kernels.h"

namespace resnet18 {

using Floats = std::vector<float>;
using Bytes = std::vector<unsigned char>;

using workload::Expected;
using workload::sum_factor;

/// Calls `use(to, from, weight, length)` for rows of pixels: at one tap of the kernel, the `length` output pixels from `to` on
/// read every stride-th input pixel from `from` on.
template <typename Use>
void for_each_row(const Shape& s, Use use) {
  for (unsigned m = 0; m < s.outputs; ++m) {
    for (unsigned tap = 0; tap < s.taps(); ++tap) {
      const unsigned channel = tap / (s.kernel * s.kernel);
      const int i = static_cast<int>(tap / s.kernel % s.kernel) - static_cast<int>(s.padding);
      const int j = static_cast<int>(tap % s.kernel) - static_cast<int>(s.padding);
      // Range of output columns whose input column is inside the image.
      const int stride = static_cast<int>(s.stride);
      const int first = j < 0 ? (-j + stride - 1) / stride : 0;
      const int last = std::min(static_cast<int>(s.out_width), (static_cast<int>(s.width) - j + stride - 1) / stride);
      if (last <= first) continue;
      for (unsigned image = 0; image < s.images; ++image) {
        for (unsigned row = 0; row < s.out_height; ++row) {
          const int y = static_cast<int>(row) * stride + i;
          if (y < 0 || y >= static_cast<int>(s.height)) continue;
          const std::size_t to = ((static_cast<std::size_t>(m) * s.images + image) * s.out_height + row) * s.out_width;
          const std::size_t from = ((static_cast<std::size_t>(channel) * s.images + image) * s.height + y) * s.width;
          use(to + first, from + first * stride + j, static_cast<std::size_t>(m) * s.taps() + tap, last - first);
        }
      }
    }
  }
}

inline Expected convolution(const Shape& s, const Floats& x, const Floats& weights) {
  Expected z(static_cast<std::size_t>(s.outputs) * s.out_pixels());
  for_each_row(s, [&](std::size_t to, std::size_t from, std::size_t weight, int length) {
    const double w = weights[weight];
    if (w == 0) return;
    for (int i = 0; i < length; ++i) {
      const double product = w * x[from + i * s.stride];
      z.values[to + i] += product;
      z.magnitudes[to + i] += std::fabs(product);
    }
  });
  z.factor = sum_factor(s.taps());
  return z;
}

/// Returns the gradient with respect to the input, added to the contents of `dx` if `accumulate`.
inline Expected convolution_backward_data(const Shape& s, const Floats& dz, const Floats& weights, const Floats& dx,
                                          bool accumulate) {
  Expected expected(static_cast<std::size_t>(s.inputs) * s.in_pixels());
  for (std::size_t i = 0; accumulate && i < expected.values.size(); ++i) {
    expected.values[i] = dx[i];
    expected.magnitudes[i] = std::fabs(dx[i]);
  }
  for_each_row(s, [&](std::size_t to, std::size_t from, std::size_t weight, int length) {
    const double w = weights[weight];
    if (w == 0) return;
    for (int i = 0; i < length; ++i) {
      const double product = w * dz[to + i];
      expected.values[from + i * s.stride] += product;
      expected.magnitudes[from + i * s.stride] += std::fabs(product);
    }
  });
  expected.factor = sum_factor(static_cast<double>(s.outputs) * s.kernel * s.kernel);
  return expected;
}

inline Expected convolution_backward_weights(const Shape& s, const Floats& dz, const Floats& x) {
  Expected dw(static_cast<std::size_t>(s.outputs) * s.taps());
  for_each_row(s, [&](std::size_t to, std::size_t from, std::size_t weight, int length) {
    double sum = 0, magnitude = 0;
    for (int i = 0; i < length; ++i) {
      const double product = static_cast<double>(dz[to + i]) * x[from + i * s.stride];
      sum += product;
      magnitude += std::fabs(product);
    }
    dw.values[weight] += sum;
    dw.magnitudes[weight] += magnitude;
  });
  dw.factor = sum_factor(s.out_pixels());
  return dw;
}

/// Mean and variance of each channel.
struct Statistics {
  Expected mean, variance;
};
inline Statistics batch_norm_statistics_of(const Floats& x, std::size_t channels, std::size_t count) {
  Statistics s{Expected(channels), Expected(channels)};
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0, magnitude = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += x[c * count + i];
      magnitude += std::fabs(x[c * count + i]);
    }
    const double mean = sum / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) squares += (x[c * count + i] - mean) * (x[c * count + i] - mean);
    s.mean.values[c] = mean;
    s.mean.magnitudes[c] = magnitude / static_cast<double>(count);
    s.variance.values[c] = squares / static_cast<double>(count);
    // An error e of the mean adds e^2 to the variance, and each difference is rounded relative to its terms.
    s.variance.magnitudes[c] = s.variance.values[c] + s.mean.magnitudes[c] * std::sqrt(s.variance.values[c]) +
                               s.mean.magnitudes[c] * s.mean.magnitudes[c] * 0x1p-20;
  }
  s.mean.factor = s.variance.factor = sum_factor(static_cast<double>(count)) + 16 * 0x1p-24;
  return s;
}

inline Expected batch_norm_relu_of(const Floats& x, const Floats& mean, const Floats& variance, const Floats& gamma,
                                   const Floats& beta, const Floats* residual, std::size_t channels, std::size_t count,
                                   bool relu) {
  Expected y(channels * count);
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const std::size_t c = i / count;
    const double scale = gamma[c] / std::sqrt(static_cast<double>(variance[c]) + kEpsilon);
    const double more = residual ? (*residual)[i] : 0.0;
    const double value = (static_cast<double>(x[i]) - mean[c]) * scale + beta[c] + more;
    y.values[i] = relu ? std::max(value, 0.0) : value;
    y.magnitudes[i] = (std::fabs(x[i]) + std::fabs(mean[c])) * std::fabs(scale) + std::fabs(beta[c]) + std::fabs(more);
  }
  return y;
}

inline Floats relu_backward(const Floats& dy, const Floats& y, std::size_t count, bool relu) {
  Floats g(dy.begin(), dy.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; relu && i < count; ++i) {
    if (!(y[i] > 0)) g[i] = 0;
  }
  return g;
}

/// Returns dgamma and dbeta.
inline std::pair<Expected, Expected> batch_norm_backward_sums(const Floats& g, const Floats& x, const Floats& mean,
                                                              const Floats& variance, std::size_t channels, std::size_t count) {
  std::pair<Expected, Expected> sums{Expected(channels), Expected(channels)};
  for (std::size_t i = 0; i < channels * count; ++i) {
    const std::size_t c = i / count;
    const double scale = 1 / std::sqrt(static_cast<double>(variance[c]) + kEpsilon);
    sums.first.values[c] += g[i] * (static_cast<double>(x[i]) - mean[c]) * scale;
    sums.first.magnitudes[c] += std::fabs(g[i]) * (std::fabs(x[i]) + std::fabs(mean[c])) * scale;
    sums.second.values[c] += g[i];
    sums.second.magnitudes[c] += std::fabs(g[i]);
  }
  sums.first.factor = sums.second.factor = sum_factor(static_cast<double>(count));
  return sums;
}

inline Expected batch_norm_backward_data_of(const Floats& g, const Floats& x, const Floats& mean, const Floats& variance,
                                            const Floats& gamma, const Floats& dgamma, const Floats& dbeta,
                                            std::size_t channels, std::size_t count) {
  Expected dx(channels * count);
  for (std::size_t i = 0; i < dx.values.size(); ++i) {
    const std::size_t c = i / count;
    const double scale = 1 / std::sqrt(static_cast<double>(variance[c]) + kEpsilon), n = static_cast<double>(count);
    const double normalised = (static_cast<double>(x[i]) - mean[c]) * scale;
    dx.values[i] = gamma[c] * scale * (g[i] - dbeta[c] / n - normalised * dgamma[c] / n);
    dx.magnitudes[i] =
        std::fabs(gamma[c]) * scale *
        (std::fabs(g[i]) + std::fabs(dbeta[c]) / n + (std::fabs(x[i]) + std::fabs(mean[c])) * scale * std::fabs(dgamma[c]) / n);
  }
  return dx;
}

/// Returns the maximum of each window; `taps` receives the position of the maximum in the window.
inline Floats max_pooling_of(const Shape& s, const Floats& x, Bytes& taps) {
  const std::size_t planes = static_cast<std::size_t>(s.inputs) * s.images;
  Floats y(planes * s.out_height * s.out_width);
  taps.resize(y.size());
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t plane = at / s.out_width / s.out_height;
    const unsigned row = static_cast<unsigned>(at / s.out_width % s.out_height),
                   column = static_cast<unsigned>(at % s.out_width);
    unsigned best = kNoTap;
    for (unsigned tap = 0; tap < kPoolKernel * kPoolKernel; ++tap) {
      const unsigned i = row * kPoolStride + tap / kPoolKernel - kPoolPadding,
                     j = column * kPoolStride + tap % kPoolKernel - kPoolPadding;
      if (i >= s.height || j >= s.width) continue;
      const float value = x[(plane * s.height + i) * s.width + j];
      if (best != kNoTap && value <= y[at]) continue;
      y[at] = value;
      best = tap;
    }
    taps[at] = static_cast<unsigned char>(best);
  }
  return y;
}

inline Expected max_pooling_backward_of(const Shape& s, const Floats& dy, const Bytes& taps) {
  Expected dx(static_cast<std::size_t>(s.inputs) * s.in_pixels());
  for (std::size_t at = 0; at < taps.size(); ++at) {
    const std::size_t plane = at / s.out_width / s.out_height, row = at / s.out_width % s.out_height, column = at % s.out_width;
    const std::size_t i = row * kPoolStride + taps[at] / kPoolKernel - kPoolPadding,
                      j = column * kPoolStride + taps[at] % kPoolKernel - kPoolPadding;
    dx.values[(plane * s.height + i) * s.width + j] += dy[at];
    dx.magnitudes[(plane * s.height + i) * s.width + j] += std::fabs(dy[at]);
  }
  return dx;
}

inline Expected average_pooling_of(const Floats& x, std::size_t planes, std::size_t count) {
  Expected y(planes);
  for (std::size_t i = 0; i < planes * count; ++i) {
    y.values[i / count] += x[i] / static_cast<double>(count);
    y.magnitudes[i / count] += std::fabs(x[i]) / static_cast<double>(count);
  }
  y.factor = sum_factor(static_cast<double>(count));
  return y;
}

inline Expected average_pooling_backward_of(const Floats& dy, std::size_t planes, std::size_t count) {
  Expected dx(planes * count);
  for (std::size_t i = 0; i < dx.values.size(); ++i) {
    dx.values[i] = dy[i / count] / static_cast<double>(count);
    dx.magnitudes[i] = std::fabs(dx.values[i]);
  }
  return dx;
}

inline void add_bias(Expected& y, const Floats& bias, std::size_t images) {
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] += bias[i / images];
    y.magnitudes[i] += std::fabs(bias[i / images]);
  }
}

inline Expected row_sums(const Floats& dy, std::size_t rows, std::size_t count) {
  Expected sums(rows);
  for (std::size_t i = 0; i < rows * count; ++i) {
    sums.values[i / count] += dy[i];
    sums.magnitudes[i / count] += std::fabs(dy[i]);
  }
  sums.factor = sum_factor(static_cast<double>(count));
  return sums;
}

/// Returns the loss of each image, and the gradient. expf and logf of the device libraries are accurate to 1 ulp (OpenCL allows
/// 3).
inline std::pair<Expected, Expected> softmax_cross_entropy_of(const Floats& y, const std::vector<unsigned>& labels,
                                                              std::size_t classes) {
  const std::size_t images = labels.size();
  std::pair<Expected, Expected> both{Expected(images), Expected(classes * images)};
  for (std::size_t image = 0; image < images; ++image) {
    double most = y[image], sum = 0;
    for (std::size_t i = 0; i < classes; ++i) most = std::max(most, static_cast<double>(y[i * images + image]));
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(y[i * images + image] - most);
    const double target = y[labels[image] * images + image];
    both.first.values[image] = std::log(sum) - (target - most);
    both.first.magnitudes[image] = std::fabs(std::log(sum)) + std::fabs(target) + std::fabs(most) + 1;
    for (std::size_t i = 0; i < classes; ++i) {
      const double value = y[i * images + image], probability = std::exp(value - most) / sum;
      const double wanted = i == labels[image] ? 1 : 0;
      both.second.values[i * images + image] = (probability - wanted) / static_cast<double>(images);
      // The argument of the exponential is rounded, which adds an error proportional to its size.
      both.second.magnitudes[i * images + image] =
          (probability * (1 + std::fabs(value) + std::fabs(most)) + wanted) / static_cast<double>(images);
    }
  }
  both.first.factor = both.second.factor = sum_factor(static_cast<double>(classes)) + 16 * 0x1p-24;
  return both;
}

/// Returns weights and velocities after a step.
inline std::pair<Expected, Expected> gradient_descent_of(const Floats& weights, const Floats& gradient, const Floats& velocity,
                                                         double decay, bool pruned) {
  std::pair<Expected, Expected> both{Expected(weights.size()), Expected(weights.size())};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double w = weights[i], g = gradient[i] + decay * w;
    const bool stays = pruned && w == 0;
    const double v = stays ? velocity[i] : static_cast<double>(kMomentum) * velocity[i] + g;
    both.first.values[i] = stays ? w : w - static_cast<double>(kLearningRate) * v;
    both.second.values[i] = v;
    both.second.magnitudes[i] = std::fabs(velocity[i]) + std::fabs(gradient[i]) + std::fabs(decay * w);
    both.first.magnitudes[i] = std::fabs(w) + both.second.magnitudes[i];
  }
  return both;
}

}  // namespace resnet18
