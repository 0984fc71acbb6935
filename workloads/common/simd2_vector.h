// D = C (+) (A (x) B) with the operators of lacuna/simd2.h on vector ALUs, for comparison with a matrix unit.
//
// A workgroup of 256 work-items computes 64 x 64 elements of D; a work-item computes 8 x 4 of them for one half of the
// elements along k, and the halves are combined at the end. A and B are converted to float when they are stored to LDS, 16
// elements along k at a time; the next 16 are loaded while the current 16 are multiplied. Semantics are those of the unit
// except for the signs of zeros, the order of roundings, and NaN factors of minmax and maxmin, for which the other factor is
// used.
#pragma once

#include "lacuna/simd2/multiply.h"
#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/tiles.h"

namespace simd2_vector {

// Matrices of a product, row-major, lines `lda` and `ldb` elements apart; T is half or float.
template <typename T>
struct Factors {
  const T* a;
  const T* b;
  unsigned m, n, k, lda, ldb;
};

constexpr unsigned tile = 64, depth = 16, workgroup_size = 256, pitch = tile + 4;

// Minimum, maximum, and, or: one instruction each, as on NVIDIA's vector units. Without inline assembly, Clang would combine
// two minima into v_min3, which NVIDIA's units lack, and would insert v_max x, x to quiet signalling NaNs, which do not occur
// here.
__device__ inline float least_of(float a, float b) {
  float least;
  asm("v_min_f32 %0, %1, %2" : "=v"(least) : "v"(a), "v"(b));
  return least;
}
__device__ inline float most_of(float a, float b) {
  float most;
  asm("v_max_f32 %0, %1, %2" : "=v"(most) : "v"(a), "v"(b));
  return most;
}
__device__ inline float both_of(float a, float b) {
  float both;
  asm("v_and_b32 %0, %1, %2" : "=v"(both) : "v"(a), "v"(b));
  return both;
}
__device__ inline float either_of(float a, float b) {
  float either;
  asm("v_or_b32 %0, %1, %2" : "=v"(either) : "v"(a), "v"(b));
  return either;
}

// sum (+) (a (x) b). For orand all values are 1.0f or 0.0f (`truth`).
template <simd2::opcode op>
__device__ inline float combined(float sum, float a, float b) {
  using namespace simd2;
  constexpr bool least = takes_minimum(op), most = takes_maximum(op);
  if constexpr (op == orand) {
    return either_of(sum, both_of(a, b));
  } else if constexpr (least || most) {
    const float product = op == minplus || op == maxplus ? a + b
                          : op == minmul || op == maxmul ? a * b
                          : op == minmax                 ? most_of(a, b)
                                                         : least_of(a, b);
    return least ? least_of(sum, product) : most_of(sum, product);
  } else {
    const float distance = a - b;
    return op == mma ? sum + a * b : sum + distance * distance;
  }
}

// a (+) b.
template <simd2::opcode op>
__device__ inline float joined(float a, float b) {
  using namespace simd2;
  return op == orand ? either_of(a, b) : takes_minimum(op) ? least_of(a, b) : takes_maximum(op) ? most_of(a, b) : a + b;
}

template <simd2::opcode op>
__device__ inline float truth(float value) {
  return op != simd2::orand ? value : value != 0.0f ? 1.0f : 0.0f;
}

// Loads four elements of a row, of which `count` are inside the matrix; addresses need only be aligned to one element.
template <typename T>
__device__ inline float4 load_four(const T* from, unsigned count) {
  using four = T __attribute__((ext_vector_type(4), aligned(sizeof(T))));
  four values;
  if (count >= 4) {
    values = *reinterpret_cast<const four*>(from);
  } else {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) values[i] = from[min(i, count - 1)];
  }
  return make_float4(static_cast<float>(values[0]), static_cast<float>(values[1]), static_cast<float>(values[2]),
                     static_cast<float>(values[3]));
}
template <typename T>
__device__ inline void store_four(T* to, unsigned count, float4 values) {
  using four = T __attribute__((ext_vector_type(4), aligned(sizeof(T))));
  const four converted = {static_cast<T>(values.x), static_cast<T>(values.y), static_cast<T>(values.z),
                          static_cast<T>(values.w)};
  if (count >= 4) {
    *reinterpret_cast<four*>(to) = converted;
  } else {
#pragma unroll
    for (unsigned i = 0; i < 3; ++i) {
      if (i < count) to[i] = converted[i];
    }
  }
}

template <typename T>
using Four = T __attribute__((ext_vector_type(4)));
/// Four elements, aligned to one element.
template <typename T>
using UnalignedFour = T __attribute__((ext_vector_type(4), aligned(sizeof(T))));

// Two buffers for elements of A and B in LDS. At the end, this memory holds the sums of half of the workgroup.
struct Tiles {
  float a[2][depth][pitch], b[2][depth][pitch];
};
static_assert(sizeof(Tiles) >= 128 * 32 * sizeof(float), "half a workgroup's sums fit into the memory of the tiles");

// c(row, column, count) returns up to four elements of C; d(row, column, count, values) receives those of D.
template <simd2::opcode op, typename T, typename C, typename D>
__device__ inline void multiply(const Factors<T>& x, unsigned row0, unsigned column0, C c, D d) {
  __shared__ __attribute__((aligned(16))) Tiles tiles;
  const unsigned item = threadIdx.x, a_row = item % 64, a_k = item / 64 * 4, b_k = item / 16, b_column = item % 16 * 4;
  const T* const a_line = x.a + static_cast<size_t>(min(row0 + a_row, x.m - 1)) * x.lda;
  const bool inside = column0 + tile <= x.n;
  Four<T> a_next, b_next;
  const auto load = [&](unsigned k) {
    const T* const b_line = x.b + static_cast<size_t>(min(k + b_k, x.k - 1)) * x.ldb;
    if (k + depth <= x.k && inside) {
      a_next = *reinterpret_cast<const UnalignedFour<T>*>(a_line + k + a_k);
      b_next = *reinterpret_cast<const UnalignedFour<T>*>(b_line + column0 + b_column);
      return;
    }
    constexpr T a_padding = static_cast<T>(simd2::padding<op, simd2::matrixa>()),
                b_padding = static_cast<T>(simd2::padding<op, simd2::matrixb>());
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const T a = a_line[min(k + a_k + i, x.k - 1)], b = b_line[min(column0 + b_column + i, x.n - 1)];
      a_next[i] = k + a_k + i < x.k ? a : a_padding;
      b_next[i] = k + b_k < x.k ? b : b_padding;
    }
  };

  const unsigned part = item / 128, row = item % 128 / 16 * 8, column = item % 16 * 4;
  const unsigned columns = column0 + column < x.n ? min(x.n - column0 - column, 4U) : 0;
  float sums[8][4];
#pragma unroll
  for (unsigned i = 0; i < 32; ++i) sums[i / 4][i % 4] = simd2::identity<op>();
  load(0);
  const bool whole = row0 + tile <= x.m && column0 + tile <= x.n;
  const auto begin = [&](unsigned count) {
#pragma unroll
    for (unsigned y = 0; y < 8; ++y) {
      const float4 before = c(min(row0 + row + y, x.m - 1), column0 + column, count);
      sums[y][0] = truth<op>(before.x), sums[y][1] = truth<op>(before.y), sums[y][2] = truth<op>(before.z),
      sums[y][3] = truth<op>(before.w);
    }
  };
  // The first half of the workgroup initialises its sums with C.
  if (part == 0) {
    if (whole) {
      begin(4);
    } else if (columns != 0) {
      begin(columns);
    }
  }
  for (unsigned k = 0, buffer = 0; k < x.k; k += depth, buffer ^= 1) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) tiles.a[buffer][a_k + i][a_row] = truth<op>(static_cast<float>(a_next[i]));
    *reinterpret_cast<float4*>(&tiles.b[buffer][b_k][b_column]) =
        make_float4(truth<op>(static_cast<float>(b_next[0])), truth<op>(static_cast<float>(b_next[1])),
                    truth<op>(static_cast<float>(b_next[2])), truth<op>(static_cast<float>(b_next[3])));
    __syncthreads();
    if (k + depth < x.k) load(k + depth);
#pragma unroll 4
    for (unsigned j = 0; j < depth / 2; ++j) {
      const unsigned i = part * (depth / 2) + j;
      const float4 a0 = *reinterpret_cast<const float4*>(&tiles.a[buffer][i][row]);
      const float4 a1 = *reinterpret_cast<const float4*>(&tiles.a[buffer][i][row + 4]);
      const float4 b0 = *reinterpret_cast<const float4*>(&tiles.b[buffer][i][column]);
      const float as[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, bs[4] = {b0.x, b0.y, b0.z, b0.w};
#pragma unroll
      for (unsigned y = 0; y < 8; ++y) {
#pragma unroll
        for (unsigned z = 0; z < 4; ++z) sums[y][z] = combined<op>(sums[y][z], as[y], bs[z]);
      }
    }
  }
  // The second half's work-items pass their sums to those of the first half.
  __syncthreads();
  auto* const other = reinterpret_cast<float4*>(&tiles) + item % 128;
  if (part == 1) {
#pragma unroll
    for (unsigned y = 0; y < 8; ++y) other[128 * y] = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
  }
  __syncthreads();
  if (part == 1) return;
#pragma unroll
  for (unsigned y = 0; y < 8; ++y) {
    const float4 more = other[128 * y];
    sums[y][0] = joined<op>(sums[y][0], more.x), sums[y][1] = joined<op>(sums[y][1], more.y);
    sums[y][2] = joined<op>(sums[y][2], more.z), sums[y][3] = joined<op>(sums[y][3], more.w);
  }
  const auto end = [&](unsigned rows, unsigned count) {
#pragma unroll
    for (unsigned y = 0; y < 8; ++y) {
      if (y < rows) {
        d(row0 + row + y, column0 + column, count, make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]));
      }
    }
  };
  if (whole) {
    end(8, 4);
  } else if (columns != 0 && row0 + row < x.m) {
    end(x.m - row0 - row, columns);
  }
}

}  // namespace simd2_vector
