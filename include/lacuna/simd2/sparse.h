// A 2:4 sparse A: two of each group of four elements A[i][4g ... 4g + 3] are kept, and the unit is twice as fast. Available
// for all operators except addnorm.
//
// Compressed, a matrix of m rows and `ld` columns (a multiple of 64, at least k) is
//   values      half[m][ld / 2]             the two kept elements of each group
//   positions   unsigned short[m][ld / 16]  four bits for each group, lowest for the first group: bits 1:0 the position in its
//                                           group of the first kept element, bits 3:2 that of the second
// Elements that are not kept contribute nothing.
#pragma once

#include "lacuna/simd2/operators.h"
#include "lacuna/simd2/tiles.h"

namespace simd2 {

/// Number of columns of a compressed matrix for k columns.
constexpr unsigned compressed_ld(unsigned k) { return (k + 63) / 64 * 64; }

/// Compresses a group; returns false if more than two of its elements are present. Elements equal to `absent` are not present:
/// their products must contribute nothing, as those of +inf with minplus. With min or max in (+), NaNs are not present either.
template <opcode op>
__host__ __device__ inline bool compress_group(const _Float16 (&group)[4], _Float16 absent, _Float16 (&kept)[2],
                                               unsigned& positions) {
  static_assert(op != addnorm, "simd2::compress: addnorm has no sparse form: an element that is not there has a distance");
  constexpr bool nan_is_absent = takes_minimum(op) || takes_maximum(op);
  constexpr _Float16 fill = padding<op, matrixa>();
  unsigned count = 0, places[2] = {0, 1};
  kept[0] = kept[1] = fill;
  for (unsigned i = 0; i < 4; ++i) {
    if (group[i] == absent || (nan_is_absent && group[i] != group[i])) continue;
    if (count == 2) return false;
    kept[count] = group[i];
    places[count++] = i;
  }
  if (count == 1) places[1] = (places[0] + 1) % 4;
  positions = places[0] | places[1] << 2;
  return true;
}

/// Compresses 16 columns of a row, from column `k0` on, into one element of `positions` and eight of `values`. Returns false if
/// a group has more than two elements that are present.
template <opcode op>
__host__ __device__ inline bool compress_columns(const _Float16* row, unsigned k0, unsigned k, _Float16 absent,
                                                 _Float16* values, unsigned short& positions) {
  unsigned all = 0;
  bool fits = true;
  for (unsigned g = 0; g < 4; ++g) {
    _Float16 group[4], kept[2];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned at = k0 + 4 * g + i;
      group[i] = at < k ? row[at] : absent;
    }
    unsigned places = 0;
    fits = compress_group<op>(group, absent, kept, places) && fits;
    values[2 * g] = kept[0], values[2 * g + 1] = kept[1];
    all |= places << (4 * g);
  }
  positions = static_cast<unsigned short>(all);
  return fits;
}

/// Compresses a row-major matrix on the host. Returns the first row that cannot be compressed, or m.
template <opcode op>
unsigned compress(const _Float16* a, unsigned m, unsigned k, unsigned lda, _Float16* values, unsigned short* positions,
                  _Float16 absent = padding<op, matrixa>()) {
  const unsigned ld = compressed_ld(k);
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned k0 = 0; k0 < ld; k0 += 16) {
      const size_t at = static_cast<size_t>(row) * ld + k0;
      if (!compress_columns<op>(a + static_cast<size_t>(row) * lda, k0, k, absent, values + at / 2, positions[at / 16])) {
        return row;
      }
    }
  }
  return m;
}

namespace detail {
template <opcode op>
__global__ void compress_kernel(const _Float16* a, unsigned m, unsigned k, unsigned lda, _Float16* values,
                                unsigned short* positions, unsigned* misfits, _Float16 absent) {
  const unsigned ld = compressed_ld(k), part = blockIdx.x * blockDim.x + threadIdx.x, row = part / (ld / 16);
  if (row >= m) return;
  const bool fits = compress_columns<op>(a + static_cast<size_t>(row) * lda, part % (ld / 16) * 16, k, absent,
                                         values + static_cast<size_t>(part) * 8, positions[part]);
  if (!fits) atomicAdd(misfits, 1);
}
}  // namespace detail

/// Compresses a matrix on the GPU, in GPU memory. Adds to `misfits` the number of parts of 16 columns that cannot be
/// compressed; the result is valid if it stays 0.
template <opcode op>
void compress(const _Float16* a, unsigned m, unsigned k, unsigned lda, _Float16* values, unsigned short* positions,
              unsigned* misfits, _Float16 absent = padding<op, matrixa>(), hipStream_t stream = nullptr) {
  const unsigned parts = m * (compressed_ld(k) / 16);
  detail::compress_kernel<op><<<dim3((parts + 255) / 256), 256, 0, stream>>>(a, m, k, lda, values, positions, misfits, absent);
}

/// Loads a sparse tile that begins at a multiple of 16 columns: `values` and `positions` point to those of its first element;
/// `ld` is the number of columns of the compressed matrix. A lane loads its group's two elements, at a multiple of 4 bytes, and
/// the positions of all groups of the tile's row.
__device__ inline void loadmatrix(matrix<matrixa_sparse, 16, 16, 16, _Float16>& tile, const _Float16* values,
                                  const unsigned short* positions, unsigned ld) {
  const unsigned i = detail::lane() % 16, g = detail::lane() / 16;
  const unsigned kept = *reinterpret_cast<const unsigned*>(values + static_cast<size_t>(i) * (ld / 2) + 2 * g);
  const unsigned places = positions[static_cast<size_t>(i) * (ld / 16)] >> (4 * g);
  tile.data = __builtin_bit_cast(detail::half4, detail::words2{kept, places});
}

/// Factors of a product with a compressed A of `ld` columns, for simd2::multiply.
struct sparse_factors {
  const _Float16* values;
  const unsigned short* positions;
  const _Float16* b;
  unsigned m, n, k, ld, ldb;
};

}  // namespace simd2
