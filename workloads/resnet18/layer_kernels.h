// Kernels of the layers that are not convolutions. Activations are [channel][image][row][column] (convolution.h).
#pragma once

#include <hip/hip_runtime.h>

namespace resnet18 {

constexpr float kEpsilon = 1e-5f;         // PyTorch's default
constexpr float kRunningMomentum = 0.1f;  // momentum of the running mean and variance, PyTorch's default
constexpr float kLearningRate = 0.1f;     // learning rate, momentum and weight decay: He et al., section 3.4
constexpr float kMomentum = 0.9f;
constexpr float kWeightDecay = 1e-4f;
constexpr unsigned kPoolKernel = 3, kPoolStride = 2, kPoolPadding = 1;
constexpr unsigned kNoTap = 255;
constexpr unsigned kPixels = 4;  // elements of one channel per work-item in elementwise layers

/// The sum over the workgroup's 256 work-items, returned in all of them. The order of additions is fixed.
__device__ inline float workgroup_sum(float value) {
  __shared__ float waves[4];
  for (unsigned distance = 32; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  __syncthreads();
  if (threadIdx.x % 64 == 0) waves[threadIdx.x / 64] = value;
  __syncthreads();
  return (waves[0] + waves[1]) + (waves[2] + waves[3]);
}

}  // namespace resnet18

// Mean and biased variance of each channel (blockIdx.x) over `count` pixels; also updates the running values for inference.
extern "C" __global__ void __launch_bounds__(256)
    batch_norm_statistics(const float* x, float* mean, float* variance, float* running_mean, float* running_variance,
                          unsigned count) {
  const unsigned channel = blockIdx.x;
  const float* const pixels = x + static_cast<size_t>(channel) * count;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < count; i += 256) sum += pixels[i];
  const float m = resnet18::workgroup_sum(sum) / static_cast<float>(count);
  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < count; i += 256) squares += (pixels[i] - m) * (pixels[i] - m);
  squares = resnet18::workgroup_sum(squares);
  if (threadIdx.x != 0) return;
  mean[channel] = m;
  variance[channel] = squares / static_cast<float>(count);
  const float unbiased = count > 1 ? squares / static_cast<float>(count - 1) : 0.0f;
  running_mean[channel] += resnet18::kRunningMomentum * (m - running_mean[channel]);
  running_variance[channel] += resnet18::kRunningMomentum * (unbiased - running_variance[channel]);
}

// y = gamma (x - mean) / sqrt(variance + epsilon) + beta, plus the residual unless it is null, through ReLU if `relu`.
// blockIdx.y is the channel.
extern "C" __global__ void __launch_bounds__(256)
    batch_norm_relu(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ variance,
                    const float* __restrict__ gamma, const float* __restrict__ beta, const float* __restrict__ residual,
                    float* __restrict__ y, unsigned count, bool relu) {
  const unsigned channel = blockIdx.y;
  const float scale = gamma[channel] / sqrtf(variance[channel] + resnet18::kEpsilon), m = mean[channel], shift = beta[channel];
#pragma unroll
  for (unsigned i = 0; i < resnet18::kPixels; ++i) {
    const unsigned pixel = (blockIdx.x * resnet18::kPixels + i) * 256 + threadIdx.x;
    if (pixel >= count) continue;
    const size_t at = static_cast<size_t>(channel) * count + pixel;
    float value = (x[at] - m) * scale + shift;
    if (residual) value += residual[at];
    y[at] = relu ? fmaxf(value, 0.0f) : value;
  }
}

// The gradient with respect to ReLU's input, g = dy where y > 0 (all of dy if there is no ReLU), and its sums: dbeta = sum g,
// dgamma = sum g x^. One workgroup per channel. `g` may be `dy`.
extern "C" __global__ void __launch_bounds__(256)
    batch_norm_relu_backward_sums(const float* dy, const float* y, const float* x, const float* mean, const float* variance,
                                  float* g, float* dgamma, float* dbeta, unsigned count, bool relu) {
  const unsigned channel = blockIdx.x;
  const size_t first = static_cast<size_t>(channel) * count;
  const float m = mean[channel], scale = 1.0f / sqrtf(variance[channel] + resnet18::kEpsilon);
  float sum = 0.0f, product = 0.0f;
  for (unsigned i = threadIdx.x; i < count; i += 256) {
    const float gradient = !relu || y[first + i] > 0.0f ? dy[first + i] : 0.0f;
    g[first + i] = gradient;
    sum += gradient;
    product += gradient * ((x[first + i] - m) * scale);
  }
  sum = resnet18::workgroup_sum(sum);
  product = resnet18::workgroup_sum(product);
  if (threadIdx.x != 0) return;
  dbeta[channel] = sum;
  dgamma[channel] = product;
}

// dx = gamma / sqrt(variance + epsilon) (g - dbeta / n - x^ dgamma / n).
extern "C" __global__ void __launch_bounds__(256)
    batch_norm_backward_data(const float* __restrict__ g, const float* __restrict__ x, const float* __restrict__ mean,
                             const float* __restrict__ variance, const float* __restrict__ gamma,
                             const float* __restrict__ dgamma, const float* __restrict__ dbeta, float* __restrict__ dx,
                             unsigned count) {
  const unsigned channel = blockIdx.y;
  const float scale = 1.0f / sqrtf(variance[channel] + resnet18::kEpsilon), share = 1.0f / static_cast<float>(count);
  const float m = mean[channel], factor = gamma[channel] * scale, of_beta = dbeta[channel] * share,
              of_gamma = dgamma[channel] * share;
#pragma unroll
  for (unsigned i = 0; i < resnet18::kPixels; ++i) {
    const unsigned pixel = (blockIdx.x * resnet18::kPixels + i) * 256 + threadIdx.x;
    if (pixel >= count) continue;
    const size_t at = static_cast<size_t>(channel) * count + pixel;
    dx[at] = factor * (g[at] - of_beta - (x[at] - m) * scale * of_gamma);
  }
}

// Maximum over 3 x 3 windows with stride 2 and padding 1; `tap` receives the position of the maximum in the window (0 to 8),
// the first among equals. blockIdx.y is the plane, a channel of an image.
extern "C" __global__ void __launch_bounds__(256) max_pooling(const float* x, float* y, unsigned char* tap, unsigned height,
                                                              unsigned width, unsigned out_height, unsigned out_width) {
  const unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y;
  if (pixel >= out_height * out_width) return;
  const float* const from = x + static_cast<size_t>(plane) * height * width;
  const unsigned y0 = pixel / out_width * resnet18::kPoolStride, x0 = pixel % out_width * resnet18::kPoolStride;
  float most = 0.0f;
  unsigned best = resnet18::kNoTap;
  for (unsigned i = 0; i < resnet18::kPoolKernel; ++i) {
    for (unsigned j = 0; j < resnet18::kPoolKernel; ++j) {
      const unsigned row = y0 + i - resnet18::kPoolPadding, column = x0 + j - resnet18::kPoolPadding;
      if (row >= height || column >= width) continue;
      const float value = from[row * width + column];
      if (best != resnet18::kNoTap && value <= most) continue;
      most = value;
      best = i * resnet18::kPoolKernel + j;
    }
  }
  const size_t at = static_cast<size_t>(plane) * out_height * out_width + pixel;
  y[at] = most;
  tap[at] = static_cast<unsigned char>(best);
}

// Gradient of maximum pooling: one work-item per pixel of the input visits the up to four windows that contain the pixel.
extern "C" __global__ void __launch_bounds__(256)
    max_pooling_backward(const float* dy, const unsigned char* tap, float* dx, unsigned height, unsigned width,
                         unsigned out_height, unsigned out_width) {
  const unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y;
  if (pixel >= height * width) return;
  const size_t first = static_cast<size_t>(plane) * out_height * out_width;
  const unsigned row = pixel / width + resnet18::kPoolPadding, column = pixel % width + resnet18::kPoolPadding;
  float sum = 0.0f;
  for (unsigned i = 0; i < resnet18::kPoolKernel; ++i) {
    for (unsigned j = 0; j < resnet18::kPoolKernel; ++j) {
      // A negative difference wraps around to a large number, which is rejected below.
      const unsigned y = row - i, x = column - j;
      if (y % resnet18::kPoolStride != 0 || x % resnet18::kPoolStride != 0) continue;
      if (y / resnet18::kPoolStride >= out_height || x / resnet18::kPoolStride >= out_width) continue;
      const size_t at = first + y / resnet18::kPoolStride * out_width + x / resnet18::kPoolStride;
      if (tap[at] == i * resnet18::kPoolKernel + j) sum += dy[at];
    }
  }
  dx[static_cast<size_t>(plane) * height * width + pixel] = sum;
}

// The mean of each plane, computed by a wavefront.
extern "C" __global__ void __launch_bounds__(256) average_pooling(const float* x, float* y, unsigned planes, unsigned count) {
  const unsigned plane = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64;
  if (plane >= planes) return;
  float sum = 0.0f;
  for (unsigned i = lane; i < count; i += 64) sum += x[static_cast<size_t>(plane) * count + i];
  for (unsigned distance = 32; distance > 0; distance /= 2) sum += __shfl_xor(sum, distance);
  if (lane == 0) y[plane] = sum / static_cast<float>(count);
}

extern "C" __global__ void __launch_bounds__(256)
    average_pooling_backward(const float* dy, float* dx, unsigned planes, unsigned count) {
  const unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= planes * count) return;
  dx[pixel] = dy[pixel / count] / static_cast<float>(count);
}

// y[row][image] = sum over k of weights[row][k] x[k][image] + bias[row]: one wavefront per row and four images.
extern "C" __global__ void __launch_bounds__(256) fully_connected(const float* weights, const float* bias, const float* x,
                                                                  float* y, unsigned rows, unsigned depth, unsigned images) {
  const unsigned row = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64, image0 = blockIdx.y * 4;
  if (row >= rows) return;
  float sum[4] = {};
  for (unsigned k = lane; k < depth; k += 64) {
    const float weight = weights[static_cast<size_t>(row) * depth + k];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if (image0 + i < images) sum[i] += weight * x[static_cast<size_t>(k) * images + image0 + i];
    }
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned distance = 32; distance > 0; distance /= 2) sum[i] += __shfl_xor(sum[i], distance);
    if (lane == 0 && image0 + i < images) y[static_cast<size_t>(row) * images + image0 + i] = sum[i] + bias[row];
  }
}

// dbias[row] = sum of dy[row][image].
extern "C" __global__ void __launch_bounds__(256)
    fully_connected_backward_bias(const float* dy, float* dbias, unsigned rows, unsigned images) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (unsigned image = 0; image < images; ++image) sum += dy[static_cast<size_t>(row) * images + image];
  dbias[row] = sum;
}

// Cross-entropy of softmax(y) for each image, and the gradient of the mean over the batch with respect to y. One workgroup per
// image.
extern "C" __global__ void __launch_bounds__(256)
    softmax_cross_entropy(const float* y, const unsigned* labels, float* loss, float* dy, unsigned classes, unsigned images) {
  __shared__ float largest[4];
  const unsigned image = blockIdx.x;
  float most = y[image];
  for (unsigned i = threadIdx.x; i < classes; i += 256) most = fmaxf(most, y[static_cast<size_t>(i) * images + image]);
  for (unsigned distance = 32; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor(most, distance));
  if (threadIdx.x % 64 == 0) largest[threadIdx.x / 64] = most;
  __syncthreads();
  most = fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3]));
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < classes; i += 256) sum += expf(y[static_cast<size_t>(i) * images + image] - most);
  sum = resnet18::workgroup_sum(sum);
  const unsigned label = labels[image];
  for (unsigned i = threadIdx.x; i < classes; i += 256) {
    const size_t at = static_cast<size_t>(i) * images + image;
    const float probability = expf(y[at] - most) / sum;
    dy[at] = (probability - (i == label ? 1.0f : 0.0f)) / static_cast<float>(images);
  }
  if (threadIdx.x == 0) loss[image] = logf(sum) - (y[static_cast<size_t>(label) * images + image] - most);
}

// Gradient descent with momentum and weight decay. `pruned`: zero weights stay zero (S. Han et al., Learning both weights and
// connections for efficient neural networks, 2015).
extern "C" __global__ void __launch_bounds__(256)
    gradient_descent(float* weights, const float* gradient, float* velocity, unsigned count, float decay, bool pruned) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float weight = weights[i];
  if (pruned && weight == 0.0f) return;
  const float v = resnet18::kMomentum * velocity[i] + (gradient[i] + decay * weight);
  velocity[i] = v;
  weights[i] = weight - resnet18::kLearningRate * v;
}
