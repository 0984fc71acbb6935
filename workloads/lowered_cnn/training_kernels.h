// Kernels used only in training: losses, transposed operands for the products of the backward pass, and the update.
//
// Training is in mixed precision (P. Micikevicius et al., Mixed precision training, 2018): products of halves, a copy of the
// parameters in single precision that is updated, and a loss that is scaled so that gradients in halves do not vanish.
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/lowered_cnn/kernels.h"

namespace lowered_cnn {

constexpr float kLossScale = 256;
constexpr float kLearningRate = 0.1f;  // learning rate, momentum, weight decay: as in K. He et al., 2016, section 3.4
constexpr float kMomentum = 0.9f;
constexpr float kWeightDecay = 1e-4f;

/// The sum over the workgroup's work-items, returned in all of them.
__device__ inline float workgroup_sum(float value) { return channel_sum(value, 0); }

typedef _Float16 FourHalves __attribute__((ext_vector_type(4)));
constexpr unsigned kTurned = 64;

/// Transposes a tile of 64 lines of 64 halves in LDS: load(line, at) returns four elements of a line; store(at, line, four)
/// receives the elements at the same position of four successive lines.
template <class Load, class Store>
__device__ inline void turn(Load load, Store store) {
  constexpr unsigned kFours = kTurned / 4;
  __shared__ __attribute__((aligned(16))) _Float16 tile[kTurned][kTurned + 4];
#pragma unroll
  for (unsigned i = 0; i < kTurned * kFours / kItems; ++i) {
    const unsigned line = (threadIdx.x + kItems * i) / kFours, at = threadIdx.x % kFours * 4;
    const FourHalves values = load(line, at);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) tile[at + j][line] = values[j];
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kTurned * kFours / kItems; ++i) {
    const unsigned at = (threadIdx.x + kItems * i) / kFours, line = threadIdx.x % kFours * 4;
    store(at, line, *reinterpret_cast<const FourHalves*>(&tile[at][line]));
  }
}

}  // namespace lowered_cnn

// Writes the transposed workspace of a convolution: one line for each column, with the workspace's rows in order, then zeros up
// to `end`. The grid is (tiles of rows, tiles of columns).
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    lower_turned(conv::Convolution c, const _Float16* __restrict__ x, _Float16* __restrict__ turned, unsigned pitch,
                 unsigned end) {
  using lowered_cnn::FourHalves;
  const unsigned first_row = blockIdx.x * lowered_cnn::kTurned, first_column = blockIdx.y * lowered_cnn::kTurned;
  const auto load = [&](unsigned line, unsigned at) -> FourHalves {
    const unsigned row = first_row + line, column = first_column + at;
    if (row >= c.rows() || column >= c.columns()) return FourHalves{};
    const conv::Convolution::Corner corner = c.corner(row);
    const unsigned tap = column / c.channels;
    const int down = corner.y + static_cast<int>(tap / c.filter_width),
              across = corner.x + static_cast<int>(tap % c.filter_width);
    if (!c.inside(down, across)) return FourHalves{};
    return *reinterpret_cast<const FourHalves*>(x + c.element(corner.image, down, across) + column % c.channels);
  };
  lowered_cnn::turn(load, [&](unsigned at, unsigned line, FourHalves values) {
    const unsigned column = first_column + at, row = first_row + line;
    if (column < c.columns() && row < end) *reinterpret_cast<FourHalves*>(turned + size_t{column} * pitch + row) = values;
  });
}

// Writes the weights for the gradient with respect to the data: one line per channel of x, with taps in reverse order and
// `lines` filters in place of channels. The grid is (tiles of filters, tiles of channels, taps).
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    turn_weights(conv::Convolution c, const _Float16* __restrict__ weights, unsigned pitch, _Float16* __restrict__ turned,
                 unsigned lines, unsigned turned_pitch) {
  using lowered_cnn::FourHalves;
  const unsigned tap = blockIdx.z, first_filter = blockIdx.x * lowered_cnn::kTurned,
                 first_channel = blockIdx.y * lowered_cnn::kTurned;
  const auto load = [&](unsigned line, unsigned at) -> FourHalves {
    const unsigned filter = first_filter + line, channel = first_channel + at;
    if (filter >= c.filters || channel >= c.channels) return FourHalves{};
    return *reinterpret_cast<const FourHalves*>(weights + size_t{filter} * pitch + tap * c.channels + channel);
  };
  const unsigned place = (c.filter_height * c.filter_width - 1 - tap) * lines;
  lowered_cnn::turn(load, [&](unsigned at, unsigned line, FourHalves values) {
    const unsigned channel = first_channel + at, filter = first_filter + line;
    if (channel >= c.channels || filter >= lines) return;
    *reinterpret_cast<FourHalves*>(turned + size_t{channel} * turned_pitch + place + filter) = values;
  });
}

// Cross-entropy of softmax(y) for each image, and the scaled gradient of the mean over the images with respect to y. One
// workgroup per image.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    softmax_cross_entropy(const float* y, const float* labels, float* loss, float* dy, unsigned classes, unsigned images) {
  const unsigned image = blockIdx.x;
  const float* const from = y + size_t{image} * classes;
  __shared__ float largest[lowered_cnn::kItems];
  float most = from[0];
  for (unsigned i = threadIdx.x; i < classes; i += lowered_cnn::kItems) most = fmaxf(most, from[i]);
  largest[threadIdx.x] = most;
  for (unsigned half = lowered_cnn::kItems / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
  }
  __syncthreads();
  most = largest[0];
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < classes; i += lowered_cnn::kItems) sum += expf(from[i] - most);
  sum = lowered_cnn::workgroup_sum(sum);
  const auto label = static_cast<unsigned>(labels[image]);
  for (unsigned i = threadIdx.x; i < classes; i += lowered_cnn::kItems) {
    const float probability = expf(from[i] - most) / sum;
    dy[size_t{image} * classes + i] =
        (probability - (i == label ? 1.0f : 0.0f)) / static_cast<float>(images) * lowered_cnn::kLossScale;
  }
  if (threadIdx.x == 0) loss[image] = logf(sum) - (from[label] - most);
}

// The loss of a discriminator for generated images only, -log(1 - sigmoid(y)), and the scaled gradient of the mean over the
// images with respect to y (I. Goodfellow et al., Generative adversarial nets, 2014, equation 1). The generator ascends the
// loss.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    logistic_loss(const float* y, float* loss, float* dy, unsigned images) {
  const unsigned image = blockIdx.x * blockDim.x + threadIdx.x;
  if (image >= images) return;
  const float small = expf(-fabsf(y[image]));
  loss[image] = fmaxf(y[image], 0.0f) + log1pf(small);
  const float probability = (y[image] > 0.0f ? 1.0f : small) / (1.0f + small);
  dy[image] = probability / static_cast<float>(images) * lowered_cnn::kLossScale;
}

// The sum of the squared differences from `wanted` over an image's outputs, and the scaled gradient of the mean over the images
// with respect to y. One workgroup per image.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    squared_error(const float* y, const float* wanted, float* loss, float* dy, unsigned outputs, unsigned images) {
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < outputs; i += lowered_cnn::kItems) {
    const size_t at = size_t{blockIdx.x} * outputs + i;
    const float difference = y[at] - wanted[at];
    sum += difference * difference;
    dy[at] = 2.0f * difference / static_cast<float>(images) * lowered_cnn::kLossScale;
  }
  sum = lowered_cnn::workgroup_sum(sum);
  if (threadIdx.x == 0) loss[blockIdx.x] = sum;
}

// Gradient descent with momentum and weight decay. `share` removes the loss's scale from the gradient, and is negative to
// ascend the loss. Unless `halves` is null, it receives a copy of the weights, in lines of `columns` elements that begin
// `pitch` elements apart.
extern "C" __global__ void __launch_bounds__(lowered_cnn::kItems)
    gradient_descent(float* weights, const float* gradient, float* velocity, _Float16* halves, unsigned count, unsigned columns,
                     unsigned pitch, float share, float decay) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float weight = weights[i];
  const float v = lowered_cnn::kMomentum * velocity[i] + (share * gradient[i] + decay * weight);
  const float next = weight - lowered_cnn::kLearningRate * v;
  velocity[i] = v;
  weights[i] = next;
  if (halves) halves[size_t{i / columns} * pitch + i % columns] = static_cast<_Float16>(next);
}
