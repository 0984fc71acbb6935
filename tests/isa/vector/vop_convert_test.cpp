// Tests conversions, rounding to integers, exponents and significands against exact integer arithmetic, most of them in all
// rounding and denormal modes.
#include <algorithm>
#include <limits>

#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;

std::vector<Inputs> float_inputs(const FloatFormat& f) {
  std::vector<U64> edges;
  for (U64 v : {U64{0}, U64{1}, (U64{1} << f.fraction) - 1, U64{1} << f.fraction, f.infinity() - 1, f.infinity(),
                f.infinity() | f.quiet() | 9, f.infinity() | 5}) {
    edges.push_back(v);
    edges.push_back(v | f.sign());
  }
  // Values around integers, halves and the limits of the integer types.
  for (int exponent = -2; exponent <= 33 && exponent <= f.bias(); ++exponent) {
    const U64 power = static_cast<U64>(f.bias() + exponent) << f.fraction;
    for (const U64 v : {power - 1, power, power + 1, power | f.quiet(), power | (f.quiet() >> 1)}) {
      edges.push_back(v);
      edges.push_back(v | f.sign());
    }
  }
  const U64 all = (f.sign() - 1) | f.sign();
  return combine(edges, 1, 6000, [&](std::mt19937_64& g) {
    const U64 bits = g() & all;
    if (g() % 4 == 0) return bits;
    const U64 exponent = g() % 66 + static_cast<U64>(f.bias()) - 30;
    return (bits & ~f.infinity()) | ((exponent << f.fraction) & f.infinity());
  });
}

// Runs a one-source instruction in all rounding and denormal modes. The rounding of f64/f16 differs from that of f32; its
// denormal setting is the same or the opposite.
void check_modes(const char* mnemonic, const std::vector<Inputs>& inputs,
                 const std::function<U64(U64 source, Mode mode)>& expected) {
  for (unsigned rounding = 0; rounding < 4; ++rounding) {
    for (unsigned denormals = 0; denormals < 16; denormals += 5) {  // denormals kept: none, inputs, results, all
      for (const unsigned flip : {0U, 3U}) {
        Machine machine;
        machine.wave.mode.bits = rounding | ((rounding + 1) % 4) << 2 | (denormals ^ flip) << 4 | 1U << 9;
        const Mode mode = machine.wave.mode;
        check_lanes(machine, machine.e32(mnemonic, kDst, vgpr(kSrc0)), inputs, false, [&](const Inputs& x) {
          return Expected{expected(x.a, mode), false};
        });
      }
    }
  }
}

U64 narrow(const FloatFormat& f, U64 v) { return v & ((f.sign() - 1) | f.sign()); }
bool keeps_inputs(const FloatFormat& f, Mode mode) { return &f == &kF32 ? mode.denorm_in_f32() : mode.denorm_in_f64_f16(); }
bool keeps_results(const FloatFormat& f, Mode mode) { return &f == &kF32 ? mode.denorm_out_f32() : mode.denorm_out_f64_f16(); }
unsigned rounding_of(const FloatFormat& f, Mode mode) { return &f == &kF32 ? mode.round_f32() : mode.round_f64_f16(); }

TEST(VopConvert, BetweenFloatFormats) {
  struct Case {
    const char* mnemonic;
    const FloatFormat *from, *to;
  };
  for (const Case& test : {Case{"v_cvt_f16_f32", &kF32, &kF16}, Case{"v_cvt_f32_f16", &kF16, &kF32},
                           Case{"v_cvt_f32_f64", &kF64, &kF32}, Case{"v_cvt_f64_f32", &kF32, &kF64}}) {
    check_modes(test.mnemonic, float_inputs(*test.from), [&](U64 v, Mode mode) {
      const Rounding r{rounding_of(*test.to, mode), !keeps_inputs(*test.from, mode), !keeps_results(*test.to, mode)};
      return convert(narrow(*test.from, v), *test.from, *test.to, r);
    });
  }
}

TEST(VopConvert, IntegersToFloats) {
  struct Case {
    const char* mnemonic;
    unsigned bits;
    bool is_signed;
    const FloatFormat* to;
    unsigned shift;
  };
  const auto inputs = combine({0,          1,          0x7f,       0x80,       0xff,       0xfff,      0x7ff8,     0x7fff,
                               0x8000,     0xffe0,     0xfff0,     0xffff,     0x00ffffff, 0x01000001, 0x01ffffff, 0x7fffff7f,
                               0x7fffff80, 0x7fffffff, 0x80000000, 0x80000001, 0xffffff7f, 0xffffff80, 0xffffffff},
                              1, 4000, [](std::mt19937_64& g) { return (g() & 0xffffffff) >> (g() % 32); });
  for (const Case& test : {Case{"v_cvt_f32_i32", 32, true, &kF32, 0}, Case{"v_cvt_f32_u32", 32, false, &kF32, 0},
                           Case{"v_cvt_f64_i32", 32, true, &kF64, 0}, Case{"v_cvt_f64_u32", 32, false, &kF64, 0},
                           Case{"v_cvt_f16_i16", 16, true, &kF16, 0}, Case{"v_cvt_f16_u16", 16, false, &kF16, 0},
                           Case{"v_cvt_f32_ubyte0", 8, false, &kF32, 0}, Case{"v_cvt_f32_ubyte1", 8, false, &kF32, 8},
                           Case{"v_cvt_f32_ubyte2", 8, false, &kF32, 16}, Case{"v_cvt_f32_ubyte3", 8, false, &kF32, 24}}) {
    check_modes(test.mnemonic, inputs, [&](U64 v, Mode mode) {
      const U64 field = (v >> test.shift) & ((U64{1} << test.bits) - 1);
      const bool negative = test.is_signed && (field >> (test.bits - 1)) != 0;
      const U64 magnitude = negative ? (U64{1} << test.bits) - field : field;
      return round({negative, magnitude, 0, false}, *test.to, {rounding_of(*test.to, mode), false, false});
    });
  }
}

TEST(VopConvert, FourBitOffsetsBecomeSixteenths) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = 0xabcdef00 | lane;
  machine.run(machine.e32("v_cvt_off_f32_i4", kDst, vgpr(kSrc0)));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int digit = static_cast<int>(lane % 16);
    EXPECT_EQ(std::bit_cast<float>(machine.at(kDst, lane)), static_cast<float>(digit < 8 ? digit : digit - 16) / 16);
  }
}

// Rounds a finite value to an integer: 0 even, 1 up, 2 down, 3 to zero, 4 half up.
Exact to_integral(const Exact& x, unsigned how) {
  if (x.e >= 0) return x;
  if (how == 4) {  // floor(x + 1/2), exactly: `half` is 1/2 in units of 2^e
    const int e = x.e < -70 ? -70 : x.e;
    bool lost = x.sticky;
    const Wide m = shift_right(x.m, e - x.e, lost);
    const Wide half = Wide{1} << (-e - 1);
    if (!x.negative) return to_integral({false, m + half, e, lost}, 2);
    if (m > half || (m == half && lost)) return to_integral({true, m - half, e, lost}, 2);
    return to_integral({false, half - m - (lost ? 1 : 0), e, lost}, 2);
  }
  return {x.negative, round_at(x, 0, how), 0, false};
}

TEST(VopConvert, FloatsToIntegers) {
  struct Case {
    const char* mnemonic;
    const FloatFormat* from;
    I64 lowest, highest;
    unsigned how;
  };
  constexpr I64 kLowestI32 = std::numeric_limits<std::int32_t>::min();
  constexpr I64 kHighestI32 = std::numeric_limits<std::int32_t>::max();
  for (const Case& test :
       {Case{"v_cvt_i32_f32", &kF32, kLowestI32, kHighestI32, 3}, Case{"v_cvt_u32_f32", &kF32, 0, 0xffffffff, 3},
        Case{"v_cvt_i32_f64", &kF64, kLowestI32, kHighestI32, 3}, Case{"v_cvt_u32_f64", &kF64, 0, 0xffffffff, 3},
        Case{"v_cvt_i16_f16", &kF16, -0x8000, 0x7fff, 3}, Case{"v_cvt_u16_f16", &kF16, 0, 0xffff, 3},
        Case{"v_cvt_flr_i32_f32", &kF32, kLowestI32, kHighestI32, 2},
        Case{"v_cvt_rpi_i32_f32", &kF32, kLowestI32, kHighestI32, 4}}) {
    const FloatFormat& f = *test.from;
    check_modes(test.mnemonic, float_inputs(f), [&](U64 raw, Mode mode) {
      const U64 v = keeps_inputs(f, mode) ? narrow(f, raw) : f.flushed(narrow(f, raw));
      I64 result = 0;
      if (f.infinite(v)) {
        result = f.negative(v) ? test.lowest : test.highest;
      } else if (!f.nan(v)) {
        const Exact x = unpack(v, f);
        // Beyond every integer type: the result saturates.
        const bool huge = x.m != 0 && x.e + top_bit(x.m) > 40;
        const Exact whole = huge ? Exact{x.negative, Wide{1} << 41, 0, false} : to_integral(x, test.how);
        const auto magnitude = static_cast<I64>(whole.m << whole.e);
        result = std::clamp(whole.negative ? -magnitude : magnitude, test.lowest, test.highest);
      }
      return static_cast<U64>(result) & (&f == &kF16 ? 0xffff : 0xffffffff);
    });
  }
}

TEST(VopRound, ToIntegralFloats) {
  struct Case {
    const char* name;
    unsigned how;
  };
  for (const auto& [suffix, format] : {std::pair{"_f32", &kF32}, std::pair{"_f64", &kF64}, std::pair{"_f16", &kF16}}) {
    const FloatFormat& f = *format;
    const auto inputs = float_inputs(f);
    for (const Case& test : {Case{"v_rndne", 0}, Case{"v_ceil", 1}, Case{"v_floor", 2}, Case{"v_trunc", 3}}) {
      check_modes((std::string(test.name) + suffix).c_str(), inputs, [&](U64 raw, Mode mode) {
        const U64 v = keeps_inputs(f, mode) ? narrow(f, raw) : f.flushed(narrow(f, raw));
        if (f.nan(v)) return v | f.quiet();
        if (f.infinite(v)) return v;
        const Exact whole = to_integral(unpack(v, f), test.how);
        return whole.m == 0 ? v & f.sign() : round(whole, f, {0, false, false});
      });
    }
  }
}

TEST(VopRound, FractIsBelowOne) {
  for (const auto& [mnemonic, format] :
       {std::pair{"v_fract_f32", &kF32}, std::pair{"v_fract_f64", &kF64}, std::pair{"v_fract_f16", &kF16}}) {
    const FloatFormat& f = *format;
    Machine machine;
    check_lanes(machine, machine.e32(mnemonic, kDst, vgpr(kSrc0)), float_inputs(f), false, [&](const Inputs& x) {
      const U64 v = narrow(f, x.a);
      if (f.nan(v)) return Expected{v | f.quiet(), false};
      if (f.infinite(v)) return Expected{f.default_nan(), false};
      const Exact whole = to_integral(unpack(v, f), 2);
      const U64 floor = whole.m == 0 ? v & f.sign() : round(whole, f, {0, false, false});
      const U64 difference = add(v, floor ^ f.sign(), f, {0, false, false});
      return Expected{std::min(difference, one(f) - 1), false};
    });
  }
}

TEST(VopFrexp, SignificandAndExponent) {
  for (const auto& [significand, exponent, format] : {std::tuple{"v_frexp_mant_f32", "v_frexp_exp_i32_f32", &kF32},
                                                      std::tuple{"v_frexp_mant_f64", "v_frexp_exp_i32_f64", &kF64},
                                                      std::tuple{"v_frexp_mant_f16", "v_frexp_exp_i16_f16", &kF16}}) {
    const FloatFormat& f = *format;
    const auto special = [&](U64 v) { return f.nan(v) || f.infinite(v) || f.zero(v); };
    const auto input = [&](U64 raw, Mode mode) { return keeps_inputs(f, mode) ? narrow(f, raw) : f.flushed(narrow(f, raw)); };
    check_modes(significand, float_inputs(f), [&](U64 raw, Mode mode) {
      const U64 v = input(raw, mode);
      if (special(v)) return f.nan(v) ? v | f.quiet() : v;
      Exact x = unpack(v, f);
      x.e = -1 - top_bit(x.m);
      return round(x, f, {0, false, false});
    });
    check_modes(exponent, float_inputs(f), [&](U64 raw, Mode mode) {
      const U64 v = input(raw, mode);
      if (special(v)) return U64{0};
      const Exact x = unpack(v, f);
      return static_cast<U64>(x.e + top_bit(x.m) + 1) & (&f == &kF16 ? 0xffff : 0xffffffff);
    });
  }
}

TEST(VopLdexp, ScalesWithOneRounding) {
  for (const auto& [mnemonic, format] :
       {std::pair{"v_ldexp_f32", &kF32}, std::pair{"v_ldexp_f64", &kF64}, std::pair{"v_ldexp_f16", &kF16}}) {
    const FloatFormat& f = *format;
    std::vector<Inputs> inputs;
    std::mt19937_64 generator(11);
    for (const Inputs& in : float_inputs(f)) {
      const int exponent = generator() % 8 == 0
                               ? static_cast<int>(generator())
                               : static_cast<int>(generator() % static_cast<U64>(5 * f.bias())) - 5 * f.bias() / 2;
      inputs.push_back({in.a, static_cast<U64>(static_cast<I64>(exponent)), 0});
    }
    for (unsigned rounding = 0; rounding < 4; ++rounding) {
      for (const bool denormals : {true, false}) {
        Machine machine;
        machine.wave.mode = mode_of(rounding, denormals);
        check_lanes(machine, machine.e64(mnemonic, kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}), inputs, false, [&](const Inputs& x) {
          const U64 v = denormals ? narrow(f, x.a) : f.flushed(narrow(f, x.a));
          if (f.nan(v)) return Expected{v | f.quiet(), false};
          if (f.infinite(v) || f.zero(v)) return Expected{v, false};
          Exact scaled = unpack(v, f);
          const I64 by = &f == &kF16 ? static_cast<std::int16_t>(x.b) : static_cast<std::int32_t>(x.b);
          scaled.e += static_cast<int>(std::clamp<I64>(by, -4000, 4000));
          return Expected{round(scaled, f, {rounding, !denormals, !denormals}), false};
        });
      }
    }
  }
}

TEST(VopPack, CvtPkrtz) {
  const auto inputs = float_inputs(kF32);
  std::vector<Inputs> pairs;
  for (std::size_t i = 0; i < inputs.size(); ++i) pairs.push_back({inputs[i].a, inputs[(i * 7 + 3) % inputs.size()].a, 0});
  Machine machine;
  machine.wave.mode = mode_of(1, true);
  check_lanes(machine, machine.e64("v_cvt_pkrtz_f16_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}), pairs, false,
              [](const Inputs& x) {
                const Rounding r{3, false, false};
                return Expected{convert(x.a, kF32, kF16, r) | convert(x.b, kF32, kF16, r) << 16, false};
              });
}

TEST(VopPack, NormalizedIntegers) {
  struct Example {
    float value;
    unsigned signed16, unsigned16;
  };
  for (const Example& example : {Example{0.0F, 0, 0}, Example{1.0F, 0x7fff, 0xffff}, Example{-1.0F, 0x8001, 0},
                                 Example{2.0F, 0x7fff, 0xffff}, Example{-9.0F, 0x8001, 0}, Example{0.5F, 0x4000, 0x8000},
                                 Example{-0.5F, 0xc000, 0}, Example{std::numeric_limits<float>::infinity(), 0x7fff, 0xffff},
                                 Example{std::numeric_limits<float>::quiet_NaN(), 0, 0}, Example{0.25F, 0x2000, 0x4000}}) {
    Machine machine;
    machine.wave.mode = mode_of(3, true);
    machine.fill(kSrc0, std::bit_cast<std::uint32_t>(example.value));
    machine.fill(kSrc1, std::bit_cast<std::uint32_t>(1.0F));
    machine.run(machine.e64("v_cvt_pknorm_i16_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}));
    EXPECT_EQ(machine.at(kDst, 0), example.signed16 | 0x7fff0000U) << example.value;
    machine.run(machine.e64("v_cvt_pknorm_u16_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}));
    EXPECT_EQ(machine.at(kDst, 0), example.unsigned16 | 0xffff0000U) << example.value;
  }
}

TEST(VopPack, ByteInsertionRoundsAsModeSays) {
  struct Example {
    float value;
    std::array<unsigned, 4> byte;  // nearest even, up, down, to zero
  };
  for (const Example& example :
       {Example{0.5F, {0, 1, 0, 0}}, Example{1.5F, {2, 2, 1, 1}}, Example{254.6F, {255, 255, 254, 254}},
        Example{300.0F, {255, 255, 255, 255}}, Example{-3.0F, {0, 0, 0, 0}},
        Example{std::numeric_limits<float>::quiet_NaN(), {0, 0, 0, 0}}}) {
    for (unsigned rounding = 0; rounding < 4; ++rounding) {
      Machine machine;
      machine.wave.mode = mode_of(rounding, true);
      machine.fill(kSrc0, std::bit_cast<std::uint32_t>(example.value));
      machine.fill(kSrc2, 0x11223344);
      machine.fill(kDst, 0x11223344);
      machine.run(machine.e64("v_cvt_pk_u8_f32", 20, {vgpr(kSrc0), integer_constant(2), vgpr(kSrc2)}));
      EXPECT_EQ(machine.at(20, 0), 0x11003344U | example.byte[rounding] << 16) << example.value;
      machine.run(machine.e64("v_cvt_pkaccum_u8_f32", kDst, {vgpr(kSrc0), integer_constant(1), 0}));
      EXPECT_EQ(machine.at(kDst, 0), 0x11220044U | example.byte[rounding] << 8) << example.value;
    }
  }
}

TEST(VopCube, FacesAndCoordinates) {
  struct Example {
    float x, y, z, face, s, t, major;
  };
  for (const Example& example :
       {Example{3, 1, 2, 0, -2, -1, 6}, Example{-3, 1, 2, 1, 2, -1, -6}, Example{1, 3, 2, 2, 1, 2, 6},
        Example{1, -3, 2, 3, 1, -2, -6}, Example{1, 2, 3, 4, 1, -2, 6}, Example{1, 2, -3, 5, -1, -2, -6}}) {
    Machine machine;
    machine.fill(kSrc0, std::bit_cast<std::uint32_t>(example.x));
    machine.fill(kSrc1, std::bit_cast<std::uint32_t>(example.y));
    machine.fill(kSrc2, std::bit_cast<std::uint32_t>(example.z));
    for (const auto& [mnemonic, want] : {std::pair{"v_cubeid_f32", example.face}, std::pair{"v_cubesc_f32", example.s},
                                         std::pair{"v_cubetc_f32", example.t}, std::pair{"v_cubema_f32", example.major}}) {
      machine.run(machine.e64(mnemonic, kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}));
      EXPECT_EQ(std::bit_cast<float>(machine.at(kDst, 0)), want) << mnemonic;
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test
