// Tests scalar instructions against values and SCC computed by hand from the definitions of the ISA manual.
#include <gtest/gtest.h>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

struct Case {
  const char* text;  // reads s[2:3], s[4:5], writes s0 or s[0:1]
  std::uint64_t a;
  std::uint64_t b;
  bool scc_in;
  std::uint64_t result;
  bool scc;
};

void check(const std::vector<Case>& cases) {
  std::vector<std::string> lines;
  for (const Case& c : cases) lines.emplace_back(c.text);
  const auto encodings = assemble_by_llvm(lines, Target::gfx803);
  ASSERT_EQ(encodings.size(), cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    Machine m;
    m.wave.write64(2, c.a);
    m.wave.write64(4, c.b);
    m.wave.scc = c.scc_in;
    m.step(encodings[k]);
    EXPECT_EQ(m.wave.event, Event::none) << c.text;
    EXPECT_EQ(m.wave.read64(0), c.result) << c.text;
    EXPECT_EQ(m.wave.scc, c.scc) << c.text;
  }
}

TEST(Scalar, Arithmetic) {
  check({Case{"s_add_u32 s0, s2, s4", 0xffffffff, 1, false, 0, true},
         Case{"s_add_u32 s0, s2, s4", 0x7fffffff, 1, true, 0x80000000, false},
         Case{"s_sub_u32 s0, s2, s4", 0, 1, false, 0xffffffff, true},
         Case{"s_sub_u32 s0, s2, s4", 1, 1, true, 0, false},
         Case{"s_add_i32 s0, s2, s4", 0x7fffffff, 1, false, 0x80000000, true},
         Case{"s_add_i32 s0, s2, s4", 0xffffffff, 1, true, 0, false},
         Case{"s_sub_i32 s0, s2, s4", 0x80000000, 1, false, 0x7fffffff, true},
         Case{"s_sub_i32 s0, s2, s4", 0, 0x80000000, false, 0x80000000, true},
         Case{"s_addc_u32 s0, s2, s4", 0xffffffff, 0, true, 0, true},
         Case{"s_addc_u32 s0, s2, s4", 0xffffffff, 0xffffffff, true, 0xffffffff, true},
         Case{"s_subb_u32 s0, s2, s4", 0, 0xffffffff, true, 0, true},
         Case{"s_subb_u32 s0, s2, s4", 5, 4, true, 0, false},
         Case{"s_min_i32 s0, s2, s4", 0xffffffff, 1, false, 0xffffffff, true},
         Case{"s_min_u32 s0, s2, s4", 0xffffffff, 1, true, 1, false},
         Case{"s_max_i32 s0, s2, s4", 7, 7, true, 7, false},
         Case{"s_max_u32 s0, s2, s4", 0xffffffff, 1, false, 0xffffffff, true},
         Case{"s_mul_i32 s0, s2, s4", 0xffffffff, 3, true, 0xfffffffd, true},
         Case{"s_absdiff_i32 s0, s2, s4", 2, 5, false, 3, true},
         Case{"s_abs_i32 s0, s2", 0x80000000, 0, false, 0x80000000, true},
         Case{"s_cselect_b32 s0, s2, s4", 1, 2, true, 1, true},
         Case{"s_cselect_b64 s[0:1], s[2:3], s[4:5]", 1, 0x200000003, false, 0x200000003, false}});
}

TEST(Scalar, Bits) {
  check({Case{"s_bfe_u32 s0, s2, s4", 0xabcd1234, 8 | 8 << 16, false, 0x12, true},
         Case{"s_bfe_u32 s0, s2, s4", 0xabcd1234, 8, true, 0, false},
         Case{"s_bfe_u32 s0, s2, s4", 0xabcd1234, 16 | 64 << 16, false, 0xabcd, true},
         Case{"s_bfe_i32 s0, s2, s4", 0x00008000, 8 | 8 << 16, false, 0xffffff80, true},
         Case{"s_bfe_i32 s0, s2, s4", 0x80000000, 31 | 16 << 16, false, 0xffffffff, true},
         Case{"s_bfe_u64 s[0:1], s[2:3], s4", 0x123456789abcdef0, 32 | 16 << 16, false, 0x5678, true},
         Case{"s_bfe_i64 s[0:1], s[2:3], s4", 0x8000000000000000, 60 | 4 << 16, false, 0xfffffffffffffff8, true},
         Case{"s_bfm_b32 s0, s2, s4", 4, 8, true, 0xf00, true},
         Case{"s_bfm_b64 s[0:1], s2, s4", 8, 60, false, 0xf000000000000000, false},
         Case{"s_brev_b32 s0, s2", 1, 0, true, 0x80000000, true},
         Case{"s_brev_b64 s[0:1], s[2:3]", 0x3, 0, false, 0xc000000000000000, false},
         Case{"s_ff1_i32_b32 s0, s2", 0, 0, true, 0xffffffff, true},
         Case{"s_ff1_i32_b64 s0, s[2:3]", 0x100000000, 0, false, 32, false},
         Case{"s_ff0_i32_b32 s0, s2", 0xff, 0, false, 8, false},
         Case{"s_flbit_i32_b32 s0, s2", 1, 0, false, 31, false},
         Case{"s_flbit_i32_b64 s0, s[2:3]", 1, 0, false, 63, false},
         Case{"s_flbit_i32 s0, s2", 0xfffffff0, 0, false, 28, false},
         Case{"s_flbit_i32 s0, s2", 0xffffffff, 0, false, 0xffffffff, false},
         Case{"s_flbit_i32_i64 s0, s[2:3]", 0x0fffffffffffffff, 0, false, 4, false},
         Case{"s_bcnt1_i32_b64 s0, s[2:3]", 0xff00ff00ff00ff00, 0, false, 32, true},
         Case{"s_bcnt0_i32_b32 s0, s2", 0xffffffff, 0, true, 0, false},
         Case{"s_wqm_b32 s0, s2", 0x00101001, 0, false, 0x00f0f00f, true},
         Case{"s_quadmask_b64 s[0:1], s[2:3]", 0xf000000000000010, 0, false, 0x8002, true},
         Case{"s_not_b64 s[0:1], s[2:3]", ~std::uint64_t{0}, 0, true, 0, false},
         Case{"s_sext_i32_i8 s0, s2", 0x180, 0, false, 0xffffff80, false},
         Case{"s_lshl_b64 s[0:1], s[2:3], s4", 1, 63, false, 0x8000000000000000, true},
         Case{"s_lshr_b32 s0, s2, s4", 0x80000000, 63, false, 1, true},
         Case{"s_ashr_i64 s[0:1], s[2:3], s4", 0x8000000000000000, 63, false, ~std::uint64_t{0}, true},
         Case{"s_andn2_b64 s[0:1], s[2:3], s[4:5]", 0xff, 0xff, true, 0, false},
         Case{"s_xnor_b32 s0, s2, s4", 0, 0, false, 0xffffffff, true},
         Case{"s_mov_b64 s[0:1], -1", 0, 0, false, ~std::uint64_t{0}, false},
         Case{"s_mov_b64 s[0:1], 0xfffffff0", 0, 0, false, 0xfffffff0, false},
         Case{"s_mov_b64 s[0:1], 1.0", 0, 0, false, 0x3ff0000000000000, false},
         Case{"s_mov_b32 s0, 1.0", 0, 0, false, 0x3f800000, false}});
}

TEST(Scalar, Compares) {
  check({Case{"s_cmp_lt_i32 s2, s4", 0xffffffff, 0, false, 0, true}, Case{"s_cmp_lt_u32 s2, s4", 0xffffffff, 0, true, 0, false},
         Case{"s_cmp_lg_u64 s[2:3], s[4:5]", 0x100000000, 0, false, 0, true},
         Case{"s_cmp_eq_u64 s[2:3], s[4:5]", 0x100000000, 0, true, 0, false},
         Case{"s_bitcmp1_b64 s[2:3], s4", 0x8000000000000000, 63, false, 0, true},
         Case{"s_bitcmp0_b32 s2, s4", 0x80000000, 63, true, 0, false}, Case{"s_cmpk_gt_i32 s2, 0xffff", 0, 0, false, 0, true},
         Case{"s_cmpk_gt_u32 s2, 0xffff", 0, 0, true, 0, false}, Case{"s_addk_i32 s0, 0xffff", 0, 0, true, 0xffffffff, false},
         Case{"s_movk_i32 s0, 0x8000", 0, 0, true, 0xffff8000, true}});
}

TEST(ScalarState, SaveexecAndBranchesFollowExec) {
  Machine m;
  m.wave.set_exec(0xff);
  m.wave.write64(2, 0xf0f0);
  m.run({"s_and_saveexec_b64 s[0:1], s[2:3]"});
  EXPECT_EQ(m.wave.read64(0), 0xffU);
  EXPECT_EQ(m.wave.exec(), 0xf0U);
  EXPECT_TRUE(m.wave.scc);
  m.run({"s_andn2_saveexec_b64 s[2:3], s[2:3]"});  // source and destination are the same
  EXPECT_EQ(m.wave.exec(), 0xf0f0U & ~0xf0U);
  EXPECT_EQ(m.wave.read64(2), 0xf0U);
  m.wave.set_exec(0);
  const std::uint64_t before = m.wave.pc;
  m.run({"s_cbranch_execz 16"});
  EXPECT_EQ(m.wave.pc, before + 4 + 64);
  m.run({"s_cbranch_execnz 16"});
  EXPECT_EQ(m.wave.pc, before + 8 + 64);
  m.run({"s_branch 65535"});
  EXPECT_EQ(m.wave.pc, before + 8 + 64);
}

TEST(ScalarState, CallsKeepTheReturnAddress) {
  Machine m;
  m.run({"s_getpc_b64 s[0:1]"});
  EXPECT_EQ(m.wave.read64(0), Machine::kProgram + 4);
  m.wave.write64(2, 0x123456789abc);
  m.run({"s_swappc_b64 s[30:31], s[2:3]"});
  EXPECT_EQ(m.wave.read64(30), Machine::kProgram + 8);
  EXPECT_EQ(m.wave.pc, 0x123456789abcU);
  m.run({"s_setpc_b64 s[30:31]"});
  EXPECT_EQ(m.wave.pc, Machine::kProgram + 8);
}

TEST(ScalarState, ModeIsReadAndWrittenByField) {
  Machine m;
  m.wave.mode.bits = 0x2c0;
  m.wave.sgpr[2] = 0xf;
  m.run({"s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s2", "s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)"});
  EXPECT_EQ(m.wave.mode.bits, 0x2f0U);
  EXPECT_EQ(m.wave.sgpr[0], 0xfU);
  m.run({"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 32), 0x12345"});
  EXPECT_EQ(m.wave.mode.bits, 0x12345U);
  m.wave.scc = true;
  m.wave.set_exec(0);
  m.run({"s_getreg_b32 s0, hwreg(HW_REG_STATUS)"});
  EXPECT_EQ(m.wave.sgpr[0] & 0x601, 0x601U) << "SCC, EXECZ, VCCZ";
}

TEST(ScalarState, AperturesAreReadAsMemoryBases) {
  Machine m;
  m.wave.target = Target::gfx90a;
  m.wave.shared_aperture = 0x1000000000000;
  m.wave.private_aperture = 0x2000000000000;
  m.run({"s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 16, 16)", "s_getreg_b32 s1, hwreg(HW_REG_SH_MEM_BASES, 0, 16)"});
  EXPECT_EQ(m.wave.sgpr[0], 1U) << "bits 63:48 of the window to the LDS";
  EXPECT_EQ(m.wave.sgpr[1], 2U) << "and of the window to scratch";
}

TEST(ScalarState, RelativeMovesUseM0AndStayInside) {
  Machine m;
  m.wave.sgpr[kM0] = 3;
  m.wave.sgpr[13] = 77;
  m.run({"s_movrels_b32 s0, s10", "s_movreld_b32 s20, s0"});
  EXPECT_EQ(m.wave.sgpr[0], 77U);
  EXPECT_EQ(m.wave.sgpr[23], 77U);
  m.wave.sgpr[kM0] = 0xffffffff;
  m.run({"s_movreld_b32 s20, s0"});
  EXPECT_EQ(m.wave.event, Event::illegal_instruction);
}

TEST(ScalarState, EventsCarryTheirValue) {
  struct {
    const char* text;
    Event event;
    std::uint32_t value;
  } const kCases[] = {{"s_endpgm", Event::end_program, 0},
                      {"s_barrier", Event::barrier, 0},
                      {"s_waitcnt vmcnt(3)", Event::wait_count, 0xf73},
                      {"s_sleep 2", Event::sleep, 128},
                      {"s_trap 2", Event::trap, 2},
                      {"s_sendmsg 1", Event::message, 1},
                      {"s_sethalt 1", Event::halt, 1},
                      {"s_icache_inv", Event::cache_invalidate, 0},
                      {"s_nop 0", Event::none, 0},
                      {"s_nop 3", Event::wait_states, 3},
                      {"s_sendmsghalt 1", Event::message, 1 | kMessageThenHalt},
                      {"s_rfe_b64 s[2:3]", Event::illegal_instruction, 0}};
  for (const auto& c : kCases) {
    Machine m;
    m.run({c.text});
    EXPECT_EQ(m.wave.event, c.event) << c.text;
    EXPECT_EQ(m.wave.event_value, c.value) << c.text;
  }
}

// Fork and join: the smaller group of lanes runs first, while EXEC and PC of the larger group are saved in four SGPRs.
TEST(ScalarState, ForkRunsBothHalvesOnce) {
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    Machine m;
    m.wave.target = target;
    const auto code = assemble_by_llvm({"s_cbranch_g_fork s[10:11], s[12:13]", "s_cbranch_join s14"}, target);
    const std::uint64_t next = m.wave.pc + 4;
    constexpr std::uint64_t kThere = 0x200000;
    m.wave.set_exec(0xff);
    m.wave.write64(10, 0xf07);  // lanes 0 to 2 take the branch; 8 to 11 are not active
    m.wave.write64(12, kThere);
    m.wave.sgpr[14] = 0;
    m.step(code[0]);
    EXPECT_EQ(m.wave.pc, kThere);
    EXPECT_EQ(m.wave.exec(), 0x07U);
    m.step(code[1]);
    EXPECT_EQ(m.wave.pc, next);
    EXPECT_EQ(m.wave.exec(), 0xf8U);
    const std::uint64_t after = m.wave.pc + 4;
    m.step(code[1]);
    EXPECT_EQ(m.wave.pc, after) << "the stack is as deep as it was";
    EXPECT_EQ(m.wave.exec(), 0xf8U);

    m.wave.set_exec(0xff);
    m.wave.write64(10, 0xfe);
    const std::uint64_t fallen = m.wave.pc + 4;
    m.step(code[0]);
    EXPECT_EQ(m.wave.pc, fallen);
    EXPECT_EQ(m.wave.exec(), 0x01U);
    m.step(code[1]);
    EXPECT_EQ(m.wave.pc, kThere);
    EXPECT_EQ(m.wave.exec(), 0xfeU);

    m.wave.write64(10, 0);
    const std::uint64_t on = m.wave.pc + 4;
    m.step(code[0]);
    EXPECT_EQ(m.wave.pc, on) << "nobody goes";
    m.wave.write64(10, ~std::uint64_t{0});
    m.step(code[0]);
    EXPECT_EQ(m.wave.pc, kThere) << "all go";
    EXPECT_EQ(m.wave.exec(), 0xfeU);
  }
}

TEST(ScalarState, ForksNest) {
  Machine m;
  const auto code = assemble_by_llvm({"s_cbranch_i_fork s[10:11], 16", "s_cbranch_join s14"}, Target::gfx803);
  const std::uint64_t start = m.wave.pc;
  m.wave.set_exec(0xf);
  m.wave.sgpr[14] = 0;
  m.wave.write64(10, 0x3);
  m.step(code[0]);
  EXPECT_EQ(m.wave.pc, start + 4 + 64);
  EXPECT_EQ(m.wave.exec(), 0x3U) << "of equal halves those that go are first";
  m.wave.write64(16, 0);
  m.wave.write64(10, 0x1);
  m.step(code[0]);
  EXPECT_EQ(m.wave.exec(), 0x1U);
  m.step(code[1]);
  EXPECT_EQ(m.wave.exec(), 0x2U);
  EXPECT_EQ(m.wave.pc, start + 4 + 64 + 4);
  m.step(code[1]);
  EXPECT_EQ(m.wave.exec(), 0xcU);
  EXPECT_EQ(m.wave.pc, start + 4);
}

}  // namespace
}  // namespace lacuna::isa::test
