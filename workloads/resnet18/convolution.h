// Kernels of the convolutions: im2col + matrix product, and direct.
//
// Activations are stored as [channel][image][row][column]. An activation is thus a matrix with one row per channel and one
// column per pixel of the batch, and a convolution over the whole batch is one matrix product without transposition:
//
//   forward              z  = W  col(x)         W: [outputs][inputs][kernel row][kernel column], as a matrix [outputs][taps]
//   backward by data     dx = col^-1(W^T dz)    col^-1 adds the contributions to each pixel (col2im)
//   backward by weights  dW = dz col(x)^T
//
// (K. Chellapilla, S. Puri, P. Simard: High performance convolutional neural networks for document processing, 2006.)
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/common/gemm.h"

namespace resnet18 {

/// One convolution: square kernel and stride, `padding` zeros around each image.
struct Shape {
  unsigned inputs, outputs, kernel, stride, padding;
  unsigned images, height, width;  // number of input images, and their size
  unsigned out_height, out_width;

  __host__ __device__ unsigned taps() const { return inputs * kernel * kernel; }
  __host__ __device__ unsigned in_pixels() const { return images * height * width; }
  __host__ __device__ unsigned out_pixels() const { return images * out_height * out_width; }
};

/// col(x), computed from x on the fly, as an operand of gemm::multiply_lds: one line per tap, along the pixels of the output.
struct Columns {
  const float* x;
  Shape shape;
  __device__ void four(unsigned tap, unsigned pixel, float (&values)[4]) const {
    const unsigned channel = tap / (shape.kernel * shape.kernel), place = tap % (shape.kernel * shape.kernel);
    const unsigned tap_y = place / shape.kernel - shape.padding, tap_x = place % shape.kernel - shape.padding;
    unsigned column = pixel % shape.out_width, row = pixel / shape.out_width % shape.out_height;
    unsigned image = pixel / shape.out_width / shape.out_height;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      // Positions above or to the left wrap around to large numbers.
      const unsigned y = row * shape.stride + tap_y, x_at = column * shape.stride + tap_x;
      const bool inside = tap < shape.taps() && image < shape.images && y < shape.height && x_at < shape.width;
      values[i] = inside ? x[((channel * shape.images + image) * shape.height + y) * shape.width + x_at] : 0.0f;
      if (++column < shape.out_width) continue;
      column = 0;
      if (++row < shape.out_height) continue;
      row = 0;
      ++image;
    }
  }
};

constexpr unsigned kDirectTile = 8;      // rows and columns of pixels that a wavefront computes
constexpr unsigned kDirectOutputs = 8;   // channels that a wavefront computes
constexpr unsigned kDirectChannels = 8;  // input channels that are in LDS at a time

/// Direct convolution, forward and backward with respect to the data. A wavefront computes 8 x 8 pixels of 8 channels; the four
/// wavefronts of a workgroup share the pixels that they read, through LDS (Lds) or L1. Weights are the same for all lanes and
/// are read by scalar loads, as in MIOpen's direct kernels. Each blockIdx.z sums `part_depth` channels; with more than one
/// part, `to` receives the results of all parts, one after the other.
template <unsigned Kernel, unsigned Stride, bool Backward, bool Lds>
__device__ inline void direct(const Shape& shape, const float* __restrict__ from, const float* __restrict__ weights,
                              float* __restrict__ to, unsigned part_depth, bool accumulate) {
  constexpr unsigned kTaps = Kernel * Kernel, kUnrolled = Kernel <= 3 ? Kernel : 1;  // kUnrolled: unrolled rows of the kernel
  constexpr unsigned kPatch = Backward ? (kDirectTile + Kernel - 2) / Stride + 2 : (kDirectTile - 1) * Stride + Kernel;
  __shared__ float patch[Lds ? kDirectChannels : 1][kPatch][kPatch];

  const unsigned to_channels = Backward ? shape.inputs : shape.outputs, from_channels = Backward ? shape.outputs : shape.inputs;
  const int to_height = Backward ? shape.height : shape.out_height, to_width = Backward ? shape.width : shape.out_width;
  const int from_height = Backward ? shape.out_height : shape.height, from_width = Backward ? shape.out_width : shape.width;
  const int padding = shape.padding;

  const unsigned tiles_x = (to_width + kDirectTile - 1) / kDirectTile, tiles_y = (to_height + kDirectTile - 1) / kDirectTile;
  const int x0 = blockIdx.x % tiles_x * kDirectTile, y0 = blockIdx.x / tiles_x % tiles_y * kDirectTile;
  const unsigned image = blockIdx.x / tiles_x / tiles_y;
  const unsigned lane = threadIdx.x % 64, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  const int local_x = lane % kDirectTile, local_y = lane / kDirectTile;
  const unsigned channel0 = (blockIdx.y * 4 + wave) * kDirectOutputs;
  // First row or column of `from` that the tile needs: division rounds down, because its operand is never negative.
  const auto first_of = [padding](int at) {
    if (!Backward) return at * static_cast<int>(Stride) - padding;
    return (at + padding - static_cast<int>(Kernel) + 1 + static_cast<int>(Kernel * Stride)) / static_cast<int>(Stride) -
           static_cast<int>(Kernel);
  };
  const int patch_x = first_of(x0), patch_y = first_of(y0);
  const auto input = [&](unsigned channel, int y, int x) {
    const float* const plane = from + static_cast<size_t>((channel * shape.images + image) * (from_height * from_width));
    const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(from_height) &&
                        static_cast<unsigned>(x) < static_cast<unsigned>(from_width);
    return inside ? plane[y * from_width + x] : 0.0f;
  };

  float sum[kDirectOutputs] = {};
  const unsigned first = blockIdx.z * part_depth, last = min(first + part_depth, from_channels);
  for (unsigned chunk = first; chunk < last; chunk += kDirectChannels) {
    const unsigned channels = min(kDirectChannels, last - chunk);
    if constexpr (Lds) {
      __syncthreads();
      for (unsigned i = threadIdx.x; i < channels * kPatch * kPatch; i += 256) {
        const unsigned x = i % kPatch, y = i / kPatch % kPatch, channel = i / kPatch / kPatch;
        patch[channel][y][x] = input(chunk + channel, patch_y + static_cast<int>(y), patch_x + static_cast<int>(x));
      }
      __syncthreads();
    }
    if (channel0 >= to_channels) continue;
    for (unsigned channel = 0; channel < channels; ++channel) {
      // Offsets are 32-bit products, so that scalar instructions compute them.
      const float* row[kDirectOutputs];
#pragma unroll
      for (unsigned o = 0; o < kDirectOutputs; ++o) {
        const unsigned to_channel = min(channel0 + o, to_channels - 1), from_channel = chunk + channel;
        row[o] =
            weights + (Backward ? from_channel * shape.inputs + to_channel : to_channel * shape.inputs + from_channel) * kTaps;
      }
#pragma unroll kUnrolled
      for (unsigned i = 0; i < Kernel; ++i) {
#pragma unroll
        for (unsigned j = 0; j < Kernel; ++j) {
          int y, x;
          bool met = true;  // the stride reaches this pixel at this tap
          if constexpr (Backward) {
            const int ty = y0 + local_y + padding - static_cast<int>(i), tx = x0 + local_x + padding - static_cast<int>(j);
            met = Stride == 1 || (ty % static_cast<int>(Stride) == 0 && tx % static_cast<int>(Stride) == 0);
            y = (ty + static_cast<int>(Kernel * Stride)) / static_cast<int>(Stride) - static_cast<int>(Kernel);
            x = (tx + static_cast<int>(Kernel * Stride)) / static_cast<int>(Stride) - static_cast<int>(Kernel);
          } else {
            y = (y0 + local_y) * static_cast<int>(Stride) - padding + static_cast<int>(i);
            x = (x0 + local_x) * static_cast<int>(Stride) - padding + static_cast<int>(j);
          }
          float value;
          if constexpr (Lds) {
            value = patch[channel][y - patch_y][x - patch_x];
          } else {
            value = input(chunk + channel, y, x);
          }
          if (!met) value = 0.0f;
#pragma unroll
          for (unsigned o = 0; o < kDirectOutputs; ++o) sum[o] += row[o][i * Kernel + j] * value;
        }
      }
    }
  }
  const int x = x0 + local_x, y = y0 + local_y;
  if (x >= to_width || y >= to_height) return;
#pragma unroll
  for (unsigned o = 0; o < kDirectOutputs; ++o) {
    if (channel0 + o >= to_channels) continue;
    float* const at =
        to +
        (((static_cast<size_t>(blockIdx.z) * to_channels + channel0 + o) * shape.images + image) * to_height + y) * to_width +
        x;
    *at = accumulate ? *at + sum[o] : sum[o];
  }
}

}  // namespace resnet18

// col[tap][column] for the images from first_image on: a work-item writes all taps of a pixel of a channel.
extern "C" __global__ void __launch_bounds__(256)
    convolution_im2col(resnet18::Shape shape, const float* x, float* columns, unsigned first_image, unsigned column_count) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (column >= column_count) return;
  const unsigned out_x = column % shape.out_width, line = column / shape.out_width;
  const unsigned out_y = line % shape.out_height, image = first_image + line / shape.out_height;
  const float* const plane = x + (static_cast<size_t>(channel) * shape.images + image) * shape.height * shape.width;
  float* to = columns + static_cast<size_t>(channel) * shape.kernel * shape.kernel * column_count + column;
  for (unsigned i = 0; i < shape.kernel; ++i) {
    const unsigned y = out_y * shape.stride + i - shape.padding;
    for (unsigned j = 0; j < shape.kernel; ++j, to += column_count) {
      const unsigned x_at = out_x * shape.stride + j - shape.padding;
      *to = y < shape.height && x_at < shape.width ? plane[y * shape.width + x_at] : 0.0f;
    }
  }
}

// The counterpart of convolution_im2col(): one work-item per pixel of the input adds up the elements of the column matrix that
// convolution_im2col() would read from the pixel.
extern "C" __global__ void __launch_bounds__(256)
    convolution_col2im(resnet18::Shape shape, const float* columns, float* x, unsigned first_image, unsigned image_count,
                       bool accumulate) {
  const unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (pixel >= image_count * shape.height * shape.width) return;
  const unsigned in_x = pixel % shape.width, line = pixel / shape.width;
  const unsigned in_y = line % shape.height, image = line / shape.height;
  const size_t column_count = static_cast<size_t>(image_count) * shape.out_height * shape.out_width;
  const float* from = columns + static_cast<size_t>(channel) * shape.kernel * shape.kernel * column_count;
  float sum = 0.0f;
  for (unsigned i = 0; i < shape.kernel; ++i) {
    const unsigned y = in_y + shape.padding - i;
    for (unsigned j = 0; j < shape.kernel; ++j, from += column_count) {
      const unsigned x_at = in_x + shape.padding - j;
      if (y % shape.stride != 0 || x_at % shape.stride != 0) continue;
      if (y / shape.stride >= shape.out_height || x_at / shape.stride >= shape.out_width) continue;
      sum += from[(image * shape.out_height + y / shape.stride) * shape.out_width + x_at / shape.stride];
    }
  }
  float* const at = x + (static_cast<size_t>(channel) * shape.images + first_image) * shape.height * shape.width + pixel;
  *at = accumulate ? *at + sum : sum;
}

GEMM_KERNELS(convolution_gemm_forward, float, float, false, false)
GEMM_KERNELS(convolution_gemm_backward_data, float, float, true, false)
GEMM_KERNELS(convolution_gemm_backward_weights, float, float, false, true)

GEMM_KERNELS(fully_connected_gemm_backward_data, float, float, true, false)
GEMM_KERNELS(fully_connected_gemm_backward_weights, float, float, false, true)

extern "C" __global__ void __launch_bounds__(256) product_sum_parts(gemm::PartsArguments<float> x) { gemm::sum_parts(x); }
GEMM_TRANSPOSE_KERNEL(product_transpose, float, float)
static const gemm::Helpers<float, float> product_helpers{product_sum_parts, product_transpose};

// Gradient with respect to weights without a column matrix: the product's second operand is read from the activation.
extern "C" __global__ void __launch_bounds__(256)
    convolution_direct_backward_weights(gemm::Arguments<float, float> x, resnet18::Shape shape) {
  gemm::multiply_lds<true, true>(x, gemm::Stored<float>(x.a, x.lda, x.m, x.k), resnet18::Columns{x.b, shape});
}

#define DIRECT_KERNEL(name, kernel, stride, backward, lds)                                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                                                          \
      name(resnet18::Shape shape, const float* __restrict__ from, const float* __restrict__ weights, float* __restrict__ to, \
           unsigned part_depth, bool accumulate) {                                                                           \
    resnet18::direct<kernel, stride, backward, lds>(shape, from, weights, to, part_depth, accumulate);                       \
  }
#define DIRECT_KERNELS(name, kernel, stride, backward)      \
  DIRECT_KERNEL(name##_lds, kernel, stride, backward, true) \
  DIRECT_KERNEL(name##_registers, kernel, stride, backward, false)

DIRECT_KERNELS(convolution_direct_forward_7x7_stride_2, 7, 2, false)
DIRECT_KERNELS(convolution_direct_forward_3x3, 3, 1, false)
DIRECT_KERNELS(convolution_direct_forward_3x3_stride_2, 3, 2, false)
DIRECT_KERNELS(convolution_direct_forward_1x1_stride_2, 1, 2, false)
DIRECT_KERNELS(convolution_direct_backward_data_3x3, 3, 1, true)
DIRECT_KERNELS(convolution_direct_backward_data_3x3_stride_2, 3, 2, true)
DIRECT_KERNELS(convolution_direct_backward_data_1x1_stride_2, 1, 2, true)
