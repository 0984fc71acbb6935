// Tests approximate functions against long double: the largest error over dense sweeps must be within its bound, and special
// values must be exact.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U32 = std::uint32_t;
using Reference = long double (*)(long double);

long double turns_sine(long double x) {
  const long double turn = x - std::nearbyint(x);
  // Near the zeros at half turns the distance to them is exact; computing the sine of almost pi would not be.
  if (turn > 0.25L) return std::sin(2 * 3.14159265358979323846264338327950288L * (0.5L - turn));
  if (turn < -0.25L) return std::sin(2 * 3.14159265358979323846264338327950288L * (-0.5L - turn));
  return std::sin(2 * 3.14159265358979323846264338327950288L * turn);
}
long double turns_cosine(long double x) { return turns_sine(0.25L - std::fabs(x - std::nearbyint(x))); }

struct Case {
  const char* mnemonic;
  Reference function;
  float from, to;  // range of bit patterns swept; both signs when `from` is negative
  double ulps;
};

// Error in units in the last place that the exact value has in a format with `fraction` bits below the leading one.
double error_in_ulps(float got, long double want, int fraction, int smallest_exponent) {
  if (static_cast<long double>(got) == want) return 0;
  int exponent = 0;
  (void)std::frexp(want, &exponent);
  const int unit = std::max(exponent - 1, smallest_exponent) - fraction;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, unit));
}

class VopTranscendental : public testing::TestWithParam<Case> {};

TEST_P(VopTranscendental, LargestErrorOfF32) {
  const Case& test = GetParam();
  Machine machine;
  machine.wave.mode = mode_of(0, true);
  const Instruction instruction = machine.e32(test.mnemonic, kDst, vgpr(kSrc0));
  const U32 first = std::bit_cast<U32>(std::fabs(test.from));
  const U32 last = std::bit_cast<U32>(test.to);
  const U32 step = std::max<U32>((last - first) / 400'000, 1) | 1;
  double worst = 0;
  float worst_at = 0;
  for (std::uint64_t base = first; base <= last; base += std::uint64_t{step} * kLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const U32 magnitude = static_cast<U32>(std::min<std::uint64_t>(base + std::uint64_t{step} * lane, last));
      machine.at(kSrc0, lane) = magnitude | (test.from < 0 && lane % 2 == 1 ? 0x80000000U : 0);
    }
    machine.run(instruction);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto x = std::bit_cast<float>(machine.at(kSrc0, lane));
      const auto got = std::bit_cast<float>(machine.at(kDst, lane));
      const long double want = test.function(x);
      if (std::fabs(want) < 0x1p-126L || std::fabs(want) > static_cast<long double>(std::numeric_limits<float>::max()))
        continue;
      const double error = error_in_ulps(got, want, 23, -126);
      if (!(error <= worst)) {
        worst = error;
        worst_at = x;
      }
    }
  }
  EXPECT_LE(worst, test.ulps) << "at " << std::hexfloat << worst_at;
  RecordProperty("largest_error_ulps", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(
    All, VopTranscendental,
    testing::Values(Case{"v_exp_f32", [](long double x) { return std::exp2(x); }, -1e-6F, 130.0F, 0.502},
                    Case{"v_log_f32", [](long double x) { return std::log2(x); }, 1.2e-38F, 3.4e38F, 0.502},
                    Case{"v_rcp_f32", [](long double x) { return 1 / x; }, -1.2e-38F, 8e37F, 0.5},
                    Case{"v_rcp_iflag_f32", [](long double x) { return 1 / x; }, -1.2e-38F, 8e37F, 0.5},
                    Case{"v_rsq_f32", [](long double x) { return 1 / std::sqrt(x); }, 1.2e-38F, 3.4e38F, 0.501},
                    Case{"v_sqrt_f32", [](long double x) { return std::sqrt(x); }, 1.2e-38F, 3.4e38F, 0.5},
                    Case{"v_sin_f32", turns_sine, -1e-30F, 256.0F, 0.502},
                    Case{"v_cos_f32", turns_cosine, -1e-30F, 256.0F, 0.502},
                    Case{"v_exp_legacy_f32", [](long double x) { return std::exp2(x); }, -1e-6F, 130.0F, 0.502},
                    Case{"v_log_legacy_f32", [](long double x) { return std::log2(x); }, 1.2e-38F, 3.4e38F, 0.502}),
    [](const auto& tested) { return std::string(tested.param.mnemonic); });

// The value of a half.
float half_value(U32 h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const auto fraction = static_cast<float>(h & 1023);
  const float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

// All finite values; sine and cosine only up to 256.
TEST(VopTranscendentalF16, EveryValue) {
  for (const auto& [mnemonic, function] :
       {std::pair<const char*, Reference>{"v_exp_f16", [](long double x) { return std::exp2(x); }},
        {"v_log_f16", [](long double x) { return std::log2(x); }},
        {"v_rcp_f16", [](long double x) { return 1 / x; }},
        {"v_sqrt_f16", [](long double x) { return std::sqrt(x); }},
        {"v_rsq_f16", [](long double x) { return 1 / std::sqrt(x); }},
        {"v_sin_f16", turns_sine},
        {"v_cos_f16", turns_cosine}}) {
    Machine machine;
    const Instruction instruction = machine.e32(mnemonic, kDst, vgpr(kSrc0));
    const bool periodic = std::string_view(mnemonic) == "v_sin_f16" || std::string_view(mnemonic) == "v_cos_f16";
    double worst = 0;
    for (U32 base = 0; base < 0x10000; base += kLanes) {
      for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = base + lane;
      machine.run(instruction);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const U32 h = base + lane;
        if ((h & 0x7c00) == 0x7c00) continue;
        const float x = half_value(h);
        if (periodic && std::fabs(x) > 256) continue;
        const long double want = function(x);
        if (std::isnan(want) || std::fabs(want) > 65504) continue;
        worst = std::max(worst, error_in_ulps(half_value(machine.at(kDst, lane)), want, 10, -14));
      }
    }
    EXPECT_LE(worst, 0.5001) << mnemonic;
  }
}

TEST(VopTranscendentalF64, RootsAndReciprocals) {
  Machine machine;
  std::mt19937_64 generator(17);
  for (unsigned round = 0; round < 200; ++round) {
    for (unsigned lane = 0; lane < kLanes; ++lane) machine.set_pair(kSrc0, lane, generator() >> 1 & ~(std::uint64_t{1} << 62));
    for (const auto& [mnemonic, function, ulps] :
         {std::tuple<const char*, Reference, double>{"v_rcp_f64", [](long double x) { return 1 / x; }, 0.501},
          {"v_sqrt_f64", [](long double x) { return std::sqrt(x); }, 0.501},
          {"v_rsq_f64", [](long double x) { return 1 / std::sqrt(x); }, 1.5}}) {
      machine.run(machine.e32(mnemonic, kDst, vgpr(kSrc0)));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto x = std::bit_cast<double>(machine.pair(kSrc0, lane));
        const auto got = std::bit_cast<double>(machine.pair(kDst, lane));
        const long double want = function(x);
        if (x < 0x1p-1022 || want > static_cast<long double>(std::numeric_limits<double>::max())) continue;
        int exponent = 0;
        (void)std::frexp(want, &exponent);
        EXPECT_LE(static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, exponent - 53)), ulps) << mnemonic << ' ' << x;
      }
    }
  }
}

struct Special {
  const char* mnemonic;
  U32 in, out;
};

TEST(VopTranscendental, SpecialValues) {
  constexpr U32 kInf = 0x7f800000, kMinusInf = 0xff800000, kNan = 0xffc00000, kOneBits = 0x3f800000, kDenormal = 0x00000123;
  for (const Special& s : {Special{"v_exp_f32", 0, kOneBits},
                           Special{"v_exp_f32", 0x80000000, kOneBits},
                           Special{"v_exp_f32", kInf, kInf},
                           Special{"v_exp_f32", kMinusInf, 0},
                           Special{"v_exp_f32", 0x43000000, kInf},
                           Special{"v_exp_f32", 0xc3200000, 0},
                           Special{"v_exp_f32", 0x40400000, 0x41000000},
                           Special{"v_log_f32", 0, kMinusInf},
                           Special{"v_log_f32", 0x80000000, kMinusInf},
                           Special{"v_log_f32", kDenormal, kMinusInf},
                           Special{"v_log_f32", kOneBits, 0},
                           Special{"v_log_f32", 0x41000000, 0x40400000},
                           Special{"v_log_f32", 0xbf800000, kNan},
                           Special{"v_log_f32", kInf, kInf},
                           Special{"v_rcp_f32", 0, kInf},
                           Special{"v_rcp_f32", 0x80000000, kMinusInf},
                           Special{"v_rcp_f32", kDenormal, kInf},
                           Special{"v_rcp_f32", kMinusInf, 0x80000000},
                           Special{"v_rcp_f32", 0x7f000000, 0},
                           Special{"v_rcp_f32", 0x7fc00007, 0x7fc00007},
                           Special{"v_rcp_f32", 0xff800007, 0xffc00007},
                           Special{"v_rsq_f32", 0, kInf},
                           Special{"v_rsq_f32", 0x80000000, kMinusInf},
                           Special{"v_rsq_f32", 0xbf800000, kNan},
                           Special{"v_rsq_f32", kInf, 0},
                           Special{"v_sqrt_f32", 0x80000000, 0x80000000},
                           Special{"v_sqrt_f32", 0xbf800000, kNan},
                           Special{"v_sqrt_f32", kInf, kInf},
                           Special{"v_sqrt_f32", 0x40800000, 0x40000000},
                           Special{"v_sin_f32", 0x80000000, 0x80000000},
                           Special{"v_sin_f32", 0x3e800000, kOneBits},
                           Special{"v_sin_f32", 0x3f000000, 0},
                           Special{"v_sin_f32", 0x43808000, 0},
                           Special{"v_sin_f32", kInf, kNan},
                           Special{"v_cos_f32", 0, kOneBits},
                           Special{"v_cos_f32", 0x3e800000, 0},
                           Special{"v_cos_f32", 0x3f000000, 0xbf800000},
                           Special{"v_cos_f32", 0x43808000, kOneBits},
                           Special{"v_cos_f32", kMinusInf, kNan}}) {
    Machine machine;
    machine.fill(kSrc0, s.in);
    machine.run(machine.e32(s.mnemonic, kDst, vgpr(kSrc0)));
    EXPECT_EQ(machine.at(kDst, 0), s.out) << s.mnemonic << " 0x" << std::hex << s.in << " gives 0x" << machine.at(kDst, 0);
  }
}

TEST(VopTranscendental, InstructionsAreMarkedAsApproximate) {
  Machine machine;
  for (const char* mnemonic :
       {"v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32", "v_sin_f32", "v_cos_f32", "v_rcp_f64", "v_exp_f16"}) {
    EXPECT_NE(machine.row(mnemonic).flags & kApproximate, 0U) << mnemonic;
  }
}

}  // namespace
}  // namespace lacuna::isa::test
