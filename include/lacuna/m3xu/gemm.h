// D = A B + C of any size, in kernels: m3xu::gemm.
#pragma once

#include "lacuna/m3xu/fragments.h"
#include "lacuna/m3xu/tiled.h"

namespace m3xu {

namespace detail {

/// Index of this workgroup, and of this work-item in it (`item`), in a launch of any number of dimensions.
struct Launch {
  unsigned workgroup_size, workgroup, workgroups, item;
};
LACUNA_M3XU_DEVICE Launch launch() {
  const unsigned x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y(),
                 z = __builtin_amdgcn_workgroup_size_z();
  const unsigned across = __builtin_amdgcn_grid_size_x() / x, down = __builtin_amdgcn_grid_size_y() / y,
                 deep = __builtin_amdgcn_grid_size_z() / z;
  return {x * y * z,
          (__builtin_amdgcn_workgroup_id_z() * down + __builtin_amdgcn_workgroup_id_y()) * across +
              __builtin_amdgcn_workgroup_id_x(),
          across * down * deep,
          (__builtin_amdgcn_workitem_id_z() * y + __builtin_amdgcn_workitem_id_y()) * x + __builtin_amdgcn_workitem_id_x()};
}

/// Traps if a wavefront is incomplete: the instructions multiply the registers of all 64 lanes, including lanes without a
/// work-item, which have loaded nothing.
LACUNA_M3XU_DEVICE void require_whole_wavefronts(const Launch& at) {
  const bool whole = __builtin_amdgcn_grid_size_x() % __builtin_amdgcn_workgroup_size_x() == 0 &&
                     __builtin_amdgcn_grid_size_y() % __builtin_amdgcn_workgroup_size_y() == 0 &&
                     __builtin_amdgcn_grid_size_z() % __builtin_amdgcn_workgroup_size_z() == 0;
  if (!whole || at.workgroup_size % 64 != 0 || __builtin_amdgcn_read_exec() != ~0ul) LACUNA_M3XU_REFUSE;
}

template <format f>
struct product {
  using Element = typename traits<f>::Element;
  using Sum = typename traits<f>::Sum;
  Sum* d;
  const Element* a;
  const Element* b;
  const Sum* c;
  unsigned m, n, k, lda, ldb, ldc;
};

/// Computes 32 x 32 elements with one wavefront, which reads its operands directly from memory.
template <layout layout_a, layout layout_b, format f>
LACUNA_M3XU_DEVICE void multiply_by_wavefront(const product<f>& x, unsigned row0, unsigned column0) {
  constexpr unsigned depth = traits<f>::k;
  const auto left = [](unsigned size, unsigned from) { return from < size ? size - from : 0; };
  fragment<accum, f> sums[2][2];
#pragma unroll
  for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      const unsigned row = row0 + 16 * i, column = column0 + 16 * j;
      if (x.c != nullptr) {
        load(sums[i][j], x.c + static_cast<unsigned long>(row) * x.ldc + column, x.ldc, left(x.m, row), left(x.n, column));
      } else {
        fill(sums[i][j], {});
      }
    }
  }
  unsigned at = 0;
  do {
    fragment<matrixa, f> as[2];
    fragment<matrixb, f> bs[2];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned long row = row0 + 16 * i, column = column0 + 16 * i;
      load<layout_a>(as[i], x.a + (layout_a == row_major ? row * x.lda + at : at * static_cast<unsigned long>(x.lda) + row),
                     x.lda, left(x.m, row), x.k - at);
      load<layout_b>(bs[i],
                     x.b + (layout_b == row_major ? at * static_cast<unsigned long>(x.ldb) + column : column * x.ldb + at),
                     x.ldb, x.k - at, left(x.n, column));
    }
    const auto multiply = [&](auto each) {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 2; ++j) each(sums[i][j], as[i], bs[j]);
      }
    };
    // Padding does not change sums of real numbers, so only complex formats pass the remaining depth to mma().
    if (f == fp32c && x.k - at < depth) {
      multiply([&](auto& sum, const auto& a, const auto& b) { mma(sum, a, b, sum, x.k - at); });
    } else {
      multiply([](auto& sum, const auto& a, const auto& b) { mma(sum, a, b, sum); });
    }
    at += depth;
  } while (at < x.k);
#pragma unroll
  for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      const unsigned row = row0 + 16 * i, column = column0 + 16 * j;
      store(x.d + static_cast<unsigned long>(row) * x.ldc + column, sums[i][j], x.ldc, left(x.m, row), left(x.n, column));
    }
  }
}

#if defined(__gfx90a__)

/// Index of a work-item in a workgroup of any number of dimensions.
struct AnyDimensions {
  LACUNA_M3XU_MEMBER static unsigned work_item() { return launch().item; }
};

/// The tile that a workgroup computes: 64 x 64 elements.
template <format f>
using tile_of = tiled::M3xu<f, 2, 2, AnyDimensions>;

/// LDS shared by all calls in a kernel, regardless of their formats.
LACUNA_M3XU_DEVICE tiled::Slabs<64>* slabs_in_lds() {
  static __attribute__((shared, aligned(16))) tiled::Slabs<64> slabs[2];
  return slabs;
}
template <class Product>
struct shared_tiles {
  LACUNA_M3XU_MEMBER static tiled::Slabs<Product::kRows>& a() { return slabs_in_lds()[0]; }
  LACUNA_M3XU_MEMBER static tiled::Slabs<Product::kColumns>& b() { return slabs_in_lds()[1]; }
};

template <format f, tiled::Lines lines>
using stage_of = tiled::MatrixStage<typename traits<f>::Element, 64, lines, AnyDimensions>;

/// Number of slabs of a matrix that can be read entirely. With lines across k, reads in a slab's last line may extend past the
/// line's end into the next line, which does not exist after the matrix' last line.
template <format f, tiled::Lines lines>
LACUNA_M3XU_DEVICE unsigned whole_slabs(unsigned size, unsigned k) {
  constexpr unsigned depth = tiled::kDepth<typename traits<f>::Element>;
  return lines == tiled::Lines::along_k || size % stage_of<f, lines>::kColumns == 0 || k == 0 ? k / depth : (k - 1) / depth;
}

/// Computes a tile with a workgroup, which shares operands through LDS.
template <layout layout_a, layout layout_b, format f>
LACUNA_M3XU_DEVICE void multiply_by_workgroup(const product<f>& x, tiled::Tile tile) {
  using tiled::Lines;
  using Product = tile_of<f>;
  using Element = typename traits<f>::Element;
  using Sum = typename traits<f>::Sum;
  constexpr Lines lines_a = layout_a == row_major ? Lines::along_k : Lines::across,
                  lines_b = layout_b == row_major ? Lines::across : Lines::along_k;
  constexpr unsigned depth = tiled::kDepth<Element>;
  const unsigned long first = static_cast<unsigned long>(tile.row) * x.ldc + tile.column;
  const auto start = [&](Product& product) {
    if (x.c == nullptr) return;
    const Sum* const from = tiled::scalar(x.c + first);
    // Rows and columns outside the matrix are replaced by the last row or column; their results are not stored.
    const unsigned last_row = x.m - 1 - tile.row, last_column = x.n - 1 - tile.column;
    product.start([&](unsigned row, unsigned column) {
      return tiled::load<Sum>(from, (tiled::least(row, last_row) * x.ldc + tiled::least(column, last_column)) * sizeof(Sum));
    });
  };
  const tiled::Operand<Element> of_a{x.a, x.lda, x.m, lines_a == Lines::along_k};
  const tiled::Operand<Element> of_b{x.b, x.ldb, x.n, lines_b == Lines::along_k};
  stage_of<f, lines_a> a(of_a, tile.row);
  stage_of<f, lines_b> b(of_b, tile.column);
  const unsigned slabs = tiled::least(whole_slabs<f, lines_a>(x.m, x.k), whole_slabs<f, lines_b>(x.n, x.k));
  const auto finish = [&](Product& product) {
    // The remainder along k is one more slab. If k is 0, it consists of padding that changes no sum.
    const unsigned left = x.k - slabs * depth;
    if (left != 0 || x.k == 0) {
      a.load_rest(of_a, tile.row, slabs * depth, left, padding<matrixa, f>());
      b.load_rest(of_b, tile.column, slabs * depth, left, padding<matrixb, f>());
      // This buffer is free: all wavefronts have finished reading the slab that it held.
      auto& a_slab = shared_tiles<Product>::a()[slabs % 2];
      auto& b_slab = shared_tiles<Product>::b()[slabs % 2];
      a.keep(a_slab);
      b.keep(b_slab);
      tiled::barrier();
#pragma unroll
      for (unsigned step = 0; step < Product::kSteps; ++step) {
        constexpr unsigned deep = depth / Product::kSteps;
        typename Product::Operands operands;
        product.load(operands, a_slab, b_slab, step);
        if (f == fp32c && left < (step + 1) * deep) {
          product.add_first(operands, left - tiled::least(left, step * deep));
        } else {
          product.add(operands);
        }
      }
    }
    const Sum* const to = tiled::scalar(static_cast<const Sum*>(x.d + first));
    const unsigned rows = x.m - tile.row, columns = x.n - tile.column;
    const auto put = [&](unsigned row, unsigned column, Sum sum) {
      tiled::store(to, (row * x.ldc + column) * sizeof(Sum), sum);
    };
    if (Product::kRows <= rows && Product::kColumns <= columns) {
      product.each(put);
    } else {
      product.each([&](unsigned row, unsigned column, Sum sum) {
        if (row < rows && column < columns) put(row, column, sum);
      });
    }
  };
  // Waits until all wavefronts have finished reading LDS for the previous tile or call.
  tiled::barrier();
  tiled::multiply_slabs<Product, shared_tiles, true>(a, b, slabs, start, finish);
}

/// The tiles of D that this workgroup computes, in bands of eight columns of tiles: concurrent workgroups then cover a roughly
/// square part of D, whose operands stay in L2.
template <layout layout_a, layout layout_b, format f>
LACUNA_M3XU_DEVICE void multiply_tiles(const product<f>& x, const Launch& at) {
  constexpr unsigned widest = 8;
  const unsigned across = (x.n - 1) / tile_of<f>::kColumns + 1, down = (x.m - 1) / tile_of<f>::kRows + 1;
  for (unsigned number = at.workgroup; number < across * down; number += at.workgroups) {
    const unsigned band = number / (widest * down), in_band = number - band * widest * down;
    const unsigned width = tiled::least(widest, across - band * widest), row = in_band / width;
    const unsigned column = band * widest + in_band - row * width;
    multiply_by_workgroup<layout_a, layout_b>(x, {row * tile_of<f>::kRows, column * tile_of<f>::kColumns});
  }
}
#endif

template <class T>
struct pointee {
  using type = void;
};
template <class T>
struct pointee<T*> {
  using type = T;
};
template <class T>
struct pointee<const T*> {
  using type = T;
};

}  // namespace detail

/// D = A B + C of any size, computed by all workgroups of the launch, which may have any number of dimensions. Workgroups have
/// a multiple of 64 work-items, all of which call it; any other launch ends with a trap. Workgroups of 256 work-items are fast:
/// each computes tiles of 64 x 64 with operands shared through 16 KiB of LDS, allocated once for all calls in a kernel. In
/// other workgroups, or if lda, ldb or ldc is 2^21 or more, or if a column-major A has one row or a row-major B one column,
/// each wavefront computes tiles of 32 x 32 directly from memory. The results are bit-identical.
///
/// D and C are row-major, with rows `ldc` elements apart. They may be the same matrix; a null C stands for zeros. Elements are
/// of the format's types (`load`). k may be 0. D is then C with the conversions of the instruction: NaNs become the default
/// NaN, and with fp16 and bf16 denormals are flushed.
template <format f, layout layout_a = row_major, layout layout_b = row_major, class D, class A, class B, class C>
LACUNA_M3XU_DEVICE void gemm(D* d, const A* a, const B* b, C c, unsigned m, unsigned n, unsigned k, unsigned lda, unsigned ldb,
                             unsigned ldc) {
  using Element = typename detail::traits<f>::Element;
  using Sum = typename detail::traits<f>::Sum;
  static_assert(detail::holds<A, Element> && detail::holds<B, Element>,
                "m3xu::gemm: the elements of A and B are not of the format's type (fp16: _Float16, bf16: m3xu::bfloat16, "
                "tf32 and fp32: float, fp32c: m3xu::complex, float2 or std::complex<float>, fp64: double)");
  static_assert(
      detail::holds<D, Sum> && (detail::same<C, decltype(nullptr)> || detail::holds<typename detail::pointee<C>::type, Sum>),
      "m3xu::gemm: the elements of C and D are not of the format's type (fp32c: m3xu::complex, float2 or "
      "std::complex<float>, fp64: double, others: float); C may be nullptr");
  static_assert(detail::has_units || sizeof(D) == 0,
                "m3xu::gemm: only gfx90a has matrix units; keep it out of code for other targets by #if defined(__gfx90a__)");
  const Sum* from = nullptr;
  if constexpr (!detail::same<C, decltype(nullptr)>) from = reinterpret_cast<const Sum*>(c);
  const detail::product<f> x{reinterpret_cast<Sum*>(d),
                             reinterpret_cast<const Element*>(a),
                             reinterpret_cast<const Element*>(b),
                             from,
                             m,
                             n,
                             k,
                             lda,
                             ldb,
                             ldc};
  const detail::Launch at = detail::launch();
  detail::require_whole_wavefronts(at);
  if (m == 0 || n == 0) return;
#if defined(__gfx90a__)
  // Offsets in a tile have 32 bits, and loads of lines across k read two elements.
  const bool fits = (lda | ldb | ldc) < 1u << 21 && (layout_a == row_major || m >= 2) && (layout_b == column_major || n >= 2);
  if (at.workgroup_size == tiled::kWorkgroup && fits) {
    return detail::multiply_tiles<layout_a, layout_b>(x, at);
  }
#endif
  const unsigned across = (n - 1) / 32 + 1, tiles = ((m - 1) / 32 + 1) * across, of_group = at.workgroup_size / 64;
  const unsigned wavefront = at.workgroup * of_group + at.item / 64;
  for (unsigned tile = wavefront; tile < tiles; tile += at.workgroups * of_group) {
    detail::multiply_by_wavefront<layout_a, layout_b>(x, tile / across * 32, tile % across * 32);
  }
}

}  // namespace m3xu
