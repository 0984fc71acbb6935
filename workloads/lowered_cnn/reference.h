// Reference implementation of the network's operations on the host, in double precision. Tensors have the kernels' layout
// (kernels.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "workloads/conv2d/reference.h"
#include "workloads/lowered_cnn/training_kernels.h"

namespace lowered_cnn {

using Floats = std::vector<float>;
using Halves = std::vector<Half>;
using Bytes = std::vector<unsigned char>;
using Factors = std::vector<double>;
using workload::Expected;
using workload::sum_factor;

/// Maximum distance of a value from the nearest half: half a unit in the last place, or half the smallest positive half.
inline double half_rounding(double value) { return std::max(std::fabs(value) * 0x1p-11, 0x1p-25); }

// -- products, from the actual factors (conv::factors)

/// The gradient with respect to x, without padding channels, added to `before` unless that is empty.
inline Expected convolved_backward_data(const Convolution& c, unsigned channels, const Factors& dz, size_t padded,
                                        const Factors& weights, size_t pitch, const Floats& before, unsigned parts) {
  Expected dx(c.inputs() / c.channels * channels);
  for (size_t i = 0; i < before.size(); ++i) {
    dx.values[i] = before[i];
    dx.magnitudes[i] = std::fabs(before[i]);
  }
  conv::for_each_tap(c, [&](size_t row, size_t tap, size_t to) {
    const size_t pixel = to / c.channels * channels;
    for (size_t filter = 0; filter < c.filters; ++filter) {
      const double value = dz[row * padded + filter];
      const double* const weight = weights.data() + filter * pitch + tap * c.channels;
      for (size_t channel = 0; channel < channels; ++channel) {
        const double product = value * weight[channel];
        dx.values[pixel + channel] += product;
        dx.magnitudes[pixel + channel] += std::fabs(product);
      }
    }
  });
  dx.factor = sum_factor(double{1} * c.filter_height * c.filter_width * c.filters + parts + 1);
  return dx;
}

/// The gradient with respect to the weights, [filter][column].
inline Expected convolved_backward_weights(const Convolution& c, unsigned channels, const Factors& dz, size_t padded,
                                           const Factors& x, unsigned parts) {
  Expected dw(c.filters * size_t{c.columns()});
  conv::for_each_tap(c, [&](size_t row, size_t tap, size_t from) {
    for (size_t filter = 0; filter < c.filters; ++filter) {
      const double value = dz[row * padded + filter];
      const size_t at = filter * c.columns() + tap * c.channels;
      for (size_t channel = 0; channel < channels; ++channel) {
        const double product = value * x[from + channel];
        dw.values[at + channel] += product;
        dw.magnitudes[at + channel] += std::fabs(product);
      }
    }
  });
  dw.factor = sum_factor(double{1} * c.rows() + parts);
  return dw;
}

// -- normalisation and activation

struct Statistics {
  Expected mean, variance;
};
inline Statistics statistics_of(const Floats& z, size_t channels) {
  Statistics s{Expected(channels), Expected(channels)};
  const size_t rows = z.size() / channels;
  const auto count = static_cast<double>(rows);
  for (size_t i = 0; i < z.size(); ++i) {
    s.mean.values[i % channels] += z[i] / count;
    s.mean.magnitudes[i % channels] += std::fabs(z[i]) / count;
  }
  for (size_t i = 0; i < z.size(); ++i) {
    const double difference = z[i] - s.mean.values[i % channels];
    s.variance.values[i % channels] += difference * difference / count;
  }
  for (size_t c = 0; c < channels; ++c) {
    // Differences are taken from means that have an error. The error counts twice, for the parts' means and for the overall
    // mean; so does the square of the error.
    const double mean = s.mean.magnitudes[c], variance = s.variance.values[c];
    s.variance.magnitudes[c] = variance + 2 * mean * std::sqrt(variance) + mean * mean * 0x1p-20;
  }
  s.mean.factor = s.variance.factor = sum_factor(count) + 16 * 0x1p-24;
  return s;
}

/// Parameters of a normalisation; with `gamma` empty, only beta.
struct HostNormalisation {
  const Floats &mean, &variance, &gamma, &beta;
  double mean_of(size_t c) const { return gamma.empty() ? 0.0 : static_cast<double>(mean[c]); }
  double inverse_deviation(size_t c) const {
    return gamma.empty() ? 1.0 : 1 / std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(kEpsilon));
  }
  double gamma_of(size_t c) const { return gamma.empty() ? 1.0 : static_cast<double>(gamma[c]); }
};

/// The activation's result before rounding to half, including padding channels.
inline Expected activated(const Floats& z, const HostNormalisation& n, const Halves* residual, size_t channels, size_t padded,
                          Activation activation) {
  const size_t rows = z.size() / channels;
  Expected y(rows * padded);
  for (size_t i = 0; i < z.size(); ++i) {
    const size_t c = i % channels, at = i / channels * padded + c;
    const double scale = n.gamma_of(c) * n.inverse_deviation(c), more = residual ? static_cast<double>((*residual)[at]) : 0.0;
    const double value = (z[i] - n.mean_of(c)) * scale + static_cast<double>(n.beta[c]) + more;
    y.values[at] = activation.tanh ? std::tanh(value) : value > 0 ? value : static_cast<double>(activation.slope) * value;
    // The added 1 covers tanhf, which is within 5 units in the last place (OpenCL 3.0, section 7.4).
    y.magnitudes[at] = (std::fabs(z[i]) + std::fabs(n.mean_of(c))) * std::fabs(scale) + std::fabs(n.beta[c]) + std::fabs(more) +
                       (activation.tanh ? 1 : 0);
  }
  return y;
}

/// Returns the gradient with respect to the activation's input. If `y` is null, there is no activation: returns dy.
inline Expected activation_backward_of(const Floats& dy, const Halves* y, size_t channels, size_t padded,
                                       Activation activation) {
  Expected g(dy.size());
  for (size_t i = 0; i < dy.size(); ++i) {
    double factor = 1;
    if (y) {
      const auto output = static_cast<double>((*y)[i / channels * padded + i % channels]);
      factor = activation.tanh ? 1 - output * output : output > 0 ? 1 : static_cast<double>(activation.slope);
    }
    g.values[i] = dy[i] * factor;
    g.magnitudes[i] = std::fabs(dy[i]);
  }
  return g;
}

/// Returns dbeta and dgamma.
inline std::pair<Expected, Expected> gradient_sums(const Floats& g, const Floats& z, const HostNormalisation& n,
                                                   size_t channels) {
  std::pair<Expected, Expected> sums{Expected(channels), Expected(channels)};
  for (size_t i = 0; i < g.size(); ++i) {
    const size_t c = i % channels;
    sums.first.values[c] += g[i];
    sums.first.magnitudes[c] += std::fabs(g[i]);
    sums.second.values[c] += g[i] * (z[i] - n.mean_of(c)) * n.inverse_deviation(c);
    sums.second.magnitudes[c] += std::fabs(g[i]) * (std::fabs(z[i]) + std::fabs(n.mean_of(c))) * n.inverse_deviation(c);
  }
  sums.first.factor = sums.second.factor = sum_factor(static_cast<double>(g.size() / channels));
  return sums;
}

/// The gradient with respect to z before rounding to halves, including padding channels.
inline Expected batch_norm_backward_of(const Floats& g, const Floats& z, const HostNormalisation& n, const Floats& dgamma,
                                       const Floats& dbeta, size_t channels, size_t padded) {
  const size_t rows = g.size() / channels;
  Expected dz(rows * padded);
  const auto count = static_cast<double>(rows);
  for (size_t i = 0; i < g.size(); ++i) {
    const size_t c = i % channels, at = i / channels * padded + c;
    if (n.gamma.empty()) {
      dz.values[at] = g[i];
      continue;
    }
    const double scale = n.inverse_deviation(c), normalised = (z[i] - n.mean_of(c)) * scale;
    dz.values[at] = n.gamma_of(c) * scale * (g[i] - dbeta[c] / count - normalised * dgamma[c] / count);
    dz.magnitudes[at] = std::fabs(n.gamma_of(c)) * scale *
                        (std::fabs(g[i]) + std::fabs(dbeta[c]) / count +
                         (std::fabs(z[i]) + std::fabs(n.mean_of(c))) * scale * std::fabs(dgamma[c]) / count);
  }
  return dz;
}

// -- pooling

/// Returns the maximum of each window; `taps` receives the position of the maximum in the window.
inline Halves max_pooled(const Convolution& window, const Halves& x, Bytes& taps) {
  const size_t channels = window.channels;
  Halves y(window.rows() * channels);
  taps.assign(y.size(), 255);
  conv::for_each_tap(window, [&](size_t row, size_t tap, size_t from) {
    for (size_t c = 0; c < channels; ++c) {
      const size_t at = row * channels + c;
      if (taps[at] != 255 && !(x[from + c] > y[at])) continue;
      y[at] = x[from + c];
      taps[at] = static_cast<unsigned char>(tap);
    }
  });
  return y;
}

inline Expected max_pooled_backward(const Convolution& window, const Floats& dy, const Bytes& taps, size_t channels) {
  Expected dx(window.inputs() / window.channels * channels);
  conv::for_each_tap(window, [&](size_t row, size_t tap, size_t from) {
    for (size_t c = 0; c < channels; ++c) {
      if (taps[row * window.channels + c] != tap) continue;
      const size_t at = from / window.channels * channels + c;
      dx.values[at] += dy[row * channels + c];
      dx.magnitudes[at] += std::fabs(dy[row * channels + c]);
    }
  });
  return dx;
}

inline Expected average_pooled(const Halves& x, size_t area, size_t padded) {
  Expected y(x.size() / area);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = i / padded / area * padded + i % padded;
    y.values[at] += static_cast<double>(x[i]) / static_cast<double>(area);
    y.magnitudes[at] += std::fabs(static_cast<double>(x[i])) / static_cast<double>(area);
  }
  y.factor = sum_factor(static_cast<double>(area));
  return y;
}

inline Expected average_pooled_backward(const Floats& dy, size_t area, size_t channels) {
  Expected dx(dy.size() * area);
  for (size_t i = 0; i < dx.values.size(); ++i) {
    dx.values[i] = dy[i / channels / area * channels + i % channels] / static_cast<double>(area);
    dx.magnitudes[i] = std::fabs(dx.values[i]);
  }
  return dx;
}

// -- losses and update

/// Returns the losses of the images, and the scaled gradient. expf, logf and log1pf of the device libraries are accurate to 2
/// units in the last place (OpenCL allows 3).
inline std::pair<Expected, Expected> loss_of(Loss kind, const Floats& y, const Floats& wanted, size_t images) {
  std::pair<Expected, Expected> both{Expected(images), Expected(y.size())};
  const size_t outputs = y.size() / images;
  const double share = static_cast<double>(kLossScale) / static_cast<double>(images);
  for (size_t image = 0; image < images; ++image) {
    const float* const from = y.data() + image * outputs;
    double &loss = both.first.values[image], &size = both.first.magnitudes[image];
    double* const gradient = both.second.values.data() + image * outputs;
    double* const magnitude = both.second.magnitudes.data() + image * outputs;
    if (kind == Loss::kSoftmaxCrossEntropy) {
      const double most = *std::max_element(from, from + outputs);
      double sum = 0;
      for (size_t i = 0; i < outputs; ++i) sum += std::exp(from[i] - most);
      const auto label = static_cast<size_t>(wanted[image]);
      loss = std::log(sum) - (from[label] - most);
      size = std::fabs(std::log(sum)) + std::fabs(from[label]) + std::fabs(most) + 1;
      for (size_t i = 0; i < outputs; ++i) {
        // The argument of the exponential is rounded, which adds an error proportional to its size.
        const double probability = std::exp(from[i] - most) / sum, one = i == label ? 1 : 0;
        gradient[i] = (probability - one) * share;
        magnitude[i] = (probability * (1 + std::fabs(from[i]) + std::fabs(most)) + one) * share;
      }
    } else if (kind == Loss::kLogistic) {
      const double small = std::exp(-std::fabs(static_cast<double>(from[0])));
      loss = std::max(static_cast<double>(from[0]), 0.0) + std::log1p(small);
      gradient[0] = (from[0] > 0 ? 1 : small) / (1 + small) * share;
      size = std::fabs(static_cast<double>(from[0])) + 1;
      magnitude[0] = gradient[0] * size;
    } else {
      for (size_t i = 0; i < outputs; ++i) {
        const double target = wanted[image * outputs + i], difference = from[i] - target;
        const double terms = std::fabs(from[i]) + std::fabs(target);
        loss += difference * difference;
        size += terms * terms;
        gradient[i] = 2 * difference * share;
        magnitude[i] = 2 * terms * share;
      }
    }
  }
  both.first.factor = both.second.factor = sum_factor(static_cast<double>(outputs)) + 16 * 0x1p-24;
  return both;
}

/// Returns weights and velocities after a step.
inline std::pair<Expected, Expected> gradient_descent_of(const Floats& weights, const Floats& gradient, const Floats& velocity,
                                                         double share, double decay) {
  std::pair<Expected, Expected> both{Expected(weights.size()), Expected(weights.size())};
  for (size_t i = 0; i < weights.size(); ++i) {
    const double w = weights[i], v = static_cast<double>(kMomentum) * velocity[i] + share * gradient[i] + decay * w;
    both.first.values[i] = w - static_cast<double>(kLearningRate) * v;
    both.second.values[i] = v;
    both.second.magnitudes[i] = std::fabs(velocity[i]) + std::fabs(share * gradient[i]) + std::fabs(decay * w);
    both.first.magnitudes[i] = std::fabs(w) + both.second.magnitudes[i];
  }
  return both;
}

}  // namespace lowered_cnn
