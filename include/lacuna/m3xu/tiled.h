// Tiled matrix products by a workgroup of 256 work-items: the building blocks of m3xu::gemm and of kernels with custom
// operands or results (workloads/common/gemm_tiled.h).
//
// A workgroup computes Product::kRows x Product::kColumns elements. The operands of a slab of k pass through double-buffered
// LDS: the next slab is loaded into registers while the current one is multiplied, with one barrier per slab.
//
// In LDS both tiles are arrays of units [k][row or column]. A unit is 8 bytes: a double, a complex number, or the elements of
// two successive k (float) or four (fp16, bf16). A wavefront therefore reads its operands without bank conflicts, 8 or 16
// bytes per lane, for every type and layout.
//
// Each element is summed over ascending k for every tile size, so policies with the same rounding produce bit-identical
// results.
#pragma once

#include "lacuna/m3xu/fragments.h"
#include "lacuna/m3xu/stage.h"

namespace m3xu::tiled {

/// Barrier of the workgroup that also waits for its LDS accesses.
LACUNA_M3XU_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// Scheduling barrier for the compiler, which would otherwise load all of a slab's operands first and exceed the available
/// registers.
LACUNA_M3XU_DEVICE void keep_order() { __builtin_amdgcn_sched_barrier(0); }

/// Position of a workgroup's tile.
struct Tile {
  unsigned row, column;
};

/// LDS of one operand: two buffers for slabs of A's or B's tile.
template <unsigned kTile>
using Slabs = Unit[2][kUnits][kTile];
/// LDS of both operands of a product.
template <class Product>
struct Tiles {
  LACUNA_M3XU_MEMBER static Slabs<Product::kRows>& a() {
    static __attribute__((shared, aligned(16))) Slabs<Product::kRows> slabs;
    return slabs;
  }
  LACUNA_M3XU_MEMBER static Slabs<Product::kColumns>& b() {
    static __attribute__((shared, aligned(16))) Slabs<Product::kColumns> slabs;
    return slabs;
  }
};

/// Multiplies `slabs` slabs, which may be 0 only if `kMayBeNone`. Calls start(product) before the first slab and
/// finish(product) after the last slab; the stages load A and B. While a step is multiplied, the next step's operands are
/// loaded from LDS to registers; the last step of a slab is multiplied after the next slab has been stored to LDS. A slab's
/// loads are issued once the previous slab has been stored to LDS, so that a slab's products hide their latency.
template <class Product, template <class> class Lds = Tiles, bool kMayBeNone = false, class StageA, class StageB, class Start,
          class Finish>
LACUNA_M3XU_DEVICE void multiply_slabs(StageA a, StageB b, unsigned slabs, Start start, Finish finish) {
  auto& a_tile = Lds<Product>::a();
  auto& b_tile = Lds<Product>::b();
  Product product;
  start(product);
  typename Product::Operands operands[2];
  const auto load = [&] {
    a.load();
    b.load();
  };
  // Stores the slab in registers to LDS; `more`: another slab follows.
  const auto keep = [&](unsigned buffer, auto more) {
    a.keep(a_tile[buffer]);
    b.keep(b_tile[buffer]);
    // The next loads are issued after the barrier, because the barrier waits for all earlier loads.
    barrier();
    if constexpr (more.value) load();
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
    // With a single step, operands[0] is overwritten by the next load.
    if constexpr (Product::kSteps == 1) operands[1] = operands[0];
    keep_next(buffer ^ 1);
    keep_order();
    product.add(operands[1]);
    keep_order();
  };
  static_assert(Product::kSteps == 1 || Product::kSteps % 2 == 0);
  const auto keep_and_load = [&](unsigned buffer) { keep(buffer, detail::constant<true>()); };
  const auto keep_last = [&](unsigned buffer) { keep(buffer, detail::constant<false>()); };
  if (!kMayBeNone || slabs != 0) {
    load();
    if (slabs > 1) {
      keep_and_load(0);
      for (unsigned slab = 0; slab + 2 < slabs; ++slab) multiply_slab(slab & 1, keep_and_load);
      multiply_slab(slabs & 1, keep_last);
    } else {
      keep_last(0);
    }
    multiply_slab(~slabs & 1, [](unsigned) {});
  }
  finish(product);
}

/// Position of a work-item: its wavefront among the workgroup's 2 x 2, and its lane.
struct Place {
  LACUNA_M3XU_MEMBER explicit Place(unsigned item = OneDimension::work_item())
      : wavefront_row(item / 128), wavefront_column(item / 64 % 2), lane(item % 64) {}
  unsigned wavefront_row, wavefront_column, lane;
};

#if defined(__gfx90a__)

/// Policy with kHeight x kWidth products of 16 x 16 per wavefront. `Way` provides:
///   Element, Sum; kSteps: steps of a slab; kProducts: products of a step
///   Operand load(tile, step, place, x): a lane's part of 16 rows of A or columns of B; its own row or column is x
///   A left(Operand), B right(Operand): operands of the products
///   multiply(product, sum, A, B): adds a product of a step to the sum
///   multiply_first(sum, Operand, Operand, depth): likewise, with the first `depth` columns of A and rows of B of a step;
///       only needed if k may end within a step
///   item(sum, i): the lane's i-th element of four, in row  kByFour ? 4 i + g : 4 g + i,  g = lane / 16
///   set(sum, i, value): sets that element; only needed for sums that do not start at 0
template <class Way, unsigned kHeight, unsigned kWidth, class Items = OneDimension>
class MatrixUnits {
 public:
  using Element = typename Way::Element;
  static constexpr unsigned kRows = 32 * kHeight, kColumns = 32 * kWidth, kSteps = Way::kSteps;
  // With at most 64 registers of sums, kernels that do not split their operands fit into 128 registers.
  static constexpr unsigned kWavefronts = Way::kProducts == 1 && kHeight * kWidth * sizeof(typename Way::Sum) <= 256 ? 4 : 2;
  struct Operands {
    typename Way::Operand a[kHeight], b[kWidth];
  };

  LACUNA_M3XU_MEMBER static void load(Operands& to, const Unit (*a)[kRows], const Unit (*b)[kColumns], unsigned step) {
    const Place place(Items::work_item());
    const unsigned row = place.wavefront_row * 16 * kHeight + place.lane % 16;
    const unsigned column = place.wavefront_column * 16 * kWidth + place.lane % 16;
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) to.a[i] = Way::template load<kRows>(a, step, place, row + 16 * i);
#pragma unroll
    for (unsigned j = 0; j < kWidth; ++j) to.b[j] = Way::template load<kColumns>(b, step, place, column + 16 * j);
  }
  LACUNA_M3XU_MEMBER void add(const Operands& operands) {
    decltype(Way::left({})) as[kHeight];
    decltype(Way::right({})) bs[kWidth];
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) as[i] = Way::left(operands.a[i]);
#pragma unroll
    for (unsigned j = 0; j < kWidth; ++j) bs[j] = Way::right(operands.b[j]);
      // Products are the outermost loop, so that consecutive instructions belong to different sums.
#pragma unroll
    for (unsigned product = 0; product < Way::kProducts; ++product) {
#pragma unroll
      for (unsigned i = 0; i < kHeight; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kWidth; ++j) Way::multiply(product, sums_[i][j], as[i], bs[j]);
      }
    }
  }
  /// Adds the n-th of the kHeight x kWidth products of a step, for a Way with one product per sum.
  LACUNA_M3XU_MEMBER void add_one(const Operands& operands, unsigned n) {
    static_assert(Way::kProducts == 1);
    const unsigned i = n / kWidth, j = n % kWidth;
    Way::multiply(0, sums_[i][j], Way::left(operands.a[i]), Way::right(operands.b[j]));
  }
  /// Like add(), but with only the first `depth` elements of a step along k.
  LACUNA_M3XU_MEMBER void add_first(const Operands& operands, unsigned depth) {
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) {
#pragma unroll
      for (unsigned j = 0; j < kWidth; ++j) Way::multiply_first(sums_[i][j], operands.a[i], operands.b[j], depth);
    }
  }
  /// Calls put(row, column, sum) for each element of this lane.
  template <class Put>
  LACUNA_M3XU_MEMBER void each(Put put) const {
    each_place([&](unsigned row, unsigned column, unsigned i, unsigned j, unsigned item) {
      put(row, column, Way::item(sums_[i][j], item));
    });
  }
  /// Initialises the sums with get(row, column).
  template <class Get>
  LACUNA_M3XU_MEMBER void start(Get get) {
    each_place([&](unsigned row, unsigned column, unsigned i, unsigned j, unsigned item) {
      Way::set(sums_[i][j], item, get(row, column));
    });
  }

 private:
  template <class Use>
  LACUNA_M3XU_MEMBER static void each_place(Use use) {
    // Computed at each use: otherwise dependent addresses would occupy registers from the kernel's start.
    unsigned own = Items::work_item();
    asm volatile("" : "+v"(own));
    const Place place(own);
    const unsigned group = place.lane / 16;
#pragma unroll
    for (unsigned i = 0; i < kHeight; ++i) {
#pragma unroll
      for (unsigned item = 0; item < 4; ++item) {
#pragma unroll
        for (unsigned j = 0; j < kWidth; ++j) {
          use((place.wavefront_row * kHeight + i) * 16 + (Way::kByFour ? 4 * item + group : 4 * group + item),
              (place.wavefront_column * kWidth + j) * 16 + place.lane % 16, i, j, item);
        }
      }
    }
  }

  typename Way::Sum sums_[kHeight][kWidth] = {};
};

/// Operands of one unit per lane: unit 4 step + lane / 16 along k.
struct UnitOperands {
  using Operand = Unit;
  static constexpr unsigned kSteps = kUnits / 4, kProducts = 1;
  template <unsigned kTile>
  LACUNA_M3XU_MEMBER static Unit load(const Unit (*tile)[kTile], unsigned step, const Place& place, unsigned x) {
    return tile[4 * step + place.lane / 16][x];
  }
  LACUNA_M3XU_MEMBER static Unit left(Unit a) { return a; }
  LACUNA_M3XU_MEMBER static Unit right(Unit b) { return b; }
};
/// The formats of M3XU, and CDNA2's own fp16 and bf16.
template <format kFormat>
struct M3xuWay : UnitOperands {
  using Element = typename fragment<matrixa, kFormat>::element;
  using Sum = fragment<accum, kFormat>;
  static constexpr bool kByFour = sizeof(Element) == 8;
  LACUNA_M3XU_MEMBER static void multiply(unsigned, Sum& sum, Unit a, Unit b) {
    using A = fragment<matrixa, kFormat>;
    using B = fragment<matrixb, kFormat>;
    mma(sum, __builtin_bit_cast(A, a), __builtin_bit_cast(B, b), sum);
  }
  LACUNA_M3XU_MEMBER static void multiply_first(Sum& sum, Unit a, Unit b, unsigned depth) {
    using A = fragment<matrixa, kFormat>;
    using B = fragment<matrixb, kFormat>;
    mma(sum, __builtin_bit_cast(A, a), __builtin_bit_cast(B, b), sum, depth);
  }
  LACUNA_M3XU_MEMBER static typename Sum::element item(const Sum& sum, unsigned i) { return sum.item(i); }
  LACUNA_M3XU_MEMBER static void set(Sum& sum, unsigned i, typename Sum::element value) { sum.set(i, value); }
};
template <format kFormat, unsigned kHeight, unsigned kWidth, class Items = OneDimension>
using M3xu = MatrixUnits<M3xuWay<kFormat>, kHeight, kWidth, Items>;

#endif

}  // namespace m3xu::tiled
