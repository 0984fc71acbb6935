// Kernels of the operations between convolutions. Tensors are rows of channels, one row per pixel of each image. Activations
// and operands of products are halves, with channels padded by zeros; sums of products and gradients are in single precision
// without padding.
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/lowered_cnn/layers.h"

namespace lowered_cnn {

using Half = _Float16;

constexpr float kEpsilon = 1e-5f;         // PyTorch's default
constexpr float kRunningMomentum = 0.1f;  // momentum of the running mean and variance, PyTorch's default
constexpr unsigned kItems = 256;
constexpr unsigned kMostParts = 64;  // maximum number of parts of a sum over rows

/// Rows, and their distribution over a grid: the grid's x is the part of the rows, y the group of channels.
struct Rows {
  unsigned rows, channels, padded;  ///< padded: halves per row
  unsigned shift;                   ///< a workgroup processes 1 << shift adjacent channels
  unsigned part;                    ///< rows per workgroup

  unsigned parts() const { return (rows + part - 1) / part; }
  dim3 grid() const { return dim3(parts(), (padded + (1u << shift) - 1) >> shift); }
};

/// A work-item's part of the rows: every `step`-th row of a channel.
struct Place {
  __device__ explicit Place(const Rows& x)
      : channel((blockIdx.y << x.shift) + (threadIdx.x & ((1u << x.shift) - 1))),
        first(blockIdx.x * x.part + (threadIdx.x >> x.shift)),
        end(min((blockIdx.x + 1) * x.part, x.rows)),
        step(kItems >> x.shift) {}
  unsigned channel, first, end, step;
};

/// The sum over the workgroup's work-items with the same channel, returned in all of them. The order of additions is fixed.
__device__ inline float channel_sum(float value, unsigned shift) {
  __shared__ float values[kItems];
  __syncthreads();
  values[threadIdx.x] = value;
  for (unsigned half = kItems / 2; half >> shift != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  __syncthreads();
  return values[threadIdx.x & ((1u << shift) - 1)];
}

/// Batch normalisation, or only a bias (`beta`) if gamma is null.
struct Normalisation {
  const float *mean, *variance, *gamma, *beta;
  __device__ float mean_of(unsigned channel) const { return gamma ? mean[channel] : 0.0f; }
  __device__ float inverse_deviation(unsigned channel) const {
    return gamma ? 1.0f / sqrtf(variance[channel] + kEpsilon) : 1.0f;
  }
  __device__ float gamma_of(unsigned channel) const { return gamma ? gamma[channel] : 1.0f; }
};

}  // namespace lowered_cnn

// For each part of the rows, sums[part][0][channel] receives the mean, and sums[part][1][channel] the sum of the squared
// differences from this mean.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    batch_norm_parts(const float* z, float* sums, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  const bool inside = place.channel < x.channels;
  float sum = 0.0f;
  for (unsigned row = place.first; inside && row < place.end; row += place.step)
    sum += z[size_t{row} * x.channels + place.channel];
  const float mean = lowered_cnn::channel_sum(sum, x.shift) / static_cast<float>(place.end - blockIdx.x * x.part);
  float squares = 0.0f;
  for (unsigned row = place.first; inside && row < place.end; row += place.step) {
    const float difference = z[size_t{row} * x.channels + place.channel] - mean;
    squares += difference * difference;
  }
  squares = lowered_cnn::channel_sum(squares, x.shift);
  if (!inside || threadIdx.x >> x.shift != 0) return;
  sums[size_t{2 * blockIdx.x} * x.channels + place.channel] = mean;
  sums[size_t{2 * blockIdx.x + 1} * x.channels + place.channel] = squares;
}

// Combines the results of batch_norm_parts() into the mean and biased variance of each channel; also updates the running values
// for inference.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    batch_norm_statistics(const float* sums, float* mean, float* variance, float* running_mean, float* running_variance,
                          lowered_cnn::Rows x, unsigned parts) {
  const unsigned channel = blockIdx.x * blockDim.x + threadIdx.x;
  if (channel >= x.channels) return;
  const auto count = static_cast<float>(x.rows);
  float sum = 0.0f, squares = 0.0f;
  const auto rows_of = [&](unsigned part) { return static_cast<float>(min(x.part, x.rows - part * x.part)); };
  for (unsigned part = 0; part < parts; ++part) sum += rows_of(part) * sums[size_t{2 * part} * x.channels + channel];
  const float m = sum / count;
  for (unsigned part = 0; part < parts; ++part) {
    const float difference = sums[size_t{2 * part} * x.channels + channel] - m;
    squares += sums[size_t{2 * part + 1} * x.channels + channel] + rows_of(part) * difference * difference;
  }
  mean[channel] = m;
  variance[channel] = squares / count;
  const float unbiased = x.rows > 1 ? squares / (count - 1) : 0.0f;
  running_mean[channel] += lowered_cnn::kRunningMomentum * (m - running_mean[channel]);
  running_variance[channel] += lowered_cnn::kRunningMomentum * (unbiased - running_variance[channel]);
}

// y = activation(z after normalisation or bias, plus the residual).
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    activate(const float* __restrict__ z, lowered_cnn::Normalisation n, const _Float16* __restrict__ residual,
             _Float16* __restrict__ y, lowered_cnn::Rows x, lowered_cnn::Activation activation) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.padded) return;
  const bool real = place.channel < x.channels;
  const unsigned channel = real ? place.channel : 0;
  const float mean = n.mean_of(channel), scale = n.gamma_of(channel) * n.inverse_deviation(channel), shift = n.beta[channel];
  for (unsigned row = place.first; row < place.end; row += place.step) {
    const size_t at = size_t{row} * x.padded + place.channel;
    float value = 0.0f;
    if (real) {
      value = (z[size_t{row} * x.channels + channel] - mean) * scale + shift;
      if (residual) value += static_cast<float>(residual[at]);
      value = activation.tanh ? tanhf(value) : value > 0.0f ? value : activation.slope * value;
    }
    y[at] = static_cast<_Float16>(value);
  }
}

// Adds the bias to the last layer's output, in single precision.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    add_bias(const float* __restrict__ z, const float* __restrict__ bias, float* __restrict__ y, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.channels) return;
  for (unsigned row = place.first; row < place.end; row += place.step) {
    const size_t at = size_t{row} * x.channels + place.channel;
    y[at] = z[at] + bias[place.channel];
  }
}

// g, the gradient with respect to the activation's input, and its sums over the parts of the rows: sums[part][0][channel] of g,
// sums[part][1][channel] of g times the normalised z. If `y` is null, there is no activation. `g` and `dy` may be the same
// array.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    activation_backward(const float* dy, const _Float16* y, const float* z, lowered_cnn::Normalisation n, float* g, float* sums,
                        lowered_cnn::Rows x, lowered_cnn::Activation activation) {
  const lowered_cnn::Place place(x);
  const bool inside = place.channel < x.channels;
  const unsigned channel = inside ? place.channel : 0;
  const float mean = n.mean_of(channel), scale = n.inverse_deviation(channel);
  float sum = 0.0f, product = 0.0f;
  for (unsigned row = place.first; inside && row < place.end; row += place.step) {
    const size_t at = size_t{row} * x.channels + channel;
    float value = dy[at];
    if (y) {
      const auto output = static_cast<float>(y[size_t{row} * x.padded + channel]);
      value *= activation.tanh ? 1.0f - output * output : output > 0.0f ? 1.0f : activation.slope;
    }
    g[at] = value;
    sum += value;
    if (n.gamma) product += value * ((z[at] - mean) * scale);
  }
  sum = lowered_cnn::channel_sum(sum, x.shift);
  product = lowered_cnn::channel_sum(product, x.shift);
  if (!inside || threadIdx.x >> x.shift != 0) return;
  sums[size_t{2 * blockIdx.x} * x.channels + channel] = sum;
  sums[size_t{2 * blockIdx.x + 1} * x.channels + channel] = product;
}

// Sums over all parts: dbeta (the gradient with respect to beta or the bias) and, unless it is null, dgamma.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    sum_gradients(const float* sums, float* dbeta, float* dgamma, unsigned channels, unsigned parts) {
  const unsigned channel = blockIdx.x * blockDim.x + threadIdx.x;
  if (channel >= channels) return;
  float sum = 0.0f, product = 0.0f;
  for (unsigned part = 0; part < parts; ++part) {
    sum += sums[size_t{2 * part} * channels + channel];
    product += sums[size_t{2 * part + 1} * channels + channel];
  }
  dbeta[channel] = sum;
  if (dgamma) dgamma[channel] = product;
}

// The gradient with respect to z, the convolution's sums, in halves: gamma / deviation (g - dbeta / n - z^ dgamma / n), or g if
// there is only a bias.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    batch_norm_backward(const float* __restrict__ g, const float* __restrict__ z, lowered_cnn::Normalisation n,
                        const float* __restrict__ dgamma, const float* __restrict__ dbeta, _Float16* __restrict__ dz,
                        lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.padded) return;
  const bool real = place.channel < x.channels;
  const unsigned channel = real ? place.channel : 0;
  const float mean = n.mean_of(channel), scale = n.inverse_deviation(channel), factor = n.gamma_of(channel) * scale;
  const float share = 1.0f / static_cast<float>(x.rows);
  const float of_beta = n.gamma ? dbeta[channel] * share : 0.0f, of_gamma = n.gamma ? dgamma[channel] * share : 0.0f;
  for (unsigned row = place.first; row < place.end; row += place.step) {
    float value = 0.0f;
    if (real) {
      const size_t at = size_t{row} * x.channels + channel;
      value = g[at];
      if (n.gamma) value = factor * (value - of_beta - (z[at] - mean) * scale * of_gamma);
    }
    dz[size_t{row} * x.padded + place.channel] = static_cast<_Float16>(value);
  }
}

// The maximum of each window; `taps` receives the position of the maximum in the window, the first among equals. `x`
// describes the output.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    max_pooling(const _Float16* __restrict__ from, _Float16* __restrict__ y, unsigned char* __restrict__ taps,
                conv::Convolution window, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.padded) return;
  for (unsigned row = place.first; row < place.end; row += place.step) {
    const conv::Convolution::Corner corner = window.corner(row);
    _Float16 most = 0;
    unsigned best = ~0u;
    for (unsigned tap = 0; tap < window.filter_height * window.filter_width; ++tap) {
      const int down = corner.y + static_cast<int>(tap / window.filter_width);
      const int across = corner.x + static_cast<int>(tap % window.filter_width);
      if (!window.inside(down, across)) continue;
      const _Float16 value = from[window.element(corner.image, down, across) + place.channel];
      if (best != ~0u && !(value > most)) continue;
      most = value;
      best = tap;
    }
    y[size_t{row} * x.padded + place.channel] = most;
    taps[size_t{row} * x.padded + place.channel] = static_cast<unsigned char>(best);
  }
}

// Gradient of maximum pooling: a work-item visits the windows that contain a pixel of the input. `x` describes the input.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    max_pooling_backward(const float* __restrict__ dy, const unsigned char* __restrict__ taps, float* __restrict__ dx,
                         conv::Convolution window, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.channels) return;
  const unsigned out_height = window.output_height(), out_width = window.output_width();
  for (unsigned row = place.first; row < place.end; row += place.step) {
    const unsigned pixel = row % (window.height * window.width), image = row / (window.height * window.width);
    float sum = 0.0f;
    for (unsigned tap = 0; tap < window.filter_height * window.filter_width; ++tap) {
      // A negative difference wraps around to a large number, which is rejected below.
      const unsigned down = pixel / window.width + window.pad_top - tap / window.filter_width;
      const unsigned across = pixel % window.width + window.pad_left - tap % window.filter_width;
      if (down % window.stride_y != 0 || across % window.stride_x != 0) continue;
      if (down / window.stride_y >= out_height || across / window.stride_x >= out_width) continue;
      const size_t at = (size_t{image} * out_height + down / window.stride_y) * out_width + across / window.stride_x;
      if (taps[at * x.padded + place.channel] == tap) sum += dy[at * x.channels + place.channel];
    }
    dx[size_t{row} * x.channels + place.channel] = sum;
  }
}

// Average pooling: the mean of an image's `area` rows, one per pixel. `x` describes the output.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    average_pooling(const _Float16* __restrict__ from, _Float16* __restrict__ y, unsigned area, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.padded) return;
  for (unsigned row = place.first; row < place.end; row += place.step) {
    float sum = 0.0f;
    for (unsigned i = 0; i < area; ++i) sum += static_cast<float>(from[(size_t{row} * area + i) * x.padded + place.channel]);
    y[size_t{row} * x.padded + place.channel] = static_cast<_Float16>(sum / static_cast<float>(area));
  }
}

// Gradient of average pooling. `x` describes the input.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    average_pooling_backward(const float* __restrict__ dy, float* __restrict__ dx, unsigned area, lowered_cnn::Rows x) {
  const lowered_cnn::Place place(x);
  if (place.channel >= x.channels) return;
  for (unsigned row = place.first; row < place.end; row += place.step) {
    dx[size_t{row} * x.channels + place.channel] =
        dy[size_t{row / area} * x.channels + place.channel] / static_cast<float>(area);
  }
}
