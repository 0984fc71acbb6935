// Loads of A's and B's tiles into LDS by a workgroup of simd2::multiply, a slab along k at a time, and the layout in LDS from
// which lanes read the instruction's operands.
//
// A slab is one or two pairs of steps of 16 along k. A fragment consists of 16 rows of A or 16 columns of B in a slab: one
// operand for each step. In LDS a fragment has 64 units for each pair; unit (g, i) belongs to lane 16 g + i and holds elements
// 4g ... 4g + 3 of line i of both steps, or the two kept elements and their positions of a compressed A. Columns are
// distributed to fragments in turn, so that a lane has adjacent columns of D in its accumulators.
//
// Pitches are chosen so that a wavefront's loads and stores, including instructions with two addresses, are spread evenly over
// the banks.
#pragma once

#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/sparse.h"
#include "lacuna/simd2/tiles.h"

namespace simd2 {

/// Matrices of a product, row-major, lines `lda` and `ldb` elements apart.
struct dense_factors {
  const _Float16* a;
  const _Float16* b;
  unsigned m, n, k, lda, ldb;
};

inline constexpr unsigned workgroup_size = 256;

namespace detail {
// An element at an offset of less than 4 GiB from a base that all lanes share. Rows of a tile are close enough for a pitch of
// 24 bits (__umul24).
template <typename T, typename U>
__device__ inline T& at(U* shared, unsigned bytes) {
  using byte = std::conditional_t<std::is_const_v<U>, const char, char>;
  return *reinterpret_cast<T*>(reinterpret_cast<byte*>(shared) + bytes);
}
// Loads from a base and an offset. The asm hides the offset: otherwise the compiler would keep the sum in two vector registers
// and update it with vector instructions. The address space is explicit, because the compiler cannot infer it from an integer.
template <typename T>
__device__ inline T load_at(const _Float16* shared, unsigned& bytes) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(bytes));
#endif
  using global_bytes = __attribute__((address_space(1))) const char;
  using global = __attribute__((address_space(1))) const T;
  return *(global*)((global_bytes*)shared + bytes);
}
// Moves an address that is the same for all lanes to scalar registers.
template <typename T>
__device__ inline T* scalar(T* value) {
  const auto address = reinterpret_cast<size_t>(value);
  const size_t high = static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(address >> 32))),
               low = static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(address)));
  return reinterpret_cast<T*>(high << 32 | low);
}
// Keeps the address in scalar registers across updates.
template <typename T>
__device__ inline void keep_scalar([[maybe_unused]] T*& value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+s"(value));
#endif
}

// This work-item's index, recomputed at each use so that values derived from it do not occupy registers outside of a loop.
__device__ inline unsigned item() {
  unsigned answer = threadIdx.x;
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(answer));
#endif
  return answer;
}

// Dimensions of the slab that passes through LDS: 4096 elements of each matrix.
template <unsigned tile>
struct slab {
  static constexpr unsigned depth = 4096 / tile, pairs = depth / 32;
  static constexpr unsigned quarter = tile / 32;  ///< fragments of A, and of B, per wavefront
};

// Layout of A's units.
template <unsigned tile>
struct a_places {
  static constexpr unsigned g_pitch = 20, pair_pitch = 4 * g_pitch, pitch = slab<tile>::pairs * pair_pitch;
  static constexpr unsigned units = tile / 16 * pitch;
};
// Layout of B's units. The columns of a wavefront alternate between its fragments: line i of fragment f is column quarter * i +
// f.
template <unsigned tile>
struct b_places {
  static constexpr unsigned g_pitch = 20, pair_pitch = 4 * g_pitch, pitch = slab<tile>::pairs * pair_pitch + 4;
  static constexpr unsigned units = tile / 16 * pitch;
  __device__ static unsigned slot(unsigned i) { return slab<tile>::quarter == 4 ? i : i % 2 * 12 + i / 2; }
  /// Index of the half unit that holds elements 4 k4 ... 4 k4 + 3 of a column of the workgroup's tile.
  __device__ static unsigned half_unit(unsigned k4, unsigned column) {
    constexpr unsigned quarter = slab<tile>::quarter;
    const unsigned fragment = column / (tile / 2) * quarter + column % quarter, i = column % (tile / 2) / quarter;
    return 2 * (fragment * pitch + k4 / 8 * pair_pitch + k4 % 4 * g_pitch + slot(i)) + k4 / 4 % 2;
  }
};

// Fragments of A in LDS.
template <unsigned tile>
struct a_fragments {
  using places = a_places<tile>;
  struct in_lds {
    half8 units[places::units];
  };
  __device__ static half8 fragment_of(const in_lds& lds, unsigned number, unsigned pair) {
    const unsigned lane = threadIdx.x % 64;
    return lds.units[number * places::pitch + pair * places::pair_pitch + lane / 16 * places::g_pitch + lane % 16];
  }
};

template <typename Factors, unsigned tile>
struct slab_a;

// A work-item's part of a slab of A that is entirely inside the matrix along k: two groups of 8 elements along k. Rows outside
// the matrix repeat its last row.
template <unsigned tile>
struct slab_a<dense_factors, tile> : a_fragments<tile> {
  using places = a_places<tile>;
  using in_lds = typename a_fragments<tile>::in_lds;

  __device__ slab_a(const dense_factors& x, unsigned row0) : from(scalar(x.a + static_cast<size_t>(row0) * x.lda)) {
    const unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const unsigned step = lane / 4 % 2, line = lane % 4 + lane / 8 % 4 * 4, g = lane / 32 * 2;
    to = 2 * (wave * places::pitch + g * places::g_pitch + line) + step;
    for (unsigned j = 0; j < 2; ++j) {
      const unsigned row = wave * 16 + line + (tile == 128 ? 64 * j : 0), k = step * 16 + g * 4 + (tile == 64 ? 32 * j : 0);
      offsets[j] = (__umul24(min(row, x.m - 1 - row0), x.lda) + k) * 2;
    }
  }
  __device__ void load() {
    keep_scalar(from);
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) values[j] = load_at<half8_anywhere>(from, offsets[j]);
    from += slab<tile>::depth;
  }
  __device__ void keep(in_lds& lds) const {
    auto* const first = reinterpret_cast<half4*>(lds.units) + to;
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      half4* const place = first + 2 * j * (tile == 128 ? 4 * places::pitch : places::pair_pitch);
      place[0] = __builtin_shufflevector(values[j], values[j], 0, 1, 2, 3);
      place[2 * places::g_pitch] = __builtin_shufflevector(values[j], values[j], 4, 5, 6, 7);
    }
  }
  /// Copies a slab that may be partly outside the matrix to LDS, element by element.
  template <opcode op>
  __device__ static void keep_rest(const dense_factors& x, unsigned row0, unsigned k, in_lds& lds) {
    constexpr _Float16 outside = padding<op, matrixa>();
#pragma unroll 1
    for (unsigned element = item(); element < 4096; element += workgroup_size) {
      const unsigned line = element / slab<tile>::depth, at_k = element % slab<tile>::depth;
      const _Float16 value = x.a[static_cast<size_t>(min(row0 + line, x.m - 1)) * x.lda + min(k + at_k, x.k - 1)];
      const unsigned unit =
          line / 16 * places::pitch + at_k / 32 * places::pair_pitch + at_k / 4 % 4 * places::g_pitch + line % 16;
      reinterpret_cast<_Float16*>(lds.units + unit)[at_k / 16 % 2 * 4 + at_k % 4] = k + at_k < x.k ? value : outside;
    }
  }

  half8 values[2];
  unsigned offsets[2], to;
  const _Float16* from;
};

// A work-item's part of a slab of a compressed A: kept elements and positions of a row for one step of 16 along k. Along k, no
// slab extends past the compressed matrix.
template <unsigned tile>
struct slab_a<sparse_factors, tile> : a_fragments<tile> {
  using places = a_places<tile>;
  using in_lds = typename a_fragments<tile>::in_lds;

  __device__ slab_a(const sparse_factors& x, unsigned row0)
      : from_values(scalar(x.values + static_cast<size_t>(row0) * (x.ld / 2))),
        from_positions(scalar(reinterpret_cast<const _Float16*>(x.positions) + static_cast<size_t>(row0) * (x.ld / 16))) {
    const unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const unsigned line = lane / 2 % 16, fragment = tile == 128 ? wave * 2 + lane / 32 : wave,
                   pair = tile == 128 ? 0 : lane / 32;
    const unsigned step = lane % 2;
    to = 2 * (fragment * places::pitch + pair * places::pair_pitch + line) + step;
    // The row's 16 columns of this step: 8 values, and one word of positions.
    const unsigned columns = __umul24(min(fragment * 16 + line, x.m - 1 - row0), x.ld) + pair * 32 + step * 16;
    offset = columns;
    position_offset = columns / 8;
  }
  __device__ void load() {
    keep_scalar(from_values);
    keep_scalar(from_positions);
    values = load_at<vector<unsigned, 4, 8>>(from_values, offset);
    positions = load_at<unsigned short>(from_positions, position_offset);
    from_values += slab<tile>::depth / 2;
    from_positions += slab<tile>::depth / 16;
  }
  __device__ void keep(in_lds& lds) const {
    auto* const place = reinterpret_cast<half4*>(lds.units) + to;
#pragma unroll
    for (unsigned g = 0; g < 4; ++g) {
      place[2 * g * places::g_pitch] =
          __builtin_bit_cast(half4, words2{values[g], static_cast<unsigned>(positions) >> (4 * g)});
    }
  }
  template <opcode op>
  __device__ static void keep_rest(const sparse_factors& x, unsigned row0, unsigned k, in_lds& lds) {
    slab_a a(x, row0);
    a.from_values += k / 2;
    a.from_positions += k / 16;
    a.load();
    a.keep(lds);
  }

  vector<unsigned, 4, 8> values;
  unsigned short positions;
  unsigned to, offset, position_offset;
  const _Float16 *from_values, *from_positions;
};

// A work-item's part of a slab of B: four rows of four columns, stored as columns. Columns outside the matrix have arbitrary
// contents.
template <unsigned tile>
struct slab_b {
  using places = b_places<tile>;
  struct in_lds {
    half8 units[places::units];
  };
  /// Requires rows of at least four columns.
  template <typename Factors>
  __device__ slab_b(const Factors& x, unsigned column0) : from(scalar(x.b)), ldb(x.ldb) {
    const unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const unsigned low = lane % 4, step = lane / 4 % 2, high = lane / 8;
    // Index of this work-item's group of four columns; each half of the tile has 8 or 16 groups.
    const unsigned fours = tile == 128 ? low + high % 4 * 4 + high / 4 * 16 : low + high % 2 * 4 + high / 2 % 2 * 8;
    const unsigned k4 = wave + step * 4 + (tile == 128 ? 0 : high / 4 * 8);
    // At the matrix' edge, loads the last four columns. Another lane may store the same column with the same contents; columns
    // before the tile are stored in places of columns outside the matrix.
    const unsigned column = min(column0 + fours * 4, x.n - 4);
    offset = (__umul24(k4 * 4, x.ldb) + column) * 2;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) to[i] = places::half_unit(k4, (column - column0 + i) % tile);
  }
  __device__ void load() {
    keep_scalar(from);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      values[j] = load_at<half4_anywhere>(from, offset);
      from += ldb;
    }
    from += static_cast<size_t>(slab<tile>::depth - 4) * ldb;
  }
  __device__ void keep(in_lds& lds) const {
    words2 rows[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) rows[j] = __builtin_bit_cast(words2, values[j]);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      // Column i of the four rows.
      const unsigned selection = i % 2 == 0 ? 0x05040100 : 0x07060302;
      const words2 column = {__builtin_amdgcn_perm(rows[1][i / 2], rows[0][i / 2], selection),
                             __builtin_amdgcn_perm(rows[3][i / 2], rows[2][i / 2], selection)};
      reinterpret_cast<half4*>(lds.units)[to[i]] = __builtin_bit_cast(half4, column);
    }
  }
  template <opcode op, typename Factors>
  __device__ static void keep_rest(const Factors& x, unsigned column0, unsigned k, in_lds& lds) {
    constexpr _Float16 outside = padding<op, matrixb>();
#pragma unroll 1
    for (unsigned element = item(); element < 4096; element += workgroup_size) {
      const unsigned column = element % tile, at_k = element / tile;
      const _Float16 value = x.b[static_cast<size_t>(min(k + at_k, x.k - 1)) * x.ldb + min(column0 + column, x.n - 1)];
      reinterpret_cast<_Float16*>(lds.units)[4 * places::half_unit(at_k / 4, column) + at_k % 4] =
          k + at_k < x.k ? value : outside;
    }
  }
  __device__ static half8 fragment_of(const in_lds& lds, unsigned number, unsigned pair) {
    const unsigned lane = threadIdx.x % 64;
    return lds
        .units[number * places::pitch + pair * places::pair_pitch + lane / 16 * places::g_pitch + places::slot(lane % 16)];
  }

  half4 values[4];
  const _Float16* from;
  unsigned ldb, offset, to[4];
};
}  // namespace detail
}  // namespace simd2
