// 16-point Fourier transforms of complex numbers in registers, 256 in a workgroup of 256 work-items: what fft_gemm.hip makes
// longer ones of. A policy has
//
//   row(v), butterfly(v)   which element of which of the 256 transforms value v of a work-item's 16 is, before and after
//   Policy(roots, step)    roots[i * step] = exp(-2 pi i i / 16)
//   transform(x)           X[k] = sum over n of x[n] exp(-2 pi i k n / 16)
//   turn(x, base, root)    row r of the transform that value v belongs to is multiplied by base(v) root(v, r), where root(v, r)
//                          = root(v, 1)^r; base is null for 1
//
//   transform_transposed(x)   likewise, but row r of transform 16 q + c comes out as row c of transform 16 q + r; only where
//                          kTransposes, which is on matrix units: there it is the product of the transposed matrices
#pragma once

#include <hip/hip_runtime.h>

#include <type_traits>

#include "lacuna/m3xu.h"

namespace fft {

using Complex = m3xu::complex;

__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
/// Times -i.
__device__ inline Complex quarter(Complex a) { return {a.im, -a.re}; }

__device__ inline void transform_2(Complex& a, Complex& b) {
  const Complex sum = a + b;
  b = a - b;
  a = sum;
}
__device__ inline void transform_4(Complex& a, Complex& b, Complex& c, Complex& d) {
  transform_2(a, c);
  transform_2(b, d);
  d = quarter(d);
  transform_2(a, b);
  transform_2(c, d);
  const Complex second = c;  // b is X[2], c is X[1]
  c = b;
  b = second;
}
__device__ inline void transform_8(Complex* x) {
  constexpr float half = 0.70710678118654752f;
  transform_4(x[0], x[2], x[4], x[6]);
  transform_4(x[1], x[3], x[5], x[7]);
  const Complex odd[4] = {x[1], Complex{half * (x[3].re + x[3].im), half * (x[3].im - x[3].re)}, quarter(x[5]),
                          Complex{half * (x[7].im - x[7].re), -half * (x[7].re + x[7].im)}};
  const Complex even[4] = {x[0], x[2], x[4], x[6]};
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) x[k] = even[k] + odd[k], x[k + 4] = even[k] - odd[k];
}

/// powers[r] = root^r for r > 0, in few roundings.
template <unsigned count>
__device__ inline void powers_of(Complex (&powers)[count], Complex root) {
  powers[1] = root;
#pragma unroll
  for (unsigned r = 2; r < count; ++r) powers[r] = powers[r / 2] * powers[r - r / 2];
}

/// By vector ALUs: each work-item makes one transform, as 4 x 4.
class Simt {
 public:
  static constexpr bool kTransposes = false;
  __device__ Simt(const Complex*, unsigned) {}
  __device__ static unsigned row(unsigned v) { return v; }
  __device__ static unsigned butterfly(unsigned) { return threadIdx.x; }
  __device__ void transform(Complex (&x)[16]) const {
    constexpr float c1 = 0.92387953251128676f, s1 = 0.38268343236508977f, half = 0.70710678118654752f;
#pragma unroll
    for (unsigned a = 0; a < 4; ++a) transform_4(x[a], x[a + 4], x[a + 8], x[a + 12]);
    // x[a + 4 k] times exp(-2 pi i a k / 16).
    x[5] = x[5] * Complex{c1, -s1};
    x[6] = x[6] * Complex{half, -half};
    x[7] = x[7] * Complex{s1, -c1};
    x[9] = x[9] * Complex{half, -half};
    x[10] = quarter(x[10]);
    x[11] = x[11] * Complex{-half, -half};
    x[13] = x[13] * Complex{s1, -c1};
    x[14] = x[14] * Complex{-half, -half};
    x[15] = x[15] * Complex{-c1, s1};
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) transform_4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
      // x[4 k + m] is X[k + 4 m].
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
#pragma unroll
      for (unsigned m = k + 1; m < 4; ++m) {
        const Complex other = x[4 * k + m];
        x[4 * k + m] = x[4 * m + k];
        x[4 * m + k] = other;
      }
    }
  }
  template <class Base, class Root>
  __device__ void turn(Complex (&x)[16], Base base, Root root) const {
    if constexpr (!std::is_null_pointer_v<Base>) {
      const Complex first = base(0);
#pragma unroll
      for (Complex& value : x) value = value * first;
    }
    Complex powers[16];
    powers_of(powers, root(0, 1));
#pragma unroll
    for (unsigned r = 1; r < 16; ++r) x[r] = x[r] * powers[r];
  }
};

#if defined(__gfx90a__)

/// What matrix units have in common: a wavefront makes 64 transforms, 16 at once, of which a lane has one's rows 4 kFirst ...
class OnUnits {
 public:
  static constexpr bool kTransposes = true;
  __device__ static unsigned butterfly(unsigned v) { return threadIdx.x / 64 * 64 + v / 4 * 16 + threadIdx.x % 16; }

 protected:
  __device__ static unsigned group() { return threadIdx.x % 64 / 16; }
  /// Rows first, first + distance, ... of a lane.
  template <class Base, class Root>
  __device__ static void turn_rows(Complex (&x)[16], Base base, Root root, unsigned first, unsigned distance) {
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) {
      Complex powers[4], start = root(4 * t, first);
      if constexpr (!std::is_null_pointer_v<Base>) start = start * base(4 * t);
      powers_of(powers, root(4 * t, distance));
#pragma unroll
      for (unsigned s = 0; s < 4; ++s) {
        x[4 * t + s] = x[4 * t + s] * start;
        if (s > 0) x[4 * t + s] = x[4 * t + s] * powers[s];
      }
    }
  }
};

/// By M3XU's FP32C: the matrix of the transform times 16 columns, 4 products along k.
class M3xu : public OnUnits {
 public:
  __device__ M3xu(const Complex* roots, unsigned step) {
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) matrix_[s] = roots[(threadIdx.x % 16 * (4 * s + group())) % 16 * step];
  }
  __device__ static unsigned row(unsigned v) { return 4 * (v % 4) + group(); }
  __device__ void transform(Complex (&x)[16]) const {
    multiply(x, [](Sum& sum, Complex matrix, Complex value) {
      m3xu::mma(sum, A{in_registers(matrix)}, B{in_registers(value)}, sum);
    });
  }
  __device__ void transform_transposed(Complex (&x)[16]) const {
    multiply(x, [](Sum& sum, Complex matrix, Complex value) {
      m3xu::mma(sum, A{in_registers(value)}, B{in_registers(matrix)}, sum);
    });
  }
  template <class Base, class Root>
  __device__ void turn(Complex (&x)[16], Base base, Root root) const {
    turn_rows(x, base, root, group(), 4);
  }

 private:
  using A = m3xu::fragment<m3xu::matrixa, m3xu::fp32c>;
  using B = m3xu::fragment<m3xu::matrixb, m3xu::fp32c>;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::fp32c>;
  __device__ static double in_registers(Complex x) { return __builtin_bit_cast(double, x); }
  template <class Mma>
  __device__ void multiply(Complex (&x)[16], Mma mma) const {
    Sum sums[4] = {};
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) {
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) mma(sums[t], matrix_[s], x[4 * t + s]);
    }
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) x[v] = sums[v / 4].item(v % 4);
  }

  Complex matrix_[4];  // the matrix is symmetric: rows as A, columns as B
};

/// As tcFFT does it in half precision, here in TF32: four real products for a complex one, factors rounded to 11 bits.
class Tf32 : public OnUnits {
 public:
  __device__ Tf32(const Complex* roots, unsigned step) {
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) {
      const Complex root = roots[(threadIdx.x % 16 * (4 * group() + s)) % 16 * step];
      re_[s] = rounded(root.re), im_[s] = rounded(root.im), minus_im_[s] = rounded(-root.im);
    }
  }
  // k is summed over in another order than the unit's, so that rows go in as they come out.
  __device__ static unsigned row(unsigned v) { return 4 * group() + v % 4; }
  __device__ void transform(Complex (&x)[16]) const {
    multiply(x, [](Sum& sum, const float* matrix, float first, float second) {
      m3xu::mma(sum, A{{matrix[0], matrix[1]}}, B{{first, second}}, sum);
    });
  }
  __device__ void transform_transposed(Complex (&x)[16]) const {
    multiply(x, [](Sum& sum, const float* matrix, float first, float second) {
      m3xu::mma(sum, A{{first, second}}, B{{matrix[0], matrix[1]}}, sum);
    });
  }
  template <class Base, class Root>
  __device__ void turn(Complex (&x)[16], Base base, Root root) const {
    turn_rows(x, base, root, 4 * group(), 1);
  }

 private:
  using A = m3xu::fragment<m3xu::matrixa, m3xu::tf32>;
  using B = m3xu::fragment<m3xu::matrixb, m3xu::tf32>;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::tf32>;
  /// The unit does not read the low 13 bits.
  __device__ static float rounded(float x) { return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) + 0x1000); }
  template <class Mma>
  __device__ void multiply(Complex (&x)[16], Mma mma) const {
    Sum re[4] = {}, im[4] = {};
#pragma unroll
    for (Complex& value : x) value = {rounded(value.re), rounded(value.im)};
#pragma unroll
    for (unsigned s = 0; s < 4; s += 2) {
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) mma(re[t], re_ + s, x[4 * t + s].re, x[4 * t + s + 1].re);
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) mma(im[t], re_ + s, x[4 * t + s].im, x[4 * t + s + 1].im);
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) mma(re[t], minus_im_ + s, x[4 * t + s].im, x[4 * t + s + 1].im);
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) mma(im[t], im_ + s, x[4 * t + s].re, x[4 * t + s + 1].re);
    }
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) x[v] = {re[v / 4].item(v % 4), im[v / 4].item(v % 4)};
  }

  float re_[4], im_[4], minus_im_[4];
};

#endif

}  // namespace fft
