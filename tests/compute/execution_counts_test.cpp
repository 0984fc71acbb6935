// Tests the energy events of instructions that a compute unit executes: lanes, passes, words of register files and of the LDS.
// Also tests samples of data switching, and the energy of matrix passes.
#include "models/compute/execution_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "models/isa/decode/decoder.h"

namespace lacuna::test {
namespace {

class ExecutionCountsTest : public testing::Test {
 protected:
  ExecutionCountsTest() { counts_.describe_energy(meter_, {}); }
  /// Issues an instruction `times` times, each time with the given number of lanes.
  void issue(isa::Target target, std::array<std::uint32_t, 2> words, std::uint64_t lanes, unsigned times = 1) {
    const isa::DecodeResult result = isa::decode(words.data(), 2, target);
    ASSERT_TRUE(result.ok);
    const std::uint16_t profile = profiles_.number_of(result.instruction);
    for (unsigned i = 0; i < times; ++i) counts_.count(profile, lanes);
  }
  /// Counters that are not 0, by name, such as "valu.f32_fma".
  std::map<std::string, std::uint64_t> events() const {
    std::map<std::string, std::uint64_t> found;
    const EnergyMeter::Counts counts = meter_.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const EnergyMeter::Event& event = meter_.events()[i];
      if (counts[i] != 0) found[meter_.blocks()[event.block] + '.' + event.name] = counts[i];
    }
    return found;
  }

  isa::ExecutionProfiles profiles_;
  ExecutionCounts counts_{profiles_};
  EnergyMeter meter_;
};
using Events = std::map<std::string, std::uint64_t>;

TEST_F(ExecutionCountsTest, VectorInstructionsCountActiveLanes) {
  issue(isa::Target::gfx803, {0xd1cb'0000, 0x040e'0501}, 64);     // v_fma_f32 v0, v1, v2, v3
  issue(isa::Target::gfx803, {0xd1cb'0000, 0x040e'0501}, 10, 2);  // twice with fewer lanes
  EXPECT_EQ(events(), (Events{{"valu.f32_fma", 84}, {"vgpr.read", 3 * 84}, {"vgpr.write", 84}}));
  issue(isa::Target::gfx803, {0xd1cb'0000, 0x040e'0501}, 0);  // without active lanes
  EXPECT_EQ(events().at("valu.f32_fma"), 84U);
}

TEST_F(ExecutionCountsTest, ScalarInstructionsCountOnce) {
  issue(isa::Target::gfx803, {0x8000'0201, 0}, 1, 5);  // s_add_u32 s0, s1, s2
  issue(isa::Target::gfx803, {0x3200'0401, 0}, 64);    // v_add_u32 v0, vcc, s1, v2
  issue(isa::Target::gfx803, {0x7e00'0501, 0}, 64);    // v_readfirstlane_b32 s0, v1
  EXPECT_EQ(events(), (Events{{"salu.instruction", 5},
                              {"valu.int32", 64},
                              {"valu.lane", 1},
                              {"vgpr.read", 128},
                              {"vgpr.write", 64},
                              {"sgpr.read", 11},
                              {"sgpr.write", 8}}));
}

TEST_F(ExecutionCountsTest, LdsWordsAreThoseOfItsData) {
  issue(isa::Target::gfx803, {0xd8ec'0000, 0x0000'0002}, 32);  // ds_read_b64 v[0:1], v2
  EXPECT_EQ(events(), (Events{{"lds.word", 64}, {"vgpr.read", 32}, {"vgpr.write", 64}, {"sgpr.read", 1}}));
}

TEST_F(ExecutionCountsTest, MatrixInstructionsTakeAllLanes) {
  issue(isa::Target::gfx90a, {0xd3c4'8000, 0x0402'0300}, 1, 2);  // v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]
  EXPECT_EQ(events(), (Events{{"mfma.f32_pass", 32}, {"vgpr.read", 2 * 18 * 64}, {"vgpr.write", 2 * 16 * 64}}));
}

// Lanes 16 apart follow one another on the wires of a SIMD of 16 lanes; one in 16 instructions is sampled, beginning with the
// first.
TEST(ToggleSamples, CountBitsThatChangeBetweenLanes16Apart) {
  std::vector<std::uint32_t> registers(4 * isa::kLanes);
  isa::Wavefront wave;
  wave.vgpr = registers.data();
  wave.write64(isa::kExecLo, ~std::uint64_t{0});
  const std::array<std::uint32_t, 2> fma{0xd1cb'0000, 0x040e'0501};  // v_fma_f32 v0, v1, v2, v3
  const isa::DecodeResult decoded = isa::decode(fma.data(), 2, isa::Target::gfx803);
  ASSERT_TRUE(decoded.ok);
  // v1: each bit changes from one group of 16 lanes to the next; v2 and v3 are constant.
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) registers[isa::kLanes + lane] = lane / 16 % 2 == 0 ? 0 : ~0U;
  ToggleSamples samples;
  samples.operands(decoded.instruction, wave);
  EXPECT_EQ(samples.operands().words, 0U) << "disabled";
  samples.enable(16);
  samples.operands(decoded.instruction, wave);
  EXPECT_EQ(samples.operands().words, 3U * 48);
  EXPECT_EQ(samples.operands().bits, 48U * 32);
  for (int i = 0; i < 15; ++i) samples.operands(decoded.instruction, wave);
  EXPECT_EQ(samples.operands().words, 3U * 48);
  wave.write64(isa::kExecLo, 0x1'0001);  // lanes 0 and 16
  samples.operands(decoded.instruction, wave);
  EXPECT_EQ(samples.operands().words, 3U * 48 + 3);
  EXPECT_EQ(samples.operands().bits, 48U * 32 + 32);
  EXPECT_EQ(samples.memory().words, 0U);
}

double pass_energy(const MatrixParameters& matrix, const std::string& event) {
  const isa::ExecutionProfiles profiles;
  ExecutionCounts counts(profiles);
  EnergyMeter meter;
  ComputeEnergy energy;
  energy.mfma_narrow_pass = 100;
  energy.mfma_f32_pass = 50;
  energy.matrix.minmax = 0.5;
  counts.describe_energy(meter, energy, matrix);
  for (const EnergyMeter::Event& e : meter.events()) {
    if (e.name == event) return e.picojoules;
  }
  return -1;
}

// Expected values from the thesis cited in models/isa/matrix/matrix_extensions.h: Table 2.4, power of a unit during a pass;
// section 3.6.1, power of a unit with SIMD2's operators, 4.53 W instead of 3.74 W.
TEST(MatrixEnergy, APassWithExtensionsTakesThePowerOfTheThesis) {
  using isa::MatrixDesign;
  using isa::MatrixExtensions;
  EXPECT_DOUBLE_EQ(pass_energy({}, "narrow_pass"), 100);
  EXPECT_DOUBLE_EQ(pass_energy({}, "m3xu_fp32_pass"), -1) << "it cannot happen";
  const MatrixParameters pipelined{.extensions = MatrixExtensions::m3xu};
  EXPECT_DOUBLE_EQ(pass_energy(pipelined, "narrow_pass"), 107);
  EXPECT_DOUBLE_EQ(pass_energy(pipelined, "m3xu_fp32_pass"), 107);
  EXPECT_DOUBLE_EQ(pass_energy(pipelined, "f32_pass"), 50) << "multipliers of their own";
  const MatrixParameters slower{.extensions = MatrixExtensions::m3xu, .design = MatrixDesign::m3xu};
  EXPECT_DOUBLE_EQ(pass_energy(slower, "m3xu_fp32c_pass"), 69 * 1.21);
  const MatrixParameters native{.extensions = MatrixExtensions::m3xu, .design = MatrixDesign::fp32_native};
  EXPECT_DOUBLE_EQ(pass_energy(native, "m3xu_fp32_pass"), 797);
  const MatrixParameters operators{.extensions = MatrixExtensions::simd2};
  EXPECT_DOUBLE_EQ(pass_energy(operators, "simd2_minplus_pass"), 100 * 4.53 / 3.74);
  EXPECT_DOUBLE_EQ(pass_energy(operators, "simd2_minmax_pass"), 50 * 4.53 / 3.74);
  EXPECT_DOUBLE_EQ(pass_energy(operators, "m3xu_fp32_pass"), -1);
  EXPECT_DOUBLE_EQ(pass_energy({.extensions = MatrixExtensions::all}, "narrow_pass"), 107 * 4.53 / 3.74);
}

}  // namespace
}  // namespace lacuna::test
