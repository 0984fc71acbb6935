// Products of workspaces and weights on matrix units: f16 operands, f32 sums. A workgroup of four wavefronts computes 128 x 64
// elements, each wavefront 64 x 32 in 32 registers. At most 80 registers are used, so that three workgroups fit into a compute
// unit with 256 registers per lane of a SIMD.
//
// A fragment is 16 rows of the workspace, or filters, by 16 or 32 columns: one load of 8 or 16 bytes per lane, in which lane l
// has row l % 16 and group l / 16 of 4 or 8 columns. The two halves of 16 bytes are operands of two products; the columns of
// each product are not contiguous, but they are the same in A and B.
#pragma once

#include <hip/hip_runtime.h>

#include "lacuna/duplo.h"
#include "lacuna/m3xu.h"
#include "workloads/conv2d/convolution.h"

namespace conv {

using m3xu::tiled::global_at;
using m3xu::tiled::keep_order;
using m3xu::tiled::scalar;
using m3xu::tiled::Tile;
template <class T, unsigned n>
using Vector = m3xu::tiled::Vector<T, n>;

constexpr unsigned kItems = 256, kTileRows = 128, kTileColumns = 64, kSlab = 64;

/// Halves of a fragment per lane; `dwords` as in --fragments.
constexpr unsigned halves_of(unsigned dwords) { return 2 * dwords; }

/// Arguments of a product's kernel. The grid is (tiles along n, tiles along m, parts along K); part p starts at step p *
/// part_steps, and writes to y + p * m * n.
struct Product {
  const Half* a;  ///< the workspace, with rows padded to a multiple of 128; implicit: x, followed by zeros
  const Half* b;  ///< weights, with rows padded to a multiple of 64, and zeros after the last column
  float* y;
  unsigned m, n;                  ///< rows and columns of the product that are stored
  unsigned pitch;                 ///< elements between rows of A (of the workspace, even if implicit) and of B
  unsigned steps, part_steps;     ///< number of steps, in total and per part; a step covers the columns of a fragment
  unsigned unit, taps, channels;  ///< order of the columns: see Walk
  unsigned images, positions;     ///< order of rows with images innermost; images = 1: row r is row r of y
};

/// The order in which columns are multiplied. Channels innermost: ascending order. Taps innermost: `unit` channels of all taps,
/// then the next `unit` channels. The workspace is the same in both. A step must not cross units.
class Walk {
 public:
  /// Starts at a step. Ascending order is treated as one tap with a single unit.
  __device__ Walk(const Product& x, unsigned first, unsigned step_columns)
      : x_(x), step_(step_columns), steps_(scalar(x.unit / step_columns)) {
    const unsigned chunk = scalar(first / steps_);
    inner_ = first - chunk * steps_;
    const unsigned units = scalar(chunk / x.taps);
    tap_ = chunk - units * x.taps;
    column_ = tap_ * x.channels + units * x.unit + inner_ * step_;
  }
  __device__ unsigned column() const { return column_; }
  __device__ void next() {
    column_ += step_;
    if (++inner_ < steps_) return;
    // Without scalar(), the compiler would keep these values in vector registers.
    inner_ = 0;
    const bool last = ++tap_ == x_.taps;
    tap_ = scalar(last ? 0 : tap_);
    column_ = scalar(column_ + (last ? x_.channels - x_.taps * x_.channels : x_.channels - x_.unit));
  }

 private:
  const Product& x_;
  unsigned step_, steps_, inner_, tap_, column_;
};

#if defined(__gfx90a__)

/// A lane's part of a fragment.
template <unsigned kHalves>
using Fragment = Vector<Half, kHalves>;
template <unsigned kHalves>
constexpr unsigned kStepColumns = 4 * kHalves;

/// A wavefront's 64 x 32 sums.
struct Sums {
  Vector<float, 4> tiles[4][2] = {};

  /// Adds a step's products of the i-th fragment of A and `count` fragments of B, from the j-th on. Operands may be in two
  /// copies in separate registers; adjacent tiles then use one copy each, like the two octets of a warp that load the same half
  /// of A or of B (Duplo, MICRO '20, section II.B).
  template <unsigned kHalves, unsigned kCopies>
  __device__ void add(unsigned i, unsigned j, unsigned count, const Fragment<kHalves> (&a)[kCopies],
                      const Fragment<kHalves> (&b)[2][kCopies]) {
#pragma unroll
    for (unsigned half = 0; half < kHalves / 4; ++half) {
#pragma unroll
      for (unsigned k = j; k < j + count; ++k) {
        tiles[i][k] = __builtin_amdgcn_mfma_f32_16x16x16f16(part(a[k % kCopies], half), part(b[k][i % kCopies], half),
                                                            tiles[i][k], 0, 0, 0);
      }
    }
  }

 private:
  template <unsigned kHalves>
  __device__ static Fragment<4> part(Fragment<kHalves> all, unsigned half) {
    if constexpr (kHalves == 4) {
      (void)half;
      return all;
    } else {
      return half == 0 ? __builtin_shufflevector(all, all, 0, 1, 2, 3) : __builtin_shufflevector(all, all, 4, 5, 6, 7);
    }
  }
};

/// lds_at() returns the object at a 32-bit LDS address, lds_address() the address of an object in LDS.
template <class T>
__device__ inline auto& lds_at(unsigned address) {
  return *(__attribute__((address_space(3))) T*)address;
}
template <class T>
__device__ inline unsigned lds_address(T* data) {
  return (unsigned)(__attribute__((address_space(3))) char*)data;
}

/// The work-item's position in its workgroup. The lane is recomputed at each use, so that it takes no register while the
/// product is computed.
class Item {
 public:
  __device__ Item() : wavefront(scalar(threadIdx.x / 64)) {}
  __device__ unsigned row() const { return wavefront / 2; }
  __device__ unsigned column() const { return wavefront % 2; }
  __device__ unsigned lane() const {
    unsigned zero = 0;
    asm volatile("" : "+s"(zero));
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, zero));
  }

  const unsigned wavefront;  ///< position within the workgroup's 2 x 2 wavefronts
};

/// Barrier of the workgroup that also waits for this wavefront's LDS accesses, but not for its loads from memory.
__device__ inline void lds_barrier() { asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory"); }

/// Loads fragments directly from memory. Rows start at `row`, which must be the same for all lanes.
template <unsigned kHalves>
class MemoryFragments {
 public:
  __device__ MemoryFragments(const Half* data, unsigned row, unsigned pitch)
      : base_(scalar(data + static_cast<size_t>(scalar(row)) * pitch)), pitch_(pitch) {
    const unsigned lane = threadIdx.x % 64;
    offset_ = (lane % 16 * pitch + lane / 16 * kHalves) * sizeof(Half);
  }
  /// Loads the fragment of the i-th group of 16 rows, from a column on.
  __device__ Fragment<kHalves> load(unsigned i, unsigned column) {
    const Half* from = scalar(base_ + column + 16 * i * pitch_);
    // The address stays in scalar registers; the offset has 32 bits.
    asm volatile("" : "+s"(from));
    asm volatile("" : "+v"(offset_));
    return *global_at<const Fragment<kHalves>>(from, offset_);
  }
  /// Loads the same fragment once per copy.
  template <unsigned kCopies>
  __device__ void load(unsigned i, unsigned column, Fragment<kHalves> (&copies)[kCopies]) {
#pragma unroll
    for (unsigned c = 0; c < kCopies; ++c) copies[c] = load(i, column);
  }

 private:
  const Half* base_;
  unsigned pitch_, offset_;
};

/// Fragments of B, loaded one step ahead: those of the current and of the next step, indexed by the step's parity.
template <unsigned kHalves>
struct BFromMemory {
  __device__ BFromMemory(const Product& x, unsigned row, unsigned first)
      : from(x.b, row, x.pitch), walk(x, first, kStepColumns<kHalves>) {}
  __device__ void load(unsigned parity) {
    const unsigned column = walk.column();
    from.load(0, column, fragments[parity][0]);
    from.load(1, column, fragments[parity][1]);
    walk.next();
  }

  MemoryFragments<kHalves> from;
  Walk walk;
  Fragment<kHalves> fragments[2][2][1];
};

/// Operands whose fragments have two buffers of registers. With fragments of 16 bytes, or in two copies, two buffers of A take
/// 32 registers and two of B 16: together with the 32 sums, these would be all 80, with none left for addresses.
enum class Buffered { both, a, b };
/// With one buffer, a fragment of B is loaded during half of a step: 8 matrix instructions with fragments of 16 bytes, but 4
/// with two copies of 8 bytes, which hide too little of a load.
template <unsigned kHalves, unsigned kCopies>
constexpr Buffered kBuffered = kHalves == 8   ? Buffered::a
                               : kCopies == 2 ? Buffered::b
                                              : Buffered::both;

/// Multiplies with both operands loaded directly from memory. An operand with two buffers is loaded into one of them while the
/// other one is multiplied. An operand with one buffer is loaded fragment by fragment, when the step's products of the fragment
/// have been issued: of A after a quarter of the step, of B after half of it.
template <unsigned kHalves, unsigned kCopies>
__device__ inline void multiply_from_memory(Sums& sums, const Product& x, Tile tile, const Item& item, unsigned first,
                                            unsigned steps) {
  constexpr Buffered kTwo = kBuffered<kHalves, kCopies>;
  constexpr unsigned kOtherA = kTwo != Buffered::b, kOtherB = kTwo != Buffered::a;
  // Number of B's fragments by which a fragment of A is multiplied before the next fragment of A.
  constexpr unsigned kCount = kOtherA ? 1 : 2;
  MemoryFragments<kHalves> a(x.a, tile.row + item.row() * 64, x.pitch);
  MemoryFragments<kHalves> b(x.b, tile.column + item.column() * 32, x.pitch);
  Walk walk(x, first, kStepColumns<kHalves>);
  Fragment<kHalves> left[2][4][kCopies], right[2][2][kCopies];
  const auto multiply = [&](unsigned parity, auto more) {
    const unsigned column = walk.column(), own_a = parity & kOtherA, own_b = parity & kOtherB;
    if constexpr (more.value) {
      if constexpr (kOtherB) {
#pragma unroll
        for (unsigned j = 0; j < 2; ++j) b.load(j, column, right[own_b ^ 1][j]);
      }
      walk.next();
    }
#pragma unroll
    for (unsigned j = 0; j < 2; j += kCount) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        keep_order();
        sums.add<kHalves, kCopies>(i, j, kCount, left[own_a][i], right[own_b]);
        keep_order();
        if (more.value && j == 0) a.load(i, column, left[own_a ^ kOtherA][i]);
      }
      keep_order();
      if constexpr (more.value && !kOtherB) b.load(j, column, right[own_b][j]);
    }
  };
  using More = m3xu::detail::constant<true>;
  using Last = m3xu::detail::constant<false>;
  const unsigned column = walk.column();
  walk.next();
#pragma unroll
  for (unsigned j = 0; j < 2; ++j) b.load(j, column, right[0][j]);
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) a.load(i, column, left[0][i]);
  for (; steps > 2; steps -= 2) {
    multiply(0, More());
    multiply(1, More());
  }
  if (steps == 2) {
    multiply(0, More());
#pragma unroll
    for (unsigned c = 0; c < kCopies; ++c) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) left[0][i][c] = left[kOtherA][i][c];
#pragma unroll
      for (unsigned j = 0; j < 2; ++j) right[0][j][c] = right[kOtherB][j][c];
    }
  }
  multiply(0, Last());
}

/// Multiplies a step with A in LDS: load(i) reads the i-th fragment while the previous fragment is multiplied.
template <unsigned kHalves, class Load>
__device__ inline void multiply_step(Sums& sums, Load load, const Fragment<kHalves> (&b)[2][1]) {
  Fragment<kHalves> a[2][1];
  a[0][0] = load(0);
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    keep_order();
    if (i < 3) a[(i + 1) % 2][0] = load(i + 1);
    keep_order();
    sums.add<kHalves, 1>(i, 0, 2, a[i % 2], b);
  }
}

/// 32 columns of kRows rows of a matrix in LDS, 64 bytes per row. Groups of 16 or 8 bytes are permuted within rows so that
/// neither writes nor reads of a fragment have bank conflicts.
template <unsigned kHalves, unsigned kRows>
class LdsTile {
 public:
  static constexpr unsigned kBytes = kRows * 64;

  /// `row`: first row of the tile. `memory`: LDS for two buffers.
  __device__ LdsTile(const Half* data, unsigned row, unsigned pitch, char* memory)
      : base_(scalar(data + static_cast<size_t>(scalar(row)) * pitch)), pitch_(pitch), memory_(lds_address(memory)) {
    const unsigned item_row = threadIdx.x / 4;
    offset_ = (item_row * pitch + threadIdx.x % 4 * 8) * sizeof(Half);
  }
  /// Loads 32 columns from memory. `columns`: first column of each step.
  __device__ void load(const unsigned (&columns)[32 / kStepColumns<kHalves>]) {
    unsigned offset = offset_;
    if constexpr (kHalves == 4) offset += threadIdx.x % 4 < 2 ? columns[0] * sizeof(Half) : (columns[1] - 16) * sizeof(Half);
    const unsigned column = kHalves == 8 ? columns[0] : 0;
#pragma unroll
    for (unsigned i = 0; i < kRows / 64; ++i) {
      const Half* from = scalar(base_ + column + 64 * i * pitch_);
      asm volatile("" : "+s"(from));
      asm volatile("" : "+v"(offset));
      values_[i] = *global_at<const Vector<float, 4>>(from, offset);
    }
  }
  __device__ void keep(unsigned buffer) {
    const unsigned row = threadIdx.x / 4, unit = threadIdx.x % 4;
    const unsigned at = kHalves == 8 ? unit ^ (row / 2 % 4) : unit ^ (row / 4 % 4);
#pragma unroll
    for (unsigned i = 0; i < kRows / 64; ++i) {
      Vector<float, 4> value = values_[i];
      if (kHalves == 4 && row / 2 % 2 != 0) value = __builtin_shufflevector(value, value, 2, 3, 0, 1);
      lds_at<Vector<float, 4>>(memory_ + buffer * kBytes + (row + 64 * i) * 64 + at * 16) = value;
    }
  }
  /// Returns the fragment of a step for 16 rows from `row` on.
  __device__ Fragment<kHalves> fragment(unsigned buffer, unsigned row, unsigned step) const {
    const unsigned lane = threadIdx.x % 64, own = lane % 16;
    const unsigned group = (step * 4 + lane / 16) ^ (kHalves == 8 ? own / 2 % 4 : own / 2);
    return lds_at<Fragment<kHalves>>(memory_ + buffer * kBytes + (row + own) * 64 + group * kHalves * sizeof(Half));
  }

 private:
  const Half* base_;
  unsigned pitch_, memory_, offset_;
  Vector<float, 4> values_[kRows / 64];
};

/// Multiplies with A in LDS, and B in LDS or directly from memory. Two LDS buffers hold 32 columns each; loads are issued two
/// buffers ahead.
template <unsigned kHalves, bool kBInLds>
__device__ inline void multiply_through_lds(Sums& sums, const Product& x, Tile tile, const Item& item, unsigned first,
                                            unsigned steps) {
  constexpr unsigned kSteps = 32 / kStepColumns<kHalves>;
  using A = LdsTile<kHalves, kTileRows>;
  using B = LdsTile<kHalves, kTileColumns>;
  __shared__ __attribute__((aligned(1024))) char a_memory[2 * A::kBytes];
  __shared__ __attribute__((aligned(1024))) char b_memory[kBInLds ? 2 * B::kBytes : 16];
  A a(x.a, tile.row, x.pitch, a_memory);
  B b(x.b, tile.column, x.pitch, b_memory);
  BFromMemory<kHalves> direct(x, tile.column + item.column() * 32, first);
  Walk walk(x, first, kStepColumns<kHalves>);
  // If a buffer has no second step, its first step is loaded twice.
  unsigned loaded = 0;
  const auto load = [&] {
    unsigned columns[kSteps];
#pragma unroll
    for (unsigned s = 0; s < kSteps; ++s) {
      columns[s] = loaded < steps ? walk.column() : columns[0];
      walk.next();
      ++loaded;
    }
    a.load(columns);
    if constexpr (kBInLds) b.load(columns);
  };
  const auto keep = [&](unsigned buffer) {
    a.keep(buffer);
    if constexpr (kBInLds) b.keep(buffer);
  };
  const unsigned parts = (steps + kSteps - 1) / kSteps;
  unsigned done = 0;
  const auto multiply = [&](unsigned buffer, unsigned parity) {
#pragma unroll
    for (unsigned s = 0; s < kSteps; ++s) {
      if (s > 0 && done == steps) break;
      const unsigned at = kSteps == 2 ? s : parity;
      Fragment<kHalves> right[2][1];
      if constexpr (kBInLds) {
#pragma unroll
        for (unsigned j = 0; j < 2; ++j) right[j][0] = b.fragment(buffer, item.column() * 32 + 16 * j, s);
      } else {
        if (done + 1 < steps) direct.load(at ^ 1);
        right[0][0] = direct.fragments[at][0][0], right[1][0] = direct.fragments[at][1][0];
      }
      const auto left = [&](unsigned i) { return a.fragment(buffer, item.row() * 64 + 16 * i, s); };
      multiply_step<kHalves>(sums, left, right);
      ++done;
    }
  };
  load();
  if constexpr (!kBInLds) direct.load(0);
  keep(0);
  if (parts > 1) load();
  lds_barrier();
  const auto part = [&](unsigned number, unsigned parity) {
    multiply(parity, parity);
    if (number + 1 < parts) keep(parity ^ 1);
    lds_barrier();
    if (number + 2 < parts) load();
  };
  // Unrolled by two, so that each copy of the body has a fixed buffer. With a third copy, the compiler would keep that copy's
  // values in registers throughout the loop.
  for (unsigned number = 0; number < parts; number += 2) {
    part(number, 0);
    if (number + 1 == parts) break;
    part(number + 1, 1);
  }
}

/// Stores the sums to y through LDS, so that whole lines are written.
__device__ inline void put(const Product& x, Tile tile, const Sums& sums, const Item& item, float (*c)[kTileColumns]) {
  const unsigned lane = item.lane(), group = lane / 16;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
      for (unsigned j = 0; j < 2; ++j) {
        // Swizzled, since groups of lanes whose rows are 4 apart would conflict in the same banks.
        const unsigned column = item.column() * 32 + 16 * j + lane % 16;
        c[item.row() * 64 + 16 * i + 4 * group + r][column ^ (group % 2 * 16)] = sums.tiles[i][j][r];
      }
    }
  }
  lds_barrier();
  float* const y = x.y + static_cast<size_t>(blockIdx.z) * x.m * x.n;
#pragma unroll 2
  for (unsigned part = 0; part < kTileRows / 16; ++part) {
    const unsigned row = item.wavefront * 4 + lane / 16 + 16 * part, column = lane % 16 * 4;
    const auto value = *reinterpret_cast<const Vector<float, 4>*>(&c[row][column ^ (row / 4 % 2 * 16)]);
    if (tile.row + row >= x.m || tile.column + column >= x.n) continue;
    float* const to =
        y + static_cast<size_t>(output_row(tile.row + row, x.images, x.positions, x.images > 1)) * x.n + tile.column + column;
    if (x.n % 4 == 0) {
      *reinterpret_cast<Vector<float, 4>*>(to) = value;
    } else {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        if (tile.column + column + i < x.n) to[i] = value[i];
      }
    }
  }
}

/// Matrices of a product that pass through LDS: A, B and C, or fewer.
enum class Lds { abc, ac, c };

template <Lds kLds, unsigned kHalves, unsigned kCopies = 1>
__device__ inline void multiply_workspace(const Product& x) {
  const Tile tile{blockIdx.y * kTileRows, blockIdx.x * kTileColumns};
  const unsigned first = blockIdx.z * x.part_steps, steps = min(x.part_steps, x.steps - first);
  const Item item;
  Sums sums;
  if constexpr (kLds == Lds::c) {
    multiply_from_memory<kHalves, kCopies>(sums, x, tile, item, first, steps);
  } else {
    multiply_through_lds<kHalves, kLds == Lds::abc>(sums, x, tile, item, first, steps);
  }
  __shared__ __attribute__((aligned(1024))) float c[kTileRows][kTileColumns];
  put(x, tile, sums, item, c);
}

#endif

}  // namespace conv

/// Defines the kernel NAME, compiled for six wavefronts per SIMD, that is, for at most 80 registers.
#if defined(__gfx90a__)
#define PLAIN_PRODUCT_KERNEL(name, Argument, ...) \
  extern "C" __global__ void __launch_bounds__(conv::kItems, 6) name(Argument x) { __VA_ARGS__(x); }
#else
#define PLAIN_PRODUCT_KERNEL(name, Argument, ...) \
  extern "C" __global__ void __launch_bounds__(conv::kItems) name(Argument x) { (void)x, __builtin_trap(); }
#endif
/// Defines the kernel NAME together with its parameters for Duplo.
#define PRODUCT_KERNEL(name, Argument, ...) \
  LACUNA_DUPLO(name);                       \
  PLAIN_PRODUCT_KERNEL(name, Argument, __VA_ARGS__)

/// Expands USE(NAME, LDS, FRAGMENTS) for each form of a product of a workspace in memory. The kernel is NAME_LDS_FRAGMENTS;
/// LDS: matrices in LDS (conv::Lds), FRAGMENTS: dwords of a fragment per lane.
#define PRODUCT_FORMS(USE, name) \
  USE(name, abc, 2) USE(name, abc, 4) USE(name, ac, 2) USE(name, ac, 4) USE(name, c, 2) USE(name, c, 4)
/// The function that a kernel of PRODUCT_FORMS calls.
#define WORKSPACE_PRODUCT(lds, fragments) conv::multiply_workspace<conv::Lds::lds, conv::halves_of(fragments)>
