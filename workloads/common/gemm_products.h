// Inner products for gemm_tiled.h: a workgroup multiplies slabs of the tiles of A and B in LDS.
//
//   Simt<float | Complex | double>  fused multiply-adds of the vector ALUs
//   Mfma<float | Complex | double>  CDNA2's own f32 and f64 MFMA
//   M3xu<fp32 | fp32c | fp64>       the formats of M3XU
//   Tf32x3     f32 as two terms of TF32: three products, small times small is omitted (as in CUTLASS)
//   Bf16x3     f32 as three terms of bf16, exactly: the six products that are significant in f32
//   Eehc       f32 as two terms of bf16: three products, small times small is omitted (Ma et al., EEHC: the M3XU thesis' [102])
//   Unsplit    the products of Tf32x3 without splitting the operands: the small terms are 0
//   Gemm4      complex: four real products, each by Tf32x3
//
// Simt, Mfma of real numbers and M3xu are bit-identical: a chain of fused multiply-adds over ascending k; for complex numbers,
// at each k, re += ar br, re -= ai bi, im += ar bi, im += ai br. All except Simt require gfx90a.
//
// Programs are compiled with -fno-slp-vectorize: Simt is measured against the f32 rate of the vector ALUs, without CDNA2's
// packed instructions.
#pragma once

#include "workloads/common/gemm_tiled.h"

namespace tiled {

// -- vector ALUs

__device__ inline void add_products(float& sum, Unit a, Unit b) {
  sum = fmaf(a.x, b.x, sum);
  sum = fmaf(a.y, b.y, sum);
}
__device__ inline void add_products(Complex& sum, Unit a, Unit b) {
  sum.re = fmaf(a.x, b.x, sum.re);
  sum.re = fmaf(-a.y, b.y, sum.re);
  sum.im = fmaf(a.x, b.y, sum.im);
  sum.im = fmaf(a.y, b.x, sum.im);
}
__device__ inline void add_products(double& sum, Unit a, Unit b) {
  sum = fma(__builtin_bit_cast(double, a), __builtin_bit_cast(double, b), sum);
}

/// Forces the computation of the value here; otherwise the compiler would postpone it until the next tile is in LDS.
__device__ inline void pin(float& value) { asm volatile("" : "+v"(value)); }
__device__ inline void pin(double& value) { asm volatile("" : "+v"(value)); }
__device__ inline void pin(Complex& value) { asm volatile("" : "+v"(value.re), "+v"(value.im)); }

/// A lane computes kHeight x kWidth elements, and 8 x 8 lanes form a wavefront. A lane's rows and columns are adjacent pairs,
/// 16 apart, so that eight lanes read consecutive addresses, 16 bytes each. kAdd(sum, a, b) adds the products of units a and b
/// to `sum`, or combines them in another way.
template <class T, unsigned kHeight, unsigned kWidth, void (*kAdd)(T&, Unit, Unit) = add_products>
class Simt {
 public:
  using Element = T;
  static constexpr unsigned kRows = 16 * kHeight, kColumns = 16 * kWidth, kSteps = kUnits, kWavefronts = kSimtWavefronts;
  struct Operands {
    TwoUnits a[kHeight / 2], b[kWidth / 2];
  };

  __device__ static void load(Operands& to, const Unit (*a)[kRows], const Unit (*b)[kColumns], unsigned step) {
    const Place place;
    const unsigned row = place.wavefront_row * 8 * kHeight + place.lane / 8 * 2;
    const unsigned column = place.wavefront_column * 8 * kWidth + place.lane % 8 * 2;
#pragma unroll
    for (unsigned i = 0; i < kHeight / 2; ++i) to.a[i] = *reinterpret_cast<const TwoUnits*>(&a[step][row + 16 * i]);
#pragma unroll
    for (unsigned j = 0; j < kWidth / 2; ++j) to.b[j] = *reinterpret_cast<const TwoUnits*>(&b[step][column + 16 * j]);
  }
  __device__ void add(const Operands& operands) {
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) {
#pragma unroll
      for (unsigned j = 0; j < kWidth; ++j) {
        const TwoUnits a = operands.a[i / 2], b = operands.b[j / 2];
        kAdd(sums_[i][j], i % 2 == 0 ? a.lo : a.hi, j % 2 == 0 ? b.lo : b.hi);
      }
    }
#pragma unroll
    for (auto& row_of_sums : sums_) {
#pragma unroll
      for (T& sum : row_of_sums) pin(sum);
    }
  }
  /// Calls put(row, column, sum) for each element of this lane.
  template <class Put>
  __device__ void each(Put put) const {
    const Place place;
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) {
#pragma unroll
      for (unsigned j = 0; j < kWidth; ++j) {
        put(place.wavefront_row * 8 * kHeight + place.lane / 8 * 2 + i / 2 * 16 + i % 2,
            place.wavefront_column * 8 * kWidth + place.lane % 8 * 2 + j / 2 * 16 + j % 2, sums_[i][j]);
      }
    }
  }

 private:
  T sums_[kHeight][kWidth] = {};
};

// -- matrix units

#if defined(__gfx90a__)

/// A lane's operands: two adjacent units (8 bytes each) along k, of which the first has the index 2 (lane / 16).
struct TwoUnitOperands {
  using Operand = TwoUnits;
  static constexpr unsigned kSteps = kUnits / 8;
  template <unsigned kTile>
  __device__ static TwoUnits load(const Unit (*tile)[kTile], unsigned, const Place& place, unsigned x) {
    const unsigned unit = place.lane / 16 * 2;
    TwoUnits both;
    both.lo = tile[unit][x];
    both.hi = tile[unit + 1][x];
    return both;
  }
};

struct MfmaF64Way : UnitOperands {
  using Element = double;
  using Sum = Vector<double, 4>;
  static constexpr bool kByFour = true;
  __device__ static void multiply(unsigned, Sum& sum, Unit a, Unit b) {
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(__builtin_bit_cast(double, a), __builtin_bit_cast(double, b), sum, 0, 0, 0);
  }
  __device__ static double item(const Sum& sum, unsigned i) { return sum[i]; }
};
/// v_mfma_f32_16x16x4f32: each lane holds element 4 step + lane / 16 along k of its row or column.
struct MfmaF32Way {
  using Element = float;
  using Operand = float;
  using Sum = Vector<float, 4>;
  static constexpr unsigned kSteps = kUnits / 2, kProducts = 1;
  static constexpr bool kByFour = false;
  template <unsigned kTile>
  __device__ static float load(const Unit (*tile)[kTile], unsigned step, const Place& place, unsigned x) {
    const unsigned group = place.lane / 16;
    return reinterpret_cast<const float*>(&tile[2 * step + group / 2][x])[group % 2];
  }
  __device__ static float left(float a) { return a; }
  __device__ static float right(float b) { return b; }
  __device__ static void multiply(unsigned, Sum& sum, float a, float b) {
    sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, sum, 0, 0, 0);
  }
  __device__ static float item(const Sum& sum, unsigned i) { return sum[i]; }
};
struct ComplexSum {
  Vector<float, 4> re, im;
};
struct MfmaComplexWay : UnitOperands {
  using Element = Complex;
  using Sum = ComplexSum;
  static constexpr unsigned kProducts = 4;
  static constexpr bool kByFour = false;
  __device__ static void multiply(unsigned product, Sum& sum, Unit a, Unit b) {
    const auto mfma = [](float x, float y, auto& to) { to = __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, to, 0, 0, 0); };
    if (product == 0) mfma(a.x, b.x, sum.re);
    if (product == 1) mfma(a.x, b.y, sum.im);
    if (product == 2) mfma(-a.y, b.y, sum.re);
    if (product == 3) mfma(a.y, b.x, sum.im);
  }
  __device__ static Complex item(const Sum& sum, unsigned i) { return {sum.re[i], sum.im[i]}; }
};
template <class T>
struct MfmaWay;
template <>
struct MfmaWay<float> : MfmaF32Way {};
template <>
struct MfmaWay<double> : MfmaF64Way {};
template <>
struct MfmaWay<Complex> : MfmaComplexWay {};
template <class T, unsigned kHeight, unsigned kWidth>
using Mfma = MatrixUnits<MfmaWay<T>, kHeight, kWidth>;

// -- f32 in software

/// f32 as a sum of two TF32 numbers of 11 bits, rounded to nearest (ties away).
struct Tf32Terms {
  Unit big, small;
  // Parameters are values instead of elements of vectors, since clang 15's __builtin_bit_cast always uses a vector's first
  // element.
  __device__ static unsigned raised(float x) { return __builtin_bit_cast(unsigned, x) + 0x1000; }
  __device__ static float rounded(float x) { return __builtin_bit_cast(float, raised(x) & 0xffffe000); }
  // Adds half a unit of the last place for rounding; the matrix unit ignores the low bits.
  __device__ static float rounded_by_unit(float x) { return __builtin_bit_cast(float, raised(x)); }
  __device__ static Tf32Terms of(Unit x) {
    const Unit big = {rounded(x.x), rounded(x.y)}, rest = x - big;
    return {big, Unit{rounded_by_unit(rest.x), rounded_by_unit(rest.y)}};
  }
};
using Tf32Sum = m3xu::fragment<m3xu::accum, m3xu::tf32>;
__device__ inline void add_tf32(Tf32Sum& sum, Unit a, Unit b) {
  using A = m3xu::fragment<m3xu::matrixa, m3xu::tf32>;
  using B = m3xu::fragment<m3xu::matrixb, m3xu::tf32>;
  m3xu::mma(sum, __builtin_bit_cast(A, a), __builtin_bit_cast(B, b), sum);
}
/// Adds one of the three products of a and b; `product` is 0, 1 or 2.
__device__ inline void add_tf32x3(unsigned product, Tf32Sum& sum, const Tf32Terms& a, const Tf32Terms& b) {
  add_tf32(sum, product == 0 ? a.small : a.big, product == 1 ? b.small : b.big);
}
struct Tf32x3Way : UnitOperands {
  using Element = float;
  using Sum = Tf32Sum;
  static constexpr unsigned kProducts = 3;
  static constexpr bool kByFour = false;
  __device__ static Tf32Terms left(Unit a) { return Tf32Terms::of(a); }
  __device__ static Tf32Terms right(Unit b) { return Tf32Terms::of(b); }
  __device__ static void multiply(unsigned product, Sum& sum, const Tf32Terms& a, const Tf32Terms& b) {
    add_tf32x3(product, sum, a, b);
  }
  __device__ static float item(const Sum& sum, unsigned i) { return sum.item(i); }
};
template <unsigned kHeight, unsigned kWidth>
using Tf32x3 = MatrixUnits<Tf32x3Way, kHeight, kWidth>;

struct UnsplitWay : Tf32x3Way {
  __device__ static Tf32Terms left(Unit a) { return {a, Unit{}}; }
  __device__ static Tf32Terms right(Unit b) { return {b, Unit{}}; }
};
template <unsigned kHeight, unsigned kWidth>
using Unsplit = MatrixUnits<UnsplitWay, kHeight, kWidth>;

/// f32 as a sum of bf16 terms: three terms are exact (8 + 8 + 8 bits of significand), two are an approximation.
template <unsigned kTerms>
struct Bf16Terms {
  using Packed = Vector<unsigned, 2>;  // four bf16
  Packed terms[kTerms];
  __device__ static Bf16Terms of(TwoUnits x) {
    Bf16Terms result;
#pragma unroll
    for (unsigned term = 0; term < kTerms; ++term) {
      Vector<unsigned, 4> nearest;
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        // A third term is not rounded: the remainder fits exactly.
        nearest[i] = __builtin_bit_cast(unsigned, static_cast<float>(x[i])) + (term < 2 ? 0x8000 : 0);
        x[i] -= __builtin_bit_cast(float, nearest[i] & 0xffff0000);
      }
      // Packs the upper halves of two registers into one.
      result.terms[term] = Packed{__builtin_amdgcn_perm(nearest.y, nearest.x, 0x07060302),
                                  __builtin_amdgcn_perm(nearest.w, nearest.z, 0x07060302)};
    }
    return result;
  }
};
struct Bf16x3Way : TwoUnitOperands {
  using Element = float;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::bf16>;
  static constexpr unsigned kProducts = 6;
  static constexpr bool kByFour = false;
  __device__ static Bf16Terms<3> left(TwoUnits a) { return Bf16Terms<3>::of(a); }
  __device__ static Bf16Terms<3> right(TwoUnits b) { return Bf16Terms<3>::of(b); }
  // Products are added in order of ascending magnitude.
  __device__ static void multiply(unsigned product, Sum& sum, const Bf16Terms<3>& a, const Bf16Terms<3>& b) {
    using A = m3xu::fragment<m3xu::matrixa, m3xu::bf16>;
    using B = m3xu::fragment<m3xu::matrixb, m3xu::bf16>;
    constexpr unsigned of_a[] = {2, 1, 0, 1, 0, 0}, of_b[] = {0, 1, 2, 0, 1, 0};
    m3xu::mma(sum, __builtin_bit_cast(A, a.terms[of_a[product]]), __builtin_bit_cast(B, b.terms[of_b[product]]), sum);
  }
  __device__ static float item(const Sum& sum, unsigned i) { return sum.item(i); }
};
template <unsigned kHeight, unsigned kWidth>
using Bf16x3 = MatrixUnits<Bf16x3Way, kHeight, kWidth>;

struct EehcWay : TwoUnitOperands {
  using Element = float;
  using Sum = m3xu::fragment<m3xu::accum, m3xu::bf16>;
  static constexpr unsigned kProducts = 3;
  static constexpr bool kByFour = false;
  __device__ static Bf16Terms<2> left(TwoUnits a) { return Bf16Terms<2>::of(a); }
  __device__ static Bf16Terms<2> right(TwoUnits b) { return Bf16Terms<2>::of(b); }
  __device__ static void multiply(unsigned product, Sum& sum, const Bf16Terms<2>& a, const Bf16Terms<2>& b) {
    using A = m3xu::fragment<m3xu::matrixa, m3xu::bf16>;
    using B = m3xu::fragment<m3xu::matrixb, m3xu::bf16>;
    m3xu::mma(sum, __builtin_bit_cast(A, a.terms[product == 0 ? 1 : 0]), __builtin_bit_cast(B, b.terms[product == 1 ? 1 : 0]),
              sum);
  }
  __device__ static float item(const Sum& sum, unsigned i) { return sum.item(i); }
};
template <unsigned kHeight, unsigned kWidth>
using Eehc = MatrixUnits<EehcWay, kHeight, kWidth>;

/// Real and imaginary parts of complex numbers, for elements 2 (lane / 16) and 2 (lane / 16) + 1 along k.
struct ComplexTf32Terms {
  Tf32Terms re, im;
};
struct Gemm4Way : TwoUnitOperands {
  using Element = Complex;
  struct Sum {
    Tf32Sum re, im;
  };
  static constexpr unsigned kProducts = 12;
  static constexpr bool kByFour = false;
  __device__ static ComplexTf32Terms left(TwoUnits a) { return {Tf32Terms::of(Unit{a.x, a.z}), Tf32Terms::of(Unit{a.y, a.w})}; }
  __device__ static ComplexTf32Terms right(TwoUnits b) { return left(b); }
  __device__ static void multiply(unsigned product, Sum& sum, const ComplexTf32Terms& a, const ComplexTf32Terms& b) {
    const Tf32Terms negative = {-a.im.big, -a.im.small};
    switch (product % 4) {
      case 0:
        return add_tf32x3(product / 4, sum.re, a.re, b.re);
      case 1:
        return add_tf32x3(product / 4, sum.im, a.re, b.im);
      case 2:
        return add_tf32x3(product / 4, sum.re, negative, b.im);
      default:
        return add_tf32x3(product / 4, sum.im, a.im, b.re);
    }
  }
  __device__ static Complex item(const Sum& sum, unsigned i) { return {sum.re.item(i), sum.im.item(i)}; }
};
template <unsigned kHeight, unsigned kWidth>
using Gemm4 = MatrixUnits<Gemm4Way, kHeight, kWidth>;

#endif

}  // namespace tiled
