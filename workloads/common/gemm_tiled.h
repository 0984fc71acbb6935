// C = alpha A B + beta C of any size, by tiles: kernels whose inner product is a policy (gemm_products.h), so that vector ALUs
// and matrix units are compared in the same program. As in m3xu::gemm, lacuna/m3xu/tiled.h multiplies the tiles; in addition,
// the host pads the operands and chooses tile and grid (gemm_host.h), and C is scaled.
//
// Each element is summed over ascending k, from a sum of 0 on, for every tile size, so policies with the same rounding give the
// same bits.
#pragma once

#include <hip/hip_runtime.h>

#include <type_traits>

#include "lacuna/m3xu.h"

namespace tiled {

// The kernels here require of an Operand that its lines begin at multiples of 16 bytes and can be read up to the next multiple
// of 16 bytes, and that k is a multiple of kDepth, with zeros after the matrix' own elements (DeviceOperand in gemm_host.h).
using namespace m3xu::tiled;

template <class Element>
struct RealOf {
  using Type = Element;
};
template <>
struct RealOf<Complex> {
  using Type = float;
};

/// C, row-major, with any m and n.
template <class Element>
struct Result {
  Element* c;
  unsigned m, n, ld;
  typename RealOf<Element>::Type alpha, beta;
};

/// scaled() returns alpha * sum; added() returns sum + beta * c.
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

/// Product::kWavefronts is the number of wavefronts per SIMD for which a kernel is compiled, for __launch_bounds__.
#if defined(__gfx803__)
constexpr unsigned kSimtWavefronts = 1;
#else
constexpr unsigned kSimtWavefronts = 2;
#endif

/// Tile of a workgroup in a grid of bands (launch() in gemm_host.h): x is the column of tiles within a band, y the row of
/// tiles, z the band.
template <class Product>
__device__ inline Tile tile_in_bands() {
  const unsigned band_columns = __builtin_amdgcn_grid_size_x() / kWorkgroup;
  return {blockIdx.y * Product::kRows, (blockIdx.z * band_columns + blockIdx.x) * Product::kColumns};
}

/// Stores the workgroup's tile of C, whose elements may be wider than those of A and B.
template <class Product, class Sum>
__device__ inline void put(const Result<Sum>& result, Tile tile, const Product& product) {
  // Usually the tile is entirely inside and the previous contents of C are not used, so that no branches are needed.
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

/// Multiplies and stores the workgroup's tile. The stages load A and B.
template <class Product, class Sum, class StageA, class StageB>
__device__ inline void multiply_staged(const Result<Sum>& result, Tile tile, StageA a, StageB b, unsigned slabs) {
  multiply_slabs<Product>(
      a, b, slabs, [](Product&) {}, [&](const Product& product) { put<Product>(result, tile, product); });
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
