// Instructions that only VOP3 encodes: three operands, 64-bit integers and floats, lane access.
#include <algorithm>
#include <array>

#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_convert.h"
#include "models/isa/vector/valu_division.h"
#include "models/isa/vector/valu_float.h"
#include "models/isa/vector/valu_fma.h"
#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_lane_moves.h"
#include "models/isa/vector/valu_math.h"
#include "models/isa/vector/valu_rows.h"
#include "models/isa/vector/valu_sad.h"

namespace lacuna::isa {
namespace {

using Rows = VectorRows<Format::vop3a>;
using RowsB = VectorRows<Format::vop3b>;
using U16 = std::uint16_t;
using I16 = std::int16_t;
using U32 = std::uint32_t;
using I32 = std::int32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

constexpr auto kMul32 = LatencyClass::valu_mul32;

template <class T>
struct Minimum3 {
  constexpr T operator()(T a, T b, T c) const { return std::min(std::min(a, b), c); }
};
template <class T>
struct Maximum3 {
  constexpr T operator()(T a, T b, T c) const { return std::max(std::max(a, b), c); }
};
template <class T>
struct Median3 {
  constexpr T operator()(T a, T b, T c) const { return median(a, b, c); }
};

// Cube maps: the face is the axis of the largest magnitude, z before y before x (GCN3 ISA manual, V_CUBE*).
enum class Axis { x, y, z };
inline Axis major_axis(float x, float y, float z) {
  const float ax = __builtin_fabsf(x);
  const float ay = __builtin_fabsf(y);
  const float az = __builtin_fabsf(z);
  return az >= ax && az >= ay ? Axis::z : ay >= ax ? Axis::y : Axis::x;
}
struct CubeFace {
  float operator()(float x, float y, float z) const {
    const Axis axis = major_axis(x, y, z);
    if (axis == Axis::z) return z < 0 ? 5 : 4;
    if (axis == Axis::y) return y < 0 ? 3 : 2;
    return x < 0 ? 1 : 0;
  }
};
struct CubeS {
  float operator()(float x, float y, float z) const {
    const Axis axis = major_axis(x, y, z);
    if (axis == Axis::z) return z < 0 ? -x : x;
    if (axis == Axis::y) return x;
    return x < 0 ? z : -z;
  }
};
struct CubeT {
  float operator()(float x, float y, float z) const { return major_axis(x, y, z) == Axis::y ? (y < 0 ? -z : z) : -y; }
};
struct CubeMajor {
  float operator()(float x, float y, float z) const {
    const Axis axis = major_axis(x, y, z);
    return 2 * (axis == Axis::z ? z : axis == Axis::y ? y : x);
  }
};

struct BitFieldU32 {
  constexpr U32 operator()(U32 a, U32 offset, U32 width) const { return (a >> (offset & 31)) & ((U32{1} << (width & 31)) - 1); }
};
struct BitFieldI32 {
  constexpr I32 operator()(I32 a, U32 offset, U32 width) const {
    const U32 mask = (U32{1} << (width & 31)) - 1;
    const U32 sign = mask ^ (mask >> 1);
    const U32 field = static_cast<U32>(a >> (offset & 31)) & mask;
    return static_cast<I32>((field ^ sign) - sign);
  }
};
struct LerpU8 {
  constexpr U32 operator()(U32 a, U32 b, U32 round) const {
    U32 result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      result |= ((byte_of(a, i) + byte_of(b, i) + (byte_of(round, i) & 1)) >> 1) << (8 * i);
    }
    return result;
  }
};
struct Permute {
  constexpr U32 operator()(U32 high, U32 low, U32 select) const {
    U32 result = 0;
    for (unsigned i = 0; i < 4; ++i) result |= permuted_byte(high, low, byte_of(select, i)) << (8 * i);
    return result;
  }
};

// 65-bit sums: the flag is bit 64.
__extension__ using I128 = __int128;
struct MadU64 {
  constexpr U64 operator()(U32 a, U32 b, U64 c, bool& carry) const {
    const U64 sum = U64{a} * b + c;
    carry = sum < c;
    return sum;
  }
};
struct MadU64Saturated {
  constexpr U64 operator()(U32 a, U32 b, U64 c, bool& carry) const {
    const U64 sum = MadU64{}(a, b, c, carry);
    return carry ? ~U64{0} : sum;
  }
};
struct MadI64 {
  constexpr I64 operator()(I32 a, I32 b, I64 c, bool& carry) const {
    const I128 sum = I128{I64{a} * b} + c;
    carry = ((sum >> 64) & 1) != 0;
    return static_cast<I64>(sum);
  }
};
struct MadI64Saturated {
  constexpr I64 operator()(I32 a, I32 b, I64 c, bool& carry) const {
    const I128 sum = I128{I64{a} * b} + c;
    constexpr I128 kMaximum = std::numeric_limits<I64>::max();
    constexpr I128 kMinimum = std::numeric_limits<I64>::min();
    carry = ((sum >> 64) & 1) != 0;
    return static_cast<I64>(sum > kMaximum ? kMaximum : sum < kMinimum ? kMinimum : sum);
  }
};

template <bool kClamp>
struct PackHalves {
  U32 operator()(const LaneContext& context, U32 a, U32 b) const { return half(context, a) | half(context, b) << 16; }

 private:
  static U32 half(const LaneContext& context, U32 bits) {
    const U32 value = half_toward_zero(context, bits);
    if (!kClamp) return value;
    if (FloatBits<U16>::nan(static_cast<U16>(value))) return context.mode.dx10_clamp() ? 0 : value;
    return (value & 0x8000) != 0 ? 0 : std::min(value, U32{0x3c00});
  }
};

// V_PACK_B32_F16 is a floating-point instruction: denormals are treated according to MODE, signalling NaNs are quieted.
struct PackF16 {
  U32 operator()(const LaneContext& context, U16 a, U16 b) const { return half(context, a) | half(context, b) << 16; }

 private:
  static U32 half(const LaneContext& context, U16 v) {
    v = flushed_input(context, v);
    return FloatBits<U16>::nan(v) ? FloatBits<U16>::quieted(v) : v;
  }
};

struct CountBelowLow {
  constexpr U32 operator()(U32 mask, U32 base, U32 lane) const {
    return base + count_bits(lane < 32 ? mask & ((U32{1} << (lane & 31)) - 1) : mask);
  }
};
struct CountBelowHigh {
  constexpr U32 operator()(U32 mask, U32 base, U32 lane) const {
    return base + (lane < 32 ? 0 : count_bits(mask & ((U32{1} << (lane & 31)) - 1)));
  }
};

constexpr std::uint64_t kProduct = kCommutes | kFactors;
constexpr std::uint64_t kFloatProduct = kCommutes | kFloatFactors;

constexpr std::array kThreeOperandRows{
    Rows::of<f32(f32, f32, f32)>("v_mad_legacy_f32", {0x1c0, 0x1c0}, MultiplyAddLegacy{}, kProduct),
    Rows::of<f32(f32, f32, f32)>("v_mad_f32", {0x1c1, 0x1c1}, MultiplyAdd{}, kFloatProduct),
    Rows::saturating<i32(i32, i32, i32)>(
        "v_mad_i32_i24", {0x1c2, 0x1c2},
        [](I32 a, I32 b, I32 c) { return static_cast<U32>(low24(a)) * static_cast<U32>(low24(b)) + static_cast<U32>(c); },
        [](I32 a, I32 b, I32 c) { return saturate_i32(I64{low24(a)} * low24(b) + c); }, kProduct),
    Rows::saturating<u32(u32, u32, u32)>(
        "v_mad_u32_u24", {0x1c3, 0x1c3}, [](U32 a, U32 b, U32 c) { return low24(a) * low24(b) + c; },
        [](U32 a, U32 b, U32 c) { return saturate_u32(U64{low24(a)} * low24(b) + c); }, kProduct),
    Rows::of<f32(f32, f32, f32)>("v_cubeid_f32", {0x1c4, 0x1c4}, CubeFace{}),
    Rows::of<f32(f32, f32, f32)>("v_cubesc_f32", {0x1c5, 0x1c5}, CubeS{}),
    Rows::of<f32(f32, f32, f32)>("v_cubetc_f32", {0x1c6, 0x1c6}, CubeT{}),
    Rows::of<f32(f32, f32, f32)>("v_cubema_f32", {0x1c7, 0x1c7}, CubeMajor{}),
    Rows::of<u32(u32, u32, u32)>("v_bfe_u32", {0x1c8, 0x1c8}, BitFieldU32{}),
    Rows::of<i32(i32, u32, u32)>("v_bfe_i32", {0x1c9, 0x1c9}, BitFieldI32{}),
    Rows::of<b32(b32, b32, b32)>("v_bfi_b32", {0x1ca, 0x1ca}, [](U32 s, U32 a, U32 b) { return (s & a) | (~s & b); }),
    Rows::of<f32(f32, f32, f32)>("v_fma_f32", {0x1cb, 0x1cb}, FusedMultiplyAdd{}, kFloatProduct),
    Rows::of<f64(f64, f64, f64)>("v_fma_f64", {0x1cc, 0x1cc}, FusedMultiplyAdd{}, kFloatProduct),
    Rows::of<b32(b32, b32, b32)>("v_lerp_u8", {0x1cd, 0x1cd}, LerpU8{}),
    Rows::of<b32(b32, b32, u32)>("v_alignbit_b32", {0x1ce, 0x1ce},
                                 [](U32 a, U32 b, U32 n) { return static_cast<U32>((U64{a} << 32 | b) >> (n & 31)); }),
    Rows::of<b32(b32, b32, u32)>("v_alignbyte_b32", {0x1cf, 0x1cf},
                                 [](U32 a, U32 b, U32 n) { return static_cast<U32>((U64{a} << 32 | b) >> (8 * (n & 3))); }),
    Rows::of<f32_bits(f32_bits, f32_bits, f32_bits)>("v_min3_f32", {0x1d0, 0x1d0}, Extreme<U32, false>{}),
    Rows::of<i32(i32, i32, i32)>("v_min3_i32", {0x1d1, 0x1d1}, Minimum3<I32>{}),
    Rows::of<u32(u32, u32, u32)>("v_min3_u32", {0x1d2, 0x1d2}, Minimum3<U32>{}),
    Rows::of<f32_bits(f32_bits, f32_bits, f32_bits)>("v_max3_f32", {0x1d3, 0x1d3}, Extreme<U32, true>{}),
    Rows::of<i32(i32, i32, i32)>("v_max3_i32", {0x1d4, 0x1d4}, Maximum3<I32>{}),
    Rows::of<u32(u32, u32, u32)>("v_max3_u32", {0x1d5, 0x1d5}, Maximum3<U32>{}),
    Rows::of<f32_bits(f32_bits, f32_bits, f32_bits)>("v_med3_f32", {0x1d6, 0x1d6}, Median<U32>{}),
    Rows::of<i32(i32, i32, i32)>("v_med3_i32", {0x1d7, 0x1d7}, Median3<I32>{}),
    Rows::of<u32(u32, u32, u32)>("v_med3_u32", {0x1d8, 0x1d8}, Median3<U32>{}),
    Rows::saturating<u32(b32, b32, u32)>("v_sad_u8", {0x1d9, 0x1d9}, SadU8<false>{}, SadU8<true>{}),
    Rows::saturating<u32(b32, b32, u32)>("v_sad_hi_u8", {0x1da, 0x1da}, SadHighU8<false>{}, SadHighU8<true>{}),
    Rows::saturating<u32(b32, b32, u32)>("v_sad_u16", {0x1db, 0x1db}, SadU16<false>{}, SadU16<true>{}),
    Rows::saturating<u32(u32, u32, u32)>("v_sad_u32", {0x1dc, 0x1dc}, SadU32<false>{}, SadU32<true>{}),
    Rows::of<b32(f32, u32, b32)>("v_cvt_pk_u8_f32", {0x1dd, 0x1dd},
                                 [](float a, U32 index, U32 word) { return insert_byte(word, index, to_byte(a)); }),
    Rows::of<f32_bits(f32_bits, f32_bits, f32_bits)>("v_div_fixup_f32", {0x1de, 0x1de}, DivisionFixup<U32>{}),
    Rows::of<f64_bits(f64_bits, f64_bits, f64_bits)>("v_div_fixup_f64", {0x1df, 0x1df}, DivisionFixup<U64>{}),
    RowsB::of<flagged<f32_bits>(f32_bits, f32_bits, f32_bits)>("v_div_scale_f32", {0x1e0, 0x1e0}, DivisionScale<U32>{}),
    RowsB::of<flagged<f64_bits>(f64_bits, f64_bits, f64_bits)>("v_div_scale_f64", {0x1e1, 0x1e1}, DivisionScale<U64>{}),
    Rows::of<f32(f32, f32, f32, vcc_bit)>("v_div_fmas_f32", {0x1e2, 0x1e2}, DivisionFusedMultiplyAdd<U32>{}, kFloatFactors),
    Rows::of<f64(f64, f64, f64, vcc_bit)>("v_div_fmas_f64", {0x1e3, 0x1e3}, DivisionFusedMultiplyAdd<U64>{}, kFloatFactors),
    Rows::saturating<u32(b32, b32, u32)>("v_msad_u8", {0x1e4, 0x1e4}, MaskedSadU8<false>{}, MaskedSadU8<true>{}),
    Rows::saturating<u64(u64, u32, u64)>("v_qsad_pk_u16_u8", {0x1e5, 0x1e5}, QuadSad<false, false>{}, QuadSad<false, true>{}),
    Rows::saturating<u64(u64, u32, u64)>("v_mqsad_pk_u16_u8", {0x1e6, 0x1e6}, QuadSad<true, false>{}, QuadSad<true, true>{}),
    Rows::saturating<b128(u64, u32, b128)>("v_mqsad_u32_u8", {0x1e7, 0x1e7}, QuadSadU32<false>{}, QuadSadU32<true>{}),
    RowsB::saturating<flagged<u64>(u32, u32, u64)>("v_mad_u64_u32", {0x1e8, 0x1e8}, MadU64{}, MadU64Saturated{}, kProduct,
                                                   kMul32),
    RowsB::saturating<flagged<i64>(i32, i32, i64)>("v_mad_i64_i32", {0x1e9, 0x1e9}, MadI64{}, MadI64Saturated{}, kProduct,
                                                   kMul32),
    Rows::of<f16(f16, f16, f16)>("v_mad_f16", {0x1ea, kAbsent}, MultiplyAddF16{}, kFloatProduct),
    Rows::saturating<u16(u16, u16, u16)>(
        "v_mad_u16", {0x1eb, kAbsent}, [](U16 a, U16 b, U16 c) { return U32{a} * b + c; },
        [](U16 a, U16 b, U16 c) { return saturate_u16(saturate_u32(U64{a} * b + c)); }, kProduct),
    Rows::saturating<i16(i16, i16, i16)>(
        "v_mad_i16", {0x1ec, kAbsent}, [](I16 a, I16 b, I16 c) { return a * b + c; },
        [](I16 a, I16 b, I16 c) { return saturate_i16(a * b + c); }, kProduct),
    Rows::of<b32(b32, b32, b32)>("v_perm_b32", {0x1ed, 0x1ed}, Permute{}),
    Rows::of<f16(f16, f16, f16)>("v_fma_f16", {0x1ee, kAbsent}, FusedMultiplyAddF16{}, kFloatProduct),
    Rows::of<f16_bits(f16_bits, f16_bits, f16_bits)>("v_div_fixup_f16", {0x1ef, kAbsent}, DivisionFixup<U16>{}),
    Rows::of<b32(f32, u32, old<b32>)>("v_cvt_pkaccum_u8_f32", {0x1f0, 0x1f0},
                                      [](float a, U32 index, U32 word) { return insert_byte(word, index, to_byte(a)); }),
};

// Rows of gfx9: 16-bit instructions that gfx9 renames to _legacy (their original names belong to instructions with OP_SEL), and
// instructions that gfx9 adds.
constexpr std::array kGfx9Rows{
    Rows::of<f16(f16, f16, f16)>("v_mad_legacy_f16", {kAbsent, 0x1ea}, MultiplyAddF16{}, kFloatProduct),
    Rows::saturating<u16(u16, u16, u16)>(
        "v_mad_legacy_u16", {kAbsent, 0x1eb}, [](U16 a, U16 b, U16 c) { return U32{a} * b + c; },
        [](U16 a, U16 b, U16 c) { return saturate_u16(saturate_u32(U64{a} * b + c)); }, kProduct),
    Rows::saturating<i16(i16, i16, i16)>(
        "v_mad_legacy_i16", {kAbsent, 0x1ec}, [](I16 a, I16 b, I16 c) { return a * b + c; },
        [](I16 a, I16 b, I16 c) { return saturate_i16(a * b + c); }, kProduct),
    Rows::of<f16(f16, f16, f16)>("v_fma_legacy_f16", {kAbsent, 0x1ee}, FusedMultiplyAddF16{}, kFloatProduct),
    Rows::of<f16_bits(f16_bits, f16_bits, f16_bits)>("v_div_fixup_legacy_f16", {kAbsent, 0x1ef}, DivisionFixup<U16>{}),
    Rows::of<u32(u32, u32, u32)>("v_xad_u32", {kAbsent, 0x1f3}, [](U32 a, U32 b, U32 c) { return (a ^ b) + c; }),
    Rows::of<u32(u32, u32, u32)>("v_lshl_add_u32", {kAbsent, 0x1fd}, [](U32 a, U32 n, U32 c) { return (a << (n & 31)) + c; }),
    Rows::of<u32(u32, u32, u32)>("v_add_lshl_u32", {kAbsent, 0x1fe}, [](U32 a, U32 b, U32 n) { return (a + b) << (n & 31); }),
    Rows::of<u32(u32, u32, u32)>("v_add3_u32", {kAbsent, 0x1ff}, [](U32 a, U32 b, U32 c) { return a + b + c; }),
    Rows::of<b32(b32, u32, b32)>("v_lshl_or_b32", {kAbsent, 0x200}, [](U32 a, U32 n, U32 c) { return a << (n & 31) | c; }),
    Rows::of<b32(b32, b32, b32)>(
        "v_and_or_b32", {kAbsent, 0x201}, [](U32 a, U32 b, U32 c) { return (a & b) | c; }, kFactors),
    Rows::of<b32(b32, b32, b32)>("v_or3_b32", {kAbsent, 0x202}, [](U32 a, U32 b, U32 c) { return a | b | c; }),
    Rows::saturating<i32(i32, i32)>(
        "v_add_i32", {kAbsent, 0x29c}, [](I32 a, I32 b) { return static_cast<U32>(a) + static_cast<U32>(b); },
        [](I32 a, I32 b) { return saturate_i32(I64{a} + b); }, kCommutes),
    Rows::saturating<i32(i32, i32)>(
        "v_sub_i32", {kAbsent, 0x29d}, [](I32 a, I32 b) { return static_cast<U32>(a) - static_cast<U32>(b); },
        [](I32 a, I32 b) { return saturate_i32(I64{a} - b); }),
    Rows::of<f32(f32, f32)>("v_mul_legacy_f32", {kAbsent, 0x2a1}, MultiplyLegacy{}, kProduct),
    // Operands may be high halves; 16-bit results leave the other half unchanged.
    Rows::saturating<u32(u16, u16, u32)>(
        "v_mad_u32_u16", {kAbsent, 0x1f1}, [](U16 a, U16 b, U32 c) { return U32{a} * b + c; },
        [](U16 a, U16 b, U32 c) { return saturate_u32(U64{a} * b + c); }, kProduct | kOpSel),
    Rows::saturating<i32(i16, i16, i32)>(
        "v_mad_i32_i16", {kAbsent, 0x1f2}, [](I16 a, I16 b, I32 c) { return static_cast<U32>(a * b) + static_cast<U32>(c); },
        [](I16 a, I16 b, I32 c) { return saturate_i32(I64{a * b} + c); }, kProduct | kOpSel),
    Rows::of<kept<f16_bits>(f16_bits, f16_bits, f16_bits)>("v_min3_f16", {kAbsent, 0x1f4}, Extreme<U16, false>{},
                                                           kOpSel | kIntegerClamp),
    Rows::of<kept<i16>(i16, i16, i16)>("v_min3_i16", {kAbsent, 0x1f5}, Minimum3<I16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<u16>(u16, u16, u16)>("v_min3_u16", {kAbsent, 0x1f6}, Minimum3<U16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<f16_bits>(f16_bits, f16_bits, f16_bits)>("v_max3_f16", {kAbsent, 0x1f7}, Extreme<U16, true>{},
                                                           kOpSel | kIntegerClamp),
    Rows::of<kept<i16>(i16, i16, i16)>("v_max3_i16", {kAbsent, 0x1f8}, Maximum3<I16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<u16>(u16, u16, u16)>("v_max3_u16", {kAbsent, 0x1f9}, Maximum3<U16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<f16_bits>(f16_bits, f16_bits, f16_bits)>("v_med3_f16", {kAbsent, 0x1fa}, Median<U16>{},
                                                           kOpSel | kIntegerClamp),
    Rows::of<kept<i16>(i16, i16, i16)>("v_med3_i16", {kAbsent, 0x1fb}, Median3<I16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<u16>(u16, u16, u16)>("v_med3_u16", {kAbsent, 0x1fc}, Median3<U16>{}, kOpSel | kIntegerClamp),
    Rows::of<kept<f16>(f16, f16, f16)>("v_mad_f16", {kAbsent, 0x203}, MultiplyAddF16{}, kFloatProduct | kOpSel),
    Rows::saturating<kept<u16>(u16, u16, u16)>(
        "v_mad_u16", {kAbsent, 0x204}, [](U16 a, U16 b, U16 c) { return U32{a} * b + c; },
        [](U16 a, U16 b, U16 c) { return saturate_u16(saturate_u32(U64{a} * b + c)); }, kProduct | kOpSel),
    Rows::saturating<kept<i16>(i16, i16, i16)>(
        "v_mad_i16", {kAbsent, 0x205}, [](I16 a, I16 b, I16 c) { return a * b + c; },
        [](I16 a, I16 b, I16 c) { return saturate_i16(a * b + c); }, kProduct | kOpSel),
    Rows::of<kept<f16>(f16, f16, f16)>("v_fma_f16", {kAbsent, 0x206}, FusedMultiplyAddF16{}, kFloatProduct | kOpSel),
    Rows::of<kept<f16_bits>(f16_bits, f16_bits, f16_bits)>("v_div_fixup_f16", {kAbsent, 0x207}, DivisionFixup<U16>{}, kOpSel),
    Rows::of<b32(f16, f16)>(
        "v_cvt_pknorm_i16_f16", {kAbsent, 0x299}, [](float a, float b) { return to_snorm16(a) | to_snorm16(b) << 16; }, kOpSel),
    Rows::of<b32(f16, f16)>(
        "v_cvt_pknorm_u16_f16", {kAbsent, 0x29a}, [](float a, float b) { return to_unorm16(a) | to_unorm16(b) << 16; }, kOpSel),
    Rows::saturating<kept<i16>(i16, i16)>(
        "v_add_i16", {kAbsent, 0x29e}, [](I16 a, I16 b) { return a + b; }, [](I16 a, I16 b) { return saturate_i16(a + b); },
        kCommutes | kOpSel),
    Rows::saturating<kept<i16>(i16, i16)>(
        "v_sub_i16", {kAbsent, 0x29f}, [](I16 a, I16 b) { return a - b; }, [](I16 a, I16 b) { return saturate_i16(a - b); },
        kOpSel),
    Rows::of<b32(f16_bits, f16_bits)>("v_pack_b32_f16", {kAbsent, 0x2a0}, PackF16{}, kOpSel),
};

constexpr std::array kTwoOperandRows{
    Rows::of<f64(f64, f64)>(
        "v_add_f64", {0x280, 0x280}, [](double a, double b) { return a + b; }, kCommutes),
    Rows::of<f64(f64, f64)>(
        "v_mul_f64", {0x281, 0x281}, [](double a, double b) { return a * b; }, kFloatProduct),
    Rows::of<f64_bits(f64_bits, f64_bits)>("v_min_f64", {0x282, 0x282}, Extreme<U64, false>{}, kCommutes),
    Rows::of<f64_bits(f64_bits, f64_bits)>("v_max_f64", {0x283, 0x283}, Extreme<U64, true>{}, kCommutes),
    Rows::of<f64(f64, i32)>("v_ldexp_f64", {0x284, 0x284}, [](double a, I32 n) { return math::scale_f64(a, n); }),
    Rows::of<u32(u32, u32)>(
        "v_mul_lo_u32", {0x285, 0x285}, [](U32 a, U32 b) { return a * b; }, kProduct, kMul32),
    Rows::of<u32(u32, u32)>(
        "v_mul_hi_u32", {0x286, 0x286}, [](U32 a, U32 b) { return static_cast<U32>((U64{a} * b) >> 32); }, kProduct, kMul32),
    Rows::of<i32(i32, i32)>(
        "v_mul_hi_i32", {0x287, 0x287}, [](I32 a, I32 b) { return static_cast<I32>((I64{a} * b) >> 32); }, kProduct, kMul32),
    Rows::of<f32(f32, i32)>("v_ldexp_f32", {0x288, 0x288},
                            [](float a, I32 n) { return static_cast<float>(math::scale(static_cast<double>(a), n)); }),
    vector_row<b32(b32, b32)>(Format::vop3a, "v_readlane_b32", {0x289, 0x289}, execute_readlane, kScalarDst,
                              LatencyClass::valu_lane),
    vector_row<b32(b32, b32)>(Format::vop3a, "v_writelane_b32", {0x28a, 0x28a}, execute_writelane, kReadsDst,
                              LatencyClass::valu_lane),
    Rows::of<u32(b32, u32)>("v_bcnt_u32_b32", {0x28b, 0x28b}, [](U32 a, U32 base) { return base + count_bits(a); }),
    Rows::of<u32(b32, u32, lane_index)>("v_mbcnt_lo_u32_b32", {0x28c, 0x28c}, CountBelowLow{}),
    Rows::of<u32(b32, u32, lane_index)>("v_mbcnt_hi_u32_b32", {0x28d, 0x28d}, CountBelowHigh{}),
    Rows::of<b64(u32, b64)>("v_lshlrev_b64", {0x28f, 0x28f}, [](U32 n, U64 a) { return a << (n & 63); }),
    Rows::of<b64(u32, b64)>("v_lshrrev_b64", {0x290, 0x290}, [](U32 n, U64 a) { return a >> (n & 63); }),
    Rows::of<i64(u32, i64)>("v_ashrrev_i64", {0x291, 0x291}, [](U32 n, I64 a) { return a >> (n & 63); }),
    Rows::of<f64(f64_bits, u32)>("v_trig_preop_f64", {0x292, 0x292}, TrigonometricPreparation{}),
    Rows::of<b32(u32, u32)>("v_bfm_b32", {0x293, 0x293},
                            [](U32 width, U32 offset) { return ((U32{1} << (width & 31)) - 1) << (offset & 31); }),
    Rows::of<b32(f32, f32)>("v_cvt_pknorm_i16_f32", {0x294, 0x294},
                            [](float a, float b) { return to_snorm16(a) | to_snorm16(b) << 16; }),
    Rows::of<b32(f32, f32)>("v_cvt_pknorm_u16_f32", {0x295, 0x295},
                            [](float a, float b) { return to_unorm16(a) | to_unorm16(b) << 16; }),
    Rows::saturating<pk_f16(f32_bits, f32_bits)>("v_cvt_pkrtz_f16_f32", {0x296, 0x296}, PackHalves<false>{},
                                                 PackHalves<true>{}),
    Rows::of<b32(u32, u32)>("v_cvt_pk_u16_u32", {0x297, 0x297},
                            [](U32 a, U32 b) { return U32{saturate_u16(a)} | U32{saturate_u16(b)} << 16; }),
    Rows::of<b32(i32, i32)>("v_cvt_pk_i16_i32", {0x298, 0x298},
                            [](I32 a, I32 b) {
                              return U32{static_cast<U16>(saturate_i16(a))} | U32{static_cast<U16>(saturate_i16(b))} << 16;
                            }),
};

constexpr auto kRows = [] {
  std::array<InstructionRow, kThreeOperandRows.size() + kGfx9Rows.size() + kTwoOperandRows.size()> rows{};
  auto to = std::copy(kThreeOperandRows.begin(), kThreeOperandRows.end(), rows.begin());
  to = std::copy(kGfx9Rows.begin(), kGfx9Rows.end(), to);
  std::copy(kTwoOperandRows.begin(), kTwoOperandRows.end(), to);
  return rows;
}();

}  // namespace

std::span<const InstructionRow> vop3_rows() { return kRows; }

}  // namespace lacuna::isa
