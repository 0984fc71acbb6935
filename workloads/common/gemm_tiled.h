// C = alpha A B + beta C of any size, by tiles: kernels whose inner product is a policy (gemm_products.h), so that vector ALUs
// and matrix units are compared in the same program.
//
// A workgroup of 256 work-items computes Product::kRows x Product::kColumns elements of C. What it needs of A and B for a slab
// of k passes through LDS, double-buffered: the next slab is loaded into registers while the present one is multiplied, and
// there is one barrier for each slab.
//
// In LDS both tiles are arrays of units [k][row or column]. A unit is 8 bytes: a double, a complex number, or of float the
// elements of two successive k. So a wavefront reads its operands conflict-free, 8 or 16 bytes a lane, whatever their type and
// whichever way the matrix lies in memory.
//
// The sum of each element is taken over ascending k from 0 on, whatever the tile: policies that round likewise give the same
// bits.
#pragma once

#include <hip/hip_runtime.h>

#include <type_traits>

#include "lacuna/m3xu.h"

namespace tiled {

using Complex = m3xu::complex;
template <class T, unsigned n>
using Vector = T __attribute__((ext_vector_type(n)));
using Unit = Vector<float, 2>;
using TwoUnits = Vector<float, 4>;

constexpr unsigned kWorkgroup = 256, kUnits = 8;  // units of a slab along k
template <class Element>
constexpr unsigned kPerUnit = sizeof(Unit) / sizeof(Element);
/// Elements of a slab along k.
template <class Element>
constexpr unsigned kDepth = kUnits* kPerUnit<Element>;

/// op(A), m x k, or op(B), k x n. Elements that follow each other in memory do so along k, or else along the rows of op(A), or
/// the columns of op(B). Such lines are `ld` apart, begin at multiples of 16 bytes, and can be read to the next multiple of 16
/// bytes; k is a multiple of kDepth: behind the matrix' own there are zeros (padded_matrix() in gemm_host.h).
template <class Element>
struct Operand {
  const Element* data;
  unsigned ld;
  unsigned size;  ///< rows of op(A), columns of op(B)
  bool along_k;
};

template <class Element>
struct RealOf {
  using Type = Element;
};
template <>
struct RealOf<Complex> {
  using Type = float;
};

/// C: any m and n, row-major.
template <class Element>
struct Result {
  Element* c;
  unsigned m, n, ld;
  typename RealOf<Element>::Type alpha, beta;
};

/// alpha sum, and sum + beta c.
template <class Real>
__device__ inline Real scaled(Real sum, Real alpha) {
  return alpha * sum;
}
__device__ inline Complex scaled(Complex sum, float alpha) { return {alpha * sum.re, alpha * sum.im}; }
__device__ inline float added(float sum, float c, float beta) { return fmaf(beta, c, sum); }
__device__ inline _Float16 added(_Float16 sum, _Float16 c, _Float16 beta) { return beta * c + sum; }
__device__ inline double added(double sum, double c, double beta) { return fma(beta, c, sum); }
__device__ inline Complex added(Complex sum, Complex c, float beta) {
  return {fmaf(beta, c.re, sum.re), fmaf(beta, c.im, sum.im)};
}

/// For how many wavefronts on a SIMD a kernel is compiled, Product::kWavefronts, is what __launch_bounds__ should say.
#if defined(__gfx803__)
constexpr unsigned kSimtWavefronts = 1;
#else
constexpr unsigned kSimtWavefronts = 2;
#endif

/// Where in LDS what a work-item of a stage brings lies, if elements follow each other along k: two units of each 64 th row.
struct AlongK {
  __device__ explicit AlongK(unsigned item) : row(item / 64 * 16 + item % 16), unit(item % 64 / 16 * 2) {}
  template <unsigned kTile>
  __device__ void keep(Unit (*tile)[kTile], const TwoUnits (&values)[kTile / 64]) const {
#pragma unroll
    for (unsigned i = 0; i < kTile / 64; ++i) {
      tile[unit][row + 64 * i] = values[i].lo;
      tile[unit + 1][row + 64 * i] = values[i].hi;
    }
  }
  unsigned row, unit;
};

/// A value that is the same for all lanes, in scalar registers.
__device__ inline unsigned scalar(unsigned value) { return __builtin_amdgcn_readfirstlane(static_cast<int>(value)); }
template <class T>
__device__ inline const T* scalar(const T* value) {
  const auto address = reinterpret_cast<size_t>(value);
  return reinterpret_cast<const T*>(size_t{scalar(static_cast<unsigned>(address >> 32))} << 32 |
                                    scalar(static_cast<unsigned>(address)));
}

/// Global memory, `offset` bytes behind an address in scalar registers: an address for each lane would take two vector
/// registers and two instructions. Of an address that was a number the compiler does not know which memory it means.
template <class To, class T>
__device__ inline auto* global_at(T* base, unsigned offset) {
  using Global = __attribute__((address_space(1))) To;
  using Bytes = __attribute__((address_space(1))) char;
  return (Global*)((Bytes*)base + offset);
}
template <class Element>
__device__ inline void store(const Element* base, unsigned offset, Element value) {
  if constexpr (std::is_class_v<Element>) {
    *global_at<Unit>(base, offset) = __builtin_bit_cast(Unit, value);
  } else {
    *global_at<Element>(base, offset) = value;
  }
}

/// What a work-item brings of a matrix in memory: kTile rows of op(A), or columns of op(B).
template <class Element, unsigned kTile>
class MatrixStage {
 public:
  static constexpr unsigned kLoads = kTile / 64;

  __device__ MatrixStage(const Operand<Element>& matrix, unsigned first)
      : place_(threadIdx.x),
        along_k_(matrix.along_k),
        step_(scalar(matrix.along_k ? kDepth<Element> : kDepth<Element> * matrix.ld)),
        next_half_(scalar(matrix.along_k ? 2 : matrix.ld)),
        slab_(scalar(matrix.data + (matrix.along_k ? static_cast<size_t>(first) * matrix.ld : first))) {
    const unsigned item = threadIdx.x, last = matrix.size - 1 - first;
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      unsigned line = 0, at = 0;
      if (along_k()) {
        // Lines behind the last one repeat it: what comes of them is not stored.
        line = min(place_.row + 64 * i, last);
        at = place_.unit * kPerUnit<Element>;
      } else if constexpr (sizeof(Element) == sizeof(Unit)) {
        const unsigned pair = item + kWorkgroup * i;
        line = pair / (kTile / 2);
        at = min(pair % (kTile / 2) * 2, last & ~1u);
      } else {
        line = item / 32 * 2 + i;
        at = min(item % 32 * kColumns, last & ~(kColumns - 1));
      }
      offset_[i] = (line * matrix.ld + at) * sizeof(Element);
    }
  }
  /// The next slab, from memory.
  __device__ void load() {
    // Else the compiler would count on an address of each lane.
    asm volatile("" : "+s"(slab_));
    const auto fetch = [&](auto& to, const Element* line, unsigned i) {
      to = *global_at<std::remove_reference_t<decltype(to)>>(line, offset_[i]);
    };
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      if constexpr (kLoads == 1 && sizeof(Element) == 4) {
        // Not one load of 16 bytes along k: with a branch here, the compiler would wait for the loads on its other side.
        Unit halves[2];
        fetch(halves[0], slab_, i);
        fetch(halves[1], slab_ + next_half_, i);
        values_[i].lo = halves[0];
        values_[i].hi = halves[1];
        continue;
      }
      fetch(values_[i], slab_, i);
    }
    slab_ += step_;
  }
  /// It, to LDS.
  __device__ void keep(Unit (*tile)[kTile]) const {
    const unsigned item = threadIdx.x;
    if (along_k()) {
      place_.keep<kTile>(tile, values_);
    } else if constexpr (sizeof(Element) == sizeof(Unit)) {
#pragma unroll
      for (unsigned i = 0; i < kLoads; ++i) {
        const unsigned pair = item + kWorkgroup * i;
        *reinterpret_cast<TwoUnits*>(&tile[pair / (kTile / 2)][pair % (kTile / 2) * 2]) = values_[i];
      }
    } else {
      // Two lines of memory are a line of units.
      auto* to = reinterpret_cast<TwoUnits*>(&tile[item / 32][item % 32 * kColumns]);
      if constexpr (kLoads == 2) {
        to[0] = TwoUnits{values_[0].x, values_[1].x, values_[0].y, values_[1].y};
        to[1] = TwoUnits{values_[0].z, values_[1].z, values_[0].w, values_[1].w};
      } else {
        to[0] = TwoUnits{values_[0].x, values_[0].z, values_[0].y, values_[0].w};
      }
    }
  }

 private:
  static constexpr unsigned kColumns = kTile / 32;  // that a work-item brings of each of two lines of float

  // A number in a scalar register, asked anew where it counts: as a condition that lives on it would be one for each lane.
  __device__ bool along_k() const {
    unsigned answer = along_k_;
    asm volatile("" : "+s"(answer));
    return answer != 0;
  }

  AlongK place_;
  unsigned along_k_, step_;
  unsigned next_half_;  // elements from the first half of `values_` to the second one, where they are loaded apart
  const Element* slab_;
  unsigned offset_[kLoads];  // in a slab, bytes
  TwoUnits values_[kLoads];
};

/// Instructions stay on their side of it. Without, the compiler would load all of a slab's operands first, into registers that
/// there are not.
__device__ inline void keep_order() { __builtin_amdgcn_sched_barrier(0); }

/// Where a workgroup's tile of C begins.
struct Tile {
  unsigned row, column;
};
/// Of a grid in bands (launch() in gemm_host.h): x is the column of tiles within a band, y the row, z the band.
template <class Product>
__device__ inline Tile tile_in_bands() {
  const unsigned band_columns = __builtin_amdgcn_grid_size_x() / kWorkgroup;
  return {blockIdx.y * Product::kRows, (blockIdx.z * band_columns + blockIdx.x) * Product::kColumns};
}

/// The workgroup's tile of C, whose elements may be wider than those of A and B. The stages bring A and B. In each step the
/// operands of the next one are on their way from LDS to registers; the last step of a slab is multiplied when the next slab is
/// in LDS already. A slab leaves memory when the one before it has left the registers for LDS: it has the time of a slab's
/// products to arrive.
template <class Product, class Sum, class StageA, class StageB>
__device__ inline void multiply_staged(const Result<Sum>& result, Tile tile, StageA a, StageB b, unsigned slabs) {
  __shared__ __attribute__((aligned(16))) Unit a_tile[2][kUnits][Product::kRows];
  __shared__ __attribute__((aligned(16))) Unit b_tile[2][kUnits][Product::kColumns];
  Product product;
  typename Product::Operands operands[2];
  const auto load = [&] {
    a.load();
    b.load();
  };
  // The slab that is in registers; `more`: another one follows it.
  const auto keep = [&](unsigned buffer, auto more) {
    a.keep(a_tile[buffer]);
    b.keep(b_tile[buffer]);
    // Behind the barrier, which waits for all loads before it.
    __syncthreads();
    if constexpr (more) load();
    product.load(operands[0], a_tile[buffer], b_tile[buffer], 0);
  };
  const auto multiply_slab = [&](unsigned buffer, auto keep_next) {
#pragma unroll
    for (unsigned step = 0; step + 1 < Product::kSteps; ++step) {
      product.load(operands[(step + 1) % 2], a_tile[buffer], b_tile[buffer], step + 1);
      keep_order();
      product.add(operands[step % 2]);
      keep_order();
    }
    // With a single step, operands[0] is about to be loaded.
    if constexpr (Product::kSteps == 1) operands[1] = operands[0];
    keep_next(buffer ^ 1);
    keep_order();
    product.add(operands[1]);
    keep_order();
  };
  static_assert(Product::kSteps == 1 || Product::kSteps % 2 == 0);
  const auto keep_and_load = [&](unsigned buffer) { keep(buffer, std::true_type()); };
  const auto keep_last = [&](unsigned buffer) { keep(buffer, std::false_type()); };
  load();
  if (slabs > 1) {
    keep_and_load(0);
    for (unsigned slab = 0; slab + 2 < slabs; ++slab) multiply_slab(slab & 1, keep_and_load);
    multiply_slab(slabs & 1, keep_last);
  } else {
    keep_last(0);
  }
  multiply_slab(~slabs & 1, [](unsigned) {});

  // Mostly the tile is inside, and what is in C does not count: no branches then.
  const bool checked = result.beta != 0 || tile.row + Product::kRows > result.m || tile.column + Product::kColumns > result.n;
  if (!checked) {
    const Sum* const first = scalar(result.c + static_cast<size_t>(tile.row) * result.ld + tile.column);
    product.each([&](unsigned row, unsigned column, Sum sum) {
      store(first, (row * result.ld + column) * sizeof(Sum), scaled(sum, result.alpha));
    });
  } else {
    product.each([&](unsigned row, unsigned column, Sum sum) {
      if (tile.row + row >= result.m || tile.column + column >= result.n) return;
      auto* const at = result.c + static_cast<size_t>(tile.row + row) * result.ld + tile.column + column;
      sum = scaled(sum, result.alpha);
      if (result.beta != 0) sum = added(sum, *at, result.beta);
      *at = sum;
    });
  }
}

template <class Product>
__device__ inline void multiply(const Result<typename Product::Element>& result, const Operand<typename Product::Element>& a,
                                const Operand<typename Product::Element>& b, unsigned k) {
  using Element = typename Product::Element;
  const Tile tile = tile_in_bands<Product>();
  if (tile.column >= result.n) return;
  multiply_staged<Product>(result, tile, MatrixStage<Element, Product::kRows>(a, tile.row),
                           MatrixStage<Element, Product::kColumns>(b, tile.column), k / kDepth<Element>);
}

}  // namespace tiled
