// The kernels of a training step.
#pragma once

#include "workloads/common/gemm_products.h"
#include "workloads/training/convolution.h"

using Half = _Float16;
using convolution::Gathered;

constexpr unsigned kRows = 64, kColumns = 128;  ///< rows and columns of a workgroup's product
constexpr unsigned kElementWise = 256;          ///< work-items of other kernels, one for each of `count` elements

#define CONVOLUTION_KERNEL(name, Element, wavefronts)                         \
  extern "C" __global__ void __launch_bounds__(tiled::kWorkgroup, wavefronts) \
      name(tiled::Result<float> c, tiled::Operand<Element> a, Gathered<Element> b, unsigned slabs, unsigned slabs_of_part)
using OnVectorAlus = tiled::Simt<float, 4, 8>;
CONVOLUTION_KERNEL(convolve_simt, float, OnVectorAlus::kWavefronts) {
  convolution::multiply<OnVectorAlus>(c, a, b, slabs, slabs_of_part);
}
#if defined(__gfx90a__)
using OnUnitsF32 = tiled::M3xu<m3xu::fp32, 2, 4>;
using OnUnitsF16 = tiled::M3xu<m3xu::fp16, 2, 4>;
// Six wavefronts per SIMD, with 80 registers each, although some values are then spilled: gathering is bound by memory latency.
constexpr unsigned kGathering = 6;
CONVOLUTION_KERNEL(convolve_m3xu, float, kGathering) { convolution::multiply<OnUnitsF32>(c, a, b, slabs, slabs_of_part); }
CONVOLUTION_KERNEL(convolve_mfma, Half, kGathering) { convolution::multiply<OnUnitsF16>(c, a, b, slabs, slabs_of_part); }
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

// The following kernels process line blockIdx.y, of `columns` elements; lines are `ld` apart.

__device__ inline float sum_of(const float* parts, size_t at, unsigned count, size_t of_part) {
  float sum = 0;
  for (unsigned part = 0; part < count; ++part) sum += parts[part * of_part + at];
  return sum;
}
/// y = max(0, sum of the parts). Parts are `of_part` elements apart; elements after the columns of a line are set to zero.
template <class T>
__device__ inline void activate(T* y, const float* parts, unsigned count, unsigned of_part, unsigned columns, unsigned ld) {
  const size_t at = size_t{blockIdx.y} * ld + element();
  if (element() < ld) y[at] = element() < columns ? static_cast<T>(fmaxf(sum_of(parts, at, count, of_part), 0)) : T{};
}
ELEMENT_WISE_KERNEL activate_f16(Half* __restrict__ y, const float* __restrict__ parts, unsigned count, unsigned of_part,
                                 unsigned columns, unsigned ld) {
  activate(y, parts, count, of_part, columns, ld);
}
ELEMENT_WISE_KERNEL activate_f32(float* __restrict__ y, const float* __restrict__ parts, unsigned count, unsigned of_part,
                                 unsigned columns, unsigned ld) {
  activate(y, parts, count, of_part, columns, ld);
}
ELEMENT_WISE_KERNEL sum_parts(float* __restrict__ sums, const float* __restrict__ parts, unsigned count, unsigned of_part,
                              unsigned columns, unsigned ld) {
  const size_t at = size_t{blockIdx.y} * ld + element();
  if (element() < columns) sums[at] = sum_of(parts, at, count, of_part);
}
/// Gradient descent, where the gradient is a sum of parts with `columns` elements per line; lines of the weights are `ld`
/// elements apart.
ELEMENT_WISE_KERNEL update(float* __restrict__ weights, float* __restrict__ gradient, const float* __restrict__ parts,
                           unsigned count, unsigned of_part, unsigned columns, unsigned ld, float rate) {
  if (element() >= columns) return;
  const size_t at = size_t{blockIdx.y} * columns + element();
  const float sum = sum_of(parts, at, count, of_part);
  gradient[at] = sum;
  weights[size_t{blockIdx.y} * ld + element()] -= rate * sum;
}
/// to[in][out, tap] = from[out][in, tap], of `columns` pairs (in, tap); lines are `to_ld` and `from_ld` apart. `reciprocal` is
/// 2^32 / taps, rounded up, which divides numbers of less than 2^32 / taps exactly; 0 for a single tap.
ELEMENT_WISE_KERNEL transpose_weights(float* __restrict__ to, const float* __restrict__ from, unsigned columns, unsigned taps,
                                      unsigned reciprocal, unsigned to_ld, unsigned from_ld) {
  if (element() >= columns) return;
  const unsigned in = reciprocal == 0 ? element() : __umulhi(element(), reciprocal), tap = element() - in * taps;
  to[size_t{in} * to_ld + blockIdx.y * taps + tap] = from[size_t{blockIdx.y} * from_ld + element()];
}
