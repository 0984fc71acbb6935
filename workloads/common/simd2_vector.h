// D = C (+) (A (x) B) with the operators of lacuna/simd2.h on vector ALUs: what a matrix unit competes with.
//
// A workgroup of 128 work-items makes 64 x 64 elements of D, a work-item 8 x 4 of them. A and B are converted to float on their
// way into LDS, 16 elements along k at a time; the next are loaded while the present are multiplied. Semantics are those of the
// unit but for the signs of zeros and the order of roundings.
#pragma once

#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/tiles.h"
#include "lacuna/simd2/multiply.h"

namespace simd2_vector {

// Matrices of a product, row-major, lines `lda` and `ldb` elements apart; T is half or float.
template <typename T>
struct Factors {
  const T* a;
  const T* b;
  unsigned m, n, k, lda, ldb;
};

constexpr unsigned tile = 64, depth = 16, workgroup_size = 128, pitch = tile + 4;

// sum (+) (a (x) b). For orand everything is 1.0f or 0.0f (`truth`).
template <simd2::opcode op>
__device__ inline float combined(float sum, float a, float b) {
  using namespace simd2;
  constexpr bool least = takes_minimum(op), most = takes_maximum(op);
  if constexpr (op == orand) {
    return __uint_as_float(__float_as_uint(sum) | (__float_as_uint(a) & __float_as_uint(b)));
  } else if constexpr (least || most) {
    const float product = op == minplus || op == maxplus ? a + b : op == minmul || op == maxmul ? a * b
                          : op == minmax                 ? fmaxf(a, b)
                                                         : fminf(a, b);
    return least ? fminf(sum, product) : fmaxf(sum, product);
  } else {
    const float distance = a - b;
    return op == mma ? sum + a * b : sum + distance * distance;
  }
}

template <simd2::opcode op>
__device__ inline float truth(float value) {
  return op != simd2::orand ? value : value != 0.0f ? 1.0f : 0.0f;
}

// c(row, column) and d(row, column, value) as for simd2::multiply.
template <simd2::opcode op, typename T, typename C, typename D>
__device__ inline void multiply(const Factors<T>& x, unsigned row0, unsigned column0, C c, D d) {
  // Eight elements at any address of one.
  using eight = T __attribute__((ext_vector_type(8)));
  using eight_anywhere = T __attribute__((ext_vector_type(8), aligned(sizeof(T))));
  __shared__ __attribute__((aligned(16))) float a_tile[2][depth][pitch], b_tile[2][depth][pitch];
  const unsigned item = threadIdx.x, a_row = item % 64, a_k = item / 64 * 8, b_k = item / 8, b_column = item % 8 * 8;
  const T* const a_line = x.a + static_cast<size_t>(min(row0 + a_row, x.m - 1)) * x.lda;
  const bool inside = column0 + tile <= x.n;
  eight a_next, b_next;
  const auto load = [&](unsigned k) {
    const T* const b_line = x.b + static_cast<size_t>(min(k + b_k, x.k - 1)) * x.ldb;
    if (k + depth <= x.k && inside) {
      a_next = *reinterpret_cast<const eight_anywhere*>(a_line + k + a_k);
      b_next = *reinterpret_cast<const eight_anywhere*>(b_line + column0 + b_column);
      return;
    }
    constexpr T a_padding = static_cast<T>(simd2::padding<op, simd2::matrixa>()),
                b_padding = static_cast<T>(simd2::padding<op, simd2::matrixb>());
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      const T a = a_line[min(k + a_k + i, x.k - 1)], b = b_line[min(column0 + b_column + i, x.n - 1)];
      a_next[i] = k + a_k + i < x.k ? a : a_padding;
      b_next[i] = k + b_k < x.k ? b : b_padding;
    }
  };

  const unsigned row = item / 16 * 8, column = item % 16 * 4;
  float sums[8][4];
  const auto each = [&](auto&& element) {
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) element(sums[i][j], row0 + row + i, column0 + column + j);
    }
  };
  load(0);
  each([&](float& sum, unsigned y, unsigned z) { sum = truth<op>(c(min(y, x.m - 1), min(z, x.n - 1))); });
  for (unsigned k = 0, buffer = 0; k < x.k; k += depth, buffer ^= 1) {
    float from_b[8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      a_tile[buffer][a_k + i][a_row] = truth<op>(static_cast<float>(a_next[i]));
      from_b[i] = truth<op>(static_cast<float>(b_next[i]));
    }
    auto* const b_line = reinterpret_cast<float4*>(&b_tile[buffer][b_k][b_column]);
    b_line[0] = make_float4(from_b[0], from_b[1], from_b[2], from_b[3]);
    b_line[1] = make_float4(from_b[4], from_b[5], from_b[6], from_b[7]);
    __syncthreads();
    if (k + depth < x.k) load(k + depth);
#pragma unroll
    for (unsigned i = 0; i < depth; ++i) {
      const float4 a0 = *reinterpret_cast<const float4*>(&a_tile[buffer][i][row]);
      const float4 a1 = *reinterpret_cast<const float4*>(&a_tile[buffer][i][row + 4]);
      const float4 b0 = *reinterpret_cast<const float4*>(&b_tile[buffer][i][column]);
      const float as[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, bs[4] = {b0.x, b0.y, b0.z, b0.w};
#pragma unroll
      for (unsigned y = 0; y < 8; ++y) {
#pragma unroll
        for (unsigned z = 0; z < 4; ++z) sums[y][z] = combined<op>(sums[y][z], as[y], bs[z]);
      }
    }
  }
  each([&](float& sum, unsigned y, unsigned z) {
    if (y < x.m && z < x.n) d(y, z, sum);
  });
}

}  // namespace simd2_vector
