// Tiles of 16 x 16 x 16 in the registers of a wavefront, and the unit's instruction on them: the low-level interface of
// the SIMD2 paper. All 64 lanes must be active in every call.
//
//   simd2::matrix<simd2::matrixa, 16, 16, 16, _Float16> a;
//   simd2::matrix<simd2::matrixb, 16, 16, 16, _Float16> b;
//   simd2::matrix<simd2::accum, 16, 16, 16, float> c;
//   simd2::fillmatrix(c, simd2::identity<simd2::minplus>());
//   simd2::loadmatrix(a, source_a, lda);
//   simd2::loadmatrix(b, source_b, ldb);
//   simd2::mmo<simd2::minplus>(c, a, b, c);
//   simd2::storematrix(target, c, ldd);
//
// With i = l % 16 and g = l / 16, lane l holds the elements A[i][4g ... 4g + 3] of A, B[4g ... 4g + 3][i] of B, and [4g ... 4g
// + 3][i] of C and D.
#pragma once

#include "lacuna/simd2/operators.h"

namespace simd2 {

// Uses of a matrix.
struct matrixa {};
struct matrixb {};
struct accum {};
/// A of which each group of four elements A[i][4g ... 4g + 3] keeps two (lacuna/simd2/sparse.h).
struct matrixa_sparse {};

// Layouts in memory: element (row, column) is at row * ld + column, or at column * ld + row.
struct row_major {};
struct col_major {};

namespace detail {
template <typename T, unsigned count, unsigned alignment>
using vector = T __attribute__((ext_vector_type(count), aligned(alignment)));
using half4 = vector<_Float16, 4, 8>;
using half8 = vector<_Float16, 8, 16>;
// Four halves, aligned to one half.
using half4_anywhere = vector<_Float16, 4, 2>;
using half8_anywhere = vector<_Float16, 8, 2>;
using float4 = vector<float, 4, 16>;
using words2 = vector<unsigned, 2, 8>;

template <typename>
inline constexpr bool never = false;

__device__ inline unsigned lane() { return __builtin_amdgcn_mbcnt_hi(~0U, __builtin_amdgcn_mbcnt_lo(~0U, 0U)); }

// Transposes 4 x 4 elements among four adjacent lanes: element t of lane s becomes element s of lane t.
__device__ inline half4 transpose(half4 values) {
  constexpr int by_two = 0x4e, by_one = 0xb1;  // quad_perm of lanes 2, 3, 0, 1 and of 1, 0, 3, 2
  const words2 words = __builtin_bit_cast(words2, values);
  const bool upper = (lane() & 2) != 0, odd = (lane() & 1) != 0;
  const unsigned moved = __builtin_amdgcn_mov_dpp(upper ? words[0] : words[1], by_two, 0xf, 0xf, true);
  const unsigned first = upper ? moved : words[0], second = upper ? words[1] : moved;
  // Selects the low halves of both lanes in the even lane, the high halves in the odd lane; elements of the even lane are
  // first.
  const unsigned selection = odd ? 0x03020706 : 0x05040100;
  const unsigned other_first = __builtin_amdgcn_mov_dpp(first, by_one, 0xf, 0xf, true);
  const unsigned other_second = __builtin_amdgcn_mov_dpp(second, by_one, 0xf, 0xf, true);
  return __builtin_bit_cast(half4, words2{__builtin_amdgcn_perm(other_first, first, selection),
                                          __builtin_amdgcn_perm(other_second, second, selection)});
}

// The instruction. Traps on targets other than gfx90a, which do not have it.
template <int op, int sparse>
__device__ inline float4 multiply([[maybe_unused]] half4 a, [[maybe_unused]] half4 b, float4 c) {
#if defined(__gfx90a__)
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 7, op, sparse);
#else
  __builtin_trap();
  return c;
#endif
}
}  // namespace detail

/// A tile. `data` is this lane's part.
template <typename Use, int m, int n, int k, typename T, typename Layout = row_major>
class matrix {
  static constexpr bool is_accumulator = std::is_same_v<Use, accum>;
  static_assert(is_accumulator || std::is_same_v<Use, matrixa> || std::is_same_v<Use, matrixb> ||
                    std::is_same_v<Use, matrixa_sparse>,
                "simd2::matrix: the use is one of matrixa, matrixa_sparse, matrixb and accum");
  static_assert(m == 16 && n == 16 && k == 16, "simd2::matrix: the unit's only shape is 16, 16, 16; larger matrices are tiled");
  static_assert(is_accumulator || is_half<T>, "simd2::matrix: elements of A and B are half (_Float16)");
  static_assert(!is_accumulator || std::is_same_v<T, float>, "simd2::matrix: elements of an accumulator are float");
  static_assert(std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>,
                "simd2::matrix: the layout is row_major or col_major");
  static_assert(!std::is_same_v<Use, matrixa_sparse> || std::is_same_v<Layout, row_major>,
                "simd2::matrix: a sparse A is row_major: groups of four are along its rows");

 public:
  using use = Use;
  using element = std::conditional_t<is_accumulator, float, _Float16>;
  using layout = Layout;
  /// This lane's elements; for matrixa_sparse, the two kept elements followed by their positions.
  std::conditional_t<is_accumulator, detail::float4, detail::half4> data;

  /// Row and column, in the tile, of this lane's element `index` (0 to 3). Not available for matrixa_sparse.
  __device__ static unsigned row(unsigned index) { return along_rows ? detail::lane() % 16 : detail::lane() / 16 * 4 + index; }
  __device__ static unsigned column(unsigned index) {
    return along_rows ? detail::lane() / 16 * 4 + index : detail::lane() % 16;
  }

 private:
  // A lane's elements are adjacent in a row of A, or in a column of B, C and D.
  static constexpr bool along_rows = std::is_same_v<Use, matrixa>;
};

/// Sets all elements of the tile to `value`.
template <typename Use, typename T, typename Layout, typename Value>
__device__ inline void fillmatrix(matrix<Use, 16, 16, 16, T, Layout>& tile, Value value) {
  static_assert(!std::is_same_v<Use, matrixa_sparse>, "simd2::fillmatrix: a sparse A has no element in every place");
  using element = typename matrix<Use, 16, 16, 16, T, Layout>::element;
  static_assert(std::is_convertible_v<Value, float>, "simd2::fillmatrix: the value is a number");
  for (int i = 0; i < 4; ++i) tile.data[i] = static_cast<element>(static_cast<float>(value));
}

namespace detail {
template <typename Use, typename Source>
constexpr void check_elements() {
  static_assert(std::is_same_v<Use, accum> || is_half<Source>,
                "simd2::loadmatrix: A and B are loaded from half (_Float16); simd2::to_half converts");
  static_assert(!std::is_same_v<Use, accum> || std::is_same_v<std::remove_cv_t<Source>, float>,
                "simd2: accumulators are loaded from float and stored to float");
  static_assert(!std::is_same_v<Use, matrixa_sparse>, "simd2::loadmatrix: a sparse A is loaded from values and positions");
}
template <typename Use, typename Layout, unsigned ld>
constexpr void check_ld() {
  static_assert(ld >= 16, "simd2: lines of a tile have 16 elements: the leading dimension is at least 16");
  static_assert(std::is_same_v<Use, accum> || ld % 4 == 0,
                "simd2: lines of A and B begin at multiples of 8 bytes: the leading dimension is a multiple of 4");
  static_assert(!std::is_same_v<Use, accum> || std::is_same_v<Layout, row_major> || ld % 4 == 0,
                "simd2: columns of an accumulator begin at multiples of 16 bytes: the leading dimension is a multiple of 4");
}
}  // namespace detail

/// Loads a tile whose lines (rows, or columns of col_major) are `ld` elements apart. `source`, in global memory or LDS, and the
/// lines begin at multiples of 8 bytes for A and B and of 16 bytes for a col_major accumulator; a row_major accumulator needs
/// no such alignment. Each lane loads 8 bytes of A or B by one access; if the layout's lines are not along k, groups of four
/// lanes transpose the data.
template <typename Use, typename T, typename Layout, typename Source>
__device__ inline void loadmatrix(matrix<Use, 16, 16, 16, T, Layout>& tile, const Source* source, unsigned ld) {
  detail::check_elements<Use, Source>();
  constexpr bool rows = std::is_same_v<Layout, row_major>;
  const unsigned i = detail::lane() % 16, g = detail::lane() / 16;
  if constexpr (!std::is_same_v<Use, accum>) {
    constexpr bool along_k = std::is_same_v<Use, matrixa> == rows;
    const unsigned line = along_k ? i : 4 * g + i % 4, first = along_k ? 4 * g : i / 4 * 4;
    const auto values = *reinterpret_cast<const detail::half4*>(source + static_cast<size_t>(line) * ld + first);
    tile.data = along_k ? values : detail::transpose(values);
  } else if constexpr (rows) {
    for (unsigned r = 0; r < 4; ++r) tile.data[r] = source[static_cast<size_t>(4 * g + r) * ld + i];
  } else {
    tile.data = *reinterpret_cast<const detail::float4*>(source + static_cast<size_t>(i) * ld + 4 * g);
  }
}
/// Like the overload above, but with a leading dimension known at compile time, whose alignment is checked.
template <unsigned ld, typename Use, typename T, typename Layout, typename Source>
__device__ inline void loadmatrix(matrix<Use, 16, 16, 16, T, Layout>& tile, const Source* source) {
  detail::check_ld<Use, Layout, ld>();
  loadmatrix(tile, source, ld);
}

/// Stores an accumulator; alignment as for loadmatrix.
template <typename Target, typename Use, typename T, typename Layout>
__device__ inline void storematrix(Target* target, const matrix<Use, 16, 16, 16, T, Layout>& tile, unsigned ld) {
  static_assert(std::is_same_v<Use, accum>, "simd2::storematrix: only accumulators can be stored");
  detail::check_elements<accum, Target>();
  const unsigned i = detail::lane() % 16, g = detail::lane() / 16;
  if constexpr (std::is_same_v<Layout, row_major>) {
    for (unsigned r = 0; r < 4; ++r) target[static_cast<size_t>(4 * g + r) * ld + i] = tile.data[r];
  } else {
    *reinterpret_cast<detail::float4*>(target + static_cast<size_t>(i) * ld + 4 * g) = tile.data;
  }
}
template <unsigned ld, typename Target, typename Use, typename T, typename Layout>
__device__ inline void storematrix(Target* target, const matrix<Use, 16, 16, 16, T, Layout>& tile) {
  detail::check_ld<Use, Layout, ld>();
  storematrix(target, tile, ld);
}

/// d = c (+) (a (x) b). d and c may be the same tile.
template <opcode op, typename D, typename A, typename B, typename C>
__device__ inline void mmo(D& d, const A& a, const B& b, const C& c) {
  constexpr bool sparse = std::is_same_v<typename A::use, matrixa_sparse>;
  constexpr bool accumulates = std::is_same_v<typename D::use, accum> && std::is_same_v<typename C::use, accum>;
  static_assert(op >= mma && op <= addnorm, "simd2::mmo: there is no such operator");
  static_assert(accumulates, "simd2::mmo: the first and the fourth operand, D and C, are accumulators");
  static_assert(std::is_same_v<typename A::use, matrixa> || sparse,
                "simd2::mmo: the second operand, A, is a matrixa or a matrixa_sparse");
  static_assert(std::is_same_v<typename B::use, matrixb>, "simd2::mmo: the third operand, B, is a matrixb");
  static_assert(!sparse || op != addnorm,
                "simd2::mmo: addnorm has no sparse form: an element that is not there has a distance");
  // Otherwise, the static assertion has already reported the error.
  if constexpr (accumulates) d.data = detail::multiply < op, sparse ? 1 : 0 > (a.data, b.data, c.data);
}
/// d = c (+) (a (x) b) with an operator chosen at run time, which must be the same for all lanes.
template <typename D, typename A, typename B, typename C>
__device__ inline void mmo(D& d, const A& a, const B& b, const C& c, opcode op) {
  switch (op) {
    case mma:
      return mmo<mma>(d, a, b, c);
    case minplus:
      return mmo<minplus>(d, a, b, c);
    case maxplus:
      return mmo<maxplus>(d, a, b, c);
    case minmul:
      return mmo<minmul>(d, a, b, c);
    case maxmul:
      return mmo<maxmul>(d, a, b, c);
    case minmax:
      return mmo<minmax>(d, a, b, c);
    case maxmin:
      return mmo<maxmin>(d, a, b, c);
    case orand:
      return mmo<orand>(d, a, b, c);
    case addnorm:
      // addnorm is not available for a sparse A; the operator is known only at run time.
      if constexpr (!std::is_same_v<typename A::use, matrixa_sparse>) return mmo<addnorm>(d, a, b, c);
      __builtin_trap();
  }
  __builtin_trap();
}

}  // namespace simd2
