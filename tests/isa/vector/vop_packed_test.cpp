// Tests gfx90a's packed, mixed-precision and dot instructions against exact arithmetic.
#include <algorithm>
#include <cmath>

#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

constexpr std::array kSources{vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)};

I64 signed_half(U32 v) { return static_cast<std::int16_t>(v); }
I64 clamp_to(I64 v, I64 low, I64 high) { return std::min(std::max(v, low), high); }

Rounding half_rounding_of(Mode mode) { return {mode.round_f64_f16(), !mode.denorm_in_f64_f16(), !mode.denorm_out_f64_f16()}; }
U64 clamped(U64 v, const FloatFormat& f) {
  if (f.nan(v) || f.negative(v)) return 0;
  return std::min(v, one(f));
}

void randomise_halves(Machine& machine, std::mt19937_64& random) {
  for (unsigned reg = 0; reg < kRegisters; ++reg) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      U32 word = static_cast<U32>(random());
      // Ordinary f16 values among arbitrary bits.
      if (lane % 2 == 0) word = (word & 0x87ff87ff) | 0x34003400;
      machine.at(reg, lane) = word;
    }
  }
}

// -- packed 16-bit

struct Packed {
  const char* mnemonic;
  unsigned sources;
  bool floats;
  std::function<U16(U32, U32, U32, bool, const Rounding&)> half;
};

U16 saturated_signed(I64 v, bool clamp) { return static_cast<U16>(clamp ? clamp_to(v, -32768, 32767) : v); }
U16 saturated_unsigned(I64 v, bool clamp) { return static_cast<U16>(clamp ? clamp_to(v, 0, 65535) : v); }
U16 of_f16(U64 v, bool clamp) { return static_cast<U16>(clamp ? clamped(v, kF16) : v); }

// IEEE mode is off in these tests: if one operand is a NaN, the other operand is the result.
U16 extreme_half(U32 a, U32 b, bool maximum, const Rounding& r) {
  const auto flushed = [&](U32 v) { return r.flush_inputs ? kF16.flushed(v) : v; };
  const U64 x = flushed(a);
  const U64 y = flushed(b);
  if (kF16.nan(x)) return static_cast<U16>(y);
  if (kF16.nan(y)) return static_cast<U16>(x);
  const auto order = [](U64 v) { return kF16.negative(v) ? -static_cast<I64>(kF16.magnitude(v)) - 1 : static_cast<I64>(v); };
  return static_cast<U16>((order(x) > order(y)) == maximum ? x : y);
}

const std::vector<Packed>& packed_cases() {
  static const std::vector<Packed> cases{
      {"v_pk_mad_i16", 3, false,
       [](U32 a, U32 b, U32 c, bool s, auto&) {
         return saturated_signed(signed_half(a) * signed_half(b) + signed_half(c), s);
       }},
      {"v_pk_mul_lo_u16", 2, false, [](U32 a, U32 b, U32, bool s, auto&) { return saturated_unsigned(I64{a} * b, s); }},
      {"v_pk_add_i16", 2, false,
       [](U32 a, U32 b, U32, bool s, auto&) { return saturated_signed(signed_half(a) + signed_half(b), s); }},
      {"v_pk_sub_i16", 2, false,
       [](U32 a, U32 b, U32, bool s, auto&) { return saturated_signed(signed_half(a) - signed_half(b), s); }},
      {"v_pk_lshlrev_b16", 2, false, [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(b << (a & 15)); }},
      {"v_pk_lshrrev_b16", 2, false, [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(b >> (a & 15)); }},
      {"v_pk_ashrrev_i16", 2, false,
       [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(signed_half(b) >> (a & 15)); }},
      {"v_pk_max_i16", 2, false,
       [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(std::max(signed_half(a), signed_half(b))); }},
      {"v_pk_min_i16", 2, false,
       [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(std::min(signed_half(a), signed_half(b))); }},
      {"v_pk_mad_u16", 3, false, [](U32 a, U32 b, U32 c, bool s, auto&) { return saturated_unsigned(I64{a} * b + c, s); }},
      {"v_pk_add_u16", 2, false, [](U32 a, U32 b, U32, bool s, auto&) { return saturated_unsigned(I64{a} + b, s); }},
      {"v_pk_sub_u16", 2, false, [](U32 a, U32 b, U32, bool s, auto&) { return saturated_unsigned(I64{a} - b, s); }},
      {"v_pk_max_u16", 2, false, [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(std::max(a, b)); }},
      {"v_pk_min_u16", 2, false, [](U32 a, U32 b, U32, bool, auto&) { return static_cast<U16>(std::min(a, b)); }},
      {"v_pk_fma_f16", 3, true, [](U32 a, U32 b, U32 c, bool s, auto& r) { return of_f16(multiply_add(a, b, c, kF16, r), s); }},
      {"v_pk_add_f16", 2, true, [](U32 a, U32 b, U32, bool s, auto& r) { return of_f16(add(a, b, kF16, r), s); }},
      {"v_pk_mul_f16", 2, true, [](U32 a, U32 b, U32, bool s, auto& r) { return of_f16(multiply(a, b, kF16, r), s); }},
      {"v_pk_min_f16", 2, true, [](U32 a, U32 b, U32, bool s, auto& r) { return of_f16(extreme_half(a, b, false, r), s); }},
      {"v_pk_max_f16", 2, true, [](U32 a, U32 b, U32, bool s, auto& r) { return of_f16(extreme_half(a, b, true, r), s); }},
  };
  return cases;
}

class PackedHalves : public ::testing::TestWithParam<Packed> {};

TEST_P(PackedHalves, EachHalfIsAnIndependentOperation) {
  const Packed& c = GetParam();
  std::mt19937_64 random(7);
  Machine machine(Target::gfx90a);
  for (unsigned trial = 0; trial < 200; ++trial) {
    randomise_halves(machine, random);
    Vop3p m;
    const unsigned all = (1U << c.sources) - 1;
    m.op_sel = trial < 4 ? 0 : static_cast<unsigned>(random()) & all;
    m.op_sel_hi = trial < 4 ? 7 : static_cast<unsigned>(random()) & 7;
    if (c.floats) {
      m.neg = static_cast<unsigned>(random()) & all;
      m.neg_hi = static_cast<unsigned>(random()) & all;
    }
    m.clamp = trial % 3 == 0;
    machine.wave.mode = mode_of(trial % 4, trial % 5 != 0, false);
    machine.wave.set_exec(trial % 2 == 0 ? kAllLanes : random());
    const std::array<unsigned, 3> sources{kSources[0], kSources[1], c.sources > 2 ? kSources[2] : 0};
    const Instruction instruction = machine.vop3p(c.mnemonic, kDst, sources, m);
    machine.run(instruction);
    const auto operand = [&](unsigned i, unsigned half, unsigned lane) {
      const U32 word = machine.at(kSrc0 + 2 * i, lane);
      const bool high = ((half == 0 ? m.op_sel : m.op_sel_hi) >> i & 1) != 0;
      const bool negative = ((half == 0 ? m.neg : m.neg_hi) >> i & 1) != 0;
      return (high ? word >> 16 : word & 0xffff) ^ (negative ? 0x8000U : 0U);
    };
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((machine.wave.exec() >> lane & 1) == 0) continue;
      for (unsigned half = 0; half < 2; ++half) {
        const U32 a = operand(0, half, lane);
        const U32 b = operand(1, half, lane);
        const U32 d = operand(2, half, lane);
        const U16 want = c.half(a, b, d, m.clamp, half_rounding_of(machine.wave.mode));
        const U16 got = static_cast<U16>(machine.at(kDst, lane) >> (16 * half));
        ASSERT_EQ(got, want) << c.mnemonic << std::hex << " half " << half << " of 0x" << a << ", 0x" << b << ", 0x" << d
                             << " clamp " << m.clamp << " mode 0x" << machine.wave.mode.bits;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, PackedHalves, ::testing::ValuesIn(packed_cases()),
                         [](const auto& one_case) { return std::string(one_case.param.mnemonic); });

TEST(PackedHalves, InactiveLanesKeepTheirWord) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 0x00010002);
  machine.fill(kSrc1, 0x00030004);
  machine.wave.set_exec(1);
  machine.run(machine.vop3p("v_pk_add_u16", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}));
  EXPECT_EQ(machine.at(kDst, 0), 0x00040006U);
  EXPECT_EQ(machine.at(kDst, 1), kUntouched);
}

TEST(PackedHalves, AccumulatesInItsDestination) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 0x40003c00);  // 2, 1
  machine.fill(kSrc1, 0x42004000);  // 3, 2
  machine.fill(kDst, 0x3c004900);   // 1, 10
  machine.run(machine.e32("v_pk_fmac_f16", kDst, vgpr(kSrc0), kSrc1));
  EXPECT_EQ(machine.at(kDst, 5), 0x47004a00U);  // 7, 12
}

// Inline constants have the bits that LLVM defines for 16-bit operands (getInlineEncodingV216).
TEST(PackedHalves, InlineConstants) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 0);
  const auto sum = [&](const char* mnemonic, unsigned constant, unsigned op_sel_hi) {
    Vop3p m;
    m.op_sel_hi = op_sel_hi;
    machine.run(machine.vop3p(mnemonic, kDst, {vgpr(kSrc0), constant, 0}, m));
    return machine.at(kDst, 9);
  };
  EXPECT_EQ(sum("v_pk_add_u16", integer_constant(-1), 7), 0xffffffffU);
  EXPECT_EQ(sum("v_pk_add_u16", integer_constant(5), 7), 0x00000005U);
  EXPECT_EQ(sum("v_pk_add_u16", integer_constant(5), 1), 0x00050005U);
  EXPECT_EQ(sum("v_pk_add_u16", kOne, 7), 0x3f800000U);  // the bits of f32's 1.0
  EXPECT_EQ(sum("v_pk_add_f16", kOne, 7), 0x00003c00U);
  EXPECT_EQ(sum("v_pk_add_f16", kOne, 1), 0x3c003c00U);
}
// -- packed f32

TEST(PackedF32, EachHalfIsAnIndependentOperation) {
  std::mt19937_64 random(11);
  Machine machine(Target::gfx90a);
  for (unsigned trial = 0; trial < 120; ++trial) {
    randomise_halves(machine, random);
    Vop3p m;
    m.op_sel = static_cast<unsigned>(random()) & 7;
    m.op_sel_hi = static_cast<unsigned>(random()) & 7;
    m.neg = static_cast<unsigned>(random()) & 7;
    m.neg_hi = static_cast<unsigned>(random()) & 7;
    m.clamp = trial % 4 == 0;
    machine.wave.mode = mode_of(trial % 4, trial % 3 != 0, false);
    const Rounding r{machine.wave.mode.round_f32(), trial % 3 == 0, trial % 3 == 0};
    for (const unsigned operation : {0U, 1U, 2U}) {
      static constexpr std::array kNames{"v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"};
      if (operation != 0) {
        m.op_sel &= 3;
        m.neg &= 3;
        m.neg_hi &= 3;
      }
      machine.run(machine.vop3p(kNames[operation], kDst, {kSources[0], kSources[1], operation == 0 ? kSources[2] : 0}, m));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned half = 0; half < 2; ++half) {
          const auto operand = [&](unsigned i) {
            const bool high = ((half == 0 ? m.op_sel : m.op_sel_hi) >> i & 1) != 0;
            const bool negative = ((half == 0 ? m.neg : m.neg_hi) >> i & 1) != 0;
            return U64{machine.at(kSrc0 + 2 * i + (high ? 1 : 0), lane) ^ (negative ? 0x80000000U : 0U)};
          };
          U64 want = operation == 0   ? multiply_add(operand(0), operand(1), operand(2), kF32, r)
                     : operation == 1 ? multiply(operand(0), operand(1), kF32, r)
                                      : add(operand(0), operand(1), kF32, r);
          if (m.clamp) want = clamped(want, kF32);
          ASSERT_EQ(machine.at(kDst + half, lane), want)
              << kNames[operation] << std::hex << " of 0x" << operand(0) << ", 0x" << operand(1) << ", 0x" << operand(2);
        }
      }
    }
  }
}

TEST(PackedF32, MovesAndConstants) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 1);
  machine.fill(kSrc0 + 1, 2);
  machine.fill(kSrc1, 3);
  machine.fill(kSrc1 + 1, 4);
  for (unsigned op_sel = 0; op_sel < 4; ++op_sel) {
    Vop3p m;
    m.op_sel = op_sel;
    machine.run(machine.vop3p("v_pk_mov_b32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, m));
    EXPECT_EQ(machine.at(kDst, 3), 1U + (op_sel & 1));
    EXPECT_EQ(machine.at(kDst + 1, 3), 3U + (op_sel >> 1));
  }
  // Swaps the registers of a pair in place, and reads a pair of SGPRs.
  Vop3p crossed;
  crossed.op_sel = 1;
  machine.run(machine.vop3p("v_pk_mov_b32", kSrc0, {vgpr(kSrc0), vgpr(kSrc0), 0}, crossed));
  EXPECT_EQ(machine.at(kSrc0, 0), 2U);
  EXPECT_EQ(machine.at(kSrc0 + 1, 0), 1U);
  machine.wave.sgpr[10] = std::bit_cast<U32>(2.0F);
  machine.wave.sgpr[11] = std::bit_cast<U32>(3.0F);
  machine.fill(kSrc1, std::bit_cast<U32>(10.0F));
  machine.fill(kSrc1 + 1, std::bit_cast<U32>(20.0F));
  machine.run(machine.vop3p("v_pk_mul_f32", kDst, {sgpr(10), vgpr(kSrc1), 0}));
  EXPECT_EQ(machine.at(kDst, 0), std::bit_cast<U32>(20.0F));
  EXPECT_EQ(machine.at(kDst + 1, 0), std::bit_cast<U32>(60.0F));
  Vop3p low_constant;  // op_sel_hi as compilers encode it: both results use the constant
  low_constant.op_sel_hi = 1;
  machine.run(machine.vop3p("v_pk_add_f32", kDst, {vgpr(kSrc1), kOne, 0}, low_constant));
  EXPECT_EQ(machine.at(kDst, 0), std::bit_cast<U32>(11.0F));
  EXPECT_EQ(machine.at(kDst + 1, 0), std::bit_cast<U32>(21.0F));
}

// -- mixed precision

TEST(MixedPrecision, TakesHalvesAndWholeRegisters) {
  std::mt19937_64 random(13);
  Machine machine(Target::gfx90a);
  for (unsigned trial = 0; trial < 200; ++trial) {
    randomise_halves(machine, random);
    Vop3p m;
    m.op_sel = static_cast<unsigned>(random()) & 7;
    m.op_sel_hi = static_cast<unsigned>(random()) & 7;
    m.neg = static_cast<unsigned>(random()) & 7;
    m.neg_hi = static_cast<unsigned>(random()) & 7;  // absolute values
    m.clamp = trial % 4 == 0;
    machine.wave.mode = mode_of(trial % 4, true, false);
    const Rounding r{trial % 4, false, false};
    for (const char* name : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
      const bool narrow = std::string_view(name) != "v_fma_mix_f32";
      const bool high_result = std::string_view(name) == "v_fma_mixhi_f16";
      machine.fill(kDst, kUntouched);
      machine.run(machine.vop3p(name, kDst, kSources, m));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto operand = [&](unsigned i) {
          const U32 word = machine.at(kSrc0 + 2 * i, lane);
          U64 value = word;
          if ((m.op_sel_hi >> i & 1) != 0) {
            value = convert((m.op_sel >> i & 1) != 0 ? word >> 16 : word & 0xffff, kF16, kF32, r);
          }
          if ((m.neg_hi >> i & 1) != 0) value &= 0x7fffffff;
          if ((m.neg >> i & 1) != 0) value ^= 0x80000000;
          return value;
        };
        U64 want = multiply_add(operand(0), operand(1), operand(2), kF32, r);
        if (narrow) want = convert(want, kF32, kF16, r);
        if (m.clamp) want = clamped(want, narrow ? kF16 : kF32);
        if (narrow) want = high_result ? (kUntouched & 0xffff) | want << 16 : (kUntouched & 0xffff0000) | want;
        ASSERT_EQ(machine.at(kDst, lane), want)
            << name << std::hex << " of 0x" << operand(0) << ", 0x" << operand(1) << ", 0x" << operand(2) << " trial " << trial;
      }
    }
  }
}

// -- dot products

struct Dot {
  const char* mnemonic;
  unsigned bits;
  bool is_signed;
};
class IntegerDot : public ::testing::TestWithParam<Dot> {};

I64 element_of(U32 word, unsigned bits, unsigned index, bool is_signed) {
  const U32 field = word >> (bits * index) & ((1U << bits) - 1);
  return is_signed && (field >> (bits - 1)) != 0 ? I64{field} - (I64{1} << bits) : I64{field};
}

TEST_P(IntegerDot, SumsProducts) {
  const Dot& c = GetParam();
  std::mt19937_64 random(17);
  Machine machine(Target::gfx90a);
  for (unsigned trial = 0; trial < 60; ++trial) {
    randomise_halves(machine, random);
    for (unsigned lane = 0; lane < kLanes; lane += 3) {  // extremes, so that sums leave the range
      machine.at(kSrc2, lane) = lane % 2 == 0 ? 0x7fffffff : 0x80000000;
      if (lane % 4 == 0) machine.at(kSrc2, lane) = 0xffffffff;
    }
    Vop3p m;
    m.clamp = trial % 2 == 0;
    if (c.bits == 16) {
      m.op_sel = static_cast<unsigned>(random()) & 3;
      m.op_sel_hi = static_cast<unsigned>(random()) & 7;
    }
    machine.run(machine.vop3p(c.mnemonic, kDst, kSources, m));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto operand = [&](unsigned i) {
        const U32 word = machine.at(kSrc0 + 2 * i, lane);
        const U32 low = (m.op_sel >> i & 1) != 0 ? word >> 16 : word & 0xffff;
        const U32 high = (m.op_sel_hi >> i & 1) != 0 ? word >> 16 : word & 0xffff;
        return high << 16 | low;
      };
      const U32 addend = machine.at(kSrc2, lane);
      I64 sum = c.is_signed ? static_cast<std::int32_t>(addend) : I64{addend};
      for (unsigned e = 0; e < 32 / c.bits; ++e) {
        sum += element_of(operand(0), c.bits, e, c.is_signed) * element_of(operand(1), c.bits, e, c.is_signed);
      }
      if (m.clamp) sum = c.is_signed ? clamp_to(sum, -0x80000000LL, 0x7fffffff) : clamp_to(sum, 0, 0xffffffffLL);
      ASSERT_EQ(machine.at(kDst, lane), static_cast<U32>(sum)) << c.mnemonic << " lane " << lane;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, IntegerDot,
                         ::testing::Values(Dot{"v_dot2_i32_i16", 16, true}, Dot{"v_dot2_u32_u16", 16, false},
                                           Dot{"v_dot4_i32_i8", 8, true}, Dot{"v_dot4_u32_u8", 8, false},
                                           Dot{"v_dot8_i32_i4", 4, true}, Dot{"v_dot8_u32_u4", 4, false}),
                         [](const auto& one_case) { return std::string(one_case.param.mnemonic); });

TEST(Dot, AccumulatesInItsDestination) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 0x01020304);
  machine.fill(kSrc1, 0xff020102);
  for (const auto& [mnemonic, want] : {std::pair{"v_dot4c_i32_i8", 1000 - 1 + 4 + 3 + 8},
                                       {"v_dot2c_i32_i16", 1000 + 0x0102 * -254 + 0x0304 * 0x0102},
                                       {"v_dot8c_i32_i4", 1000 + 1 * -1 + 2 * 2 + 3 * 1 + 4 * 2}}) {
    machine.fill(kDst, 1000);
    machine.run(machine.e32(mnemonic, kDst, vgpr(kSrc0), kSrc1));
    EXPECT_EQ(static_cast<std::int32_t>(machine.at(kDst, 1)), want) << mnemonic;
  }
}

// The exact sum of both products and the addend, rounded once. Values are multiples of 2^-48 below 2^35.
TEST(Dot, HalvesAreSummedExactly) {
  std::mt19937_64 random(19);
  Machine machine(Target::gfx90a);
  const auto half = [&](unsigned spread) {
    return static_cast<U32>((random() & 0x83ff) | (15 - spread + random() % (2 * spread)) << 10);
  };
  for (unsigned trial = 0; trial < 400; ++trial) {
    const unsigned spread = 1 + trial % 14;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      machine.at(kSrc0, lane) = half(spread) << 16 | half(spread);
      machine.at(kSrc1, lane) = half(spread) << 16 | half(spread);
      machine.at(kSrc2, lane) = static_cast<U32>((random() & 0x807fffff) | (127 - 20 + random() % 40) << 23);
    }
    machine.run(machine.vop3p("v_dot2_f32_f16", kDst, kSources));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      __extension__ using Signed = __int128;
      const auto scaled = [](Exact x) {  // x in units of 2^-48
        const Signed m = static_cast<Signed>(x.m << (x.e + 48));
        return x.negative ? -m : m;
      };
      const auto product = [&](unsigned shift) {
        const Exact a = unpack(machine.at(kSrc0, lane) >> shift & 0xffff, kF16);
        const Exact b = unpack(machine.at(kSrc1, lane) >> shift & 0xffff, kF16);
        return scaled({a.negative != b.negative, a.m * b.m, a.e + b.e, false});
      };
      const Signed sum = product(0) + product(16) + scaled(unpack(machine.at(kSrc2, lane), kF32));
      const Exact exact{sum < 0, static_cast<Wide>(sum < 0 ? -sum : sum), -48, false};
      ASSERT_EQ(machine.at(kDst, lane), round(exact, kF32, {})) << "trial " << trial << " lane " << lane;
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test
