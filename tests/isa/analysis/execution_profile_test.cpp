// Tests the execution profiles of instructions: class of operation, numbers of register words and of LDS words. Encodings by
// llvm-mc.
#include "models/isa/analysis/execution_profile.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "models/isa/decode/decoder.h"

namespace lacuna::isa::test {
namespace {

struct Case {
  std::string text;
  Target target;
  std::array<std::uint32_t, 2> words;
  ExecutionProfile profile;
};

// Expected profile. `vr`, `vw`, `sr`, `sw`, `lds`: numbers of words read from and written to VGPRs and SGPRs, and of LDS words.
constexpr ExecutionProfile profile(Operation operation, unsigned vr, unsigned vw, unsigned sr, unsigned sw, unsigned lds = 0,
                                   unsigned passes = 0) {
  const auto byte = [](unsigned n) { return static_cast<std::uint8_t>(n); };
  return {operation, byte(passes), byte(vr), byte(vw), byte(sr), byte(sw), byte(lds)};
}

Instruction decoded(const Case& c) {
  const DecodeResult result = decode(c.words.data(), 2, c.target);
  EXPECT_TRUE(result.ok) << c.text;
  return result.instruction;
}

const std::vector<Case>& cases() {
  constexpr Target k8 = Target::gfx803;
  constexpr Target k9 = Target::gfx90a;
  static const std::vector<Case> kCases{
      {"v_fma_f32 v0, v1, v2, v3", k8, {0xd1cb'0000, 0x040e'0501}, profile(Operation::f32_fma, 3, 1, 0, 0)},
      {"v_mac_f32 v0, v1, v2", k8, {0x2c00'0501, 0}, profile(Operation::f32_fma, 3, 1, 0, 0)},
      {"v_add_f32 v0, v1, v2", k8, {0x0200'0501, 0}, profile(Operation::f32, 2, 1, 0, 0)},
      {"v_add_f16 v0, v1, v2", k8, {0x3e00'0501, 0}, profile(Operation::f16, 2, 1, 0, 0)},
      {"v_add_u32 v0, vcc, s1, v2", k8, {0x3200'0401, 0}, profile(Operation::int32, 1, 1, 1, 2)},
      {"v_cndmask_b32 v0, v1, v2, vcc", k8, {0x0000'0501, 0}, profile(Operation::int32, 2, 1, 2, 0)},
      {"v_cmp_lt_f32 vcc, v1, v2", k8, {0x7c82'0501, 0}, profile(Operation::f32, 2, 0, 0, 2)},
      {"v_mul_lo_u32 v0, v1, v2", k8, {0xd285'0000, 0x0002'0501}, profile(Operation::mul32, 2, 1, 0, 0)},
      {"v_rcp_f32 v0, v1", k8, {0x7e00'4501, 0}, profile(Operation::transcendental, 1, 1, 0, 0)},
      {"v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", k8, {0xd1cc'0000, 0x041a'0902}, profile(Operation::f64_fma, 6, 2, 0, 0)},
      {"v_readfirstlane_b32 s0, v1", k8, {0x7e00'0501, 0}, profile(Operation::lane, 1, 0, 0, 1)},
      {"ds_read_b64 v[0:1], v2", k8, {0xd8ec'0000, 0x0000'0002}, profile(Operation::none, 1, 2, 1, 0, 2)},
      {"ds_write_b32 v0, v1", k8, {0xd81a'0000, 0x0000'0100}, profile(Operation::none, 2, 0, 1, 0, 1)},
      {"ds_write2_b64 v0, v[1:2], v[3:4]", k8, {0xd89c'0000, 0x0003'0100}, profile(Operation::none, 5, 0, 1, 0, 4)},
      {"ds_add_rtn_u32 v0, v1, v2", k8, {0xd840'0000, 0x0000'0201}, profile(Operation::none, 2, 1, 1, 0, 2)},
      {"flat_load_dwordx4 v[0:3], v[4:5]", k8, {0xdc5c'0000, 0x0000'0004}, profile(Operation::none, 2, 4, 0, 0)},
      {"s_add_u32 s0, s1, s2", k8, {0x8000'0201, 0}, profile(Operation::scalar, 0, 0, 2, 1)},
      {"s_waitcnt 0", k8, {0xbf8c'0000, 0}, profile(Operation::none, 0, 0, 0, 0)},
      {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", k9, {0xd3b0'4000, 0x1c1a'0902}, profile(Operation::packed, 6, 2, 0, 0)},
      {"v_pk_add_f16 v0, v1, v2", k9, {0xd38f'4000, 0x1802'0501}, profile(Operation::packed, 2, 1, 0, 0)},
      {"v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]",
       k9,
       {0xd3cc'8000, 0x0402'0500},
       profile(Operation::mfma_narrow, 20, 16, 0, 0, 0, 16)},
      {"v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]",
       k9,
       {0xd3c4'8000, 0x0402'0300},
       profile(Operation::mfma_f32, 18, 16, 0, 0, 0, 16)},
      {"v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[2:3], a[0:7]",
       k9,
       {0xd3ee'8000, 0x0402'0500},
       profile(Operation::mfma_f64, 12, 8, 0, 0, 0, 8)},
  };
  return kCases;
}

TEST(ExecutionProfile, InstructionsHaveTheirOperationPassesAndRegisterAccesses) {
  for (const Case& c : cases()) {
    const ExecutionProfile found = execution_profile(decoded(c));
    EXPECT_EQ(found.operation, c.profile.operation) << c.text;
    EXPECT_EQ(found.passes, c.profile.passes) << c.text;
    EXPECT_EQ(found.vgpr_reads, c.profile.vgpr_reads) << c.text;
    EXPECT_EQ(found.vgpr_writes, c.profile.vgpr_writes) << c.text;
    EXPECT_EQ(found.sgpr_reads, c.profile.sgpr_reads) << c.text;
    EXPECT_EQ(found.sgpr_writes, c.profile.sgpr_writes) << c.text;
    EXPECT_EQ(found.lds_words, c.profile.lds_words) << c.text;
  }
}

TEST(ExecutionProfile, CodesOfExtensionsHaveOperationsOfTheirNames) {
  for (const MatrixCode& code : matrix_codes()) {
    const std::uint32_t opcode = code.carrier == "v_mfma_f64_16x16x4f64" ? 0x6e : 0x4d;
    const std::uint32_t words[] = {0xd380'0008 | opcode << 16 | code.abid << 11 | code.cbsz << 8,
                                   static_cast<std::uint32_t>(code.blgp) << 29 | 0x0422'0500};  // v[8:], v[0:1], v[2:3], v[8:]
    const DecodeResult result = decode(words, 2, Target::gfx90a, kAllMatrixCodes);
    ASSERT_TRUE(result.ok && result.instruction.matrix_code == &code) << code.name;
    std::string name(code.name.substr(0, code.name.find(".sparse")));
    name.replace(name.find('.'), 1, "_");
    const auto operation = static_cast<std::size_t>(execution_profile(result.instruction).operation);
    ASSERT_GE(operation, kFirstMatrixOperation);
    EXPECT_EQ(kMatrixOperationTexts[operation - kFirstMatrixOperation].name, name);
  }
}

TEST(ExecutionProfile, EqualProfilesShareANumber) {
  ExecutionProfiles profiles;
  for (unsigned round = 0; round < 2; ++round) {
    for (const Case& c : cases()) EXPECT_EQ(profiles[profiles.number_of(decoded(c))], c.profile) << c.text;
  }
  EXPECT_EQ(profiles.size(), cases().size() - 1);  // v_fma_f32 and v_mac_f32 have the same profile
}

}  // namespace
}  // namespace lacuna::isa::test
