// VOP2 rows: two-operand arithmetic.
#include <algorithm>
#include <array>

#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_dot.h"
#include "models/isa/vector/valu_float.h"
#include "models/isa/vector/valu_fma.h"
#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_math.h"
#include "models/isa/vector/valu_packed.h"
#include "models/isa/vector/valu_rows.h"

namespace lacuna::isa {
namespace {

using Rows = VectorRows<Format::vop2>;
using U32 = std::uint32_t;
using I32 = std::int32_t;
using U16 = std::uint16_t;
using I16 = std::int16_t;

template <class T>
struct Minimum {
  constexpr T operator()(T a, T b) const { return std::min(a, b); }
};
template <class T>
struct Maximum {
  constexpr T operator()(T a, T b) const { return std::max(a, b); }
};

// Additions and subtractions with carry out; gfx9 also has forms without it. kReverse swaps the operands of a subtraction.
struct AddCarry {
  constexpr U32 operator()(U32 a, U32 b, bool& carry) const {
    carry = a + b < a;
    return a + b;
  }
};
template <bool kReverse>
struct SubtractBorrow {
  constexpr U32 operator()(U32 first, U32 second, bool& borrow) const {
    const U32 a = kReverse ? second : first;
    const U32 b = kReverse ? first : second;
    borrow = a < b;
    return a - b;
  }
};
struct AddWithCarry {
  constexpr U32 operator()(U32 a, U32 b, bool carry_in, bool& carry) const {
    const U32 partial = a + b;
    const U32 sum = partial + (carry_in ? 1U : 0U);
    carry = (partial < a) | (sum < partial);
    return sum;
  }
};
template <bool kReverse>
struct SubtractWithBorrow {
  constexpr U32 operator()(U32 first, U32 second, bool borrow_in, bool& borrow) const {
    const U32 a = kReverse ? second : first;
    const U32 b = kReverse ? first : second;
    const U32 partial = a - b;
    const U32 one = borrow_in ? 1U : 0U;
    borrow = (a < b) | (partial < one);
    return partial - one;
  }
};
// With CLAMP, the result is the largest value on a carry, and zero on a borrow.
template <class Operation, U32 kLimit>
struct Saturated {
  constexpr U32 operator()(U32 a, U32 b, bool& flag) const {
    const U32 result = Operation{}(a, b, flag);
    return flag ? kLimit : result;
  }
  constexpr U32 operator()(U32 a, U32 b, bool flag_in, bool& flag) const {
    const U32 result = Operation{}(a, b, flag_in, flag);
    return flag ? kLimit : result;
  }
};
using AddCarrySaturated = Saturated<AddCarry, ~U32{0}>;
using AddWithCarrySaturated = Saturated<AddWithCarry, ~U32{0}>;
template <bool kReverse>
using SubtractBorrowSaturated = Saturated<SubtractBorrow<kReverse>, 0>;
template <bool kReverse>
using SubtractWithBorrowSaturated = Saturated<SubtractWithBorrow<kReverse>, 0>;

template <class Operation>
struct ValueOf {
  constexpr U32 operator()(U32 a, U32 b) const {
    bool flag = false;
    return Operation{}(a, b, flag);
  }
};

constexpr std::uint64_t kLiteralForm = kHasLiteralOperand | kNoEncodingSuffix | kNoE64 | kNoSdwa | kNoDpp | kFloatFactors;

constexpr std::array kRows{
    Rows::of<b32(b32, b32, mask)>(
        "v_cndmask_b32", {0, 0}, [](U32 a, U32 b, bool second) { return second ? b : a; }, kReadsVcc | kForceModifiers),
    Rows::of<f32(f32, f32)>(
        "v_add_f32", {1, 1}, [](float a, float b) { return a + b; }, kCommutes),
    Rows::of<f32(f32, f32)>("v_sub_f32", {2, 2}, [](float a, float b) { return a - b; }),
    Rows::of<f32(f32, f32)>("v_subrev_f32", {3, 3}, [](float a, float b) { return b - a; }),
    Rows::of<f32(f32, f32)>("v_mul_legacy_f32", {4, kAbsent}, MultiplyLegacy{}, kCommutes | kFactors),
    Rows::of<f32(f32, f32)>(
        "v_mul_f32", {5, 5}, [](float a, float b) { return a * b; }, kCommutes | kFloatFactors),
    Rows::saturating<i32(i32, i32)>(
        "v_mul_i32_i24", {6, 6}, [](I32 a, I32 b) { return static_cast<U32>(low24(a)) * static_cast<U32>(low24(b)); },
        [](I32 a, I32 b) { return saturate_i32(std::int64_t{low24(a)} * low24(b)); }, kCommutes | kFactors),
    Rows::of<i32(i32, i32)>(
        "v_mul_hi_i32_i24", {7, 7}, [](I32 a, I32 b) { return static_cast<I32>((std::int64_t{low24(a)} * low24(b)) >> 32); },
        kCommutes | kFactors),
    Rows::saturating<u32(u32, u32)>(
        "v_mul_u32_u24", {8, 8}, [](U32 a, U32 b) { return low24(a) * low24(b); },
        [](U32 a, U32 b) { return saturate_u32(std::uint64_t{low24(a)} * low24(b)); }, kCommutes | kFactors),
    Rows::of<u32(u32, u32)>(
        "v_mul_hi_u32_u24", {9, 9}, [](U32 a, U32 b) { return static_cast<U32>((std::uint64_t{low24(a)} * low24(b)) >> 32); },
        kCommutes | kFactors),
    Rows::of<f32_bits(f32_bits, f32_bits)>("v_min_f32", {10, 10}, Extreme<U32, false>{}, kCommutes),
    Rows::of<f32_bits(f32_bits, f32_bits)>("v_max_f32", {11, 11}, Extreme<U32, true>{}, kCommutes),
    Rows::of<i32(i32, i32)>("v_min_i32", {12, 12}, Minimum<I32>{}, kCommutes),
    Rows::of<i32(i32, i32)>("v_max_i32", {13, 13}, Maximum<I32>{}, kCommutes),
    Rows::of<u32(u32, u32)>("v_min_u32", {14, 14}, Minimum<U32>{}, kCommutes),
    Rows::of<u32(u32, u32)>("v_max_u32", {15, 15}, Maximum<U32>{}, kCommutes),
    Rows::of<b32(u32, b32)>("v_lshrrev_b32", {16, 16}, [](U32 n, U32 a) { return a >> (n & 31); }),
    Rows::of<i32(u32, i32)>("v_ashrrev_i32", {17, 17}, [](U32 n, I32 a) { return a >> (n & 31); }),
    Rows::of<b32(u32, b32)>("v_lshlrev_b32", {18, 18}, [](U32 n, U32 a) { return a << (n & 31); }),
    Rows::of<b32(b32, b32)>(
        "v_and_b32", {19, 19}, [](U32 a, U32 b) { return a & b; }, kCommutes | kFactors),
    Rows::of<b32(b32, b32)>(
        "v_or_b32", {20, 20}, [](U32 a, U32 b) { return a | b; }, kCommutes),
    Rows::of<b32(b32, b32)>(
        "v_xor_b32", {21, 21}, [](U32 a, U32 b) { return a ^ b; }, kCommutes),
    Rows::of<f32(f32, f32, old<f32>)>("v_mac_f32", {22, 22}, MultiplyAdd{}, kCommutes | kFloatFactors | kNoGfx9Sdwa),
    Rows::of<f32(f32, literal<f32>, f32)>("v_madmk_f32", {23, 23}, MultiplyAdd{}, kLiteralForm),
    Rows::of<f32(f32, f32, literal<f32>)>("v_madak_f32", {24, 24}, MultiplyAdd{}, kLiteralForm),
    Rows::saturating<flagged<u32>(u32, u32)>("v_add_u32", {25, kAbsent}, AddCarry{}, AddCarrySaturated{},
                                             kCommutes | kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32)>("v_sub_u32", {26, kAbsent}, SubtractBorrow<false>{},
                                             SubtractBorrowSaturated<false>{}, kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32)>("v_subrev_u32", {27, kAbsent}, SubtractBorrow<true>{},
                                             SubtractBorrowSaturated<true>{}, kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_addc_u32", {28, kAbsent}, AddWithCarry{}, AddWithCarrySaturated{},
                                                   kCommutes | kWritesVcc | kReadsVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_subb_u32", {29, kAbsent}, SubtractWithBorrow<false>{},
                                                   SubtractWithBorrowSaturated<false>{}, kWritesVcc | kReadsVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_subbrev_u32", {30, kAbsent}, SubtractWithBorrow<true>{},
                                                   SubtractWithBorrowSaturated<true>{}, kWritesVcc | kReadsVcc),
    // gfx9's names of the instructions above, and gfx9's forms without carry.
    Rows::saturating<flagged<u32>(u32, u32)>("v_add_co_u32", {kAbsent, 25}, AddCarry{}, AddCarrySaturated{},
                                             kCommutes | kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32)>("v_sub_co_u32", {kAbsent, 26}, SubtractBorrow<false>{},
                                             SubtractBorrowSaturated<false>{}, kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32)>("v_subrev_co_u32", {kAbsent, 27}, SubtractBorrow<true>{},
                                             SubtractBorrowSaturated<true>{}, kWritesVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_addc_co_u32", {kAbsent, 28}, AddWithCarry{}, AddWithCarrySaturated{},
                                                   kCommutes | kWritesVcc | kReadsVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_subb_co_u32", {kAbsent, 29}, SubtractWithBorrow<false>{},
                                                   SubtractWithBorrowSaturated<false>{}, kWritesVcc | kReadsVcc),
    Rows::saturating<flagged<u32>(u32, u32, mask)>("v_subbrev_co_u32", {kAbsent, 30}, SubtractWithBorrow<true>{},
                                                   SubtractWithBorrowSaturated<true>{}, kWritesVcc | kReadsVcc),
    Rows::saturating<u32(u32, u32)>("v_add_u32", {kAbsent, 52}, ValueOf<AddCarry>{}, ValueOf<AddCarrySaturated>{}, kCommutes),
    Rows::saturating<u32(u32, u32)>("v_sub_u32", {kAbsent, 53}, ValueOf<SubtractBorrow<false>>{},
                                    ValueOf<SubtractBorrowSaturated<false>>{}),
    Rows::saturating<u32(u32, u32)>("v_subrev_u32", {kAbsent, 54}, ValueOf<SubtractBorrow<true>>{},
                                    ValueOf<SubtractBorrowSaturated<true>>{}),
    Rows::of<f32(f32, f32, old<f32>)>("v_fmac_f32", {kAbsent, 59}, FusedMultiplyAdd{}, kCommutes | kFloatFactors | kNoSdwa),
    Rows::of<f64(f64, f64, old<f64>)>("v_fmac_f64", {kAbsent, 4}, FusedMultiplyAdd{}, kCommutes | kFloatFactors),
    Rows::of<f32(pk_f16, pk_f16, old<f32>)>("v_dot2c_f32_f16", {kAbsent, 55}, DotHalves{},
                                            kApproximate | kFloatFactors | kNoSdwa),
    Rows::saturating<i32(b32, b32, old<i32>)>("v_dot2c_i32_i16", {kAbsent, 56}, DotSigned<16, false>{}, DotSigned<16, true>{},
                                              kNoSdwa | kFactors | kIgnoresSigns),
    Rows::saturating<i32(b32, b32, old<i32>)>("v_dot4c_i32_i8", {kAbsent, 57}, DotSigned<8, false>{}, DotSigned<8, true>{},
                                              kNoSdwa | kFactors | kIgnoresSigns),
    Rows::saturating<i32(b32, b32, old<i32>)>("v_dot8c_i32_i4", {kAbsent, 58}, DotSigned<4, false>{}, DotSigned<4, true>{},
                                              kNoSdwa | kFactors | kIgnoresSigns),
    packed_row<f16(f16, f16, old<f16>)>(Format::vop2, "v_pk_fmac_f16", {kAbsent, 60}, FusedMultiplyAddF16{},
                                        kCommutes | kFloatFactors | kNoSdwa | kNoDpp | kNoE64),
    Rows::of<b32(b32, b32)>(
        "v_xnor_b32", {kAbsent, 61}, [](U32 a, U32 b) { return ~(a ^ b); }, kCommutes),
    Rows::of<f16(f16, f16)>(
        "v_add_f16", {31, 31}, [](float a, float b) { return a + b; }, kCommutes),
    Rows::of<f16(f16, f16)>("v_sub_f16", {32, 32}, [](float a, float b) { return a - b; }),
    Rows::of<f16(f16, f16)>("v_subrev_f16", {33, 33}, [](float a, float b) { return b - a; }),
    Rows::of<f16(f16, f16)>(
        "v_mul_f16", {34, 34}, [](float a, float b) { return a * b; }, kCommutes | kFloatFactors),
    Rows::of<f16(f16, f16, old<f16>)>("v_mac_f16", {35, kAbsent}, MultiplyAddF16{}, kCommutes | kFloatFactors),
    Rows::of<f16(f16, literal<f16>, f16)>("v_madmk_f16", {36, kAbsent}, MultiplyAddF16{}, kLiteralForm),
    Rows::of<f16(f16, f16, literal<f16>)>("v_madak_f16", {37, kAbsent}, MultiplyAddF16{}, kLiteralForm),
    // From gfx9 on, these instructions keep the destination's high half (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest).
    Rows::of<kept<f16>(f16, f16, old<f16>)>("v_mac_f16", {kAbsent, 35}, MultiplyAddF16{}, kCommutes | kFloatFactors | kNoSdwa),
    Rows::of<kept<f16>(f16, literal<f16>, f16)>("v_madmk_f16", {kAbsent, 36}, MultiplyAddF16{}, kLiteralForm),
    Rows::of<kept<f16>(f16, f16, literal<f16>)>("v_madak_f16", {kAbsent, 37}, MultiplyAddF16{}, kLiteralForm),
    Rows::saturating<u16(u16, u16)>(
        "v_add_u16", {38, 38}, [](U16 a, U16 b) { return a + b; },
        [](U16 a, U16 b) { return saturate_u16(static_cast<U32>(a) + b); }, kCommutes),
    Rows::saturating<u16(u16, u16)>(
        "v_sub_u16", {39, 39}, [](U16 a, U16 b) { return a - b; }, [](U16 a, U16 b) { return a < b ? 0 : a - b; }),
    Rows::saturating<u16(u16, u16)>(
        "v_subrev_u16", {40, 40}, [](U16 a, U16 b) { return b - a; }, [](U16 a, U16 b) { return b < a ? 0 : b - a; }),
    Rows::of<u16(u16, u16)>(
        "v_mul_lo_u16", {41, 41}, [](U16 a, U16 b) { return static_cast<U32>(a) * b; }, kCommutes | kFactors),
    Rows::of<b16(u16, b16)>("v_lshlrev_b16", {42, 42}, [](U16 n, U16 a) { return a << (n & 15); }),
    Rows::of<b16(u16, b16)>("v_lshrrev_b16", {43, 43}, [](U16 n, U16 a) { return a >> (n & 15); }),
    Rows::of<i16(u16, i16)>("v_ashrrev_i16", {44, 44}, [](U16 n, I16 a) { return a >> (n & 15); }),
    Rows::of<f16_bits(f16_bits, f16_bits)>("v_max_f16", {45, 45}, Extreme<U16, true>{}, kCommutes),
    Rows::of<f16_bits(f16_bits, f16_bits)>("v_min_f16", {46, 46}, Extreme<U16, false>{}, kCommutes),
    Rows::of<u16(u16, u16)>("v_max_u16", {47, 47}, Maximum<U16>{}, kCommutes),
    Rows::of<i16(i16, i16)>("v_max_i16", {48, 48}, Maximum<I16>{}, kCommutes),
    Rows::of<u16(u16, u16)>("v_min_u16", {49, 49}, Minimum<U16>{}, kCommutes),
    Rows::of<i16(i16, i16)>("v_min_i16", {50, 50}, Minimum<I16>{}, kCommutes),
    Rows::of<f16(f16, i16)>("v_ldexp_f16", {51, 51}, [](float a, I16 n) { return math::scale(static_cast<double>(a), n); }),
};

}  // namespace

std::span<const InstructionRow> vop2_rows() { return kRows; }

}  // namespace lacuna::isa
