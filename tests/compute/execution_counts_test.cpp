// What a compute unit has executed becomes events: lanes, passes, words of register files and of the LDS.
#include "models/compute/execution_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "models/isa/decoder.h"

namespace lacuna::test {
namespace {

class ExecutionCountsTest : public testing::Test {
 protected:
  ExecutionCountsTest() { counts_.describe_energy(meter_, {}); }
  /// Issues an instruction `times`, each for so many lanes.
  void issue(isa::Target target, std::array<std::uint32_t, 2> words, std::uint64_t lanes, unsigned times = 1) {
    const isa::DecodeResult result = isa::decode(words.data(), 2, target);
    ASSERT_TRUE(result.ok);
    const std::uint16_t profile = profiles_.number_of(result.instruction);
    for (unsigned i = 0; i < times; ++i) counts_.count(profile, lanes);
  }
  /// "valu.f32_fma" and so on, those that are not 0.
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
  issue(isa::Target::gfx803, {0xd1cb'0000, 0x040e'0501}, 0);  // none
  EXPECT_EQ(events().at("valu.f32_fma"), 84U);
}

TEST_F(ExecutionCountsTest, ScalarOnesCountOnce) {
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

}  // namespace
}  // namespace lacuna::test
