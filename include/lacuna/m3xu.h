// M3XU: matrix products on the matrix units of gfx90a in more formats than CDNA2 has, for HIP and OpenCL C kernels that stock
// clang compiles. Needs `mfma.extensions = m3xu` or `all`; without it the instructions are illegal. docs/m3xu.md has examples.
//
//   format  elements of A and B       of C and D  a product is   passes  arithmetic
//   fp16    _Float16                  float       16 x 16 x 16    8      CDNA2's own: v_mfma_f32_16x16x16f16
//   bf16    m3xu::bfloat16            float       16 x 16 x 16    8      CDNA2's own: v_mfma_f32_16x16x16bf16_1k
//   tf32    float, low 13 bits unread float       16 x 16 x 8     8      chain of fused multiply-adds in f32 over ascending k
//   fp32    float                     float       16 x 16 x 8    16      likewise: the bits that fmaf() gives
//   fp32c   m3xu::complex             complex     16 x 16 x 4    32      per k: re += ar br, re -= ai bi, im += ar bi, im += ai
//   br,
//                                                                        each a fused multiply-add
//   fp64    double                    double      16 x 16 x 4    32      chain of fused multiply-adds in f64
//
// A fragment is a matrix of that shape, spread over the 64 lanes of a wavefront, all of which must be active. Each lane holds
// `size` items; `row(t)` and `column(t)` say which elements those of this lane are.
#pragma once

#if defined(__OPENCL_C_VERSION__)

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Items of lane l, i = l % 16, g = l / 16: see m3xu::fragment below for C++. fp32c: (re, im) in A and B; C and D hold
// re and im of D[4j+g][i] in items 2j and 2j+1.
static inline float4 lacuna_m3xu_mma_fp16(half4 a, half4 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
static inline float4 lacuna_m3xu_mma_bf16(ushort4 a, ushort4 b, float4 c) {  // a bfloat16 is the upper half of a float
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(a), as_short4(b), c, 0, 0, 0);
}
static inline float4 lacuna_m3xu_mma_tf32(float2 a, float2 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), c, 6, 0, 1);
}
static inline float4 lacuna_m3xu_mma_fp32(float2 a, float2 b, float4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), c, 6, 0, 2);
}
static inline float8 lacuna_m3xu_mma_fp32c(float2 a, float2 b, float8 c) {
  return as_float8(__builtin_amdgcn_mfma_f64_16x16x4f64(as_double(a), as_double(b), as_double4(c), 6, 0, 3));
}
static inline double4 lacuna_m3xu_mma_fp64(double a, double b, double4 c) {
  return __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 6, 0, 4);
}

#elif defined(__HIP__)

#define LACUNA_M3XU_DEVICE static inline __attribute__((device, always_inline))
#define LACUNA_M3XU_MEMBER __attribute__((device, always_inline))

namespace m3xu {

enum use { matrixa, matrixb, accum };
enum format { fp16, bf16, tf32, fp32, fp32c, fp64 };
enum layout { row_major, column_major };

/// The elements of fp32c, as std::complex<float> and HIP's float2 lie in memory.
struct alignas(8) complex {
  float re, im;
};
/// The upper half of a float.
struct bfloat16 {
  unsigned short bits;
};
/// To nearest even; NaN stays NaN.
constexpr __attribute__((host, device)) bfloat16 to_bfloat16(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<unsigned short>((nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
constexpr __attribute__((host, device)) float to_float(bfloat16 value) {
  return __builtin_bit_cast(float, static_cast<unsigned>(value.bits) << 16);
}

namespace detail {

template <class T, unsigned n>
using vector = T __attribute__((ext_vector_type(n)));

template <class From, class To>
constexpr bool same = __is_same(From, To);

#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
constexpr bool has_units = false;
#else
constexpr bool has_units = true;
#endif

// Element: of A and B. Sum: of C and D. k: columns of A. items: elements of A and of B in a lane.
// Operand, Result: what the instruction takes of a lane; multiply: the instruction. cbsz = 6 and a number in blgp choose the
// format; they are CDNA2's fields, which have no meaning of its own there.
template <format f>
struct traits;
template <class Number, class Item>
struct narrow {
  using Element = Number;
  using Sum = float;
  static constexpr unsigned k = 16, items = 4;
  using Operand = vector<Item, 4>;
  using Result = vector<float, 4>;
};
template <>
struct traits<fp16> : narrow<_Float16, _Float16> {
#if defined(__gfx90a__)
  LACUNA_M3XU_DEVICE Result multiply(Operand a, Operand b, Result c) {
    return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  }
#endif
};
template <>
struct traits<bf16> : narrow<bfloat16, short> {
#if defined(__gfx90a__)
  LACUNA_M3XU_DEVICE Result multiply(Operand a, Operand b, Result c) {
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
  }
#endif
};
template <unsigned code>
struct single {
  using Element = float;
  using Sum = float;
  static constexpr unsigned k = 8, items = 2;
  using Operand = vector<float, 2>;
  using Result = vector<float, 4>;
#if defined(__gfx90a__)
  LACUNA_M3XU_DEVICE Result multiply(Operand a, Operand b, Result c) {
    using Registers = vector<_Float16, 4>;
    return __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Registers, a), __builtin_bit_cast(Registers, b), c, 6, 0,
                                                 code);
  }
#endif
};
template <>
struct traits<tf32> : single<1> {};
template <>
struct traits<fp32> : single<2> {};
template <class Number, unsigned code>
struct wide {
  using Element = Number;
  using Sum = Number;
  static constexpr unsigned k = 4, items = 1;
  using Operand = double;
  using Result = vector<double, 4>;
#if defined(__gfx90a__)
  LACUNA_M3XU_DEVICE Result multiply(Operand a, Operand b, Result c) {
    return __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 6, 0, code);
  }
#endif
};
template <>
struct traits<fp32c> : wide<complex, 3> {};
template <>
struct traits<fp64> : wide<double, 4> {};

template <bool condition, class Then, class Else>
struct choice {
  using type = Then;
};
template <class Then, class Else>
struct choice<false, Then, Else> {
  using type = Else;
};

// Item t of registers, which are a vector of items of the element's size, or a single one. By way of a variable: clang 15's
// __builtin_bit_cast of a vector's element takes the first one.
template <class Element, class Registers>
LACUNA_M3XU_DEVICE Element item(Registers registers, unsigned t) {
  if constexpr (sizeof(Registers) == sizeof(Element)) {
    (void)t;
    return __builtin_bit_cast(Element, registers);
  } else {
    const auto bits = registers[t];
    return __builtin_bit_cast(Element, bits);
  }
}
template <class Element, class Registers>
LACUNA_M3XU_DEVICE void set_item(Registers& registers, unsigned t, Element value) {
  if constexpr (sizeof(Registers) == sizeof(Element)) {
    (void)t;
    registers = __builtin_bit_cast(Registers, value);
  } else {
    auto bits = registers[t];
    bits = __builtin_bit_cast(decltype(bits), value);
    registers[t] = bits;
  }
}

LACUNA_M3XU_DEVICE unsigned lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

}  // namespace detail

/// A: 16 x k, B: k x 16, accumulator (C and D): 16 x 16.
template <use u, format f>
class fragment {
  using Traits = detail::traits<f>;

 public:
  using element = typename detail::choice<u == accum, typename Traits::Sum, typename Traits::Element>::type;
  static constexpr unsigned rows = u == matrixb ? Traits::k : 16, columns = u == matrixa ? Traits::k : 16;
  static constexpr unsigned size = u == accum ? 4 : Traits::items;

  /// Which element of the matrix item t of this lane is.
  LACUNA_M3XU_MEMBER static unsigned row(unsigned t) {
    const unsigned lane = detail::lane();
    if (u == matrixa) return lane % 16;
    if (u == matrixb || sizeof(element) == 4) return lane / 16 * size + t;
    return 4 * t + lane / 16;
  }
  LACUNA_M3XU_MEMBER static unsigned column(unsigned t) {
    const unsigned lane = detail::lane();
    return u == matrixa ? lane / 16 * size + t : lane % 16;
  }

  /// This lane's items.
  LACUNA_M3XU_MEMBER element item(unsigned t) const { return detail::item<element>(registers, t); }
  LACUNA_M3XU_MEMBER void set(unsigned t, element value) { detail::set_item(registers, t, value); }

  /// What the instruction takes; an array of items would be kept in memory by the compiler when they are not of its types.
  typename detail::choice<u == accum, typename Traits::Result, typename Traits::Operand>::type registers;
};

/// All elements are `value`.
template <use u, format f>
LACUNA_M3XU_DEVICE void fill(fragment<u, f>& matrix, typename fragment<u, f>::element value) {
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) matrix.set(t, value);
}

/// From memory, global or LDS: element (r, c) is source[r * ld + c] if row_major, else source[c * ld + r]. `source` and `ld`
/// need no other alignment than the element's; a lane's items are loaded at once where they lie side by side, which is
/// row_major for A and column_major for B. Of the second form, elements outside of the first `rows` and `columns` are zero, and
/// their places in memory are not read.
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void load(fragment<u, f>& matrix, const T* source, unsigned ld) {
  static_assert(detail::same<T, typename fragment<u, f>::element>,
                "m3xu::load: the elements in memory are not of the fragment's type (fp16: _Float16, bf16: m3xu::bfloat16, "
                "tf32 and fp32: float, fp32c: m3xu::complex, fp64: double; accumulators: float, complex or double)");
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    matrix.set(t, source[in_memory == row_major ? row * ld + column : column * ld + row]);
  }
}
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void load(fragment<u, f>& matrix, const T* source, unsigned ld, unsigned rows, unsigned columns) {
  static_assert(detail::same<T, typename fragment<u, f>::element>,
                "m3xu::load: the elements in memory are not of the fragment's type (fp16: _Float16, bf16: m3xu::bfloat16, "
                "tf32 and fp32: float, fp32c: m3xu::complex, fp64: double; accumulators: float, complex or double)");
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    const bool inside = row < rows && column < columns;
    matrix.set(t, inside ? source[in_memory == row_major ? row * ld + column : column * ld + row] : T{});
  }
}

/// To memory, likewise. Of the second form, elements outside of the first `rows` and `columns` are not written.
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void store(T* target, const fragment<u, f>& matrix, unsigned ld, unsigned rows = ~0u,
                              unsigned columns = ~0u) {
  static_assert(u == accum, "m3xu::store: only accumulators are stored; A and B are as they were in memory");
  static_assert(detail::same<T, typename fragment<u, f>::element>,
                "m3xu::store: the elements in memory are not of the accumulator's type (float, complex or double)");
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    if (row < rows && column < columns) target[in_memory == row_major ? row * ld + column : column * ld + row] = matrix.item(t);
  }
}

/// d = a b + c: one instruction. d and c may be the same.
template <use ud, use ua, use ub, use uc, format fd, format fa, format fb, format fc>
LACUNA_M3XU_DEVICE void mma(fragment<ud, fd>& d, const fragment<ua, fa>& a, const fragment<ub, fb>& b,
                            const fragment<uc, fc>& c) {
  static_assert(ua == matrixa && ub == matrixb, "m3xu::mma(d, a, b, c): a is a fragment of use matrixa, b one of use matrixb");
  static_assert(uc == accum && ud == accum, "m3xu::mma(d, a, b, c): c and d are fragments of use accum");
  static_assert(fa == fb && fa == fc && fa == fd, "m3xu::mma(d, a, b, c): all four fragments have the same format");
  static_assert(detail::has_units || sizeof(d) == 0,
                "m3xu::mma: only gfx90a has matrix units; keep it out of code for other targets by #if defined(__gfx90a__)");
#if defined(__gfx90a__)
  d.registers = detail::traits<fa>::multiply(a.registers, b.registers, c.registers);
#else
  (void)d, (void)a, (void)b, (void)c;
#endif
}

/// D = A B + C of any size, by all wavefronts of the launch, whose workgroups have whole wavefronts: each computes tiles of 32
/// x 32, straight from memory. D and C (row-major, `ldc` apart) may be the same, or C null for zeros. For small matrices and as
/// an example; workloads/common/gemm_tiled.h shares operands through LDS.
template <format f, layout layout_a = row_major, layout layout_b = row_major>
LACUNA_M3XU_DEVICE void gemm(typename detail::traits<f>::Sum* d, const typename detail::traits<f>::Element* a,
                             const typename detail::traits<f>::Element* b, const typename detail::traits<f>::Sum* c, unsigned m,
                             unsigned n, unsigned k, unsigned lda, unsigned ldb, unsigned ldc) {
  constexpr unsigned depth = detail::traits<f>::k;
  const unsigned per_group = (__builtin_amdgcn_workgroup_size_x() + 63) / 64;
  const unsigned wavefront = __builtin_amdgcn_workgroup_id_x() * per_group + __builtin_amdgcn_workitem_id_x() / 64;
  const unsigned wavefronts = __builtin_amdgcn_grid_size_x() / 64;
  const unsigned across = (n + 31) / 32, tiles = (m + 31) / 32 * across;
  const auto left = [](unsigned size, unsigned from) { return from < size ? size - from : 0; };
  for (unsigned tile = wavefront; tile < tiles; tile += wavefronts) {
    const unsigned row0 = tile / across * 32, column0 = tile % across * 32;
    fragment<accum, f> sums[2][2];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
      for (unsigned j = 0; j < 2; ++j) {
        const unsigned row = row0 + 16 * i, column = column0 + 16 * j;
        if (c != nullptr) {
          load(sums[i][j], c + static_cast<unsigned long>(row) * ldc + column, ldc, left(m, row), left(n, column));
        } else {
          fill(sums[i][j], {});
        }
      }
    }
    for (unsigned at = 0; at < k; at += depth) {
      fragment<matrixa, f> as[2];
      fragment<matrixb, f> bs[2];
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned long row = row0 + 16 * i, column = column0 + 16 * i;
        load<layout_a>(as[i], a + (layout_a == row_major ? row * lda + at : at * static_cast<unsigned long>(lda) + row), lda,
                       left(m, row), k - at);
        load<layout_b>(bs[i], b + (layout_b == row_major ? at * static_cast<unsigned long>(ldb) + column : column * ldb + at),
                       ldb, k - at, left(n, column));
      }
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 2; ++j) mma(sums[i][j], as[i], bs[j], sums[i][j]);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
      for (unsigned j = 0; j < 2; ++j) {
        const unsigned row = row0 + 16 * i, column = column0 + 16 * j;
        store(d + static_cast<unsigned long>(row) * ldc + column, sums[i][j], ldc, left(m, row), left(n, column));
      }
    }
  }
}

}  // namespace m3xu

#undef LACUNA_M3XU_DEVICE
#undef LACUNA_M3XU_MEMBER

#else
#error "lacuna/m3xu.h is for HIP and OpenCL C"
#endif
