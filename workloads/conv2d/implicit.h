// Products of weights and workspaces that exist only in LDS: parts of 128 rows and 64 columns are lowered from x when they are
// needed ("implicit GEMM" of Duplo, MICRO '20, section II.C).
#pragma once

#include "workloads/conv2d/product.h"

namespace conv {

/// Arguments of a product's kernel: the product, whose `a` is x, and the convolution.
struct Implicit {
  Product product;
  Convolution convolution;
  unsigned zeros;  ///< index in x of eight zeros
};

/// Row pitch of a slab in LDS, in bytes, chosen so that the rows of a fragment are in different banks. Element k of a row is 2
/// k bytes after the start of the row.
constexpr unsigned slab_pitch(unsigned halves) { return static_cast<unsigned>((kSlab + halves) * sizeof(Half)); }
template <unsigned kHalves>
constexpr unsigned kSlabPitch = slab_pitch(kHalves);
template <unsigned kHalves>
constexpr unsigned kSlabBytes = kTileRows* kSlabPitch<kHalves>;

#if defined(__gfx90a__)

/// Sets M0, for Duplo, to the workspace index of the first element of the slab that the next LDS reads access. Ordinary LDS
/// instructions of gfx9 do not use M0.
__device__ inline void set_slab(unsigned index) { asm volatile("s_mov_b32 m0, %0" ::"s"(index) : "memory"); }

/// A row of the workspace: the image, and the filter's position (row in the upper half of the word, column in the lower half).
using RowPlace = Vector<unsigned, 2>;

/// Loads slabs into LDS: a work-item loads eight columns of every 32nd row, with two rows in flight at a time.
template <unsigned kHalves>
class SlabStage {
 public:
  /// `slabs`: LDS for two slabs; `rows`: LDS for the filter's position in each row.
  __device__ SlabStage(const Implicit& x, unsigned first_row, char* slabs, char* rows)
      : x_(x), slabs_(lds_address(slabs)), rows_(lds_address(rows)) {
    if (threadIdx.x < kTileRows) {
      // Rows beyond the last row use the last row; their results are not stored.
      const Convolution::Corner corner = x.convolution.corner(min(first_row + threadIdx.x, x.product.m - 1));
      lds_at<RowPlace>(rows_ + threadIdx.x * sizeof(RowPlace)) = {
          corner.image, static_cast<unsigned>(corner.y) << 16 | (static_cast<unsigned>(corner.x) & 0xffff)};
    }
  }
  /// Sets the first column of the slab that is loaded next.
  __device__ void begin(unsigned column) { column_ = column; }
  /// Loads the first or second half of the rows.
  __device__ void load(unsigned half) {
    // Recomputed for each half: if positions of a lane's columns were kept, they would occupy registers while the previous slab
    // is multiplied.
    unsigned column = column_;
    asm volatile("" : "+s"(column));
    column += threadIdx.x % 8 * 8;
    // A single address, to which instructions add constants: an address per row would take too many registers.
    unsigned place_of_row = rows_ + threadIdx.x / 8 * sizeof(RowPlace);
    asm volatile("" : "+v"(place_of_row));
    const Place places[2] = {place(column), by_eight() ? Place{} : place(column + 4)};
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const auto row = lds_at<RowPlace>(place_of_row + 32 * (2 * half + i) * sizeof(RowPlace));
      if (by_eight()) {
        values_[i] = *global_at<const Vector<float, 4>>(x_.product.a, index(row, places[0]) * sizeof(Half));
      } else {
        values_[i].lo = *global_at<const Vector<float, 2>>(x_.product.a, index(row, places[0]) * sizeof(Half));
        values_[i].hi = *global_at<const Vector<float, 2>>(x_.product.a, index(row, places[1]) * sizeof(Half));
      }
    }
  }
  __device__ void keep(unsigned buffer, unsigned half) const {
    // Recomputed for each half, as in load().
    unsigned first = slabs_ + threadIdx.x / 8 * kSlabPitch<kHalves> + threadIdx.x % 8 * 16;
    asm volatile("" : "+v"(first));
    first += buffer * kSlabBytes<kHalves>;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned at = first + 32 * (2 * half + i) * kSlabPitch<kHalves>;
      lds_at<Vector<float, 2>>(at) = values_[i].lo;
      lds_at<Vector<float, 2>>(at + 8) = values_[i].hi;
    }
  }

 private:
  /// Position of a column: offset from the filter's corner, and channel.
  struct Place {
    int y, x;
    unsigned channel;
  };

  __device__ bool by_eight() const { return x_.convolution.channels % 8 == 0; }
  __device__ Place place(unsigned column) const {
    const unsigned tap = column / x_.convolution.channels, filter_width = x_.convolution.filter_width;
    // Columns after the last column are placed outside the image, so that their elements are zero.
    const int y = column < x_.convolution.columns() ? static_cast<int>(tap / filter_width) : 0x10000;
    return {y, static_cast<int>(tap % filter_width), column % x_.convolution.channels};
  }
  __device__ unsigned index(RowPlace row, const Place& place) const {
    const int y = (static_cast<int>(row[1]) >> 16) + place.y;
    const int x = (static_cast<int>(row[1] << 16) >> 16) + place.x;
    return x_.convolution.inside(y, x) ? x_.convolution.element(row[0], y, x) + place.channel : x_.zeros;
  }

  const Implicit& x_;
  unsigned slabs_, rows_;
  unsigned column_;
  Vector<float, 4> values_[2];
};

/// Multiplies with A in LDS and B from memory. A slab of A is loaded while the previous slab is multiplied.
template <unsigned kHalves>
__device__ inline void multiply_slabs(Sums& sums, const Implicit& all, Tile tile, const Item& item, char* memory) {
  constexpr unsigned kSteps = kSlab / kStepColumns<kHalves>;
  const Product& x = all.product;
  const unsigned first = blockIdx.z * x.part_steps, steps = min(x.part_steps, x.steps - first);
  const unsigned slabs = (steps + kSteps - 1) / kSteps;
  SlabStage<kHalves> stage(all, tile.row, memory, memory + 2 * kSlabBytes<kHalves>);
  BFromMemory<kHalves> b(x, tile.column + item.column() * 32, first);
  Walk walk(x, first / kSteps, kSlab);
  lds_barrier();
  stage.begin(walk.column());
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    stage.load(half);
    stage.keep(0, half);
  }
  b.load(0);
  lds_barrier();
  const unsigned fragment = lds_address(memory) + (item.row() * 64 + item.lane() % 16) * kSlabPitch<kHalves> +
                            item.lane() / 16 * kHalves * sizeof(Half);
  unsigned left = steps;
  for (unsigned slab = 0; slab < slabs; ++slab) {
    const unsigned buffer = slab % 2;
    const bool more = slab + 1 < slabs;
    set_slab(tile.row * x.pitch + walk.column());
    walk.next();
    if (more) {
      stage.begin(walk.column());
      stage.load(0);
    }
#pragma unroll
    for (unsigned step = 0; step < kSteps; ++step) {
      if (step == kSteps / 2 && more) {
        stage.keep(buffer ^ 1, 0);
        stage.load(1);
      }
      if (left == 0) continue;
      if (--left != 0) b.load(step % 2 ^ 1);
      const auto load = [&](unsigned i) {
        return lds_at<Fragment<kHalves>>(fragment + buffer * kSlabBytes<kHalves> + 16 * i * kSlabPitch<kHalves> +
                                         step * kStepColumns<kHalves> * sizeof(Half));
      };
      multiply_step<kHalves>(sums, load, b.fragments[step % 2]);
    }
    if (more) stage.keep(buffer ^ 1, 1);
    lds_barrier();
  }
}

template <unsigned kHalves>
__device__ inline void multiply_lowered(const Implicit& x) {
  // C reuses the memory of the slabs.
  __shared__ __attribute__((aligned(1024))) char memory[2 * kSlabBytes<kHalves> + kTileRows * sizeof(RowPlace)];
  static_assert(2 * kSlabBytes<kHalves> >= kTileRows * kTileColumns * sizeof(float));
  const Tile tile{blockIdx.y * kTileRows, blockIdx.x * kTileColumns};
  const Item item;
  Sums sums;
  multiply_slabs<kHalves>(sums, x, tile, item, memory);
  put(x.product, tile, sums, item, reinterpret_cast<float(*)[kTileColumns]>(memory));
}

#endif

}  // namespace conv
