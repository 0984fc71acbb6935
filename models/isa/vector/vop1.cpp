// VOP1 rows: moves, conversions, rounding, reciprocals and roots, bit searches.
#include <array>
#include <bit>

#include "models/isa/row_sets.h"
#include "models/isa/vector/valu_convert.h"
#include "models/isa/vector/valu_float.h"
#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_lane_moves.h"
#include "models/isa/vector/valu_math.h"
#include "models/isa/vector/valu_rows.h"

namespace lacuna::isa {
namespace {

using Rows = VectorRows<Format::vop1>;

constexpr auto kTrans = LatencyClass::valu_transcendental;
constexpr auto kTransF64 = LatencyClass::valu_transcendental_f64;

// f32 functions whose denormal inputs and results are flushed in any mode (Vega ISA manual, V_RCP_F32 and others).
template <double (*kFunction)(double)>
struct FlushedF32 {
  static constexpr FpMode kFpMode = FpMode::f32_flushed;
  float operator()(float x) const { return static_cast<float>(kFunction(static_cast<double>(x))); }
};
template <double (*kFunction)(double)>
struct OfF32 {
  float operator()(float x) const { return static_cast<float>(kFunction(static_cast<double>(x))); }
};
// Functions of f64 and f16. An f16 argument is first converted to f32, which is exact.
template <double (*kFunction)(double)>
struct OfDouble {
  double operator()(double x) const { return kFunction(x); }
};

struct FractF32 {
  float operator()(float x) const {
    const float fraction = x - floor_of(x);
    return fraction >= 1 ? 0x1.fffffep-1F : fraction;
  }
};
struct FractF64 {
  double operator()(double x) const {
    const double fraction = x - floor_of(x);
    return fraction >= 1 ? 0x1.fffffffffffffp-1 : fraction;
  }
};
struct FractF16 {  // the difference is exact in float; the largest f16 below 1 is the bound
  float operator()(float x) const {
    const float fraction = x - floor_of(x);
    return fraction > 0x1.ffcp-1F ? 0x1.ffcp-1F : fraction;
  }
};

constexpr std::uint64_t kPlainVop1 = kNoEncodingSuffix | kNoE64 | kNoSdwa | kNoDpp;

constexpr std::array kRows{
    InstructionRow{"v_nop",
                   Format::vop1,
                   {0, 0},
                   {},
                   {},
                   Unit::valu,
                   LatencyClass::nop,
                   kNoEncodingSuffix | kNoSdwa | kNoDpp,
                   execute_no_operation},
    Rows::of<b32(b32)>("v_mov_b32", {1, 1}, [](std::uint32_t a) { return a; }),
    vector_row<b32(b32)>(Format::vop1, "v_readfirstlane_b32", {2, 2}, execute_readfirstlane, kPlainVop1 | kScalarDst,
                         LatencyClass::valu_lane),
    Rows::of<i32(f64)>("v_cvt_i32_f64", {3, 3}, [](double a) { return to_integer<std::int32_t>(a); }),
    Rows::of<f64(i32)>("v_cvt_f64_i32", {4, 4}, [](std::int32_t a) { return static_cast<double>(a); }),
    Rows::of<f32(i32)>("v_cvt_f32_i32", {5, 5}, [](std::int32_t a) { return static_cast<float>(a); }),
    Rows::of<f32(u32)>("v_cvt_f32_u32", {6, 6}, [](std::uint32_t a) { return static_cast<float>(static_cast<double>(a)); }),
    Rows::of<u32(f32)>("v_cvt_u32_f32", {7, 7}, [](float a) { return to_integer<std::uint32_t>(a); }),
    Rows::of<i32(f32)>("v_cvt_i32_f32", {8, 8}, [](float a) { return to_integer<std::int32_t>(a); }),
    Rows::of<f16(f32)>("v_cvt_f16_f32", {10, 10}, F16OfF32{}),
    Rows::of<f32(f16)>("v_cvt_f32_f16", {11, 11}, F32OfF16{}),
    Rows::of<i32(f32)>(
        "v_cvt_rpi_i32_f32", {12, 12}, [](float a) { return round_half_up(a); }, kNoOmod),
    Rows::of<i32(f32)>(
        "v_cvt_flr_i32_f32", {13, 13}, [](float a) { return round_down(a); }, kNoOmod),
    Rows::of<f32(b32)>("v_cvt_off_f32_i4", {14, 14},
                       [](std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(a << 28) >> 28) * 0.0625F; }),
    Rows::of<f32(f64)>("v_cvt_f32_f64", {15, 15}, F32OfF64{}),
    Rows::of<f64(f32)>("v_cvt_f64_f32", {16, 16}, F64OfF32{}),
    Rows::of<f32(u32)>("v_cvt_f32_ubyte0", {17, 17},
                       [](std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(byte_of(a, 0))); }),
    Rows::of<f32(u32)>("v_cvt_f32_ubyte1", {18, 18},
                       [](std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(byte_of(a, 1))); }),
    Rows::of<f32(u32)>("v_cvt_f32_ubyte2", {19, 19},
                       [](std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(byte_of(a, 2))); }),
    Rows::of<f32(u32)>("v_cvt_f32_ubyte3", {20, 20},
                       [](std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(byte_of(a, 3))); }),
    Rows::of<u32(f64)>("v_cvt_u32_f64", {21, 21}, [](double a) { return to_integer<std::uint32_t>(a); }),
    Rows::of<f64(u32)>("v_cvt_f64_u32", {22, 22}, [](std::uint32_t a) { return static_cast<double>(a); }),
    Rows::of<f64(f64)>("v_trunc_f64", {23, 23}, [](double a) { return truncation_of(a); }),
    Rows::of<f64(f64)>("v_ceil_f64", {24, 24}, [](double a) { return ceiling_of(a); }),
    Rows::of<f64(f64)>("v_rndne_f64", {25, 25}, [](double a) { return round_to_even(a); }),
    Rows::of<f64(f64)>("v_floor_f64", {26, 26}, [](double a) { return floor_of(a); }),
    Rows::of<f32(f32)>("v_fract_f32", {27, 27}, FractF32{}),
    Rows::of<f32(f32)>("v_trunc_f32", {28, 28}, [](float a) { return truncation_of(a); }),
    Rows::of<f32(f32)>("v_ceil_f32", {29, 29}, [](float a) { return ceiling_of(a); }),
    Rows::of<f32(f32)>("v_rndne_f32", {30, 30}, [](float a) { return round_to_even(a); }),
    Rows::of<f32(f32)>("v_floor_f32", {31, 31}, [](float a) { return floor_of(a); }),
    Rows::of<f32(f32)>("v_exp_f32", {32, 32}, FlushedF32<math::exp2>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_log_f32", {33, 33}, FlushedF32<math::log2>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_rcp_f32", {34, 34}, FlushedF32<math::reciprocal>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_rcp_iflag_f32", {35, 35}, FlushedF32<math::reciprocal>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_rsq_f32", {36, 36}, FlushedF32<math::reciprocal_square_root>{}, kApproximate, kTrans),
    Rows::of<f64(f64)>("v_rcp_f64", {37, 37}, OfDouble<math::reciprocal>{}, kApproximate, kTransF64),
    Rows::of<f64(f64)>("v_rsq_f64", {38, 38}, OfDouble<math::reciprocal_square_root>{}, kApproximate, kTransF64),
    Rows::of<f32(f32)>("v_sqrt_f32", {39, 39}, FlushedF32<math::square_root>{}, kApproximate, kTrans),
    Rows::of<f64(f64)>("v_sqrt_f64", {40, 40}, OfDouble<math::square_root>{}, kApproximate, kTransF64),
    Rows::of<f32(f32)>("v_sin_f32", {41, 41}, OfF32<math::sine>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_cos_f32", {42, 42}, OfF32<math::cosine>{}, kApproximate, kTrans),
    Rows::of<b32(b32)>("v_not_b32", {43, 43}, [](std::uint32_t a) { return ~a; }),
    Rows::of<b32(b32)>("v_bfrev_b32", {44, 44}, [](std::uint32_t a) { return reverse_bits(a); }),
    Rows::of<u32(u32)>("v_ffbh_u32", {45, 45}, [](std::uint32_t a) { return leading_zeros(a); }),
    Rows::of<u32(b32)>("v_ffbl_b32", {46, 46},
                       [](std::uint32_t a) { return a != 0 ? static_cast<std::uint32_t>(std::countr_zero(a)) : ~0U; }),
    Rows::of<i32(i32)>("v_ffbh_i32", {47, 47},
                       [](std::int32_t a) { return leading_zeros(static_cast<std::uint32_t>(a ^ (a >> 31))); }),
    Rows::of<i32(f64_bits)>("v_frexp_exp_i32_f64", {48, 48}, FrexpExponent<std::uint64_t>{}),
    Rows::of<f64_bits(f64_bits)>("v_frexp_mant_f64", {49, 49}, FrexpSignificand<std::uint64_t>{}),
    Rows::of<f64(f64)>("v_fract_f64", {50, 50}, FractF64{}),
    Rows::of<i32(f32_bits)>("v_frexp_exp_i32_f32", {51, 51}, FrexpExponent<std::uint32_t>{}, kNoOmod),
    Rows::of<f32_bits(f32_bits)>("v_frexp_mant_f32", {52, 52}, FrexpSignificand<std::uint32_t>{}),
    InstructionRow{"v_clrexcp",
                   Format::vop1,
                   {53, 53},
                   {},
                   {},
                   Unit::valu,
                   LatencyClass::nop,
                   kNoEncodingSuffix | kNoSdwa | kNoDpp,
                   execute_no_operation},
    vector_row<b32(b32)>(Format::vop1, "v_movreld_b32", {54, kAbsent}, execute_movreld, kReadsM0 | kReadsDst | kNoSdwa | kNoDpp,
                         LatencyClass::valu),
    vector_row<b32(b32)>(Format::vop1, "v_movrels_b32", {55, kAbsent}, execute_movrels, kReadsM0 | kNoSdwa | kNoDpp,
                         LatencyClass::valu),
    vector_row<b32(b32)>(Format::vop1, "v_movrelsd_b32", {56, kAbsent}, execute_movrelsd,
                         kReadsM0 | kReadsDst | kNoSdwa | kNoDpp, LatencyClass::valu),
    Rows::of<f16(u16)>("v_cvt_f16_u16", {57, 57}, [](std::uint16_t a) { return static_cast<double>(a); }),
    Rows::of<f16(i16)>("v_cvt_f16_i16", {58, 58}, [](std::int16_t a) { return static_cast<double>(a); }),
    Rows::of<u16(f16)>("v_cvt_u16_f16", {59, 59}, [](float a) { return to_integer<std::uint16_t>(a); }),
    Rows::of<i16(f16)>("v_cvt_i16_f16", {60, 60}, [](float a) { return to_integer<std::int16_t>(a); }),
    Rows::of<f16(f16)>("v_rcp_f16", {61, 61}, OfDouble<math::reciprocal>{}, kApproximate, kTrans),
    Rows::of<f16(f16)>("v_sqrt_f16", {62, 62}, OfDouble<math::square_root>{}, kApproximate, kTrans),
    Rows::of<f16(f16)>("v_rsq_f16", {63, 63}, OfDouble<math::reciprocal_square_root>{}, kApproximate, kTrans),
    Rows::of<f16(f16)>("v_log_f16", {64, 64}, OfDouble<math::log2>{}, kApproximate, kTrans),
    Rows::of<f16(f16)>("v_exp_f16", {65, 65}, OfDouble<math::exp2>{}, kApproximate, kTrans),
    Rows::of<f16_bits(f16_bits)>("v_frexp_mant_f16", {66, 66}, FrexpSignificand<std::uint16_t>{}),
    Rows::of<i16(f16_bits)>("v_frexp_exp_i16_f16", {67, 67}, FrexpExponent<std::uint16_t>{}),
    Rows::of<f16(f16)>("v_floor_f16", {68, 68}, [](float a) { return floor_of(a); }),
    Rows::of<f16(f16)>("v_ceil_f16", {69, 69}, [](float a) { return ceiling_of(a); }),
    Rows::of<f16(f16)>("v_trunc_f16", {70, 70}, [](float a) { return truncation_of(a); }),
    Rows::of<f16(f16)>("v_rndne_f16", {71, 71}, [](float a) { return round_to_even(a); }),
    Rows::of<f16(f16)>("v_fract_f16", {72, 72}, FractF16{}),
    Rows::of<f16(f16)>("v_sin_f16", {73, 73}, OfDouble<math::sine>{}, kApproximate, kTrans),
    Rows::of<f16(f16)>("v_cos_f16", {74, 74}, OfDouble<math::cosine>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_exp_legacy_f32", {75, 75}, FlushedF32<math::exp2>{}, kApproximate, kTrans),
    Rows::of<f32(f32)>("v_log_legacy_f32", {76, 76}, FlushedF32<math::log2>{}, kApproximate, kTrans),
    // A table look-up of the rasteriser whose contents are not public.
    vector_row<b32(b32)>(Format::vop1, "v_screen_partition_4se_b32", {kAbsent, 55}, nullptr, kNoFlags, LatencyClass::valu),
    Rows::of<i16(f16)>("v_cvt_norm_i16_f16", {kAbsent, 77}, [](float a) { return to_snorm16(a); }),
    Rows::of<u16(f16)>("v_cvt_norm_u16_f16", {kAbsent, 78}, [](float a) { return to_unorm16(a); }),
    Rows::of<b16(b32)>("v_sat_pk_u8_i16", {kAbsent, 79},
                       [](std::uint32_t a) { return saturate_u8(low_i16(a)) | saturate_u8(low_i16(a >> 16)) << 8; }),
    vector_row<b32(b32)>(Format::vop1, "v_swap_b32", {kAbsent, 81}, execute_swap, kPlainVop1 | kReadsDst | kWritesSource,
                         LatencyClass::valu),
    vector_row<b32(b32)>(Format::vop1, "v_accvgpr_mov_b32", {kAbsent, 82}, execute_accumulator_move,
                         kPlainVop1 | kReadsAccumulator, LatencyClass::valu),
};

}  // namespace

std::span<const InstructionRow> vop1_rows() { return kRows; }

}  // namespace lacuna::isa
