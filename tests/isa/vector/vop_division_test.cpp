// Tests v_div_scale, v_div_fmas and v_div_fixup: the special cases individually, and whole divisions as compilers emit them
// (LLVM AMDGPU back end, lowering of FDIV), which must be correctly rounded, denormals and extremes included.
#include <algorithm>

#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U64 = std::uint64_t;

std::vector<U64> division_edges_of(const FloatFormat& f) {
  std::vector<U64> edges;
  const U64 all_exponents = f.infinity() >> f.fraction;
  for (const U64 exponent : {U64{0}, U64{1}, U64{2}, U64{23}, U64{24}, U64{53}, U64{54}, U64(f.bias() / 2), U64(f.bias() - 97),
                             U64(f.bias() - 1), U64(f.bias()), U64(f.bias() + 1), U64(f.bias() + 95), U64(f.bias() + 96),
                             U64(f.bias() + 97), all_exponents - 3, all_exponents - 2, all_exponents - 1}) {
    for (const U64 fraction : {U64{0}, U64{1}, f.quiet(), (U64{1} << f.fraction) - 1}) {
      edges.push_back(exponent << f.fraction | fraction);
    }
  }
  edges.push_back(f.infinity());
  edges.push_back(f.infinity() | f.quiet() | 3);
  edges.push_back(f.infinity() | 3);
  const auto count = edges.size();
  for (std::size_t i = 0; i < count; i += 3) edges.push_back(edges[i] | f.sign());
  return edges;
}

std::vector<Inputs> division_inputs(const FloatFormat& f) {
  return combine(division_edges_of(f), 2, 60000, [&](std::mt19937_64& g) {
    const U64 bits = g() & ((f.sign() - 1) | f.sign());
    if (g() % 2 == 0) return bits;
    // Quotients near the limits of the range need operands near the limits.
    const U64 limit = f.infinity() >> f.fraction;
    const U64 near = g() % 2 == 0 ? g() % 60 : limit - 1 - g() % 60;
    return (bits & ~f.infinity()) | near << f.fraction;
  });
}

// Divides the numerator in v[2:3] by the denominator in v[4:5]; the quotient is stored in v[16:17]. For f32 these are v2, v4
// and v16.
void divide_f32(Machine& m) {
  const auto fma = [&](unsigned dst, unsigned a, unsigned b, unsigned c, unsigned neg) {
    m.run(m.e64("v_fma_f32", dst, {a, b, c}, {.neg = neg}));
  };
  m.run(m.e64("v_div_scale_f32", 20, {vgpr(4), vgpr(4), vgpr(2)}, {.sdst = 30}));
  m.run(m.e64("v_div_scale_f32", 21, {vgpr(2), vgpr(4), vgpr(2)}, {.sdst = kVccLo}));
  m.run(m.e32("v_rcp_f32", 22, vgpr(20)));
  fma(23, vgpr(20), vgpr(22), kOne, 1);
  fma(22, vgpr(23), vgpr(22), vgpr(22), 0);
  m.run(m.e64("v_mul_f32", 24, {vgpr(21), vgpr(22), 0}));
  fma(25, vgpr(20), vgpr(24), vgpr(21), 1);
  fma(24, vgpr(25), vgpr(22), vgpr(24), 0);
  fma(20, vgpr(20), vgpr(24), vgpr(21), 1);
  m.run(m.e64("v_div_fmas_f32", 20, {vgpr(20), vgpr(22), vgpr(24)}));
  m.run(m.e64("v_div_fixup_f32", 16, {vgpr(20), vgpr(4), vgpr(2)}));
}

void divide_f64(Machine& m) {
  const auto fma = [&](unsigned dst, unsigned a, unsigned b, unsigned c, unsigned neg) {
    m.run(m.e64("v_fma_f64", dst, {a, b, c}, {.neg = neg}));
  };
  m.run(m.e64("v_div_scale_f64", 20, {vgpr(4), vgpr(4), vgpr(2)}, {.sdst = 30}));
  m.run(m.e32("v_rcp_f64", 22, vgpr(20)));
  for (int step = 0; step < 2; ++step) {
    fma(24, vgpr(20), vgpr(22), kOne, 1);
    fma(22, vgpr(22), vgpr(24), vgpr(22), 0);
  }
  m.run(m.e64("v_div_scale_f64", 26, {vgpr(2), vgpr(4), vgpr(2)}, {.sdst = kVccLo}));
  m.run(m.e64("v_mul_f64", 24, {vgpr(26), vgpr(22), 0}));
  fma(20, vgpr(20), vgpr(24), vgpr(26), 1);
  m.run(m.e64("v_div_fmas_f64", 20, {vgpr(20), vgpr(22), vgpr(24)}));
  m.run(m.e64("v_div_fixup_f64", 16, {vgpr(20), vgpr(4), vgpr(2)}));
}

TEST(VopDivision, WholeSequenceIsCorrectlyRounded) {
  for (const auto& [format, divide_lanes] : {std::pair{&kF32, &divide_f32}, std::pair{&kF64, &divide_f64}}) {
    const FloatFormat& f = *format;
    const U64 all = (f.sign() - 1) | f.sign();
    const auto inputs = division_inputs(f);
    Machine machine;
    machine.wave.mode = mode_of(0, true);
    unsigned failures = 0;
    for (std::size_t first = 0; first < inputs.size(); first += kLanes) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const Inputs& in = inputs[(first + lane) % inputs.size()];
        machine.set_pair(2, lane, in.a & all);
        machine.set_pair(4, lane, in.b & all);
      }
      divide_lanes(machine);
      for (unsigned lane = 0; lane < kLanes && failures < 10; ++lane) {
        const U64 a = machine.pair(2, lane) & all;
        const U64 b = machine.pair(4, lane) & all;
        const U64 got = f.width() == 32 ? machine.at(16, lane) : machine.pair(16, lane);
        const U64 want = divide(a, b, f, {0, false, false});
        if (got != want) {
          ++failures;
          ADD_FAILURE() << f.width() << " bits: 0x" << std::hex << a << " / 0x" << b << " = 0x" << got << ", want 0x" << want;
        }
      }
    }
  }
}

TEST(VopDivision, FixupOfSpecialOperands) {
  struct Example {
    std::uint32_t denominator, numerator, want;
  };
  constexpr std::uint32_t kQuotient = 0x40490fdb;
  for (const Example& e : {Example{0x3f800000, 0x7f800001, 0x7fc00001}, Example{0xffc00005, 0x3f800000, 0xffc00005},
                           Example{0x7fc00001, 0x7fc00002, 0x7fc00002}, Example{0, 0x80000000, 0xffc00000},
                           Example{0x7f800000, 0xff800000, 0xffc00000}, Example{0, 0x3f800000, 0x7f800000},
                           Example{0x80000000, 0x3f800000, 0xff800000}, Example{0x3f800000, 0xff800000, 0xff800000},
                           Example{0xff800000, 0x3f800000, 0x80000000}, Example{0x3f800000, 0x80000000, 0x80000000},
                           Example{0x3f800000, 0xbf800000, kQuotient | 0x80000000}, Example{0x7f000000, 0x00000001, 0},
                           Example{0xbf800000, 0xbf800000, kQuotient}}) {
    Machine machine;
    machine.fill(kSrc0, kQuotient);
    machine.fill(kSrc1, e.denominator);
    machine.fill(kSrc2, e.numerator);
    machine.run(machine.e64("v_div_fixup_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}));
    EXPECT_EQ(machine.at(kDst, 0), e.want) << std::hex << e.numerator << " / " << e.denominator;
  }
}

TEST(VopDivision, FixupOfHalves) {
  Machine machine;
  machine.fill(kSrc0, 0x3e00);
  machine.fill(kSrc1, 0x4000);
  machine.fill(kSrc2, 0xc200);
  machine.run(machine.e64("v_div_fixup_f16", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}));
  EXPECT_EQ(machine.at(kDst, 0), 0xbe00U);
  machine.fill(kSrc1, 0);
  machine.run(machine.e64("v_div_fixup_f16", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}));
  EXPECT_EQ(machine.at(kDst, 0), 0xfc00U);
}

TEST(VopDivision, ScaleFlagsAndValues) {
  struct Example {
    std::uint32_t value, denominator, numerator, want;
    bool flag;
  };
  constexpr std::uint32_t kOneBits = 0x3f800000;
  for (const Example& e :
       {Example{kOneBits, kOneBits, kOneBits, kOneBits, false}, Example{0, kOneBits, 0, 0xffc00000, false},
        Example{0x10000000, 0x10000000, 0x7e000000, 0x30000000, true},  // exponents differ by 96 or more: denominator scaled up
        Example{0x7e000000, 0x10000000, 0x7e000000, 0x7e000000, true}, Example{1, 1, 0x00800000, 0x15000000, false},
        Example{0x7f000000, 0x7f000000, 0x3f800000, 0x5f000000, true},  // both 1/d and n/d are tiny
        Example{0x7f000001, 0x7f000001, 0x4f800000, 0x5f000001, false},
        Example{0x04000000, 0x44000000, 0x04000000, 0x24000000, true},
        Example{0x44000000, 0x44000000, 0x04000000, 0x44000000, true},
        Example{0x0b000000, 0x0b000000, 0x0b000000, 0x2b000000, false}}) {
    Machine machine;
    machine.fill(kSrc0, e.value);
    machine.fill(kSrc1, e.denominator);
    machine.fill(kSrc2, e.numerator);
    machine.wave.set_exec(0xff00ff);
    machine.run(machine.e64("v_div_scale_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}, {.sdst = 30}));
    EXPECT_EQ(machine.at(kDst, 0), e.want) << std::hex << e.value << ' ' << e.denominator << ' ' << e.numerator;
    EXPECT_EQ(machine.wave.read64(30), e.flag ? 0xff00ffU : 0U);
  }
}

TEST(VopTrigPreop, SegmentsOfTwoOverPi) {
  // Expected values are 53-bit segments of 2/pi, derived from the hexadecimal digits of the fraction.
  Machine machine;
  const auto segment = [&](double x, int index) {
    for (unsigned lane = 0; lane < kLanes; ++lane) machine.set_pair(kSrc0, lane, std::bit_cast<U64>(x));
    machine.run(machine.e64("v_trig_preop_f64", kDst, {vgpr(kSrc0), integer_constant(index), 0}));
    return std::bit_cast<double>(machine.pair(kDst, 0));
  };
  // 2/pi = 0.A2F9836E 4E441529 FC2757D1 F534DDC0 DB629599 ... (hexadecimal)
  EXPECT_EQ(segment(1.0, 0), 0x1.45f306dc9c882p-1);  // 53 bits, the last bit is 0
  EXPECT_EQ(segment(1.0, 1), static_cast<double>(0x14a7f09d5f47d4) * 0x1p-106);
  EXPECT_EQ(segment(0x1p54, 0), segment(1.0, 0)) << "shifts begin above an exponent field of 1077";
  // An exponent field of 1078 drops the first bit of the fraction of 2/pi: the segment consists of its bits 2 to 54.
  EXPECT_EQ(segment(0x1p55, 0), static_cast<double>(0x145f306dc9c882 * 2 - (U64{1} << 53) + 1) * 0x1p-54);
  EXPECT_EQ(segment(0x1p1000, 0) > 0, true);
  EXPECT_LT(segment(0x1p1000, 0), 0x1p-770) << "2^-(1000-54) scaled by 2^128 from 2^945 on";
}

}  // namespace
}  // namespace lacuna::isa::test
