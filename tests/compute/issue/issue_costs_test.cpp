// Cycles of instructions by kind, with the parameters of configs/fiji.cfg and with the defaults: the cycles that CLRX's GCN
// timings list for double precision at a sixteenth of the rate.
#include "models/compute/issue/issue_costs.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/compute/memory/local_data_share.h"
#include "models/isa/decode/decoder.h"

namespace lacuna {
namespace {

isa::DecodedInstruction decoded(const std::vector<std::uint32_t>& words) {
  const isa::DecodeResult result = isa::decode(words.data(), words.size(), isa::Target::gfx803);
  EXPECT_TRUE(result.ok) << result.error;
  return isa::DecodedInstruction(result.instruction);
}

ComputeUnitParameters fiji() {
  ComputeUnitParameters parameters;
  parameters.f64_rate_divisor = 16;
  parameters.f64_add_rate_divisor = 8;
  parameters.f64_transcendental_rate_divisor = 16;
  parameters.lds_transfers = true;
  return parameters;
}

TEST(IssueCosts, DoublePrecisionByKind) {
  struct {
    const char* what;
    std::vector<std::uint32_t> words;
    unsigned fiji;
    unsigned defaults;
  } const table[] = {
      {"v_add_f64", {0xd2800002, 0x00020502}, 32, 64}, {"v_cvt_f64_f32", {0x7e042101}, 32, 64},
      {"v_cmp_lt_f64", {0x7cc20502}, 32, 64},          {"v_mul_f64", {0xd2810002, 0x00020502}, 64, 64},
      {"v_fma_f64", {0xd1cc0002, 0x040a0502}, 64, 64}, {"v_rcp_f64", {0x7e044b02}, 64, 256},
  };
  for (const auto& row : table) {
    EXPECT_EQ(IssueCosts(fiji()).vector_unit(decoded(row.words)), row.fiji) << row.what;
    EXPECT_EQ(IssueCosts(ComputeUnitParameters{}).vector_unit(decoded(row.words)), row.defaults) << row.what;
  }
}

TEST(IssueCosts, LdsInstructionsByTheDwordsTheyMove) {
  struct {
    const char* what;
    std::vector<std::uint32_t> words;
    unsigned wavefront;  ///< cycles until the wavefront's next instruction
    unsigned lds;        ///< cycles of the LDS, without conflicts
  } const table[] = {
      {"ds_read_b32", {0xd86c0000, 0x01000000}, 4, 2},     {"ds_read_b64", {0xd8ec0000, 0x02000000}, 8, 4},
      {"ds_read_b128", {0xd9fe0000, 0x04000000}, 16, 8},   {"ds_write_b32", {0xd81a0000, 0x00000100}, 8, 4},
      {"ds_write_b128", {0xd9be0000, 0x00000400}, 20, 10}, {"ds_add_u32", {0xd8000000, 0x00000100}, 8, 4},
      {"ds_add_u64", {0xd8800000, 0x00000200}, 12, 6},     {"ds_cmpst_rtn_b32", {0xd8600000, 0x03020100}, 12, 6},
      {"ds_cmpst_b64", {0xd8a00000, 0x00040200}, 20, 10},
  };
  const ComputeUnitParameters parameters = fiji();
  LdsBanks banks;
  LocalDataShare lds(parameters, Clock(Frequency{1'000'000'000}), banks);
  for (const auto& row : table) {
    const isa::DecodedInstruction instruction = decoded(row.words);
    EXPECT_EQ(IssueCosts(parameters).wavefront(instruction), Cycles{row.wavefront}) << row.what;
    EXPECT_EQ(IssueCosts(ComputeUnitParameters{}).wavefront(instruction), Cycles{4}) << row.what;
    isa::MemoryAccess access;  // of one lane, which needs a single cycle of a bank
    access.space = isa::MemoryAccess::Space::lds;
    access.bytes_per_lane = 4;
    access.lanes = 1;
    EXPECT_EQ(lds.cycles(access, {}, instruction).busy, row.lds) << row.what;
  }
}

}  // namespace
}  // namespace lacuna
