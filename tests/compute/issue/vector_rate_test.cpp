// Tests the rate of vector instructions for different numbers of SIMDs, of lanes per SIMD, and of wavefronts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/compute/compute_unit_bench.h"

namespace lacuna {
namespace {

using test::ComputeUnitBench;

struct Shape {
  unsigned simds;
  unsigned lanes;
};
constexpr Shape kShapes[] = {{4, 16}, {4, 32}, {4, 64}, {2, 16}, {2, 32}, {1, 16}, {8, 16}, {8, 32}, {4, 8}};

/// A unit of each shape, and a unit with half the rate of logic instructions, with a memory latency of a nanosecond, so that
/// fetches keep up with one vector instruction per cycle.
struct VectorRateBench : ComputeUnitBench {
  explicit VectorRateBench(sc_core::sc_module_name module_name) : ComputeUnitBench(module_name), first(units.size()) {
    for (const Shape& shape : kShapes) {
      ComputeUnitParameters parameters;
      parameters.simds = shape.simds;
      parameters.lanes_per_simd = shape.lanes;
      add_unit(TimingMode::loose, parameters, Cycles{200});
      memories.back()->latency = Tick{1'000};
    }
    half_rate = units.size();
    ComputeUnitParameters parameters;
    parameters.lanes_per_simd = 32;
    parameters.logic_rate_divisor = 2;
    add_unit(TimingMode::loose, parameters, Cycles{200});
    memories.back()->latency = Tick{1'000};
  }
  const std::size_t first;
  std::size_t half_rate;  ///< index of a unit with 32 lanes per SIMD that issues logic instructions at half the rate
};
LACUNA_TEST_BENCH(VectorRateBench)

/// Cycles of a program of `count` repetitions of `instructions`, executed by `wavefronts` wavefronts.
std::uint64_t cycles(ComputeUnit& unit, const std::vector<std::uint32_t>& instructions, unsigned count, unsigned wavefronts) {
  auto& b = test::bench<VectorRateBench>();
  std::vector<std::uint32_t> words;
  for (unsigned i = 0; i < count; ++i) words.insert(words.end(), instructions.begin(), instructions.end());
  words.push_back(0xbf810000);  // s_endpgm
  const auto dispatch = b.program(words, wavefronts);
  return b.run(unit, *dispatch);
}

// A SIMD issues a vector instruction of any wavefront every 64 / lanes cycles: dependent instructions issue at the same rate as
// independent instructions.
TEST(VectorRate, AnInstructionIssuesEvery64DividedByLanesCycles) {
  constexpr std::uint32_t kMove = 0x7e020281;  // v_mov_b32 v1, 1
  constexpr std::uint32_t kAdd = 0x02020301;   // v_add_f32 v1, v1, v1: depends on the previous instruction
  auto& b = test::bench<VectorRateBench>();
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    const Shape& shape = kShapes[i];
    ComputeUnit& unit = *b.units[b.first + i];
    for (const std::uint32_t instruction : {kMove, kAdd}) {
      for (const unsigned wavefronts : {1U, 2U, 4U, 8U, 16U}) {
        if (wavefronts > shape.simds * ComputeUnitParameters{}.wavefronts_per_simd) continue;
        constexpr unsigned kFew = 128;
        constexpr unsigned kMany = 640;
        const auto less = static_cast<double>(cycles(unit, {instruction}, kFew, wavefronts));
        const auto more = static_cast<double>(cycles(unit, {instruction}, kMany, wavefronts));
        const unsigned on_a_simd = (wavefronts + shape.simds - 1) / shape.simds;
        EXPECT_NEAR((more - less) / (kMany - kFew), on_a_simd * 64.0 / shape.lanes, 0.02)
            << shape.simds << " SIMDs of " << shape.lanes << " lanes, " << wavefronts << " wavefronts";
      }
    }
  }
}

// Minimum, maximum, bitwise operations and comparisons share a port that accepts one instruction in every two issue slots.
// Floating-point instructions of the same or of another wavefront issue in the other slots.
TEST(VectorRate, MinMaxAndLogicIssueInEveryOtherSlot) {
  constexpr std::uint32_t kAdd = 0x02020301;   // v_add_f32 v1, v1, v1
  constexpr std::uint32_t kMin = 0x14020301;   // v_min_f32 v1, v1, v1
  constexpr std::uint32_t kMax = 0x16020301;   // v_max_f32 v1, v1, v1
  constexpr std::uint32_t kAnd = 0x26020301;   // v_and_b32 v1, v1, v1
  constexpr std::uint32_t kOr = 0x28020301;    // v_or_b32 v1, v1, v1
  constexpr std::uint32_t kLess = 0x7c820301;  // v_cmp_lt_f32 vcc, v1, v1
  struct Case {
    const char* what;
    std::vector<std::uint32_t> instructions;
    double turns;  ///< number of issue slots, of 64 / 32 cycles each
  };
  const Case cases[] = {
      {"add", {kAdd}, 1},
      {"min", {kMin}, 2},
      {"compare", {kLess}, 2},
      {"add, min", {kAdd, kMin}, 2},
      {"max, min", {kMax, kMin}, 4},
      {"and, or", {kAnd, kOr}, 4},
      {"three adds, min", {kAdd, kAdd, kAdd, kMin}, 4},
  };
  auto& b = test::bench<VectorRateBench>();
  ComputeUnit& unit = *b.units[b.half_rate];
  for (const Case& c : cases) {
    for (const unsigned wavefronts : {1U, 4U, 8U, 16U}) {
      constexpr unsigned kFew = 32;
      constexpr unsigned kMany = 160;
      const auto less = static_cast<double>(cycles(unit, c.instructions, kFew, wavefronts));
      const auto more = static_cast<double>(cycles(unit, c.instructions, kMany, wavefronts));
      const unsigned on_a_simd = (wavefronts + 3) / 4;
      EXPECT_NEAR((more - less) / (kMany - kFew), on_a_simd * c.turns * 2, 0.05 * on_a_simd * c.turns)
          << c.what << ", " << wavefronts << " wavefronts";
    }
  }
}

}  // namespace
}  // namespace lacuna
