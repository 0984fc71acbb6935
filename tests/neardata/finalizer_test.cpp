// Tests the finalizer with short kernels for both targets: chains that it must find, and loads that it must refuse, for each
// reason. Lines are numbered from 0.
#include "models/neardata/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/neardata/compute_packet.h"
#include "models/neardata/packet_code.h"
#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

constexpr FinalizerOptions kTagsOnly{.move = false};
constexpr const char* kWaitVector = "s_waitcnt vmcnt(0)";

class Finalizer : public ::testing::TestWithParam<isa::Target> {
 protected:
  AssembledKernel assembled(const Lines& lines) const { return {GetParam(), lines}; }
  std::vector<std::string> chains(const Lines& lines) const {
    const AssembledKernel kernel = assembled(lines);
    return kernel.chains(kernel.finalize(kTagsOnly));
  }
  std::vector<std::string> refusals(const Lines& lines) const {
    const AssembledKernel kernel = assembled(lines);
    return kernel.refusals(kernel.finalize(kTagsOnly));
  }
  bool gfx8() const { return GetParam() == isa::Target::gfx803; }
};

INSTANTIATE_TEST_SUITE_P(Targets, Finalizer, ::testing::Values(isa::Target::gfx803, isa::Target::gfx90a),
                         [](const auto& target) { return std::string(isa::traits(target.param).name); });

Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
// Lines 0 to 2: a in v10, b in v11.
const Lines kTwoLoads{"LOAD v10, v[0:1]", "LOAD v11, v[2:3]", kWaitVector};
// Lines 0 and 1: a in v10.
const Lines kOneLoad{"LOAD v10, v[0:1]", kWaitVector};

// -- Table 1

TEST_P(Finalizer, Pattern1) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[4:5], v12"}),
              ElementsAre("1: a0/01 b1/10 w2/10 o3/10 s4/11"));
  // The result overwrites a loaded register, and the operands are exchanged.
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_sub_f32 v10, v11, v10", "STORE v[4:5], v10"}),
              ElementsAre("1: b0/01 a1/10 w2/10 o3/10 s4/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"ADD_u32 v12, v10, v11", "STORE v[4:5], v12"}),
              ElementsAre("1: a0/01 b1/10 w2/10 o3/10 s4/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_fma_f32 v12, v10, v11, v10", "STORE v[4:5], v12"}),
              ElementsAre("1: a0/01 b1/10 w2/10 o3/10 s4/11"));
}

TEST_P(Finalizer, Pattern2) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "v_mul_f32 v20, v12, v12"}),
              ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
  // If the result is also used elsewhere, its store remains at the core.
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[4:5], v12", "STORE v[6:7], v12"}),
              ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
}

TEST_P(Finalizer, Pattern2BySplitting) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mac_f32 v20, v10, v11"}), ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mad_f32 v20, v10, v11, -v21 clamp"}), ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mad_u32_u24 v20, v10, v11, v21"}), ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
  // With a single load, a chain whose result remains in a register saves nothing.
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mac_f32 v20, v10, v21"}), ElementsAre("0 nothing saved 2"));
}

TEST_P(Finalizer, Pattern3) {
  EXPECT_THAT(chains(kOneLoad + Lines{"STORE v[4:5], v10"}), ElementsAre("3: a0/01 w1/10 s2/11"));
  EXPECT_THAT(chains({"LOAD_ubyte v10, v[0:1]", kWaitVector, "STORE_byte v[4:5], v10"}), ElementsAre("3: a0/01 w1/10 s2/11"));
  EXPECT_THAT(chains({"LOAD_sshort v10, v[0:1]", kWaitVector, "STORE_short v[4:5], v10"}), ElementsAre("3: a0/01 w1/10 s2/11"));
}

TEST_P(Finalizer, Pattern4OfOneOperand) {
  EXPECT_THAT(chains(kOneLoad + Lines{"v_not_b32 v11, v10", "STORE v[4:5], v11"}), ElementsAre("4: a0/01 w1/10 o2/10 s3/11"));
  EXPECT_THAT(chains(kOneLoad + Lines{"v_mul_f32 v11, v10, v10", "STORE v[4:5], v11"}),
              ElementsAre("4: a0/01 w1/10 o2/10 s3/11"));
}

TEST_P(Finalizer, Pattern4InPlace) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[2:3], v12"}),
              ElementsAre("4: a0/01 b1/10 w2/10 o3/10 s4/11"));
  // If the address registers change in between, the store has another address.
  EXPECT_THAT(chains(kTwoLoads + Lines{"ADD_u32 v2, 4, v2", "v_add_f32 v12, v10, v11", "STORE v[2:3], v12"}),
              ElementsAre("1: a0/01 b1/10 w2/10 o4/10 s5/11"));
  if (gfx8()) return;
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[2:3], v12 : offset:4"}),
              ElementsAre("1: a0/01 b1/10 w2/10 o3/10 s4/11"));
}

TEST_P(Finalizer, Pattern5) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_cmp_lt_f32 vcc, v10, v11"}), ElementsAre("5: a0/01 b1/10 w2/10 o3/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_cmp_ne_u32_e64 s[4:5], v10, v11"}), ElementsAre("5: a0/01 b1/10 w2/10 o3/11"));
}

TEST_P(Finalizer, Pattern6) {
  EXPECT_THAT(chains(kOneLoad + Lines{"v_cmp_eq_f32 vcc, 0, v10"}), ElementsAre("6: a0/01 w1/10 o2/11"));
  EXPECT_THAT(chains(kOneLoad + Lines{"v_cmp_gt_i32 vcc, 0x12345, v10"}), ElementsAre("6: a0/01 w1/10 o2/11"));
  EXPECT_THAT(chains(kOneLoad + Lines{"v_cmp_gt_u32 vcc, s3, v10"}), ElementsAre("6: a0/01 w1/10 o2/11"));
}

TEST_P(Finalizer, Pattern7) {
  for (const char* uniform : {"2.0", "0x40490fdb", "s3"})
    EXPECT_THAT(chains(kOneLoad + Lines{"v_mul_f32 v11, " + std::string(uniform) + ", v10", "STORE v[4:5], v11"}),
                ElementsAre("7: a0/01 w1/10 o2/10 s3/11"));
  EXPECT_THAT(chains({"LOAD_ubyte v10, v[0:1]", kWaitVector, "v_xor_b32 v11, s3, v10", "STORE_byte v[4:5], v11"}),
              ElementsAre("7: a0/01 w1/10 o2/10 s3/11"));
}

TEST_P(Finalizer, Pattern8) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mul_f32 v12, s3, v11", "v_add_f32 v20, v10, v12"}),
              ElementsAre("8: a0/01 b1/10 w2/10 o3/10 o4/11"));
  // The chain computes g(b, i) and the product; the sum remains at the core.
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_sub_f32 v12, s3, v10", "v_mac_f32 v20, v12, v11"}),
              ElementsAre("8: b0/01 a1/10 w2/10 o3/10 o4/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mad_f32 v20, v10, s3, v11"}), ElementsAre("8: b0/01 a1/10 w2/10 o3/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_fma_f32 v20, v10, 0.5, v11"}), ElementsAre("8: b0/01 a1/10 w2/10 o3/11"));
}

TEST_P(Finalizer, Pattern9) {
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mul_f32 v12, s3, v11", "v_add_f32 v12, v10, v12", "STORE v[4:5], v12"}),
              ElementsAre("9: a0/01 b1/10 w2/10 o3/10 o4/10 s5/11"));
  // STREAM's triad in one instruction, whose destination is the addend.
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mac_f32 v10, s3, v11", "STORE v[4:5], v10"}),
              ElementsAre("9: a0/01 b1/10 w2/10 o3/10 s4/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mad_f32 v12, v10, v11, 1.0", "STORE v[4:5], v12"}),
              ElementsAre("9: b0/01 a1/10 w2/10 o3/10 s4/11"));
}

TEST_P(Finalizer, ChainsThatNoRowDescribes) {
  const AssembledKernel one =
      assembled(kOneLoad + Lines{"v_mul_f32 v11, s3, v10", "v_add_f32 v11, s3, v11", "STORE v[4:5], v11"});
  const FinalizedKernel found = one.finalize(kTagsOnly);
  EXPECT_THAT(one.chains(found), ElementsAre("0: a0/01 w1/10 o2/10 o3/10 s4/11"));
  EXPECT_EQ(chain_name(found.chains.at(0)), "ld alu alu st");
  const AssembledKernel two = assembled(kTwoLoads + Lines{"v_sub_f32 v12, v10, v11", "v_cmp_lt_f32 vcc, s3, v12"});
  const FinalizedKernel compared = two.finalize(kTagsOnly);
  EXPECT_THAT(two.chains(compared), ElementsAre("0: a0/01 b1/10 w2/10 o3/10 o4/11"));
  EXPECT_EQ(chain_name(compared.chains.at(0)), "ld ld alu cmp");
}

TEST_P(Finalizer, ChainsDescribeTheirOperations) {
  const AssembledKernel code = assembled({"LOAD_ushort v10, v[0:1]", "LOAD_ushort v11, v[2:3]", kWaitVector,
                                          "v_mul_u32_u24 v12, s3, v11", "ADD_u32 v12, v10, v12", "STORE_short v[4:5], v12"});
  const FinalizedKernel kernel = code.finalize(kTagsOnly);
  ASSERT_EQ(kernel.chains.size(), 1u);
  const Chain& chain = kernel.chains[0];
  EXPECT_EQ(chain.pattern, 9);
  EXPECT_EQ(chain.element_bytes, 2);
  EXPECT_EQ(chain.operations, 2);
  EXPECT_EQ(chain.steps, 2);
  EXPECT_TRUE(chain.second_load);
  EXPECT_TRUE(chain.stores);
  EXPECT_FALSE(chain.compares);
  EXPECT_EQ(chain_name(chain), "d = f(a, g(b, i))");
  EXPECT_EQ(kernel.loads, 2u);
  EXPECT_EQ(kernel.instructions, 7u);
}

// A multiply-add whose operands all belong to the chain is two steps of the packet. If its third operand is in a register, only
// the product belongs to the chain, and the core adds it to the register.
TEST_P(Finalizer, MultiplyAddsAreTwoSteps) {
  const auto code_of = [&](const std::string& line, Chain& chain) {
    const AssembledKernel code = assembled(kTwoLoads + Lines{line});
    const FinalizedKernel kernel = code.finalize(kTagsOnly);
    chain = kernel.chains.at(0);
    return packet_code(chain, code.fetch(), code.target());
  };
  Chain whole;
  const PacketCode both = code_of("v_mad_f32 v20, v10, s3, v11", whole);
  EXPECT_EQ(whole.operations, 1);
  EXPECT_EQ(whole.steps, 2);
  EXPECT_NE(both.operations[0], ComputePacket::kNoOperation);
  EXPECT_NE(both.operations[1], ComputePacket::kNoOperation);
  EXPECT_FALSE(both.combines);
  Chain split;
  const PacketCode product = code_of("v_mad_f32 v20, v10, v11, v21", split);
  EXPECT_EQ(split.operations, 1);
  EXPECT_EQ(split.steps, 1);
  EXPECT_EQ(product.operations[0], both.operations[0]);
  EXPECT_EQ(product.operations[1], ComputePacket::kNoOperation);
  EXPECT_TRUE(product.combines);
}

// -- interleaved chains and waits

const Lines kInterleaved{"LOAD v10, v[0:1]",   "LOAD v11, v[2:3]",        "LOAD v12, v[4:5]",   "LOAD v13, v[6:7]",
                         "s_waitcnt vmcnt(2)", "v_mac_f32 v20, v10, v11", "s_waitcnt vmcnt(0)", "v_mac_f32 v20, v12, v13"};

TEST_P(Finalizer, SeparatesInterleavedChains) {
  EXPECT_THAT(chains(kInterleaved), ElementsAre("2: a0/01 b1/10 w4/10 o5/11", "2: a2/01 b3/10 w6/10 o7/11"));
  // A wait that covers two chains belongs to the chain that uses its data first.
  EXPECT_THAT(chains({"LOAD v10, v[0:1]", "LOAD v12, v[4:5]", kWaitVector, "v_cmp_lt_f32 vcc, 0, v12",
                      "v_cmp_lt_f32_e64 s[4:5], 0, v10"}),
              ElementsAre("6: a0/01 o4/11", "6: a1/01 w2/10 o3/11"));
}

TEST_P(Finalizer, ChoosesAmongInterleavedChains) {
  const AssembledKernel code = assembled(kInterleaved);
  const FinalizedKernel kernel = code.finalize({.move = false, .interleaved = false});
  EXPECT_THAT(code.chains(kernel), ElementsAre("2: a0/01 b1/10 w4/10 o5/11"));
  EXPECT_THAT(code.refusals(kernel), ElementsAre("2 interleaved 5", "3 interleaved 5"));
}

TEST_P(Finalizer, OtherInstructionsMayBeWithinAChain) {
  EXPECT_THAT(chains({"LOAD v10, v[0:1]", "v_mov_b32 v2, s4", "LOAD v11, v[2:3]", "s_add_u32 s4, s4, s5", kWaitVector,
                      "v_add_f32 v12, v10, v11", "s_load_dword s6, s[8:9], 0x0", "STORE v[4:5], v12"}),
              ElementsAre("1: a0/01 b2/10 w4/10 o5/10 s7/11"));
}

// -- reasons

TEST_P(Finalizer, RefusesReuse) {
  EXPECT_THAT(refusals(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[4:5], v12", "v_mov_b32 v20, v10"}),
              ElementsAre("0 reused 5", "1 reused 5"));
  // The stored value is read again later; for a single load, returning the result saves nothing.
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mul_f32 v12, s3, v10", "STORE v[4:5], v12", "v_mov_b32 v20, v12"}),
              ElementsAre("0 reused 4"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_cmp_lt_f32 vcc, 0, v10", "v_mov_b32 v20, v10"}), ElementsAre("0 reused 3"));
}

TEST_P(Finalizer, RefusesReuseInOtherBlocks) {
  // The use follows a branch, or is reached in the next iteration of a loop.
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_cmp_lt_f32 vcc, 0, v10", "s_cbranch_vccz 1", "v_mov_b32 v20, v10"}),
              ElementsAre("0 reused 4"));
  EXPECT_THAT(
      refusals({"v_mov_b32 v20, v10", "LOAD v10, v[0:1]", kWaitVector, "v_cmp_lt_f32 vcc, 0, v10", "s_cbranch_vccnz 65530"}),
      ElementsAre("1 reused 0"));
  // The register is overwritten on every path before it is read.
  EXPECT_THAT(chains({"v_mov_b32 v10, v20", "v_mov_b32 v20, v10", "LOAD v10, v[0:1]", kWaitVector, "v_cmp_lt_f32 vcc, 0, v10",
                      "s_cbranch_vccnz 65529"}),
              ElementsAre("6: a2/01 w3/10 o4/11"));
}

TEST_P(Finalizer, ValuesRemainInLanesThatAreNotWritten) {
  const Lines compared = kOneLoad + Lines{"v_cmp_lt_f32 vcc, 0, v10"};
  // Only some lanes overwrite the register before all lanes are active again.
  EXPECT_THAT(refusals(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "v_mov_b32 v10, 0", "s_or_b64 exec, exec, s[4:5]",
                                        "v_mov_b32 v20, v10"}),
              ElementsAre("0 reused 6"));
  // The lanes that loaded the register overwrite it before it is read.
  EXPECT_THAT(chains(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "s_or_b64 exec, exec, s[4:5]", "v_mov_b32 v10, 0",
                                      "v_mov_b32 v20, v10"}),
              ElementsAre("6: a0/01 w1/10 o2/11"));
  // Only the lanes that have overwritten the register read it.
  EXPECT_THAT(chains(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "v_mov_b32 v10, 0", "v_mov_b32 v20, v10"}),
              ElementsAre("6: a0/01 w1/10 o2/11"));
  // v_readlane may read any lane.
  EXPECT_THAT(refusals(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "v_mov_b32 v10, 0", "v_readlane_b32 s6, v10, 7"}),
              ElementsAre("0 reused 5"));
  // If the saved mask has been overwritten, restoring EXEC from it does not restore the same lanes.
  EXPECT_THAT(refusals(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "s_mov_b32 s4, s8", "s_or_b64 exec, exec, s[4:5]",
                                        "v_mov_b32 v10, 0", "s_mov_b64 exec, -1", "v_mov_b32 v20, v10"}),
              ElementsAre("0 reused 8"));
  // The sides of a branch write another register. After the branch, the lanes that loaded the register overwrite it before it
  // is read.
  EXPECT_THAT(chains(compared + Lines{"s_and_saveexec_b64 s[4:5], vcc", "s_xor_b64 s[4:5], exec, s[4:5]", "v_mov_b32 v20, 0",
                                      "s_or_saveexec_b64 s[4:5], s[4:5]", "s_xor_b64 exec, exec, s[4:5]", "v_mov_b32 v20, 1",
                                      "s_or_b64 exec, exec, s[4:5]", "v_mov_b32 v10, 2", "v_mov_b32 v20, v10"}),
              ElementsAre("6: a0/01 w1/10 o2/11"));
}

TEST_P(Finalizer, LoopsThatLanesLeave) {
  // Lanes that have left the loop keep the last value. The code after the loop overwrites the register before it reads it, or
  // reads the kept value.
  const Lines loop{"s_mov_b64 s[4:5], 0",
                   "LOAD v10, v[0:1]",
                   "LOAD v11, v[2:3]",
                   kWaitVector,
                   "v_mac_f32 v20, v10, v11",
                   "v_cmp_eq_u32 vcc, s6, v21",
                   "s_or_b64 s[4:5], vcc, s[4:5]",
                   "s_andn2_b64 exec, exec, s[4:5]",
                   "s_cbranch_execnz 65526",  // branches to line 1
                   "s_or_b64 exec, exec, s[4:5]"};
  EXPECT_THAT(chains(loop + Lines{"v_mov_b32 v10, 0", "v_mov_b32 v22, v10"}), ElementsAre("2: a1/01 b2/10 w3/10 o4/11"));
  EXPECT_THAT(refusals(loop + Lines{"v_mov_b32 v22, v10"}), ElementsAre("1 reused 10", "2 reused 10"));
}

TEST_P(Finalizer, RefusesFusedOperations) {
  EXPECT_THAT(refusals(kTwoLoads + Lines{"v_fma_f32 v20, v10, v11, v21"}), ElementsAre("0 fused 3", "1 fused 3"));
  if (gfx8()) return;
  EXPECT_THAT(refusals(kTwoLoads + Lines{"v_fmac_f32 v20, v10, v11"}), ElementsAre("0 fused 3", "1 fused 3"));
}

TEST_P(Finalizer, RefusesWideLoads) {
  EXPECT_THAT(refusals({"LOAD_dwordx2 v[10:11], v[0:1]", kWaitVector, "STORE_dwordx2 v[4:5], v[10:11]"}),
              ElementsAre("0 wide 0"));
  EXPECT_THAT(refusals({"LOAD_dwordx4 v[10:13], v[0:1]", kWaitVector, "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("0 wide 0"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]", kWaitVector, "STORE_dwordx2 v[4:5], v[10:11]"}), ElementsAre("0 wide 2"));
}

TEST_P(Finalizer, RefusesForms) {
  EXPECT_THAT(refusals({"LOAD v10, v[0:1] : glc", kWaitVector, "STORE v[4:5], v10"}), ElementsAre("0 form of load 0"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]", kWaitVector, "STORE v[4:5], v10 : glc slc"}), ElementsAre("0 form of load 2"));
  EXPECT_THAT(refusals({"buffer_load_dword v10, v0, s[0:3], 0 offen", kWaitVector, "STORE v[4:5], v10"}),
              ElementsAre("0 form of load 0"));
  if (gfx8()) return;
  EXPECT_THAT(refusals({"scratch_load_dword v10, v0, off", kWaitVector, "STORE v[4:5], v10"}), ElementsAre("0 form of load 0"));
  EXPECT_THAT(refusals({"LOAD_short_d16_hi v10, v[0:1]", kWaitVector, "STORE_short v[4:5], v10"}),
              ElementsAre("0 form of load 0"));
  EXPECT_THAT(refusals({"LOAD a10, v[0:1]", kWaitVector, "STORE v[4:5], a10"}), ElementsAre("0 form of load 0"));
}

TEST_P(Finalizer, RefusesOperations) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_rcp_f32 v11, v10", "STORE v[4:5], v11"}), ElementsAre("0 operation 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_add_f16 v11, v10, v10", "STORE v[4:5], v11"}), ElementsAre("0 operation 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mov_b32_dpp v11, v10 row_shr:1 row_mask:0xf bank_mask:0xf", "STORE v[4:5], v11"}),
              ElementsAre("0 operation 2"));
  EXPECT_THAT(refusals(kOneLoad +
                       Lines{"v_add_f32_sdwa v11, v10, v10 dst_sel:DWORD src0_sel:WORD_0 src1_sel:DWORD", "STORE v[4:5], v11"}),
              ElementsAre("0 operation 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_cndmask_b32 v11, 0, v10, vcc", "STORE v[4:5], v11"}), ElementsAre("0 operation 2"));
  // The loaded value is used as an address, then as data and address of the same store.
  EXPECT_THAT(refusals(kOneLoad + Lines{"LOAD v12, v[10:11]", kWaitVector, "v_cmp_lt_f32 vcc, 0, v12"}),
              ElementsAre("0 operation 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"STORE v[10:11], v10"}), ElementsAre("0 operation 2"));
  // The carry of the addition is read.
  const std::string add = gfx8() ? "v_add_u32 v12, vcc, v10, v11" : "v_add_co_u32 v12, vcc, v10, v11";
  const std::string add_carry = gfx8() ? "v_addc_u32 v13, vcc, v20, v21, vcc" : "v_addc_co_u32 v13, vcc, v20, v21, vcc";
  EXPECT_THAT(refusals(kTwoLoads + Lines{add, "STORE v[4:5], v12", add_carry}), ElementsAre("0 operation 3", "1 operation 3"));
  EXPECT_THAT(chains(kTwoLoads + Lines{add, "STORE v[4:5], v12", "s_mov_b64 vcc, 0", add_carry}),
              ElementsAre("1: a0/01 b1/10 w2/10 o3/10 s4/11"));
}

TEST_P(Finalizer, RefusesChangesOfExec) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"s_and_saveexec_b64 s[4:5], vcc", "STORE v[4:5], v10"}), ElementsAre("0 EXEC 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_cmpx_lt_f32 vcc, 0, v10"}), ElementsAre("0 EXEC 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"s_mov_b32 m0, 0", "STORE v[4:5], v10"}), ElementsAre("0 EXEC 2"));
  EXPECT_THAT(refusals(kOneLoad +
                       Lines{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3", "v_mul_f32 v11, s3, v10", "STORE v[4:5], v11"}),
              ElementsAre("0 EXEC 2"));
  // VGPR indexing: the registers that are read are known only at run time.
  EXPECT_THAT(
      refusals(kOneLoad + Lines{"STORE v[4:5], v10", "s_set_gpr_idx_on s3, 0x1", "v_mov_b32 v20, v21", "s_set_gpr_idx_off"}),
      ElementsAre(StartsWith("0 EXEC")));
}

TEST_P(Finalizer, RefusesUseAfterABranch) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"s_cbranch_scc0 2", "STORE v[4:5], v10"}), ElementsAre("0 crosses a branch 3"));
  // A branch target lies between the instructions of the chain.
  EXPECT_THAT(refusals({"s_cbranch_scc0 2", "LOAD v10, v[0:1]", kWaitVector, "STORE v[4:5], v10"}),
              ElementsAre("1 crosses a branch 3"));
}

TEST_P(Finalizer, RefusesStoresThatMayAlias) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"STORE v[6:7], v20", "STORE v[4:5], v10"}), ElementsAre("0 alias 2"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]", "s_barrier", kWaitVector, "STORE v[4:5], v10"}), ElementsAre("0 alias 1"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]", "flat_atomic_add v[6:7], v20", kWaitVector, "STORE v[4:5], v10"}),
              ElementsAre("0 alias 1"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]", "s_dcache_wb", kWaitVector, "STORE v[4:5], v10"}), ElementsAre("0 alias 1"));
  // A chain of pattern 2 ends before the store.
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_add_f32 v12, v10, v11", "STORE v[6:7], v20", "STORE v[4:5], v12"}),
              ElementsAre("2: a0/01 b1/10 w2/10 o3/11"));
  // A store to LDS cannot alias global memory.
  EXPECT_THAT(chains(kOneLoad + Lines{"ds_write_b32 v20, v21", "STORE v[4:5], v10"}), ElementsAre("3: a0/01 w1/10 s3/11"));
  if (gfx8()) return;
  EXPECT_THAT(chains(kOneLoad + Lines{"scratch_store_dword v20, v21, off", "STORE v[4:5], v10"}),
              ElementsAre("3: a0/01 w1/10 s3/11"));
  // Stores to the same address registers, with offsets at least a line apart.
  const auto stored = [&](int offset) { return "STORE v[0:1], v20 : offset:" + std::to_string(offset); };
  EXPECT_THAT(chains(kOneLoad + Lines{stored(131), "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("6: a0/01 w1/10 o3/11"));
  EXPECT_THAT(chains(kOneLoad + Lines{stored(-131), "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("6: a0/01 w1/10 o3/11"));
  EXPECT_THAT(refusals(kOneLoad + Lines{stored(130), "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("0 alias 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{stored(-130), "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("0 alias 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mov_b32 v0, 0", stored(256), "v_cmp_lt_f32 vcc, 0, v10"}), ElementsAre("0 alias 3"));
}

TEST_P(Finalizer, RefusesChainsThatDoNotFitThePacket) {
  // Causes in turn: two uniform values; clamp; modifiers with two operations; elements of different sizes, then of different
  // signedness; three operations.
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mul_f32 v11, s3, v10", "v_add_f32 v11, s4, v11", "STORE v[4:5], v11"}),
              ElementsAre("0 does not fit the packet 4"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mul_f32 v11, s3, v10 clamp", "STORE v[4:5], v11"}),
              ElementsAre("0 does not fit the packet 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mul_f32 v11, s3, |v10|", "v_add_f32 v11, s3, v11", "STORE v[4:5], v11"}),
              ElementsAre("0 does not fit the packet 4"));
  EXPECT_THAT(refusals({"LOAD_ubyte v10, v[0:1]", kWaitVector, "STORE v[4:5], v10"}),
              ElementsAre("0 does not fit the packet 2"));
  EXPECT_THAT(refusals({"LOAD_ubyte v10, v[0:1]", "LOAD_sbyte v11, v[2:3]", kWaitVector, "v_cmp_lt_i32 vcc, v10, v11"}),
              ElementsAre("0 does not fit the packet 1", "1 does not fit the packet 1"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_mad_f32 v11, v10, s3, s3", "v_mul_f32 v11, v11, v11", "STORE v[4:5], v11"}),
              ElementsAre("0 does not fit the packet 4"));
  // A packet with a single operation has room for modifiers; a sign can be absorbed by a sum.
  EXPECT_THAT(chains(kOneLoad + Lines{"v_mul_f32 v11, -s3, |v10| mul:2", "STORE v[4:5], v11"}),
              ElementsAre("7: a0/01 w1/10 o2/10 s3/11"));
  EXPECT_THAT(chains(kTwoLoads + Lines{"v_mad_f32 v12, v10, s3, -v11", "STORE v[4:5], v12"}),
              ElementsAre("9: b0/01 a1/10 w2/10 o3/10 s4/11"));
}

TEST_P(Finalizer, RefusesDataForLds) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"ds_write_b32 v20, v10"}), ElementsAre("0 LDS 2"));
  EXPECT_THAT(refusals({"s_mov_b32 m0, 0", "buffer_load_dword v0, s[0:3], 0 offen lds"}), ElementsAre("1 LDS 1"));
}

TEST_P(Finalizer, ConstantsInRegistersAreNotUniform) {
  // v11 is computed before the load and not from loaded data.
  EXPECT_THAT(refusals({"v_mov_b32 v11, 0", "LOAD v10, v[0:1]", kWaitVector, "v_add_f32 v12, v10, v11", "STORE v[4:5], v12"}),
              ElementsAre("1 nothing saved 3"));
}

TEST_P(Finalizer, RefusesChainsWithoutSavings) {
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_add_f32 v20, s3, v10"}), ElementsAre("0 nothing saved 2"));
  EXPECT_THAT(refusals(kOneLoad + Lines{"v_add_f32 v20, v21, v10"}), ElementsAre("0 nothing saved 2"));
  EXPECT_THAT(refusals({"LOAD v10, v[0:1]"}), ElementsAre("0 nothing saved 0"));
}

TEST_P(Finalizer, RefusesWaitsForSomethingElse) {
  // The wait in line 2 also covers v13, which line 3 needs while the chain is open.
  EXPECT_THAT(
      refusals({"LOAD_dwordx2 v[12:13], v[2:3]", "LOAD v10, v[0:1]", kWaitVector, "v_mov_b32 v20, v13", "STORE v[4:5], v10"}),
      ElementsAre("0 wide 0", "1 wait 3"));
  // The wait also covers the uniform value, which is loaded in the same block or before it.
  EXPECT_THAT(refusals({"s_load_dword s3, s[8:9], 0x0", "LOAD v10, v[0:1]", "s_waitcnt vmcnt(0) lgkmcnt(0)",
                        "v_mul_f32 v11, s3, v10", "STORE v[4:5], v11"}),
              ElementsAre("1 wait 3"));
  EXPECT_THAT(refusals({"s_load_dword s3, s[8:9], 0x0", "s_branch 0", "LOAD v10, v[0:1]", "s_waitcnt vmcnt(0) lgkmcnt(0)",
                        "v_mul_f32 v11, s3, v10", "STORE v[4:5], v11"}),
              ElementsAre("2 wait 4"));
  // The other data that the wait covers are needed only after the chain.
  EXPECT_THAT(
      chains({"LOAD_dwordx2 v[12:13], v[2:3]", "LOAD v10, v[0:1]", kWaitVector, "STORE v[4:5], v10", "v_mov_b32 v20, v13"}),
      ElementsAre("3: a1/01 w2/10 s3/11"));
  // The code waits for a scalar load in the chain's range only after the chain.
  EXPECT_THAT(chains({"LOAD v10, v[0:1]", "s_load_dword s3, s[8:9], 0x0", "s_waitcnt vmcnt(0)", "STORE v[4:5], v10",
                      "s_waitcnt lgkmcnt(0)", "s_mov_b32 s4, s3"}),
              ElementsAre("3: a0/01 w2/10 s3/11"));
}

// -- control flow

TEST_P(Finalizer, RefusesUnknownControlFlow) {
  const AssembledKernel call = assembled(kOneLoad + Lines{"STORE v[4:5], v10", "s_swappc_b64 s[30:31], s[4:5]"});
  const FinalizedKernel kernel = call.finalize(kTagsOnly);
  EXPECT_EQ(kernel.unknown, "s_swappc_b64 at 0x1014");
  EXPECT_THAT(kernel.chains, IsEmpty());
  EXPECT_THAT(kernel.refusals, IsEmpty());
  EXPECT_NE(assembled({"s_setpc_b64 s[30:31]"}).finalize(kTagsOnly).unknown, "");
  // A branch to an address outside of the code.
  EXPECT_EQ(assembled({"s_cbranch_scc0 100"}).finalize(kTagsOnly).unknown, "control leaves the code");
}

TEST_P(Finalizer, EndlessLoopsEnd) {
  EXPECT_THAT(chains(kOneLoad + Lines{"STORE v[4:5], v10", "s_branch 65530"}), ElementsAre("3: a0/01 w1/10 s2/11"));
}

}  // namespace
}  // namespace lacuna::test
