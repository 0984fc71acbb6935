// 16-point Fourier transforms of complex numbers in registers, 256 in a workgroup of 256 work-items: the steps of the longer
// transforms of fft_gemm.hip. A work-item holds 16 values (kTiles x kRows). A policy has
//
//   first(t), lane()       value t kRows + s belongs to transform first(t) + lane(); first(t) is the same for a wavefront
//   row(s)                 value t kRows + s is row row(s) of its transform, before and after; uniform if kUniformRows
//   Policy(roots, step)    roots[i * step] = exp(-2 pi i i / 16)
//   transform(x)           X[k] = sum over n of x[n] exp(-2 pi i k n / 16)
//
// and, with kOnUnits (lane() is less than 16, first(t) a multiple of 16),
//
//   transform_transposed(x)   like transform(x), but returns row r of transform 16 q + `transposed(c)` as row c of transform
//                             16 q + r: the product of the transposed matrices
#pragma once

#include <hip/hip_runtime.h>

#include "lacuna/m3xu.h"

namespace fft {

using Complex = m3xu::complex;

__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
/// Multiplies by -i.
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

/// powers[r] = root^r for r > 0, with few roundings.
template <unsigned count>
__device__ inline void powers_of(Complex (&powers)[count], Complex root) {
  powers[1] = root;
#pragma unroll
  for (unsigned r = 2; r < count; ++r) powers[r] = powers[r / 2] * powers[r - r / 2];
}

/// Vector ALUs: each work-item computes one transform as 4 x 4.
class Simt {
 public:
  static constexpr bool kOnUnits = false, kUniformRows = true;
  static constexpr unsigned kTiles = 1, kRows = 16;
  __device__ Simt(const Complex*, unsigned) {}
  __device__ static unsigned first(unsigned) { return 0; }
  __device__ static unsigned lane() { return threadIdx.x; }
  __device__ static unsigned row(unsigned s) { return s; }
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
};

#if defined(__gfx90a__)

/// Common part of policies on matrix units: a wavefront computes 64 transforms, 16 at a time, with four rows of a transform per
/// lane.
class OnUnits {
 public:
  static constexpr bool kOnUnits = true, kUniformRows = false;
  static constexpr unsigned kTiles = 4, kRows = 4;
  __device__ static unsigned first(unsigned t) { return __builtin_amdgcn_readfirstlane(threadIdx.x / 64) * 64 + 16 * t; }
  __device__ static unsigned lane() { return threadIdx.x % 16; }
  __device__ static unsigned transposed(unsigned c) { return c; }

 protected:
  __device__ static unsigned group() { return threadIdx.x % 64 / 16; }
};

/// M3XU's FP32C: the product of the transform's matrix and 16 columns, in 4 steps along k.
class M3xu : public OnUnits {
 public:
  __device__ M3xu(const Complex* roots, unsigned step) {
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) matrix_[s] = roots[(threadIdx.x % 16 * (4 * s + group())) % 16 * step];
  }
  __device__ static unsigned row(unsigned s) { return 4 * s + group(); }
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

  Complex matrix_[4];  // symmetric, so that its rows as A equal its columns as B
};

/// M3XU's FP32 with half of the multiplications: rows n and 16 - n are multiplied by the same cosines and by opposite sines, so
/// that with sums u[n] = x[n] + x[16 - n] and differences v[n] = x[n] - x[16 - n]
///
///   Re X[k] = sum over n of cos(2 pi k n / 16) Re u[n] + sin(2 pi k n / 16) Im v[n]
///   Im X[k] = sum over n of cos(2 pi k n / 16) Im u[n] - sin(2 pi k n / 16) Re v[n],     n = 1 ... 7,
///
/// with n = 0 and 8 treated separately: two products of the same real 16 x 16 matrix with 16 real numbers.
class Folded : public OnUnits {
 public:
  __device__ Folded(const Complex* roots, unsigned step)
      : rows_(roots, step, row_of(threadIdx.x % 16)), columns_(roots, step, threadIdx.x % 16) {}
  /// The rows of group g are g, 16 - g, 8 - g, 8 + g; for g = 0: 0, 8, 4, 12. A lane thus has both rows of each folded pair.
  __device__ static unsigned row(unsigned s) { return row_of(4 * group() + s); }
  __device__ static unsigned transposed(unsigned c) { return row_of(c); }
  __device__ void transform(Complex (&x)[16]) const {
    multiply(x, [this](Sum& sum, unsigned pair, float first, float second) {
      m3xu::mma(sum, A{{rows_.cosine[pair], rows_.sine[pair]}}, B{{first, second}}, sum);
    });
  }
  __device__ void transform_transposed(Complex (&x)[16]) const {
    multiply(x, [this](Sum& sum, unsigned pair, float first, float second) {
      m3xu::mma(sum, A{{first, second}}, B{{columns_.cosine[pair], columns_.sine[pair]}}, sum);
    });
  }

 private:
  using A = m3xu::fragment<m3xu::matrixa, m3xu::fp32>;
  using B = m3xu::fragment<m3xu::matrixb, m3xu::fp32>;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::fp32>;
  /// Row that corresponds to row 4 g + s of a product.
  __device__ static unsigned row_of(unsigned place) {
    const unsigned g = place / 4, s = place % 4;
    const unsigned n = s % 2 == 0 ? g : 16 - g, half = s < 2 ? 0 : 8;
    const unsigned of_first = s == 0 ? 0 : s == 1 ? 8 : s == 2 ? 4 : 12;
    return g == 0 ? of_first : half == 0 ? n : s == 2 ? 8 - g : 8 + g;
  }
  /// Factors of row k for this lane's two pairs of rows.
  struct Matrix {
    __device__ Matrix(const Complex* roots, unsigned step, unsigned k) {
      const unsigned g = group();
      // Factors of rows 0 and 8: 1 and 0 for even k, 0 and 1 for odd k.
      const Complex first = roots[(g == 0 ? k % 2 * 4 : k * g % 16) * step];
      const Complex second = roots[k * (g == 0 ? 4 : 8 - g) % 16 * step];
      cosine[0] = first.re, sine[0] = -first.im;
      cosine[1] = second.re, sine[1] = -second.im;
    }
    float cosine[2], sine[2];
  };
  template <class Mma>
  __device__ void multiply(Complex (&x)[16], Mma mma) const {
    Sum re[4] = {}, im[4] = {};
    const bool first_group = group() == 0;
#pragma unroll
    for (unsigned pair = 0; pair < 2; ++pair) {
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) {
        Complex a = x[4 * t + 2 * pair], b = x[4 * t + 2 * pair + 1];
        // Prevents the compiler from adding real and imaginary parts by one packed instruction, since the two sums are operands
        // of different products.
        asm("" : "+v"(a.re), "+v"(b.re));
        const Complex sum = a + b, difference = a - b;
        // Rows 0 and 8 have no sine: even k use their sum, odd k their difference.
        const bool whole = pair == 0 && first_group;
        mma(re[t], pair, sum.re, whole ? difference.re : difference.im);
        mma(im[t], pair, sum.im, whole ? difference.im : b.re - a.re);
      }
    }
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) x[v] = {re[v / 4].item(v % 4), im[v / 4].item(v % 4)};
  }

  Matrix rows_, columns_;
};

/// TF32: four real products for a complex product, with factors rounded to 11 bits. tcFFT does this in half precision.
class Tf32 : public OnUnits {
 public:
  __device__ Tf32(const Complex* roots, unsigned step) {
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) {
      const Complex root = roots[(threadIdx.x % 16 * (4 * group() + s)) % 16 * step];
      re_[s] = rounded(root.re), im_[s] = rounded(root.im), minus_im_[s] = rounded(-root.im);
    }
  }
  // Terms are not summed in order of ascending k, so that inputs and results have the same rows.
  __device__ static unsigned row(unsigned s) { return 4 * group() + s; }
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

 private:
  using A = m3xu::fragment<m3xu::matrixa, m3xu::tf32>;
  using B = m3xu::fragment<m3xu::matrixb, m3xu::tf32>;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::tf32>;
  /// Rounds by adding half a unit of the last place; the matrix unit ignores the low 13 bits.
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
