// D = C (+) (A (x) B) for matrices of any size: the high-level interface of the SIMD2 paper.
//
//   simd2_minplus(A, B, C, D, m, n, k);              // launches kernels; likewise simd2_mma ... simd2_addnorm
//
// A is m x k, B k x n, C and D m x n, all row-major without gaps; A and B are half, C and D float; D may be C. C, D and the
// products are those of the unit's instruction over ascending k (lacuna/simd2/operators.h): the same bits whatever m, n and k
// are. A program that has its own ideas of where C is from and where D goes calls `simd2::multiply` in a kernel of its own.
//
// A workgroup of 256 work-items makes a square tile of D, each of its four wavefronts a quarter. Tiles of A and B go through
// LDS, a slab along k at a time, in the order in which the lanes of the instruction want them; the next ones are on their way
// while the present ones are multiplied.
#pragma once

#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/sparse.h"
#include "lacuna/simd2/tiles.h"

namespace simd2 {

/// Matrices of a product, row-major, lines `lda` and `ldb` elements apart.
struct dense_factors {
  const half* a;
  const half* b;
  unsigned m, n, k, lda, ldb;
};

inline constexpr unsigned workgroup_size = 256;

namespace detail {
// How a workgroup's tile is in LDS: of A its rows, of B its columns, a slab along k at a time, in units of a lane's elements for two
// instructions: unit (pair, g, i) of 16 lines has elements 4g ... 4g + 3 of line i, of 16 and of the next 16 along k. The pitches
// keep the banks apart: 8 lanes load neighbouring units, and as many store two halves of units each.
template <unsigned tile>
struct staging {
  static constexpr unsigned slab = 4096 / tile;
  static constexpr unsigned g_pitch = slab == 64 ? 17 : 18, pair_pitch = 4 * g_pitch, pitch = slab / 32 * pair_pitch + 2;
  static constexpr unsigned units = tile / 16 * pitch;
  // The half unit of elements 4 k4 ... 4 k4 + 3 of line `line` of the workgroup's tile.
  __device__ static unsigned half_unit(unsigned k4, unsigned line) {
    return 2 * (line / 16 * pitch + k4 / 8 * pair_pitch + k4 % 4 * g_pitch + line % 16) + k4 / 4 % 2;
  }
};

// Waits for the workgroup, and for this wavefront's accesses to LDS before: unlike __syncthreads not for its loads from memory.
__device__ inline void lds_barrier() {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
#endif
}

// An element at an offset of less than 4 GiB from a place that all lanes share.
template <typename T, typename U>
__device__ inline T& at(U* shared, unsigned bytes) {
  using byte = std::conditional_t<std::is_const_v<U>, const char, char>;
  return *reinterpret_cast<T*>(reinterpret_cast<byte*>(shared) + bytes);
}

// What a work-item brings of a slab of A that is all inside: 8 elements along k of each of two rows. Rows outside repeat the last
// one.
template <unsigned tile>
struct slab_rows {
  static constexpr unsigned lanes = staging<tile>::slab / 8;

  __device__ slab_rows(unsigned rows_inside)
      : k(threadIdx.x % lanes * 8), rows{threadIdx.x / lanes, threadIdx.x / lanes + workgroup_size / lanes} {
    for (unsigned j = 0; j < 2; ++j) inside[j] = min(rows[j], rows_inside - 1);
  }
  __device__ void keep(half4* units, unsigned j, half4 first, half4 second) const {
    half4* const to = units + staging<tile>::half_unit(k / 4, rows[j]);
    to[0] = first;
    to[2 * staging<tile>::g_pitch] = second;
  }
  unsigned k, rows[2], inside[2];
};

template <typename Factors, unsigned tile>
struct slab_a;

template <unsigned tile>
struct slab_a<dense_factors, tile> : slab_rows<tile> {
  half8 values[2];
  unsigned offsets[2];
  const half* from;

  __device__ slab_a(const dense_factors& x, unsigned row0) : slab_rows<tile>(x.m - row0), from(x.a + static_cast<size_t>(row0) * x.lda) {
    for (unsigned j = 0; j < 2; ++j) offsets[j] = (this->inside[j] * x.lda + this->k) * 2;
  }
  __device__ void load(unsigned first) {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) values[j] = at<const half8_anywhere>(from + first, offsets[j]);
  }
  __device__ void keep(half4* units) const {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      slab_rows<tile>::keep(units, j, __builtin_shufflevector(values[j], values[j], 0, 1, 2, 3),
                            __builtin_shufflevector(values[j], values[j], 4, 5, 6, 7));
    }
  }
};

// Of a compressed A: two groups of each row, with their positions. Slabs are never partly outside.
template <unsigned tile>
struct slab_a<sparse_factors, tile> : slab_rows<tile> {
  words2 values[2];
  unsigned positions[2], offsets[2];
  const half* from_values;
  const unsigned short* from_positions;

  __device__ slab_a(const sparse_factors& x, unsigned row0)
      : slab_rows<tile>(x.m - row0),
        from_values(x.values + static_cast<size_t>(row0) * (x.ld / 2)),
        from_positions(x.positions + static_cast<size_t>(row0) * (x.ld / 16)) {
    for (unsigned j = 0; j < 2; ++j) offsets[j] = this->inside[j] * x.ld + this->k;
  }
  __device__ void load(unsigned first) {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      values[j] = at<const words2>(from_values + first / 2, offsets[j]);
      positions[j] = at<const unsigned short>(from_positions + first / 16, offsets[j] / 16 * 2);
    }
  }
  __device__ void keep(half4* units) const {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      const unsigned mine = positions[j] >> (this->k % 16);
      slab_rows<tile>::keep(units, j, __builtin_bit_cast(half4, words2{values[j][0], mine}),
                            __builtin_bit_cast(half4, words2{values[j][1], mine >> 4}));
    }
  }
};

// What a work-item brings of a slab of B: four rows of four columns, kept as columns. Columns outside repeat the last ones.
template <unsigned tile>
struct slab_b {
  vector<half, 4, 8> values[4];
  unsigned k4, line, column;

  // Eight lanes that store at once have two groups of columns in each of two sixteens, of two instructions.
  __device__ slab_b(unsigned column0) {
    const unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    constexpr bool wide = tile == 128;
    k4 = wave + (lane & 4) + (wide ? 0 : (lane & 32) / 4);
    line = (lane & 1) * 4 + (lane & 8) + (lane & 2) * 8 + (lane & 16) * 2 + (wide ? (lane & 32) * 2 : 0);
    column = column0 + line;
  }
  template <typename Factors>
  __device__ void load(const Factors& x, unsigned column0, unsigned k) {
    if (column0 + tile <= x.n || x.n % 4 == 0) {
      const unsigned offset = (k4 * 4 * x.ldb + min(column, x.n - 4)) * 2;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) values[j] = at<const half4_anywhere>(x.b + static_cast<size_t>(k + j) * x.ldb, offset);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 16; ++i) {
        const unsigned offset = (k4 * 4 * x.ldb + min(column + i % 4, x.n - 1)) * 2;
        values[i / 4][i % 4] = at<const half>(x.b + static_cast<size_t>(k + i / 4) * x.ldb, offset);
      }
    }
  }
  __device__ void keep(half4* units) const {
    half4* const to = units + staging<tile>::half_unit(k4, line);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) to[2 * i] = half4{values[0][i], values[1][i], values[2][i], values[3][i]};
  }
};

// The last slab, when it is not all inside: element by element.
template <opcode op, unsigned tile>
__device__ inline void keep_rest_of_a(const dense_factors& x, unsigned row0, unsigned k, half4* units) {
  constexpr half outside = padding<op, matrixa>();
  constexpr unsigned slab = staging<tile>::slab;
#pragma unroll 4
  for (unsigned j = 0; j < tile * slab; j += workgroup_size) {
    const unsigned i = j + threadIdx.x, line = i / slab, at = k + i % slab;
    const half value = x.a[static_cast<size_t>(min(row0 + line, x.m - 1)) * x.lda + min(at, x.k - 1)];
    reinterpret_cast<half*>(units + staging<tile>::half_unit(i % slab / 4, line))[i % 4] = at < x.k ? value : outside;
  }
}
template <opcode op, unsigned tile>
__device__ inline void keep_rest_of_a(const sparse_factors& x, unsigned row0, unsigned k, half4* units) {
  slab_a<sparse_factors, tile> a(x, row0);
  a.load(k);
  a.keep(units);
}
template <opcode op, unsigned tile, typename Factors>
__device__ inline void keep_rest_of_b(const Factors& x, unsigned column0, unsigned k, half4* units) {
  constexpr half outside = padding<op, matrixb>();
#pragma unroll 4
  for (unsigned j = 0; j < tile * staging<tile>::slab; j += workgroup_size) {
    const unsigned i = j + threadIdx.x, line = i % tile, at = k + i / tile;
    const half value = x.b[static_cast<size_t>(min(at, x.k - 1)) * x.ldb + min(column0 + line, x.n - 1)];
    reinterpret_cast<half*>(units + staging<tile>::half_unit(i / tile / 4, line))[i / tile % 4] = at < x.k ? value : outside;
  }
}
}  // namespace detail

/// The tile of D whose first element is (row0, column0), tile x tile elements, 64 or 128, made by the whole workgroup of
/// `workgroup_size` work-items. `c(row, column)` gives an element of C and `d(row, column, value)` takes one of D, each once and in the
/// same lane, for the elements of the tile that are in the matrix; c may be asked for elements again that are not this tile's.
/// m, n and k are not 0. Anywhere but on a gfx90a it is a trap.
template <opcode op, unsigned tile, typename Factors, typename C, typename D>
__device__ inline void multiply([[maybe_unused]] const Factors& x, [[maybe_unused]] unsigned row0, [[maybe_unused]] unsigned column0,
                                [[maybe_unused]] C c, [[maybe_unused]] D d) {
  static_assert(tile == 64 || tile == 128, "simd2::multiply: a workgroup makes tiles of 64 x 64 or 128 x 128");
  constexpr bool sparse = std::is_same_v<Factors, sparse_factors>;
  static_assert(sparse || std::is_same_v<Factors, dense_factors>, "simd2::multiply: factors are dense_factors or sparse_factors");
  static_assert(!sparse || op != addnorm, "simd2::multiply: addnorm has no sparse form");
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
  // Nothing of the rest has a meaning here, nor needs compiling.
  __builtin_trap();
#else
  constexpr unsigned quarter = tile / 32;
  using staging = detail::staging<tile>;
  __shared__ detail::half8 a_units[staging::units], b_units[staging::units];
  auto* const a_halves = reinterpret_cast<detail::half4*>(a_units);
  auto* const b_halves = reinterpret_cast<detail::half4*>(b_units);
  const unsigned lane = threadIdx.x % 64, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  const unsigned unit = lane / 16 * staging::g_pitch + lane % 16;
  const unsigned first_row = row0 + wave / 2 * (tile / 2) + lane / 16 * 4,
                 first_column = column0 + wave % 2 * (tile / 2) + lane % 16;

  detail::float4 sums[quarter][quarter];
  const auto each = [&](auto&& element) {
#pragma unroll
    for (unsigned i = 0; i < quarter; ++i) {
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
        for (unsigned j = 0; j < quarter; ++j) {
          sums[i][j][r] = element(sums[i][j][r], first_row + 16 * i + r, first_column + 16 * j);
        }
      }
    }
  };

  detail::slab_a<Factors, tile> a(x, row0);
  detail::slab_b<tile> b(column0);
  const auto load = [&](unsigned k) {
    if (k + staging::slab > x.k) return;
    a.load(k);
    b.load(x, column0, k);
  };
  load(0);
  each([&](float, unsigned row, unsigned column) -> float { return c(min(row, x.m - 1), min(column, x.n - 1)); });
  for (unsigned k = 0; k < x.k; k += staging::slab) {
    if (k + staging::slab <= x.k) {
      a.keep(a_halves);
      b.keep(b_halves);
    } else {
      detail::keep_rest_of_a<op, tile>(x, row0, k, a_halves);
      detail::keep_rest_of_b<op, tile>(x, column0, k, b_halves);
    }
    detail::lds_barrier();
    load(k + staging::slab);
#pragma unroll
    for (unsigned pair = 0; pair < staging::slab / 32; ++pair) {
      detail::half8 a_values[quarter], b_values[quarter];
#pragma unroll
      for (unsigned i = 0; i < quarter; ++i) {
        a_values[i] = a_units[(wave / 2 * quarter + i) * staging::pitch + pair * staging::pair_pitch + unit];
        b_values[i] = b_units[(wave % 2 * quarter + i) * staging::pitch + pair * staging::pair_pitch + unit];
      }
#pragma unroll
      for (unsigned i = 0; i < 2 * quarter * quarter; ++i) {
        const detail::half8 from_a = a_values[i / quarter % quarter], from_b = b_values[i % quarter];
        detail::float4& sum = sums[i / quarter % quarter][i % quarter];
        const bool second = i >= quarter * quarter;
        sum = detail::multiply<op, sparse ? 1 : 0>(
            second ? __builtin_shufflevector(from_a, from_a, 4, 5, 6, 7) : __builtin_shufflevector(from_a, from_a, 0, 1, 2, 3),
            second ? __builtin_shufflevector(from_b, from_b, 4, 5, 6, 7) : __builtin_shufflevector(from_b, from_b, 0, 1, 2, 3),
            sum);
      }
    }
    detail::lds_barrier();
  }
  if (row0 + tile <= x.m && column0 + tile <= x.n) {
    each([&](float sum, unsigned row, unsigned column) { return d(row, column, sum), sum; });
  } else {
    each([&](float sum, unsigned row, unsigned column) {
      if (row < x.m && column < x.n) d(row, column, sum);
      return sum;
    });
  }
#endif
}

namespace detail {
template <opcode op, unsigned tile, typename Factors>
__global__ void __launch_bounds__(workgroup_size) product(Factors x, const float* c, float* d) {
  // A place in the tile: its offset from the tile's first element.
  const unsigned row0 = blockIdx.y * tile, column0 = blockIdx.x * tile;
  const size_t first = static_cast<size_t>(row0) * x.n + column0;
  const auto offset = [=](unsigned row, unsigned column) { return ((row - row0) * x.n + column - column0) * 4; };
  multiply<op, tile>(
      x, row0, column0, [=](unsigned row, unsigned column) { return at<const float>(c + first, offset(row, column)); },
      [=](unsigned row, unsigned column, float value) { at<float>(d + first, offset(row, column)) = value; });
}
}  // namespace detail

/// Edge of the workgroups' tiles for a result of m x n: the larger ones load less, the smaller ones give more units work.
inline unsigned preferred_tile(unsigned m, unsigned n) {
  constexpr unsigned large = 128;
  int device = 0, units = 0;
  (void)hipGetDevice(&device);
  (void)hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
  const size_t workgroups = static_cast<size_t>((m + large - 1) / large) * ((n + large - 1) / large);
  return workgroups >= 2 * static_cast<size_t>(units) ? large : 64;
}

/// Launches D = C (+) (A (x) B) on a stream. hipGetLastError tells whether that went well. `tile` is 64 or 128.
template <opcode op, unsigned tile, typename Factors>
void product(const Factors& x, const float* c, float* d, hipStream_t stream = nullptr) {
  if (x.m == 0 || x.n == 0) return;
  if (x.k == 0) {
    (void)hipMemcpyAsync(d, c, static_cast<size_t>(x.m) * x.n * sizeof(float), hipMemcpyDeviceToDevice, stream);
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
  product<op>(dense_factors{reinterpret_cast<const half*>(a), reinterpret_cast<const half*>(b), unsigned(m), unsigned(n),
                            unsigned(k), unsigned(k), unsigned(n)},
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

/// Launches the conversion of `count` numbers in the GPU's memory, to the nearest half.
template <typename Half>
void to_half(const float* from, Half* to, size_t count, hipStream_t stream = nullptr) {
  static_assert(is_half<Half>, "simd2::to_half: the target's elements are half (_Float16)");
  detail::convert_all(from, reinterpret_cast<half*>(to), count, stream);
}
/// Likewise to float, which is exact.
template <typename Half>
void to_float(const Half* from, float* to, size_t count, hipStream_t stream = nullptr) {
  static_assert(is_half<Half>, "simd2::to_float: the source's elements are half (_Float16)");
  detail::convert_all(reinterpret_cast<const half*>(from), to, count, stream);
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
