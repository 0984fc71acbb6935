// Matrices in the registers of a wavefront: loaded, multiplied and stored by all of its 64 lanes. lacuna/m3xu.h lists the
// formats.
#pragma once

#define LACUNA_M3XU_DEVICE static inline __attribute__((device, always_inline))
#define LACUNA_M3XU_MEMBER __attribute__((device, always_inline))

// Same types as HIP's float2 etc., so that hip_runtime.h need not be included.
template <typename T, unsigned int n>
struct HIP_vector_type;

/// Ends the kernel with an error.
#define LACUNA_M3XU_REFUSE __builtin_trap()

namespace m3xu {

enum use { matrixa, matrixb, accum };
enum format { fp16, bf16, tf32, fp32, fp32c, fp64 };
enum layout { row_major, column_major };

/// Element of fp32c, with the memory layout of std::complex<float> and HIP's float2.
struct alignas(8) complex {
  float re, im;
};
/// A bfloat16: the upper half of a float.
struct bfloat16 {
  unsigned short bits;
};
/// Rounds to nearest even; NaN stays NaN.
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
template <bool answer>
struct constant {
  static constexpr bool value = answer;
};
template <bool condition>
struct enabled {};
template <>
struct enabled<true> {
  using type = void;
};

template <class From, class To>
inline constexpr bool same = __is_same(From, To);

#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
inline constexpr bool has_units = false;
#else
inline constexpr bool has_units = true;
#endif

// Element: type in A and B. Sum: type in C and D. k: columns of A. items: elements of A and of B per lane.
// Operand, Result: register types of the instruction; multiply: the instruction. cbsz = 6 selects M3XU, and blgp the format;
// CDNA2 assigns no meaning to these values of its two fields.
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

// Reinterprets an element as a type of the same size.
template <class To, class From>
LACUNA_M3XU_DEVICE To cast(const From& value) {
  if constexpr (same<To, From>) {
    return value;
  } else {
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
  }
}

// Item t of a register operand, which is a vector of elements or a single element. Copies through a variable, since clang 15's
// __builtin_bit_cast of a vector element always takes the first element.
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

// Whether T is Element, or has the memory layout of a pair of floats: HIP's float2 and hipFloatComplex, the compiler's own
// vector, std::complex<float>.
template <class T, class Element, class = void>
inline constexpr bool holds = same<T, Element>;
template <>
inline constexpr bool holds<HIP_vector_type<float, 2>, complex> = true;
template <>
inline constexpr bool holds<vector<float, 2>, complex> = true;
template <class T, class = void>
inline constexpr bool is_std_complex_float = false;
template <class T>
inline constexpr bool
    is_std_complex_float<T, typename enabled<sizeof(T) == sizeof(complex) && same<typename T::value_type, float>>::type> = true;
template <class T>
inline constexpr bool holds<T, complex, typename enabled<is_std_complex_float<T>>::type> = true;

/// Value of elements outside the matrix. In real formats the product of such an element of A and one of B is -0, which changes
/// no sum, not even the sign of a zero. Complex numbers have no such padding; use mma() with a depth.
template <use u, format f>
LACUNA_M3XU_DEVICE auto padding() {
  using Element = typename traits<f>::Element;
  if constexpr (u != matrixb || f == fp32c) {
    return typename choice<u == accum, typename traits<f>::Sum, Element>::type{};
  } else if constexpr (f == bf16) {
    return Element{0x8000};
  } else {
    return static_cast<Element>(-0.0f);
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

  /// Position in the matrix of this lane's item t: row(t), column(t).
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

  /// Item t of this lane.
  LACUNA_M3XU_MEMBER element item(unsigned t) const { return detail::item<element>(registers, t); }
  LACUNA_M3XU_MEMBER void set(unsigned t, element value) { detail::set_item(registers, t, value); }

  /// The instruction's register operand. The compiler would keep an array of items of another type in memory.
  typename detail::choice<u == accum, typename Traits::Result, typename Traits::Operand>::type registers;
};

/// Sets all elements to `value`.
template <use u, format f>
LACUNA_M3XU_DEVICE void fill(fragment<u, f>& matrix, typename fragment<u, f>::element value) {
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) matrix.set(t, value);
}

/// Loads from memory, global or LDS: element (r, c) is source[r * ld + c] if row_major, else source[c * ld + r]. `source` and
/// `ld` need only the element's alignment. A lane's items are loaded by one access if they are adjacent: row_major for A,
/// column_major for B. The overload with `rows` and `columns` does not read elements beyond these limits: they become 0, or -0
/// in B of real formats, so that their products are -0 and change no sum.
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void load(fragment<u, f>& matrix, const T* source, unsigned ld) {
  static_assert(detail::holds<T, typename fragment<u, f>::element>,
                "m3xu::load: the elements in memory are not of the fragment's type (fp16: _Float16, bf16: m3xu::bfloat16, "
                "tf32 and fp32: float, fp32c: m3xu::complex, float2 or std::complex<float>, fp64: double; accumulators: float, "
                "complex or double)");
  using Element = typename fragment<u, f>::element;
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    matrix.set(t, detail::cast<Element>(source[in_memory == row_major ? row * ld + column : column * ld + row]));
  }
}
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void load(fragment<u, f>& matrix, const T* source, unsigned ld, unsigned rows, unsigned columns) {
  static_assert(detail::holds<T, typename fragment<u, f>::element>,
                "m3xu::load: the elements in memory are not of the fragment's type (fp16: _Float16, bf16: m3xu::bfloat16, "
                "tf32 and fp32: float, fp32c: m3xu::complex, float2 or std::complex<float>, fp64: double; accumulators: float, "
                "complex or double)");
  using Element = typename fragment<u, f>::element;
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    const bool inside = row < rows && column < columns;
    matrix.set(t, inside ? detail::cast<Element>(source[in_memory == row_major ? row * ld + column : column * ld + row])
                         : detail::padding<u, f>());
  }
}

/// Stores to memory, with the addressing of load(). Elements beyond the first `rows` and `columns` are not written.
template <layout in_memory = row_major, use u, format f, class T>
LACUNA_M3XU_DEVICE void store(T* target, const fragment<u, f>& matrix, unsigned ld, unsigned rows = ~0u,
                              unsigned columns = ~0u) {
  static_assert(u == accum, "m3xu::store: only accumulators are stored; A and B are as they were in memory");
  static_assert(detail::holds<T, typename fragment<u, f>::element>,
                "m3xu::store: the elements in memory are not of the accumulator's type (float, complex or double)");
#pragma unroll
  for (unsigned t = 0; t < fragment<u, f>::size; ++t) {
    const unsigned row = matrix.row(t), column = matrix.column(t);
    if (row < rows && column < columns) {
      target[in_memory == row_major ? row * ld + column : column * ld + row] = detail::cast<T>(matrix.item(t));
    }
  }
}

/// d = a b + c, with one instruction. d and c may be the same.
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

/// Like mma(), but uses only the first `depth` columns of A and rows of B. `depth` must be the same for all lanes. The rest of
/// the fragments, even NaN, does not affect the result. Required for fp32c, whose last fragments cannot be padded; for fp32c,
/// executes two fp32 instructions.
template <format f>
LACUNA_M3XU_DEVICE void mma(fragment<accum, f>& d, const fragment<matrixa, f>& a, const fragment<matrixb, f>& b,
                            const fragment<accum, f>& c, unsigned depth) {
  constexpr unsigned size = fragment<matrixa, f>::size;
  const unsigned first = detail::lane() / 16 * size;
  if constexpr (f != fp32c) {
    fragment<matrixa, f> left;
    fragment<matrixb, f> right;
#pragma unroll
    for (unsigned t = 0; t < size; ++t) {
      left.set(t, first + t < depth ? a.item(t) : detail::padding<matrixa, f>());
      right.set(t, first + t < depth ? b.item(t) : detail::padding<matrixb, f>());
    }
    mma(d, left, right, c);
  } else {
    // A lane's complex number occupies the position of fp32's elements 2 g and 2 g + 1 along k. With suitable signs and order
    // of the parts in A and B, two real products form the same chains of multiply-adds. Row 4 g + r of the real product
    // corresponds to row 4 r + g of fp32c, so rows of A are exchanged.
    const bool inside = first < depth;
    const auto source = static_cast<int>(4 * (detail::lane() / 16 * 16 + detail::lane() % 4 * 4 + detail::lane() / 4 % 4));
    const complex own = a.item(0), column = b.item(0);
    const auto exchanged = [&](float value) {
      return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(source, __builtin_bit_cast(int, inside ? value : 0.0f)));
    };
    const float re = exchanged(own.re), im = exchanged(own.im);
    fragment<matrixa, fp32> left;
    fragment<matrixb, fp32> right;
    fragment<accum, fp32> sums;
    const auto multiply = [&](float a0, float a1, float b0, float b1) {
      left.set(0, a0), left.set(1, inside ? a1 : 0.0f);
      right.set(0, inside ? b0 : -0.0f), right.set(1, inside ? b1 : -0.0f);
      mma(sums, left, right, sums);
    };
    complex results[4];
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) sums.set(t, c.item(t).re);
    multiply(re, -im, column.re, column.im);
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) results[t].re = sums.item(t), sums.set(t, c.item(t).im);
    multiply(re, im, column.im, column.re);
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) results[t].im = sums.item(t), d.set(t, results[t]);
  }
}

}  // namespace m3xu
