// The kernels of a training step.
#pragma once

#include "workloads/common/gemm_products.h"
#include "workloads/training/convolution.h"

using Half = _Float16;
using convolution::Gathered;

constexpr unsigned kRows = 64, kColumns = 128;  ///< of a workgroup of a product
constexpr unsigned kElementWise = 256;          ///< work-items of other kernels, one for each of `count` elements

#define CONVOLUTION_KERNEL(name, Element, wavefronts)                         \
  extern "C" __global__ void __launch_bounds__(tiled::kWorkgroup, wavefronts) \
      name(tiled::Result<Element> c, tiled::Operand<Element> a, Gathered<Element> b, unsigned slabs, unsigned slabs_of_part)
using OnVectorAlus = tiled::Simt<float, 4, 8>;
CONVOLUTION_KERNEL(convolve_simt, float, OnVectorAlus::kWavefronts) {
  convolution::multiply<OnVectorAlus>(c, a, b, slabs, slabs_of_part);
}
#if defined(__gfx90a__)
using OnUnitsF32 = tiled::M3xu<m3xu::fp32, 2, 4>;
using OnUnitsF16 = tiled::M3xu<m3xu::fp16, 2, 4>;
CONVOLUTION_KERNEL(convolve_m3xu, float, OnUnitsF32::kWavefronts) {
  convolution::multiply<OnUnitsF32>(c, a, b, slabs, slabs_of_part);
}
CONVOLUTION_KERNEL(convolve_mfma, Half, OnUnitsF16::kWavefronts) {
  convolution::multiply<OnUnitsF16>(c, a, b, slabs, slabs_of_part);
}
#else
CONVOLUTION_KERNEL(convolve_m3xu, float, 1) { __builtin_trap(), (void)c, (void)a, (void)b, (void)slabs, (void)slabs_of_part; }
CONVOLUTION_KERNEL(convolve_mfma, Half, 1) { __builtin_trap(), (void)c, (void)a, (void)b, (void)slabs, (void)slabs_of_part; }
#endif

#define ELEMENT_WISE_KERNEL extern "C" __global__ void __launch_bounds__(kElementWise)
__device__ inline unsigned element() { return blockIdx.x * kElementWise + threadIdx.x; }

ELEMENT_WISE_KERNEL narrow(unsigned count, Half* __restrict__ to, const float* __restrict__ from) {
  if (element() < count) to[element()] = static_cast<Half>(from[element()]);
}
ELEMENT_WISE_KERNEL widen(unsigned count, float* __restrict__ to, const Half* __restrict__ from) {
  if (element() < count) to[element()] = from[element()];
}

template <class T>
__device__ inline void apply_relu(unsigned count, T* y) {
  if (element() < count && !(y[element()] > 0)) y[element()] = 0;
}
ELEMENT_WISE_KERNEL relu_f16(unsigned count, Half* y) { apply_relu(count, y); }
ELEMENT_WISE_KERNEL relu_f32(unsigned count, float* y) { apply_relu(count, y); }

template <class T>
__device__ inline void pass_gradient(unsigned count, float* to, const float* gradient, const T* y) {
  if (element() < count) to[element()] = y[element()] > 0 ? gradient[element()] : 0.0f;
}
ELEMENT_WISE_KERNEL relu_backward_f16(unsigned count, float* __restrict__ to, const float* __restrict__ gradient,
                                      const Half* __restrict__ y) {
  pass_gradient(count, to, gradient, y);
}
ELEMENT_WISE_KERNEL relu_backward_f32(unsigned count, float* __restrict__ to, const float* __restrict__ gradient,
                                      const float* __restrict__ y) {
  pass_gradient(count, to, gradient, y);
}

/// to[in][out, tap] = from[out][in, tap]; lines are `to_ld` and `from_ld` apart.
ELEMENT_WISE_KERNEL transpose_weights(unsigned count, float* __restrict__ to, const float* __restrict__ from, unsigned in,
                                      unsigned taps, unsigned to_ld, unsigned from_ld) {
  if (element() >= count) return;
  const unsigned tap = element() % taps, channel = element() / taps % in, out = element() / taps / in;
  to[channel * to_ld + out * taps + tap] = from[out * from_ld + channel * taps + tap];
}
/// The sum of `parts` matrices of `count` elements.
ELEMENT_WISE_KERNEL sum_parts(unsigned count, float* __restrict__ sums, const float* __restrict__ from, unsigned parts) {
  if (element() >= count) return;
  float sum = 0;
  for (unsigned part = 0; part < parts; ++part) sum += from[size_t{part} * count + element()];
  sums[element()] = sum;
}
/// Steepest descent; lines of `columns` weights are `ld` apart.
ELEMENT_WISE_KERNEL update(unsigned count, float* __restrict__ weights, const float* __restrict__ gradient, unsigned columns,
                           unsigned ld, float rate) {
  if (element() < count) weights[element() / columns * ld + element() % columns] -= rate * gradient[element()];
}
