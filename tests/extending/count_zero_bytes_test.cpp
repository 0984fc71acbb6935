// Tests the instruction of docs/guide/extending.md: decoded, printed and executed in a compute unit.
#include "tests/extending/count_zero_bytes.h"

#include <gtest/gtest.h>

#include "models/isa/decode/decoder.h"
#include "tests/compute/compute_unit_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(ComputeUnitBench)

constexpr std::uint32_t kInstruction = 0x7e06c102;  // v_count_zero_bytes_u32 v3, v2

std::string text(const std::vector<std::uint32_t>& words, isa::Target target) {
  const isa::DecodeResult result = isa::decode(words.data(), words.size(), target);
  return result.ok ? isa::disassemble(result.instruction, target) : result.error;
}

TEST(CountZeroBytes, IsDecodedInAllForms) {
  EXPECT_EQ(text({kInstruction}, isa::Target::gfx803), "unknown VOP1 opcode 96");
  isa::add_instructions(isa::kCountZeroBytes);
  isa::add_instructions(isa::kCountZeroBytes);
  EXPECT_EQ(text({kInstruction}, isa::Target::gfx803), "v_count_zero_bytes_u32_e32 v3, v2");
  EXPECT_EQ(text({0xd1a00003, 0x00000102}, isa::Target::gfx803), "v_count_zero_bytes_u32_e64 v3, v2");
  EXPECT_EQ(text({0x7e06c0f9, 0x00050602}, isa::Target::gfx803),
            "v_count_zero_bytes_u32_sdwa v3, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1");
  EXPECT_EQ(text({kInstruction}, isa::Target::gfx90a), "unknown VOP1 opcode 96");
  EXPECT_EQ(isa::decode(&kInstruction, 1, isa::Target::gfx803).instruction.latency, isa::LatencyClass::valu_mul32);
}

TEST(CountZeroBytes, IsExecuted) {
  isa::add_instructions(isa::kCountZeroBytes);
  auto& b = bench<ComputeUnitBench>();
  // v[0:1] = kernarg pointer + 4 * lane; flat_load_dword v2, v[0:1]; s_waitcnt 0; v3 = zero bytes of v2;
  // flat_store_dword v[0:1], v3; s_endpgm
  const auto program = [&b](std::uint32_t instruction) {
    return b.program({0x24000082, 0x32000000, 0x7e020201, 0xdc500000, 0x02000000, 0xbf8c0070, instruction, 0xdc700000,
                      0x00000300, 0xbf810000});
  };
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) b.data()[lane] = lane % 2 != 0 ? 0x00ff'0012 : lane;
  const auto counts = program(kInstruction);
  const std::uint64_t cycles = b.run(b.loose(), *counts);
  EXPECT_EQ(b.data()[0], 4U);
  EXPECT_EQ(b.data()[1], 2U);
  EXPECT_EQ(b.data()[2], 3U);
  const auto moves = program(0x7e060302);  // v_mov_b32 v3, v2
  EXPECT_GT(cycles, b.run(b.loose(), *moves)) << "a multiplication takes longer than a move";
}

TEST(CountZeroBytes, AnOpcodeThatIsTakenIsRejected) {
  static constexpr std::array kTaken{isa::VectorRows<isa::Format::vop1>::of<isa::u32(isa::b32)>(
      "v_other", isa::gfx8_only(1), [](std::uint32_t a) { return a; })};
  EXPECT_THROW(isa::add_instructions(kTaken), std::logic_error);
}

}  // namespace
}  // namespace lacuna::test
