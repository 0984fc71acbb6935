// Tests f16, f32 and f64 arithmetic against exact integer arithmetic, in all rounding and denormal modes.
#include <algorithm>
#include <array>
#include <random>

#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U64 = std::uint64_t;

std::vector<U64> edges_of(const FloatFormat& f, bool few) {
  const U64 one_ulp = 1;
  std::vector<U64> positive{0,
                            one_ulp,
                            (U64{1} << f.fraction) - 1,  // largest denormal
                            U64{1} << f.fraction,        // smallest normal
                            (U64{1} << f.fraction) + 1,
                            one(f) - 1,
                            one(f),
                            one(f) + 1,
                            one(f) + (U64{1} << (f.fraction - 1)),  // 1.5
                            f.infinity() - 1,                       // largest
                            f.infinity(),
                            f.infinity() | f.quiet() | 5,
                            f.infinity() | 3};  // signalling
  if (!few) {
    for (const int exponent : {2, 3, f.fraction + 1, f.bias() - f.fraction - 1, f.bias() / 2, f.bias() + f.bias() / 2,
                               f.bias() + f.fraction, f.bias() + f.fraction + 1, f.bias() - f.bias() / 2 + f.fraction}) {
      positive.push_back(static_cast<U64>(exponent) << f.fraction);
      positive.push_back((static_cast<U64>(exponent) << f.fraction) | 0x155);
    }
  }
  std::vector<U64> all = positive;
  for (const U64 v : positive) all.push_back(v | f.sign());
  return all;
}

// Draws random significands, some with long runs of zeros at the end, and exponents that are often close to each other.
std::function<U64(std::mt19937_64&)> draw_of(const FloatFormat& f) {
  return [f](std::mt19937_64& g) {
    const U64 bits = g() & ((f.sign() - 1) | f.sign());
    const U64 keep = (U64{1} << f.fraction) - 1;
    const U64 fraction = g() % 3 == 0 ? bits & keep & ~(keep >> (g() % f.fraction)) : bits & keep;
    const U64 exponent =
        g() % 4 == 0 ? bits & f.infinity() : static_cast<U64>(f.bias() - 3 + static_cast<int>(g() % 7)) << f.fraction;
    return (bits & f.sign()) | exponent | fraction;
  };
}

struct FloatCase {
  const char* mnemonic;
  const FloatFormat* format;
  unsigned sources;
  std::function<U64(const Inputs&, const FloatFormat&, const Rounding&)> result;
  bool accumulates = false;
};

U64 legacy(U64 a, U64 b, const FloatFormat& f, const Rounding& r) {
  const U64 x = r.flush_inputs ? f.flushed(a) : a;
  const U64 y = r.flush_inputs ? f.flushed(b) : b;
  return f.zero(x) || f.zero(y) ? 0 : multiply(a, b, f, r);
}
U64 minus(U64 v, const FloatFormat& f) { return f.nan(v) ? v : v ^ f.sign(); }
// The product is rounded, then the sum; the first NaN operand, in the order a, b, c, is the result. f32 denormals are always
// flushed.
U64 unfused(const Inputs& x, const FloatFormat& f, const Rounding& of_mode) {
  const Rounding r = &f == &kF32 ? Rounding{of_mode.mode, true, true} : of_mode;
  if (f.nan(x.a) || f.nan(x.b) || f.nan(x.c)) return nan_of(f, {x.a, x.b, x.c});
  const U64 product = multiply(x.a, x.b, f, r);
  return f.nan(product) ? f.default_nan() : add(product, x.c, f, r);
}
U64 unfused_legacy(const Inputs& x, const FloatFormat& f, const Rounding& of_mode) {
  const Rounding r{of_mode.mode, true, true};
  const U64 product = legacy(x.a, x.b, f, r);
  // A zero factor makes the product zero, even if the other factor is a NaN.
  const bool zero = f.zero(f.flushed(x.a)) || f.zero(f.flushed(x.b));
  if (!zero && (f.nan(product) || f.nan(x.c))) return nan_of(f, {x.a, x.b, x.c});
  return add(product, x.c, f, r);
}

FloatCase add_case(const char* name, const FloatFormat* format) {
  return {name, format, 2, [](const Inputs& x, const FloatFormat& f, const Rounding& r) { return add(x.a, x.b, f, r); }};
}
FloatCase sub_case(const char* name, const FloatFormat* format) {
  return {name, format, 2,
          [](const Inputs& x, const FloatFormat& f, const Rounding& r) { return add(x.a, minus(x.b, f), f, r); }};
}
FloatCase subrev_case(const char* name, const FloatFormat* format) {
  return {name, format, 2, [](const Inputs& x, const FloatFormat& f, const Rounding& r) {
            if (f.nan(x.a) || f.nan(x.b)) return nan_of(f, {x.a, x.b});
            return add(x.b, minus(x.a, f), f, r);
          }};
}
FloatCase mul_case(const char* name, const FloatFormat* format) {
  return {name, format, 2, [](const Inputs& x, const FloatFormat& f, const Rounding& r) { return multiply(x.a, x.b, f, r); }};
}
FloatCase fma_case(const char* name, const FloatFormat* format) {
  return {name, format, 3,
          [](const Inputs& x, const FloatFormat& f, const Rounding& r) { return multiply_add(x.a, x.b, x.c, f, r); }};
}
FloatCase mad_case(const char* name, const FloatFormat* format, bool accumulates) {
  return {name, format, 3, unfused, accumulates};
}

const std::vector<FloatCase> kFloatCases{
    add_case("v_add_f32", &kF32),
    sub_case("v_sub_f32", &kF32),
    subrev_case("v_subrev_f32", &kF32),
    mul_case("v_mul_f32", &kF32),
    {"v_mul_legacy_f32", &kF32, 2,
     [](const Inputs& x, const FloatFormat& f, const Rounding& r) { return legacy(x.a, x.b, f, r); }},
    mad_case("v_mac_f32", &kF32, true),
    mad_case("v_mad_f32", &kF32, false),
    {"v_mad_legacy_f32", &kF32, 3, unfused_legacy},
    fma_case("v_fma_f32", &kF32),
    add_case("v_add_f64", &kF64),
    mul_case("v_mul_f64", &kF64),
    fma_case("v_fma_f64", &kF64),
    add_case("v_add_f16", &kF16),
    sub_case("v_sub_f16", &kF16),
    subrev_case("v_subrev_f16", &kF16),
    mul_case("v_mul_f16", &kF16),
    mad_case("v_mac_f16", &kF16, true),
    mad_case("v_mad_f16", &kF16, false),
    fma_case("v_fma_f16", &kF16),
};

class VopFloat : public testing::TestWithParam<FloatCase> {};

TEST_P(VopFloat, MatchesExactArithmetic) {
  const FloatCase& test = GetParam();
  const FloatFormat& f = *test.format;
  const auto inputs = combine(edges_of(f, test.sources == 3), test.sources, 3000, draw_of(f));
  for (unsigned rounding = 0; rounding < 4; ++rounding) {
    for (unsigned denormals = 0; denormals < 4; ++denormals) {
      Machine machine;
      // f32 and f64/f16 get different settings, so that an exchange is detected.
      const unsigned other = (rounding + 1) % 4;
      const unsigned kept = (denormals & 1) | (denormals & 2);
      machine.wave.mode.bits = &f == &kF32 ? rounding | other << 2 | kept << 4 | (~kept & 3) << 6
                                           : other | rounding << 2 | (~kept & 3) << 4 | kept << 6;
      const Rounding r{rounding, (kept & 1) == 0, (kept & 2) == 0};
      const auto expected = [&](const Inputs& raw) {
        const U64 all = (f.sign() - 1) | f.sign();
        const Inputs in{raw.a & all, raw.b & all, raw.c & all};
        return Expected{test.result(in, f, r), false};
      };
      const unsigned third = test.accumulates ? 0 : test.sources > 2 ? vgpr(kSrc2) : 0;
      check_lanes(machine, machine.e64(test.mnemonic, kDst, {vgpr(kSrc0), vgpr(kSrc1), third}), inputs, test.accumulates,
                  expected);
      if (machine.row(test.mnemonic).format == Format::vop2 && denormals == 3) {
        check_lanes(machine, machine.e32(test.mnemonic, kDst, vgpr(kSrc0), kSrc1), inputs, test.accumulates, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, VopFloat, testing::ValuesIn(kFloatCases),
                         [](const auto& tested) { return std::string(tested.param.mnemonic); });

// An instruction whose destination overlaps a source gives the same result as with a separate destination, even if a NaN result
// depends on the sources.
TEST(VopNan, DestinationMayBeASource) {
  struct Subject {
    const char* name;
    unsigned sources;
  };
  using U32 = std::uint32_t;
  constexpr unsigned kSources = 6;  // sources in v0 to v5, copies of them in v20 to v25
  constexpr unsigned kCopies = 20;
  constexpr std::array<U32, 9> kSpecial{0x7f800001, 0xff812345, 0x7fc54321, 0xffc00001, 0x7f800000,
                                        0xff800000, 0,          0x80000000, 0x7ff00000};
  std::mt19937 random(11);
  for (const Subject c : {Subject{"v_fma_f32", 3},     Subject{"v_mad_f32", 3},       Subject{"v_mad_legacy_f32", 3},
                          Subject{"v_add_f32", 2},     Subject{"v_mul_f32", 2},       Subject{"v_mul_legacy_f32", 2},
                          Subject{"v_max3_f32", 3},    Subject{"v_min_f32", 2},       Subject{"v_sqrt_f32", 1},
                          Subject{"v_exp_f32", 1},     Subject{"v_div_fixup_f32", 3}, Subject{"v_div_fmas_f32", 3},
                          Subject{"v_fma_f64", 3},     Subject{"v_add_f64", 2},       Subject{"v_ldexp_f32", 2},
                          Subject{"v_cvt_f32_f64", 1}, Subject{"v_cvt_f64_f32", 1},   Subject{"v_cvt_f32_f16", 1},
                          Subject{"v_cvt_f16_f32", 1}, Subject{"v_mul_f16", 2},       Subject{"v_fma_f16", 3}}) {
    for (unsigned round = 0; round < 120; ++round) {
      Machine m;
      m.wave.set_exec(round % 3 == 0 ? random() | U64{random()} << 32 : kAllLanes);
      m.wave.set_vcc(U64{random()} << 16);
      // The frequency of special values varies from all registers and lanes to at most a few values in a single lane.
      const unsigned every = 1U << (round / 3 % 7);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned reg = 0; reg < kSources; ++reg) {
          const bool special = random() % every == 0 && (every < 64 || lane == round % kLanes);
          m.at(reg, lane) = special ? kSpecial[random() % kSpecial.size()] : 0x3f000000 + (static_cast<U32>(random()) >> 8);
          m.at(reg + kCopies, lane) = m.at(reg, lane);
        }
      }
      const unsigned destination = round % kSources;
      const auto sources_from = [&](unsigned first) {
        std::array<unsigned, 3> sources{};
        for (unsigned i = 0; i < c.sources; ++i) sources[i] = vgpr(first + 2 * i);
        return sources;
      };
      // The destination is separate first, then overlaps a source.
      m.run(m.e64(c.name, destination, sources_from(kCopies)));
      std::array<std::array<U32, kLanes>, 2> expected{};
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned i = 0; i < 2; ++i) {
          expected[i][lane] = m.at(destination + i, lane);
          m.at(destination + i, lane) = destination + i < kSources ? m.at(destination + i + kCopies, lane) : kUntouched;
        }
      }
      m.run(m.e64(c.name, destination, sources_from(0)));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned i = 0; i < 2; ++i) {
          ASSERT_EQ(m.at(destination + i, lane), expected[i][lane]) << c.name << " round " << round << " lane " << lane;
        }
      }
    }
  }
}

TEST(VopLiteral, MadmkAndMadak) {
  Machine machine;
  const auto inputs = combine(edges_of(kF32, false), 2, 500, draw_of(kF32));
  constexpr std::uint32_t kLiteral = 0x40490fdb;
  const Rounding r{0, false, false};
  check_lanes(machine, machine.e32("v_madmk_f32", kDst, vgpr(kSrc0), kSrc1, kLiteral), inputs, false, [&](const Inputs& x) {
    return Expected{unfused({x.a & 0xffffffff, kLiteral, x.b & 0xffffffff}, kF32, r), false};
  });
  check_lanes(machine, machine.e32("v_madak_f32", kDst, vgpr(kSrc0), kSrc1, kLiteral), inputs, false, [&](const Inputs& x) {
    return Expected{unfused({x.a & 0xffffffff, x.b & 0xffffffff, kLiteral}, kF32, r), false};
  });
  const auto halves = combine(edges_of(kF16, false), 2, 500, draw_of(kF16));
  check_lanes(machine, machine.e32("v_madak_f16", kDst, vgpr(kSrc0), kSrc1, 0x4248), halves, false, [&](const Inputs& x) {
    return Expected{unfused({x.a & 0xffff, x.b & 0xffff, 0x4248}, kF16, r), false};
  });
}

// -- minimum and maximum: Vega ISA manual, V_MIN_F32 and V_MAX_F32

U64 extreme(U64 a, U64 b, const FloatFormat& f, bool maximum, bool ieee) {
  const auto signaling = [&](U64 v) { return f.nan(v) && (v & f.quiet()) == 0; };
  if (ieee && signaling(a)) return a | f.quiet();
  if (ieee && signaling(b)) return b | f.quiet();
  if (f.nan(a)) return b;
  if (f.nan(b)) return a;
  // Sort key: sign and magnitude, negative zero below positive.
  const auto key = [&](U64 v) {
    const auto magnitude = static_cast<std::int64_t>(f.magnitude(v));
    return f.negative(v) ? -magnitude - 1 : magnitude;
  };
  return (key(a) < key(b)) != maximum ? a : b;
}

struct ExtremeCase {
  const char* mnemonic;
  const FloatFormat* format;
  unsigned sources;
  bool maximum;
};

TEST(VopExtreme, MinimumMaximum) {
  for (const ExtremeCase& test : {ExtremeCase{"v_min_f32", &kF32, 2, false}, ExtremeCase{"v_max_f32", &kF32, 2, true},
                                  ExtremeCase{"v_min_f16", &kF16, 2, false}, ExtremeCase{"v_max_f16", &kF16, 2, true},
                                  ExtremeCase{"v_min_f64", &kF64, 2, false}, ExtremeCase{"v_max_f64", &kF64, 2, true},
                                  ExtremeCase{"v_min3_f32", &kF32, 3, false}, ExtremeCase{"v_max3_f32", &kF32, 3, true}}) {
    const FloatFormat& f = *test.format;
    const auto inputs = combine(edges_of(f, test.sources == 3), test.sources, 1000, draw_of(f));
    for (const bool ieee : {false, true}) {
      Machine machine;
      machine.wave.mode = mode_of(0, false, ieee);  // gfx8 keeps denormals although flushing is enabled
      const U64 all = (f.sign() - 1) | f.sign();
      const unsigned third = test.sources > 2 ? vgpr(kSrc2) : 0;
      check_lanes(machine, machine.e64(test.mnemonic, kDst, {vgpr(kSrc0), vgpr(kSrc1), third}), inputs, false,
                  [&](const Inputs& x) {
                    const U64 two = extreme(x.a & all, x.b & all, f, test.maximum, ieee);
                    return Expected{test.sources == 2 ? two : extreme(two, x.c & all, f, test.maximum, ieee), false};
                  });
    }
  }
}

TEST(VopExtreme, MedianOfThree) {
  const auto inputs = combine(edges_of(kF32, true), 3, 1000, draw_of(kF32));
  Machine machine;
  check_lanes(machine, machine.e64("v_med3_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}), inputs, false,
              [&](const Inputs& x) {
                const FloatFormat& f = kF32;
                const U64 a = x.a & 0xffffffff;
                const U64 b = x.b & 0xffffffff;
                const U64 c = x.c & 0xffffffff;
                if (f.nan(a) || f.nan(b) || f.nan(c)) {
                  return Expected{extreme(extreme(a, b, f, false, true), c, f, false, true), false};
                }
                // The manual's definition: the larger of the two that are not the largest.
                const U64 largest = extreme(extreme(a, b, f, true, true), c, f, true, true);
                if (largest == a) return Expected{extreme(b, c, f, true, true), false};
                if (largest == b) return Expected{extreme(a, c, f, true, true), false};
                return Expected{extreme(a, b, f, true, true), false};
              });
}

}  // namespace
}  // namespace lacuna::isa::test
