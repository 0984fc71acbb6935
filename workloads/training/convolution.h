// Convolutions as matrix products whose second factor is not stored: its elements are gathered from tensors through tables.
//
// Tensors are [channel][image][row][column], channels `plane` elements apart, so that rows of a product are channels and
// columns pixels of the batch. For a layer with weights W[out][in, r, s]:
//
//   forward       Y[out][p]         = sum over (in, r, s) of W X        lines: pixels of Y   k: taps (in, r, s)
//   for weights   dW[out][in, r, s] = sum over p of dY X                lines: taps          k: pixels of Y
//   for the input dX[in][q]         = sum over (out, r, s) of W^T dY    lines: pixels of X   k: taps (out, r, s)
#pragma once

#include "workloads/common/gemm_tiled.h"

namespace convolution {

/// Contribution of a line or of a k to the position of an element: to the element's index, and to its row and column, which
/// must be inside the tensor.
struct alignas(16) Place {
  int offset, row, column, unused;
};

/// The gathered factor. With log_stride 0, `offset` gives the complete index. Otherwise row and column are in units of
/// 2^-log_stride: elements at fractional positions are zero, and the index is `offset` + row * width + column.
template <class Element>
struct Gathered {
  const Element* data;
  const Place *lines, *ks;  ///< padding of `ks`, up to a multiple of tiled::kDepth, has entries that are outside
  unsigned size;            ///< number of lines
  int height, width, log_stride;
  int zero;  ///< index of a zero, for elements that are outside
};

/// A work-item's part of the gathered factor: one column per lane, and the same units along k for all lanes of a wavefront.
template <class Element, unsigned kTile>
class GatherStage {
 public:
  __device__ GatherStage(const Gathered<Element>& matrix, unsigned first, unsigned first_k)
      : matrix_(matrix), line_(matrix.lines[min(first + threadIdx.x % kTile, matrix.size - 1)]) {
    unit_ = __builtin_amdgcn_readfirstlane(threadIdx.x / kTile) * kOwn;
    ks_ = reinterpret_cast<Constant>(reinterpret_cast<size_t>(matrix.ks + first_k + unit_ * kPer));
  }
  __device__ void load() {
    matrix_.log_stride == 0 ? load<false>() : load<true>();
    ks_ += tiled::kDepth<Element>;
  }
  __device__ void keep(tiled::Unit (*tile)[kTile]) const {
#pragma unroll
    for (unsigned unit = 0; unit < kOwn; ++unit) {
      tile[unit_ + unit][threadIdx.x % kTile] = __builtin_bit_cast(tiled::Unit, values_[unit]);
    }
  }

 private:
  static constexpr unsigned kPer = tiled::kPerUnit<Element>;
  static constexpr unsigned kOwn = tiled::kUnits * kTile / tiled::kWorkgroup;
  using Values = tiled::Vector<Element, kPer>;
  /// A pointer to places for which the compiler uses scalar loads, one per place.
  using Constant = const __attribute__((address_space(4))) tiled::Vector<int, 4>*;

  template <bool kStrided>
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < kOwn * kPer; ++i) {
      const auto k = __builtin_bit_cast(Place, tiled::Vector<int, 4>(ks_[i]));
      int row = line_.row + k.row, column = line_.column + k.column, at = line_.offset + k.offset;
      unsigned inside = 1;
      if constexpr (kStrided) {
        inside = ((row | column) & ((1 << matrix_.log_stride) - 1)) == 0;
        row >>= matrix_.log_stride, column >>= matrix_.log_stride;
        at += row * matrix_.width + column;
      }
      // Without branches, so that all loads are issued before the first wait.
      inside &= static_cast<unsigned>(row) < static_cast<unsigned>(matrix_.height);
      inside &= static_cast<unsigned>(column) < static_cast<unsigned>(matrix_.width);
      values_[i / kPer][i % kPer] = matrix_.data[inside != 0 ? at : matrix_.zero];
    }
  }

  Gathered<Element> matrix_;
  Place line_;
  Constant ks_;
  unsigned unit_;
  Values values_[kOwn];
};

/// C = A B, where workgroups with blockIdx.z = p process `slabs_of_part` slabs along k and store their sum to the p-th matrix
/// of C.
template <class Product>
__device__ inline void multiply(tiled::Result<float> c, tiled::Operand<typename Product::Element> a,
                                const Gathered<typename Product::Element>& b, unsigned slabs, unsigned slabs_of_part) {
  using Element = typename Product::Element;
  const unsigned first = blockIdx.z * slabs_of_part, first_k = first * tiled::kDepth<Element>;
  a.data += first_k;
  c.c += static_cast<size_t>(blockIdx.z) * c.m * c.ld;
  const tiled::Tile tile{blockIdx.y * Product::kRows, blockIdx.x * Product::kColumns};
  tiled::multiply_staged<Product>(c, tile, tiled::MatrixStage<Element, Product::kRows>(a, tile.row),
                                  GatherStage<Element, Product::kColumns>(b, tile.column, first_k),
                                  min(slabs_of_part, slabs - first));
}

}  // namespace convolution
