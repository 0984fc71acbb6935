// A product of double-precision matrices in which all other instructions are issued between the matrix instructions.
//
// multiply_slabs (lacuna/m3xu/tiled.h) issues a step's products in sequence, then the instructions that load the next slab,
// then a barrier. This costs little for formats whose products occupy the matrix unit for long. On a100-like, an f64 MFMA
// product, or an M3XU FP64 product with mfma.fp64_multipliers = 27bits, occupies the unit for 16 cycles. A wavefront issues an
// instruction every four cycles, so that three other instructions fit between two products without delaying them. Here, a
// slab's other instructions are spread between its products.
//
// A wavefront computes 64 x 64 elements in 128 registers: 64 x 32 would exceed the bandwidth of LDS (36 KiB per 256 cycles of
// the unit, at 128 bytes per cycle). With 64 x 64, LDS is busy for three quarters of the time. All four wavefronts access LDS
// at the same time, so accesses are spread evenly over a slab's products. Rows and columns are processed in pairs: an operand
// of two products is 16 bytes, one access to LDS or memory.
#pragma once

#include "workloads/common/gemm_tiled.h"

namespace tiled {

#if defined(__gfx90a__)

/// Returns the object of type T at a 32-bit LDS address.
template <class T>
__device__ inline auto& lds(unsigned address) {
  return *(__attribute__((address_space(3))) T*)address;
}
/// Computes the value here and keeps it in its register, instead of recomputing it at each use.
__device__ inline void keep_in_register(unsigned& value) { asm volatile("" : "+v"(value)); }
template <class T>
__device__ inline void keep_scalar(T& value) {
  asm volatile("" : "+s"(value));
}

/// A work-item's part of a matrix in memory: kTile rows of op(A), or columns of op(B), loaded by two loads of 16 bytes per slab
/// of kDepth; two slabs can be in flight. If lines are along k, the two loads are of two adjacent rows, and LDS receives pairs
/// of rows for two successive k.
template <unsigned kTile, Lines kLines>
class PairStage {
 public:
  static constexpr unsigned kLoads = kTile / 64;
  static_assert(kLoads == 2);

  __device__ PairStage(const Operand<double>& matrix, unsigned first)
      : step_(scalar((kLines == Lines::along_k ? kDepth<double> : kDepth<double> * matrix.ld) * sizeof(double))),
        slab_(scalar(matrix.data + (kLines == Lines::along_k ? static_cast<size_t>(first) * matrix.ld : first))) {
    const unsigned item = threadIdx.x, last = matrix.size - 1 - first;
    const AlongK place(item);
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      // Lines beyond the last line read the last line; their results are not stored.
      const unsigned pair = item + kWorkgroup * i;
      const unsigned line = kLines == Lines::along_k ? least(place.row * 2 + i, last) : pair / (kTile / 2);
      const unsigned at = kLines == Lines::along_k ? place.unit : least(pair % (kTile / 2) * 2, last & ~1u);
      offset_[i] = (line * matrix.ld + at) * sizeof(double);
    }
  }
  /// Issues the i-th load of the slab, into one of two sets of registers.
  __device__ void load(unsigned set, unsigned i) {
    // Keeps the offset in 32 bits, with the address in scalar registers.
    asm volatile("" : "+v"(offset_[i]));
    typedef TwoUnits Anywhere __attribute__((aligned(alignof(double))));
    values_[set][i] = *global_at<const Anywhere>(slab_, offset_[i]);
  }
  __device__ void load_all(unsigned set) {
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) load(set, i);
  }
  /// Advances by `slabs` slabs, 0 or 1.
  __device__ void advance(unsigned slabs) { set_slab(slabs * step_); }
  /// Advances to the next slab if there is one (`more`): call it with part 0, then with part 1.
  __device__ void advance_if(bool more, unsigned part) {
    if (part == 0) {
      // Hides the value from the compiler, which would turn a known number into a vector shift of the condition.
      unsigned step = step_;
      keep_scalar(step);
      by_ = more ? step : 0;
    } else {
      set_slab(by_);
    }
  }
  /// Byte offset of the loaded data in a tile in LDS.
  __device__ static unsigned place() {
    const AlongK place(threadIdx.x);
    return (kLines == Lines::along_k ? place.unit * kTile + place.row * 2 : threadIdx.x * 2) * sizeof(Unit);
  }
  /// Stores half of the loaded data to a tile in LDS; `address` is the LDS address of the tile plus place().
  __device__ void keep(unsigned set, unsigned half, unsigned address) const {
    const auto& values = values_[set];
    if constexpr (kLines == Lines::along_k) {
      // Both rows are stored by one ds_write2_b64.
      const unsigned at = address + half * kTile * sizeof(Unit);
      lds<Unit>(at) = half == 0 ? Unit(values[0].lo) : Unit(values[0].hi);
      lds<Unit>(at + sizeof(Unit)) = half == 0 ? Unit(values[1].lo) : Unit(values[1].hi);
    } else {
      lds<TwoUnits>(address + 2 * kWorkgroup * half * sizeof(Unit)) = values[half];
    }
  }
  __device__ void keep_all(unsigned set, unsigned address) const {
    keep(set, 0, address);
    keep(set, 1, address);
  }
  /// Moves to the slab of `other`.
  __device__ void go_to(const PairStage& other) { slab_ = other.slab_; }

 private:
  __device__ void set_slab(unsigned bytes_further) {
    slab_ = scalar(reinterpret_cast<const double*>(reinterpret_cast<const char*>(slab_) + bytes_further));
    keep_scalar(slab_);
  }

  unsigned step_, by_;  // bytes
  const double* slab_;
  unsigned offset_[kLoads];  // byte offsets in a slab
  TwoUnits values_[2][kLoads];
};

/// 4 x 4 products of 16 x 16 elements per wavefront, by multiply() of Way (gemm_products.h). Product (i, j) covers every second
/// of 32 rows and columns, so that a lane's operands, and its results in a row, are adjacent.
template <class Way>
class PairedProducts {
 public:
  static constexpr unsigned kRows = 128, kColumns = 128, kCount = 16;
  struct Operands {
    TwoUnits a[2], b[2];
  };

  /// Sets the sums to 0.
  __device__ void clear() {
#pragma unroll
    for (auto& row : sums_) {
#pragma unroll
      for (auto& sum : row) sum = {};
    }
  }
  /// Adds the n-th product, in an order that starts with the first pairs of rows and columns.
  __device__ void add(const Operands& operands, unsigned n) {
    const unsigned i = n / 8 * 2 + n % 4 / 2, j = n % 8 / 4 * 2 + n % 2;
    const TwoUnits a = operands.a[i / 2], b = operands.b[j / 2];
    Way::multiply(0, sums_[i][j], i % 2 == 0 ? a.lo : a.hi, j % 2 == 0 ? b.lo : b.hi);
  }
  /// A lane's sums in row first_row() + 8 high + low, in column first_column() + 32 right and the next column.
  struct Pair {
    double lo, hi;
  };
  __device__ Pair pair(unsigned low, unsigned high, unsigned right) const {
    const auto& sums = sums_[high / 4 * 2 + low];
    return {Way::item(sums[2 * right], high % 4), Way::item(sums[2 * right + 1], high % 4)};
  }
  __device__ static unsigned first_row(const Place& place) { return place.wavefront_row * 64 + place.lane / 16 * 2; }
  __device__ static unsigned first_column(const Place& place) { return place.wavefront_column * 64 + place.lane % 16 * 2; }

 private:
  typename Way::Sum sums_[4][4];
};

/// Two LDS buffers for A, then two for B: the addresses in two buffers differ in one bit.
template <unsigned kTile>
__device__ inline unsigned two_slabs() {
  static __attribute__((shared, aligned(2 * sizeof(Unit) * kUnits * kTile))) Unit tiles[4][kUnits][kTile];
  return (unsigned)(__attribute__((address_space(3))) char*)&tiles[0];
}

/// LDS addresses of a wavefront's operands.
template <class Product>
struct OperandPlaces {
  static constexpr unsigned kTileBytes = sizeof(Unit) * kUnits * Product::kRows;
  __device__ OperandPlaces() : a_tile(two_slabs<Product::kRows>()), b_tile(a_tile + 2 * kTileBytes) {
    const Place place;
    const auto first = [&](unsigned half) {
      return (place.lane / 16 * Product::kRows + half * 64 + place.lane % 16 * 2) * sizeof(Unit);
    };
    a_reads_ = a_tile + first(place.wavefront_row);
    b_reads_ = b_tile + first(place.wavefront_column);
  }
  /// Reads the n-th operand of a step from a buffer: n alternates between A's pairs of rows and B's pairs of columns.
  __device__ void read(typename Product::Operands& operands, unsigned n, unsigned buffer, unsigned step) const {
    const unsigned offset = buffer * kTileBytes + step * kTileBytes / 2 + n / 2 * 32 * sizeof(Unit);
    if (n % 2 == 0) {
      operands.a[n / 2] = lds<TwoUnits>(a_reads_ + offset);
    } else {
      operands.b[n / 2] = lds<TwoUnits>(b_reads_ + offset);
    }
  }

  unsigned a_tile, b_tile;

 private:
  unsigned a_reads_, b_reads_;
};

/// Barrier of the workgroup that also waits for its LDS accesses but, unlike barrier(), not for loads in flight.
__device__ inline void lds_barrier() { asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory"); }

/// Adds the products of the first slab of an odd number of slabs. Does not use the first buffers in LDS.
template <class Product, class StageA, class StageB>
__device__ inline void add_first(Product& product, StageA& a, StageB& b) {
  const OperandPlaces<Product> places;
  a.load_all(0);
  b.load_all(0);
  a.keep_all(0, places.a_tile + OperandPlaces<Product>::kTileBytes + StageA::place());
  b.keep_all(0, places.b_tile + OperandPlaces<Product>::kTileBytes + StageB::place());
  lds_barrier();
#pragma unroll
  for (unsigned step = 0; step < 2; ++step) {
    typename Product::Operands operands;
#pragma unroll
    for (unsigned n = 0; n < 4; ++n) places.read(operands, n, 1, step);
#pragma unroll
    for (unsigned n = 0; n < Product::kCount; ++n) product.add(operands, n);
  }
}

/// Adds the products of `slabs` slabs, at least one. A slab has two steps along k, and a wavefront reads a step's operands
/// during the previous step. Each slab has one barrier, between its two steps, after which the next slab is in LDS: B of the
/// next slab was stored during the first step, A during the second step of the previous slab. Stored data were loaded two slabs
/// earlier.
template <class Product, class StageA, class StageB>
__device__ inline void add_interleaved(Product& product, StageA a, StageB b, unsigned slabs) {
  const OperandPlaces<Product> places;
  // LDS addresses at which loaded data are stored, by buffer.
  unsigned a_keeps[2], b_keeps[2];
  for (unsigned buffer = 0; buffer < 2; ++buffer) {
    a_keeps[buffer] = places.a_tile + StageA::place() + buffer * OperandPlaces<Product>::kTileBytes;
    b_keeps[buffer] = places.b_tile + StageB::place() + buffer * OperandPlaces<Product>::kTileBytes;
    keep_in_register(a_keeps[buffer]);
    keep_in_register(b_keeps[buffer]);
  }
  typename Product::Operands operands[2];
  const auto read = [&](unsigned n, unsigned buffer, unsigned step) { places.read(operands[step], n, buffer, step); };
  const auto multiply = [&](unsigned step, auto between) {
#pragma unroll
    for (unsigned n = 0; n < Product::kCount; ++n) {
      keep_order();
      product.add(operands[step], n);
      keep_order();
      between(n);
    }
  };
  // Prologue for an even number of slabs: before the first product, slab 0 of both operands and slab 1 of A are stored to LDS,
  // while slabs 1 and 2 of B and 2 and 3 of A are loaded.
  const unsigned odd = slabs % 2, even = slabs - odd, third = least(even / 2 - 1, 1);
  if (odd != 0) {
    product.clear();
    add_first(product, a, b);
    if (even == 0) return;
    a.advance(1);
    b.advance(1);
  }
  StageA early_a = a;
  StageB early_b = b;
  early_a.load_all(0);
  early_b.load_all(0);
  a.advance(1);
  early_a.go_to(a);
  early_a.load_all(1);
  b.advance(1);
  b.load_all(1);
  a.advance(third);
  a.load_all(0);
  b.advance(third);
  b.load_all(0);
  a.advance(third);
  a.load_all(1);
  // Clears the sums while the loads are in flight. The condition is hidden from the compiler, which would otherwise merge it
  // with the equal condition above and duplicate the code in between.
  unsigned begun = odd;
  keep_scalar(begun);
  if (begun == 0) product.clear();
  early_a.keep_all(0, a_keeps[0]);
  early_b.keep_all(0, b_keeps[0]);
  lds_barrier();
#pragma unroll
  for (unsigned n = 0; n < 4; ++n) read(n, 0, 0);
  early_a.keep_all(1, a_keeps[1]);
  unsigned left = even;
  // At most three instructions between two products, including waits; LDS reads and writes are spread evenly.
  const auto add_slab = [&](unsigned buffer) {
    const unsigned other = buffer ^ 1;
    multiply(0, [&](unsigned n) {
      if (n == 0) read(1, buffer, 1);
      if (n == 2) read(0, buffer, 1);
      if (n == 4) b.keep(other, 0, b_keeps[other]);
      if (n == 6) b.keep(other, 1, b_keeps[other]);
      if (n == 8) b.advance_if(left > 3, 0);
      if (n == 9) read(3, buffer, 1);
      if (n == 10) b.advance_if(left > 3, 1);
      if (n == 11) read(2, buffer, 1);
      if (n == 12) b.load(other, 0);
      if (n == 14) b.load(other, 1);
    });
    lds_barrier();
    multiply(1, [&](unsigned n) {
      if (n == 1) read(1, other, 0);
      if (n == 3) read(0, other, 0);
      if (n == 5) read(3, other, 0);
      if (n == 7) read(2, other, 0);
      if (n == 8) a.advance_if(left > 4, 0);
      if (n == 9) a.keep(buffer, 0, a_keeps[buffer]);
      if (n == 10) a.advance_if(left > 4, 1);
      if (n == 11) a.keep(buffer, 1, a_keeps[buffer]);
      if (n == 12) a.load(buffer, 0);
      if (n == 13) {
        --left;
        keep_scalar(left);
      }
      if (n == 14) a.load(buffer, 1);
    });
  };
  // Two slabs per iteration, without a branch between them: at a branch the compiler would wait for loads too early.
  do {
    add_slab(0);
    keep_order();
    add_slab(1);
  } while (left != 0);
}

/// Stores alpha times the workgroup's tile, which is entirely inside C.
template <bool kAlphaIsOne, class Product>
__device__ inline void store_tile(const Result<double>& result, Tile tile, const Product& product, const Place& place) {
  typedef double Pair __attribute__((ext_vector_type(2), aligned(8)));
  const double* const first = scalar(result.c + static_cast<size_t>(tile.row) * result.ld + tile.column);
  const unsigned offset = (Product::first_row(place) * result.ld + Product::first_column(place)) * sizeof(double);
#pragma unroll
  for (unsigned low = 0; low < 2; ++low) {
    const double* row = first + low * result.ld;
#pragma unroll
    for (unsigned high = 0; high < 8; ++high) {
#pragma unroll
      for (unsigned right = 0; right < 2; ++right) {
        auto sums = product.pair(low, high, right);
        if constexpr (!kAlphaIsOne) sums = {result.alpha * sums.lo, result.alpha * sums.hi};
        *global_at<Pair>(row, offset + right * 32 * sizeof(double)) = Pair{sums.lo, sums.hi};
      }
      // Computed row by row; otherwise the compiler would compute each row's address from the first row's.
      row = scalar(row + 8 * result.ld);
      keep_scalar(row);
    }
  }
}

/// Stores the workgroup's tile of C, like put() of gemm_tiled.h.
template <class Product>
__device__ inline void put_pairs(const Result<double>& result, Tile tile, const Product& product) {
  // Computed at each use: otherwise addresses that depend on it would occupy registers from the kernel's start.
  unsigned own = threadIdx.x;
  keep_in_register(own);
  const Place place(own);
  // Usually the tile is entirely inside and the previous contents of C are not used, so that no branches are needed.
  const bool checked = result.beta != 0 || tile.row + Product::kRows > result.m || tile.column + Product::kColumns > result.n;
  if (!checked) {
    result.alpha == 1 ? store_tile<true>(result, tile, product, place) : store_tile<false>(result, tile, product, place);
    return;
  }
#pragma unroll
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned low = i / 32, high = i / 4 % 8, right = i / 2 % 2;
    const unsigned row = tile.row + Product::first_row(place) + 8 * high + low;
    const unsigned column = tile.column + Product::first_column(place) + 32 * right + i % 2;
    if (row >= result.m || column >= result.n) continue;
    const auto sums = product.pair(low, high, right);
    double* const at = result.c + static_cast<size_t>(row) * result.ld + column;
    const double sum = scaled(i % 2 == 0 ? sums.lo : sums.hi, result.alpha);
    *at = result.beta != 0 ? added(sum, *at, result.beta) : sum;
  }
}

template <class Way>
__device__ inline void multiply_interleaved(const Result<double>& result, const Operand<double>& a, const Operand<double>& b,
                                            unsigned k) {
  using Product = PairedProducts<Way>;
  const Tile tile = tile_in_bands<Product>();
  if (tile.column >= result.n) return;
  const unsigned slabs = k / kDepth<double>;
  Product product;
  // The layouts are compile-time constants in each loop: branches between products would cost as much as the loop saves.
  const auto add = [&](auto a_lines, auto b_lines) {
    PairStage<Product::kRows, decltype(a_lines)::value> left(a, tile.row);
    PairStage<Product::kColumns, decltype(b_lines)::value> right(b, tile.column);
    add_interleaved(product, left, right, slabs);
  };
  using Rows = std::integral_constant<Lines, Lines::across>;
  using Deep = std::integral_constant<Lines, Lines::along_k>;
  if (scalar(a.along_k) != 0) {
    scalar(b.along_k) != 0 ? add(Deep(), Deep()) : add(Deep(), Rows());
  } else {
    scalar(b.along_k) != 0 ? add(Rows(), Deep()) : add(Rows(), Rows());
  }
  put_pairs(result, tile, product);
}

#endif

}  // namespace tiled

/// INTERLEAVED_MATRIX_KERNEL(NAME, WAY) defines the kernel NAME of a product with 128 x 128 elements per workgroup, by
/// WAY::multiply().
#if defined(__gfx90a__)
#define INTERLEAVED_MATRIX_KERNEL(name, ...) \
  TILED_KERNEL_HEAD(name, double, 2) { tiled::multiply_interleaved<__VA_ARGS__>(c, a, b, k); }
#else
#define INTERLEAVED_MATRIX_KERNEL(name, ...) TILED_MATRIX_KERNEL(name, double, __VA_ARGS__)
#endif
