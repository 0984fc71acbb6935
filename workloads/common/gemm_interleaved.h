// A product of matrices of doubles in which everything but the matrix instructions is issued between them.
//
// multiply_slabs (lacuna/m3xu/tiled.h) issues a step's products one after the other, then what brings the next slab, then a
// barrier. For formats whose products keep the unit for long that costs little. A step of FP64 by f64 MFMA, or by M3XU with
// mfma.fp64_multipliers = 27bits, keeps it for 16 cycles of a100-like: a wavefront issues an instruction every four cycles, so
// that three others fit between two products, and none of them is waited for. What a slab needs beside its products is spread
// over them here.
//
// A wavefront computes 64 x 64 elements, in 128 registers: of 64 x 32 the LDS would have to deliver more than it can (36 KiB
// for each 256 cycles of the unit, at 128 bytes a cycle).
#pragma once

#include "workloads/common/gemm_tiled.h"

namespace tiled {

#if defined(__gfx90a__)

template <Lines kLines>
struct LinesOf {
  static constexpr Lines value = kLines;
};

/// LDS at an address of 32 bits.
template <class T>
__device__ inline auto& lds(unsigned address) {
  return *(__attribute__((address_space(3))) T*)address;
}
/// A value that stays in its register, and is not computed anew where it is needed.
__device__ inline void keep_in_register(unsigned& value) { asm volatile("" : "+v"(value)); }

/// What a work-item brings of a matrix in memory: kTile rows of op(A), or columns of op(B), in loads of 16 bytes that are
/// issued and kept one by one.
template <unsigned kTile, Lines kLines>
class LineStage {
 public:
  static constexpr unsigned kLoads = kTile / 64;

  __device__ LineStage(const Operand<double>& matrix, unsigned first)
      : step_(scalar(kLines == Lines::along_k ? kDepth<double> : kDepth<double> * matrix.ld)),
        first_(scalar(matrix.data + (kLines == Lines::along_k ? static_cast<size_t>(first) * matrix.ld : first))) {
    const unsigned item = threadIdx.x, last = matrix.size - 1 - first;
    const AlongK place(item);
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      // Lines behind the last one repeat it: what comes of them is not stored.
      const unsigned pair = item + kWorkgroup * i;
      const unsigned line = kLines == Lines::along_k ? least(place.row + 64 * i, last) : pair / (kTile / 2);
      const unsigned at = kLines == Lines::along_k ? place.unit : least(pair % (kTile / 2) * 2, last & ~1u);
      offset_[i] = (line * matrix.ld + at) * sizeof(double);
    }
  }
  /// The slab that load() reads.
  __device__ const double* slab(unsigned number) const { return first_ + scalar(number * step_); }
  /// The i-th load of the slab at `from`.
  __device__ void load(unsigned i, const double* from) {
    // The offset stays one of 32 bits beside an address in scalar registers.
    asm volatile("" : "+s"(from));
    asm volatile("" : "+v"(offset_[i]));
    typedef TwoUnits Anywhere __attribute__((aligned(alignof(double))));
    values_[i] = *global_at<const Anywhere>(from, offset_[i]);
  }
  /// Where in a tile in LDS, in bytes, the first load goes.
  __device__ static unsigned place() {
    const AlongK place(threadIdx.x);
    return (kLines == Lines::along_k ? place.unit * kTile + place.row : threadIdx.x * 2) * sizeof(Unit);
  }
  /// What the i-th load brought, to the tile whose place() is at `address`: in two parts, as a single ds_write2_b64 would meet
  /// itself in the same banks.
  __device__ void keep(unsigned i, unsigned part, unsigned address) const {
    if constexpr (kLines == Lines::along_k) {
      lds<Unit>(address + (part * kTile + 64 * i) * sizeof(Unit)) = part == 0 ? Unit(values_[i].lo) : Unit(values_[i].hi);
    } else {
      if (part == 1) lds<TwoUnits>(address + 2 * kWorkgroup * i * sizeof(Unit)) = values_[i];
    }
  }

 private:
  unsigned step_;
  const double* first_;
  unsigned offset_[kLoads];  // in a slab, bytes
  TwoUnits values_[kLoads];
};

/// LDS for A twice, then for B twice: an address' other buffer differs in one bit.
template <unsigned kTile>
__device__ inline unsigned two_slabs() {
  static __attribute__((shared, aligned(2 * sizeof(Unit) * kUnits * kTile))) Unit tiles[4][kUnits][kTile];
  return (unsigned)(__attribute__((address_space(3))) char*)&tiles[0];
}

/// Waits for the workgroup and its accesses to LDS, but not for loads in flight, as barrier()'s fences do.
__device__ inline void lds_barrier() { asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory"); }

/// Adds the products of `slabs` slabs, one at least. Slab s is in LDS and its first operands in registers, slab s + 1 is in
/// flight.
template <class Product, class StageA, class StageB>
__device__ inline void add_interleaved(Product& product, StageA a, StageB b, unsigned slabs) {
  constexpr unsigned kRows = Product::kRows, kHeight = kRows / 32, kProducts = kHeight * kHeight, kReads = 2 * kHeight;
  constexpr unsigned kLoads = StageA::kLoads + StageB::kLoads, kTileBytes = sizeof(Unit) * kUnits * kRows;
  static_assert(Product::kColumns == kRows && Product::kSteps == 2 && kLoads == 4 && kProducts == 16 && kReads == 8);
  const unsigned a_tile = two_slabs<kRows>();
  const unsigned b_tile = a_tile + 2 * kTileBytes;
  const Place place;
  const auto first = [&](unsigned half) {
    return (place.lane / 16 * kRows + half * 16 * kHeight + place.lane % 16) * sizeof(Unit);
  };
  // Where operands of each step are read, and where the next slab goes.
  unsigned a_reads[2], b_reads[2], a_keeps = a_tile + StageA::place(), b_keeps = b_tile + StageB::place();
  for (unsigned step = 0; step < 2; ++step) {
    a_reads[step] = a_tile + first(place.wavefront_row) + step * kTileBytes / 2;
    b_reads[step] = b_tile + first(place.wavefront_column) + step * kTileBytes / 2;
  }
  const auto other_buffer = [](unsigned& address) {
    address ^= kTileBytes;
    keep_in_register(address);
  };
  typename Product::Operands operands[2];
  // One at a time: two rows that are 128 bytes apart meet in the same banks, so that ds_read2_b64 would take twice as long.
  const auto read = [&](unsigned n, unsigned step) {
    if (n < kHeight) {
      operands[step].a[n] = lds<Unit>(a_reads[step] + 16 * n * sizeof(Unit));
    } else {
      operands[step].b[n - kHeight] = lds<Unit>(b_reads[step] + 16 * (n - kHeight) * sizeof(Unit));
    }
  };
  const double *a_slab = a.slab(0), *b_slab = b.slab(0);
  const auto load = [&](unsigned i) { i < StageA::kLoads ? a.load(i, a_slab) : b.load(i - StageA::kLoads, b_slab); };
  const auto keep = [&](unsigned i, unsigned part) {
    i < StageA::kLoads ? a.keep(i, part, a_keeps) : b.keep(i - StageA::kLoads, part, b_keeps);
  };
  const auto multiply = [&](unsigned step, auto between) {
#pragma unroll
    for (unsigned n = 0; n < kProducts; ++n) {
      keep_order();
      product.add_one(operands[step], n);
      keep_order();
      between(n);
    }
  };
  // Behind the last slab that one is loaded again: it is not used.
  const auto a_next = [&](unsigned slab) { a_slab = a.slab(least(slab, slabs - 1)); };
  const auto b_next = [&](unsigned slab) { b_slab = b.slab(least(slab, slabs - 1)); };

#pragma unroll
  for (unsigned i = 0; i < kLoads; ++i) load(i);
  a_next(1);
  b_next(1);
#pragma unroll
  for (unsigned i = 0; i < kLoads; ++i) {
    keep(i, 0);
    keep(i, 1);
    load(i);
  }
  a_next(2);
  b_next(2);
  lds_barrier();
#pragma unroll
  for (unsigned n = 0; n < kReads; ++n) read(n, 0);
  // Of the second step in this slab's tile, the first of the next slab and what is kept in the other one.
  other_buffer(a_reads[0]), other_buffer(b_reads[0]);
  other_buffer(a_keeps), other_buffer(b_keeps);
  for (unsigned slab = 0; slab < slabs; ++slab) {
    // The slab behind the next one is loaded into the registers that the next one leaves. No more than three instructions
    // between two products, and loads far from each other: all wavefronts issue them at the same time, and each takes up to 16
    // lines.
    multiply(0, [&](unsigned n) {
      constexpr unsigned kKeeps[2 * kLoads] = {4, 5, 7, 8, 9, 11, 12, 13};
      if (n < kReads) read(n, 1);
#pragma unroll
      for (unsigned i = 0; i < 2 * kLoads; ++i) {
        if (n == kKeeps[i]) keep(i / 2, i % 2);
      }
      if (n % 4 == 2 && n >= 6) load(n / 4 - 1);
    });
    lds_barrier();
    multiply(1, [&](unsigned n) {
      if (n < kReads) read(n, 0);
      if (n == 2) load(kLoads - 1);
      if (n == kReads) other_buffer(a_reads[0]), other_buffer(b_reads[0]);
      if (n == kReads + 1) other_buffer(a_reads[1]), other_buffer(b_reads[1]);
      if (n == kReads + 2) other_buffer(a_keeps), other_buffer(b_keeps);
      if (n == kReads + 4) a_next(slab + 3);
      if (n == kReads + 6) b_next(slab + 3);
    });
  }
}

template <class Product>
__device__ inline void multiply_interleaved(const Result<double>& result, const Operand<double>& a, const Operand<double>& b,
                                            unsigned k) {
  const Tile tile = tile_in_bands<Product>();
  if (tile.column >= result.n) return;
  const unsigned slabs = k / kDepth<double>;
  Product product;
  // The layouts are known to each loop: branches between products would cost what the loop saves.
  const auto add = [&](auto a_lines, auto b_lines) {
    add_interleaved(product, LineStage<Product::kRows, decltype(a_lines)::value>(a, tile.row),
                    LineStage<Product::kColumns, decltype(b_lines)::value>(b, tile.column), slabs);
  };
  using Rows = LinesOf<Lines::across>;
  using Deep = LinesOf<Lines::along_k>;
  if (scalar(a.along_k) != 0) {
    scalar(b.along_k) != 0 ? add(Deep(), Deep()) : add(Deep(), Rows());
  } else {
    scalar(b.along_k) != 0 ? add(Rows(), Deep()) : add(Rows(), Rows());
  }
  put<Product>(result, tile, product);
}

#endif

}  // namespace tiled

#if defined(__gfx90a__)
#define INTERLEAVED_MATRIX_KERNEL(name, ...) \
  TILED_KERNEL_HEAD(name, double, 2) { tiled::multiply_interleaved<__VA_ARGS__>(c, a, b, k); }
#else
#define INTERLEAVED_MATRIX_KERNEL(name, ...) TILED_MATRIX_KERNEL(name, double, __VA_ARGS__)
#endif
