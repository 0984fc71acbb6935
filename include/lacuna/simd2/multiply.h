// D = C (+) (A (x) B) for matrices of any size: the high-level interface of the SIMD2 paper.
//
//   simd2_minplus(A, B, C, D, m, n, k);              // launches kernels; likewise simd2_mma ... simd2_addnorm
//
// A is m x k, B k x n, C and D m x n, all row-major without gaps; A and B are half, C and D float; D may be C. Each element of
// D has the bits that the unit's instruction yields over ascending k (lacuna/simd2/operators.h), for any m, n and k. Programs
// that produce C or consume D in other ways call `simd2::multiply` in their own kernel.
//
// A workgroup of 256 work-items computes a square tile of D, each of its four wavefronts a quarter. Tiles of A and B pass
// through LDS (lacuna/simd2/staging.h); the next tiles are loaded while the current tiles are multiplied. Two workgroups with
// tiles of 128 x 128 elements, or three with 64 x 64, fit into the registers of a compute unit with 256 vector registers per
// SIMD (configs/rtx3080-like.cfg): while one loads, another multiplies.
#pragma once

#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/sparse.h"
#include "lacuna/simd2/staging.h"
#include "lacuna/simd2/tiles.h"

namespace simd2 {

namespace detail {
// Barrier of the workgroup that waits for this wavefront's LDS accesses, but, unlike __syncthreads, not for its loads from
// memory.
__device__ inline void lds_barrier() {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
#endif
}
// Whether the workgroup consists of exactly `workgroup_size` work-items in one dimension, so that all wavefronts are complete.
// Registers the wavefronts in LDS; the dispatch packet with the size may be in host memory, microseconds away.
__device__ inline bool workgroup_is_whole() {
#if defined(__HIP_DEVICE_COMPILE__)
  constexpr unsigned count = workgroup_size / 64;
  __shared__ unsigned present[count];
  const unsigned item = threadIdx.x;
  if ((threadIdx.y | threadIdx.z) != 0 || item >= workgroup_size || __builtin_amdgcn_read_exec() != ~0ul) return false;
  if (item < count) present[item] = 0;
  lds_barrier();
  if (item % 64 == 0) present[item / 64] = 1;
  lds_barrier();
  unsigned all = 1;
  for (unsigned i = 0; i < count; ++i) all &= present[i];
  return all != 0;
#else
  return true;
#endif
}
// Half of a unit: the operand of one of its two steps.
__device__ inline half4 step_of(half8 unit, unsigned step) {
  return step == 0 ? __builtin_shufflevector(unit, unit, 0, 1, 2, 3) : __builtin_shufflevector(unit, unit, 4, 5, 6, 7);
}
}  // namespace detail

/// Number of wavefronts per SIMD for which to compile a kernel that calls `multiply`, for __launch_bounds__.
template <unsigned tile>
inline constexpr unsigned wavefronts = tile == 128 ? 4 : 1;

/// Adjacent elements of a row of C or D as floats, which `multiply` requests and delivers together.
template <unsigned count>
using elements = detail::vector<float, count, 4>;

template <typename Elements>
inline constexpr unsigned count_of = sizeof(Elements) / sizeof(float);

/// Loads `count` adjacent elements from memory, aligned to one element, as floats.
template <unsigned count, typename T>
__device__ inline elements<count> load_elements(const T* from) {
  return __builtin_convertvector(*reinterpret_cast<const detail::vector<T, count, alignof(T)>*>(from), elements<count>);
}
template <unsigned count, typename T>
__device__ inline void store_elements(T* to, elements<count> values) {
  using stored = detail::vector<T, count, alignof(T)>;
  *reinterpret_cast<stored*>(to) = __builtin_convertvector(values, stored);
}

namespace detail {
#if !defined(__HIP_DEVICE_COMPILE__) || defined(__gfx90a__)
// A lane's part of a wavefront's sums: [i][j][r] is 16 i + r rows and j columns after the lane's first element.
template <unsigned quarter>
using wavefront_sums = float4[quarter][quarter];

// Adds the products of a slab in LDS, while load_next() starts the loads of the next slab.
template <opcode op, unsigned tile, typename Factors>
struct slab_products {
  using layout = slab<tile>;
  using layout_a = slab_a<Factors, tile>;
  using layout_b = slab_b<tile>;
  static constexpr unsigned quarter = layout::quarter;

  const typename layout_a::in_lds& a_lds;
  const typename layout_b::in_lds& b_lds;
  const unsigned& wave;
  wavefront_sums<quarter>& sums;

  template <typename Next>
  __device__ void operator()(Next&& load_next) const {
    lds_barrier();
    load_next();
    half8 from_a[layout::pairs][quarter], from_b[layout::pairs][quarter];
#pragma unroll
    for (unsigned pair = 0; pair < layout::pairs; ++pair) {
#pragma unroll
      for (unsigned i = 0; i < quarter; ++i) {
        from_a[pair][i] = layout_a::fragment_of(a_lds, wave / 2 * quarter + i, pair);
        from_b[pair][i] = layout_b::fragment_of(b_lds, wave % 2 * quarter + i, pair);
      }
    }
#pragma unroll
    for (unsigned step = 0; step < 2 * layout::pairs; ++step) {
      if (step == 2 * layout::pairs - 1) {
        __builtin_amdgcn_sched_barrier(0);
        lds_barrier();
        __builtin_amdgcn_sched_barrier(0);
      }
#pragma unroll
      for (unsigned i = 0; i < quarter; ++i) {
        const half4 a_step = step_of(from_a[step / 2][i], step % 2);
#pragma unroll
        for (unsigned j = 0; j < quarter; ++j) {
          const half4 b_step = step_of(from_b[step / 2][j], step % 2);
          sums[i][j] = multiply<op, int{std::is_same_v<Factors, sparse_factors>}>(a_step, b_step, sums[i][j]);
        }
      }
    }
  }
};
#endif
}  // namespace detail

/// Computes the tile of D that begins at (row0, column0) and has tile x tile elements, where `tile` is 64 or 128, with the
/// whole workgroup of `workgroup_size` work-items. `c(row, column, values)` sets `values`, an `elements<count>&`, to the
/// elements of C from (row, column) on along the row, and `d(row, column, values)` receives those of D; the count is 1, 2 or 4.
/// `d` receives each element of the tile inside the matrix once, in the lane that has read the element of C; for positions of
/// the tile outside the matrix, `c` is called with the last row or column instead. m, n and k must not be 0. Traps in
/// workgroups of other sizes or of several dimensions, whose wavefronts could be incomplete, and on targets other than gfx90a.
template <opcode op, unsigned tile, typename Factors, typename C, typename D>
__device__ inline void multiply([[maybe_unused]] const Factors& x, [[maybe_unused]] unsigned row0,
                                [[maybe_unused]] unsigned column0, [[maybe_unused]] C c, [[maybe_unused]] D d) {
  static_assert(tile == 64 || tile == 128, "simd2::multiply: a workgroup makes tiles of 64 x 64 or 128 x 128");
  constexpr bool sparse = std::is_same_v<Factors, sparse_factors>;
  static_assert(sparse || std::is_same_v<Factors, dense_factors>,
                "simd2::multiply: factors are dense_factors or sparse_factors");
  static_assert(!sparse || op != addnorm, "simd2::multiply: addnorm has no sparse form");
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
  // The rest is not compiled for other targets.
  __builtin_trap();
#else
  if (!detail::workgroup_is_whole()) __builtin_trap();
  using slab = detail::slab<tile>;
  using slab_a = detail::slab_a<Factors, tile>;
  using slab_b = detail::slab_b<tile>;
  constexpr unsigned quarter = slab::quarter;
  __shared__ typename slab_a::in_lds a_lds;
  __shared__ typename slab_b::in_lds b_lds;
  const unsigned lane = threadIdx.x % 64, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  const unsigned first_row = row0 + wave / 2 * (tile / 2) + lane / 16 * 4,
                 first_column = column0 + wave % 2 * (tile / 2) + lane % 16 * quarter;

  detail::wavefront_sums<quarter> sums;
  const auto rows = [&](auto&& row) {
#pragma unroll
    for (unsigned i = 0; i < quarter; ++i) {
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) row(sums[i], r, first_row + 16 * i + r);
    }
  };

  const bool whole = row0 + tile <= x.m && column0 + tile <= x.n;
  // With fewer than four columns, the rows of B are loaded element by element.
  const unsigned whole_k = x.n < 4 ? 0 : x.k / slab::depth * slab::depth;
  slab_a a(x, row0);
  slab_b b(x, column0);
  const auto load = [&] {
    a.load();
    b.load();
  };
  if (whole_k != 0) load();
  if (whole) {
    rows([&](auto& sum, unsigned r, unsigned row) {
      elements<quarter> values;
      c(row, first_column, values);
#pragma unroll
      for (unsigned j = 0; j < quarter; ++j) sum[j][r] = values[j];
    });
  } else {
    rows([&](auto& sum, unsigned r, unsigned row) {
#pragma unroll
      for (unsigned j = 0; j < quarter; ++j) {
        elements<1> value;
        c(min(row, x.m - 1), min(first_column + j, x.n - 1), value);
        sum[j][r] = value[0];
      }
    });
  }
  const detail::slab_products<op, tile, Factors> multiply_slab{a_lds, b_lds, wave, sums};
  for (unsigned k = 0; k < whole_k; k += slab::depth) {
    a.keep(a_lds);
    b.keep(b_lds);
    multiply_slab([&] {
      if (k + slab::depth < whole_k) load();
    });
  }
  for (unsigned k = whole_k; k < x.k; k += slab::depth) {
    slab_a::template keep_rest<op>(x, row0, k, a_lds);
    slab_b::template keep_rest<op>(x, column0, k, b_lds);
    multiply_slab([] {});
  }
  if (whole) {
    rows([&](auto& sum, unsigned r, unsigned row) {
      elements<quarter> values;
#pragma unroll
      for (unsigned j = 0; j < quarter; ++j) values[j] = sum[j][r];
      d(row, first_column, values);
    });
  } else {
    rows([&](auto& sum, unsigned r, unsigned row) {
#pragma unroll
      for (unsigned j = 0; j < quarter; ++j) {
        if (row < x.m && first_column + j < x.n) d(row, first_column + j, elements<1>{sum[j][r]});
      }
    });
  }
#endif
}

namespace detail {
template <opcode op, unsigned tile, typename Factors>
__global__ void __launch_bounds__(workgroup_size, wavefronts<tile>) product(Factors x, const float* c, float* d) {
  // offset() returns the offset of an element from the tile's first element, in bytes.
  const unsigned row0 = blockIdx.y * tile, column0 = blockIdx.x * tile;
  const size_t first = static_cast<size_t>(row0) * x.n + column0;
  const auto offset = [=](unsigned row, unsigned column) { return (__umul24(row - row0, x.n) + column - column0) * 4; };
  multiply<op, tile>(
      x, row0, column0,
      [=](unsigned row, unsigned column, auto& values) {
        values = load_elements<count_of<decltype(values)>>(&at<const float>(c + first, offset(row, column)));
      },
      [=](unsigned row, unsigned column, auto values) {
        store_elements<count_of<decltype(values)>>(&at<float>(d + first, offset(row, column)), values);
      });
}

// k = 0: D is C as the unit returns it when products that contribute nothing are added: orand, for example, turns 5 into 1. The
// assignment of elements to lanes does not matter, as all products are the same. All lanes of a wavefront take part.
template <opcode op>
__global__ void __launch_bounds__(workgroup_size)
    product_of_nothing([[maybe_unused]] const float* c, [[maybe_unused]] float* d, [[maybe_unused]] size_t count) {
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
  __builtin_trap();
#else
  const size_t first = (static_cast<size_t>(blockIdx.x) * workgroup_size + threadIdx.x) * 4;
  float4 values;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) values[i] = c[min(first + i, count - 1)];
  const half4 a = padding<op, matrixa>(), b = padding<op, matrixb>();
  values = multiply<op, 0>(a, b, values);
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    if (first + i < count) d[first + i] = values[i];
  }
#endif
}
}  // namespace detail

/// Tile edge of the workgroups for an m x n result: larger tiles load less data, smaller tiles occupy more compute units.
inline unsigned preferred_tile(unsigned m, unsigned n) {
  constexpr unsigned large = 128;
  int device = 0, units = 0;
  (void)hipGetDevice(&device);
  (void)hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
  const size_t workgroups = static_cast<size_t>((m + large - 1) / large) * ((n + large - 1) / large);
  return workgroups >= 2 * static_cast<size_t>(units) ? large : 64;
}

/// Launches D = C (+) (A (x) B) on a stream; call hipGetLastError for errors. `tile` is 64 or 128.
template <opcode op, unsigned tile, typename Factors>
void product(const Factors& x, const float* c, float* d, hipStream_t stream = nullptr) {
  if (x.m == 0 || x.n == 0) return;
  if (x.k == 0) {
    const size_t count = static_cast<size_t>(x.m) * x.n, workgroups = (count + 4 * workgroup_size - 1) / (4 * workgroup_size);
    detail::product_of_nothing<op><<<dim3(static_cast<unsigned>(workgroups)), workgroup_size, 0, stream>>>(c, d, count);
    return;
  }
  const dim3 workgroups((x.n + tile - 1) / tile, (x.m + tile - 1) / tile);
  detail::product<op, tile, Factors><<<workgroups, workgroup_size, 0, stream>>>(x, c, d);
}
template <opcode op, typename Factors>
void product(const Factors& x, const float* c, float* d, hipStream_t stream = nullptr) {
  preferred_tile(x.m, x.n) == 64 ? product<op, 64>(x, c, d, stream) : product<op, 128>(x, c, d, stream);
}
template <opcode op, typename Half>
void product(const Half* a, const Half* b, const float* c, float* d, int m, int n, int k, hipStream_t stream) {
  static_assert(is_half<Half>, "simd2: elements of A and B are half (_Float16); simd2::to_half converts");
  if (m < 0 || n < 0 || k < 0) return;
  product<op>(dense_factors{reinterpret_cast<const _Float16*>(a), reinterpret_cast<const _Float16*>(b), unsigned(m),
                            unsigned(n), unsigned(k), unsigned(k), unsigned(n)},
              c, d, stream);
}

namespace detail {
template <typename From, typename To>
__global__ void convert(const From* from, To* to, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * workgroup_size + threadIdx.x;
  if (i < count) to[i] = static_cast<To>(from[i]);
}
template <typename From, typename To>
void convert_all(const From* from, To* to, size_t count, hipStream_t stream) {
  const size_t workgroups = (count + workgroup_size - 1) / workgroup_size;
  if (count != 0) convert<<<dim3(static_cast<unsigned>(workgroups)), workgroup_size, 0, stream>>>(from, to, count);
}
}  // namespace detail

/// Launches the conversion of `count` numbers in GPU memory to half, rounding to nearest.
template <typename Half>
void to_half(const float* from, Half* to, size_t count, hipStream_t stream = nullptr) {
  static_assert(is_half<Half>, "simd2::to_half: the target's elements are half (_Float16)");
  detail::convert_all(from, reinterpret_cast<_Float16*>(to), count, stream);
}
/// Launches the conversion to float, which is exact.
template <typename Half>
void to_float(const Half* from, float* to, size_t count, hipStream_t stream = nullptr) {
  static_assert(is_half<Half>, "simd2::to_float: the source's elements are half (_Float16)");
  detail::convert_all(reinterpret_cast<const _Float16*>(from), to, count, stream);
}

}  // namespace simd2

template <typename Half>
void simd2_mma(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::mma>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_minplus(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::minplus>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_maxplus(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::maxplus>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_minmul(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::minmul>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_maxmul(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::maxmul>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_minmax(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::minmax>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_maxmin(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::maxmin>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_orand(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::orand>(A, B, C, D, m, n, k, stream);
}
template <typename Half>
void simd2_addnorm(const Half* A, const Half* B, const float* C, float* D, int m, int n, int k, hipStream_t stream = nullptr) {
  simd2::product<simd2::addnorm>(A, B, C, D, m, n, k, stream);
}
