// Direct convolution on vector ALUs: f16 operands, sums in f32.
#pragma once

#include "workloads/conv2d/convolution.h"

namespace conv {

constexpr unsigned kDirectItems = 256, kDirectPixels = 4, kDirectFilters = 64;
// Adjacent output positions of a workgroup: four wavefronts with kDirectPixels each.
constexpr unsigned kDirectWidth = kDirectItems / kDirectFilters * kDirectPixels;

/// A lane computes one filter at kDirectPixels adjacent output positions; all lanes of a wavefront read the same elements of x.
/// `weights` are [filter row][filter column][channel / 4][filter][4], with filters padded to a multiple of 64. The grid is
/// (filters / 64, groups of positions in a row of y, rows of y of all images).
__device__ inline void convolve_directly(const Convolution& c, const Half* x, const Half* weights, float* y) {
  using Four = Half __attribute__((ext_vector_type(4)));
  const unsigned wavefront =
      static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x / kDirectFilters)));
  const unsigned filter = blockIdx.x * kDirectFilters + threadIdx.x % kDirectFilters;
  const unsigned filters = gridDim.x * kDirectFilters, output_width = c.output_width(), output_height = c.output_height();
  const unsigned first = blockIdx.y * kDirectWidth + wavefront * kDirectPixels;
  const unsigned image = blockIdx.z / output_height, row = blockIdx.z % output_height;
  if (first >= output_width) return;
  const Four* weight = reinterpret_cast<const Four*>(weights) + filter;
  float sums[kDirectPixels] = {};
  for (unsigned fy = 0; fy < c.filter_height; ++fy) {
    const int at_y = static_cast<int>(row * c.stride_y + fy) - static_cast<int>(c.pad_top);
    for (unsigned fx = 0; fx < c.filter_width; ++fx) {
      const Half* from[kDirectPixels];
      bool inside[kDirectPixels], any = false;
#pragma unroll
      for (unsigned i = 0; i < kDirectPixels; ++i) {
        const int at_x = static_cast<int>((first + i) * c.stride_x + fx) - static_cast<int>(c.pad_left);
        inside[i] = c.inside(at_y, at_x);
        from[i] = x + (inside[i] ? c.element(image, at_y, at_x) : 0);
        any |= inside[i];
      }
      if (!any) {
        weight += size_t{c.channels / 4} * filters;
        continue;
      }
      for (unsigned channel = 0; channel < c.channels; channel += 4, weight += filters) {
        const Four w = *weight;
#pragma unroll
        for (unsigned i = 0; i < kDirectPixels; ++i) {
          if (!inside[i]) continue;
          const Four value = *reinterpret_cast<const Four*>(from[i] + channel);
#pragma unroll
          for (unsigned k = 0; k < 4; ++k) sums[i] = fmaf(static_cast<float>(value[k]), static_cast<float>(w[k]), sums[i]);
        }
      }
    }
  }
  if (filter >= c.filters) return;
#pragma unroll
  for (unsigned i = 0; i < kDirectPixels; ++i) {
    if (first + i < output_width)
      y[(static_cast<size_t>(blockIdx.z) * output_width + first + i) * c.filters + filter] = sums[i];
  }
}

}  // namespace conv
