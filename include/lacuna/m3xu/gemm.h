// D = A B + C of any size, in kernels: m3xu::gemm.
#pragma once

#include "lacuna/m3xu/fragments.h"

namespace m3xu {

namespace detail {

/// The place of this wavefront and work-item in the launch, of any number of dimensions.
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

/// The instructions multiply what all 64 lanes hold, also those that have no work-item and loaded nothing.
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

/// By a wavefront, straight from memory: 32 x 32 elements.
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
    // What real numbers are padded with changes no sum.
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

/// D = A B + C of any size, by all wavefronts of the launch, of any number of dimensions: each makes tiles of 32 x 32, straight
/// from memory. Workgroups have a multiple of 64 work-items, all of which call it; anything else ends with a trap. For small
/// matrices and as an example; workloads/common/gemm_tiled.h shares operands through LDS.
///
/// D and C are row-major, `ldc` apart. They may be the same, or C null for zeros. Elements are of the format's types (`load`).
/// k may be 0. Then D is C as a sum of nothing gives it: NaN is the default NaN, and fp16 and bf16 have no denormals.
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
  const unsigned across = (n - 1) / 32 + 1, tiles = ((m - 1) / 32 + 1) * across, of_group = at.workgroup_size / 64;
  const unsigned wavefront = at.workgroup * of_group + at.item / 64;
  for (unsigned tile = wavefront; tile < tiles; tile += at.workgroups * of_group) {
    detail::multiply_by_wavefront<layout_a, layout_b>(x, tile / across * 32, tile % across * 32);
  }
}

}  // namespace m3xu
