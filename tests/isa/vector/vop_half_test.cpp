// Tests halves of registers as operands, the half of a destination that a 16-bit result does not use, and other instructions
// that gfx9 and gfx90a add to VOP1 and VOP3.
#include <algorithm>

#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

constexpr std::array kSources{vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)};

I64 i16(U32 v) { return static_cast<std::int16_t>(v); }

void randomise(Machine& machine, std::mt19937_64& random) {
  for (unsigned reg = 0; reg < kRegisters; ++reg) {
    for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(reg, lane) = static_cast<U32>(random());
  }
}

TEST(HalfOperands, InlineConstantsOfIntegers) {
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    Machine machine(target);
    machine.fill(kSrc0, 7);
    machine.run(machine.e32("v_add_u16", kDst, kOne, kSrc0));  // the low half of f32's 1.0 is zero
    EXPECT_EQ(machine.at(kDst, 0), 7U);
    machine.run(machine.e32("v_add_u16", kDst, 248, kSrc0));  // 1 / (2 pi)
    EXPECT_EQ(machine.at(kDst, 0), 0xf98aU);
    machine.run(machine.e32("v_sub_u16", kDst, integer_constant(-3), kSrc0));
    EXPECT_EQ(machine.at(kDst, 0), 0xfff6U);
  }
}

// -- OP_SEL of VOP3, and the other half of a destination

TEST(HalfOperands, OpSelChoosesHalves) {
  std::mt19937_64 random(23);
  Machine machine(Target::gfx90a);
  for (unsigned op_sel = 0; op_sel < 16; ++op_sel) {
    randomise(machine, random);
    const auto operand = [&](unsigned i, unsigned lane) {
      const U32 word = machine.at(kSrc0 + 2 * i, lane);
      return (op_sel >> i & 1) != 0 ? word >> 16 : word & 0xffff;
    };
    const auto placed = [&](U64 value) {
      const U32 half = static_cast<U32>(value & 0xffff);
      return (op_sel & 8) != 0 ? (kUntouched & 0xffff) | half << 16 : (kUntouched & 0xffff0000) | half;
    };
    struct One {
      const char* mnemonic;
      unsigned sources;
      std::function<U32(U32, U32, U32)> result;
    };
    const std::vector<One> cases{
        {"v_mad_u16", 3, [&](U32 a, U32 b, U32 d) { return placed(U64{a} * b + d); }},
        {"v_mad_i16", 3, [&](U32 a, U32 b, U32 d) { return placed(static_cast<U64>(i16(a) * i16(b) + i16(d))); }},
        {"v_fma_f16", 3, [&](U32 a, U32 b, U32 d) { return placed(multiply_add(a, b, d, kF16, {})); }},
        {"v_mad_f16", 3, [&](U32 a, U32 b, U32 d) { return placed(add(multiply(a, b, kF16, {}), d, kF16, {})); }},
        {"v_min3_i16", 3,
         [&](U32 a, U32 b, U32 d) {
           return placed(static_cast<U64>(std::min({i16(a), i16(b), i16(d)})));
         }},
        {"v_max3_u16", 3,
         [&](U32 a, U32 b, U32 d) {
           return placed(std::max({a, b, d}));
         }},
        {"v_med3_i16", 3,
         [&](U32 a, U32 b, U32 d) {
           std::array<I64, 3> all{i16(a), i16(b), i16(d)};
           std::sort(all.begin(), all.end());
           return placed(static_cast<U64>(all[1]));
         }},
        {"v_add_i16", 2, [&](U32 a, U32 b, U32) { return placed(a + b); }},
        {"v_sub_i16", 2, [&](U32 a, U32 b, U32) { return placed(a - b); }},
        {"v_mad_u32_u16", 3, nullptr},
        {"v_mad_i32_i16", 3, nullptr},
        {"v_pack_b32_f16", 2, nullptr},
    };
    for (const One& c : cases) {
      machine.fill(kDst, kUntouched);
      Vop3 m;
      m.op_sel = op_sel & (8 | ((1U << c.sources) - 1));
      machine.run(machine.e64(c.mnemonic, kDst, {kSources[0], kSources[1], c.sources > 2 ? kSources[2] : 0}, m));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const U32 a = operand(0, lane);
        const U32 b = operand(1, lane);
        U32 want = 0;
        const std::string_view name = c.mnemonic;
        if (name == "v_mad_u32_u16") {
          want = a * b + machine.at(kSrc2, lane);
        } else if (name == "v_mad_i32_i16") {
          want = static_cast<U32>(i16(a) * i16(b) + static_cast<std::int32_t>(machine.at(kSrc2, lane)));
        } else if (name == "v_pack_b32_f16") {
          const auto quiet = [](U32 v) { return kF16.nan(v) ? v | static_cast<U32>(kF16.quiet()) : v; };
          want = quiet(b) << 16 | quiet(a);
        } else {
          want = c.result(a, b, operand(2, lane));
        }
        ASSERT_EQ(machine.at(kDst, lane), want)
            << c.mnemonic << std::hex << " op_sel 0x" << op_sel << " a 0x" << a << " b 0x" << b;
      }
    }
  }
}

// LLVM, GCNSubtarget::zeroesHigh16BitsOfDest: gfx8 always clears the other half, gfx9 keeps it for some instructions.
TEST(HalfOperands, OtherHalfOfTheDestination) {
  struct One {
    const char* mnemonic;
    bool vop2;
    Target target;
    bool kept;
  };
  for (const One& c :
       {One{"v_add_f16", true, Target::gfx803, false}, One{"v_add_f16", true, Target::gfx90a, false},
        One{"v_mul_lo_u16", true, Target::gfx90a, false}, One{"v_mac_f16", true, Target::gfx803, false},
        One{"v_mac_f16", true, Target::gfx90a, true}, One{"v_mad_f16", false, Target::gfx803, false},
        One{"v_mad_f16", false, Target::gfx90a, true}, One{"v_mad_legacy_f16", false, Target::gfx90a, false},
        One{"v_fma_f16", false, Target::gfx803, false}, One{"v_fma_f16", false, Target::gfx90a, true},
        One{"v_mad_u16", false, Target::gfx803, false}, One{"v_mad_u16", false, Target::gfx90a, true},
        One{"v_mad_legacy_u16", false, Target::gfx90a, false}, One{"v_div_fixup_f16", false, Target::gfx803, false},
        One{"v_div_fixup_f16", false, Target::gfx90a, true}, One{"v_div_fixup_legacy_f16", false, Target::gfx90a, false}}) {
    Machine machine(c.target);
    for (const std::uint64_t exec : {kAllLanes, std::uint64_t{0xff}}) {
      machine.fill(kDst, kUntouched);
      machine.wave.set_exec(exec);
      machine.run(c.vop2 ? machine.e32(c.mnemonic, kDst, vgpr(kSrc0), kSrc1) : machine.e64(c.mnemonic, kDst, kSources));
      EXPECT_EQ(machine.at(kDst, 3) >> 16, c.kept ? kUntouched >> 16 : 0) << c.mnemonic;
      EXPECT_EQ(machine.at(kDst, 63), exec == kAllLanes ? machine.at(kDst, 3) : kUntouched) << c.mnemonic;
    }
  }
}

// -- the other vector instructions that gfx9 adds

TEST(Gfx9, SwapsUnderExec) {
  Machine machine(Target::gfx90a);
  machine.fill(kSrc0, 1);
  machine.fill(kSrc1, 2);
  machine.wave.set_exec(0xf0);
  machine.run(machine.e32("v_swap_b32", kSrc0, vgpr(kSrc1)));
  EXPECT_EQ(machine.at(kSrc0, 4), 2U);
  EXPECT_EQ(machine.at(kSrc1, 4), 1U);
  EXPECT_EQ(machine.at(kSrc0, 0), 1U);
  EXPECT_EQ(machine.at(kSrc1, 0), 2U);
}

TEST(Gfx9, NormalisedIntegers) {
  Machine machine(Target::gfx90a);
  struct One {
    U32 half, snorm, unorm;
  };
  for (const One& c : {One{0x3c00, 0x7fff, 0xffff}, One{0xbc00, 0x8001, 0}, One{0x3800, 0x4000, 0x8000}, One{0, 0, 0},
                       One{0x4000, 0x7fff, 0xffff}, One{0x7e00, 0, 0}, One{0xfc00, 0x8001, 0}}) {
    machine.fill(kSrc0, 0xabcd0000 | c.half);
    machine.fill(kSrc1, c.half << 16 | 0x3c00);
    machine.run(machine.e32("v_cvt_norm_i16_f16", kDst, vgpr(kSrc0)));
    EXPECT_EQ(machine.at(kDst, 0), c.snorm);
    machine.run(machine.e32("v_cvt_norm_u16_f16", kDst, vgpr(kSrc0)));
    EXPECT_EQ(machine.at(kDst, 0), c.unorm);
    Vop3 second_high;
    second_high.op_sel = 2;
    machine.run(machine.e64("v_cvt_pknorm_i16_f16", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, second_high));
    EXPECT_EQ(machine.at(kDst, 0), c.snorm << 16 | c.snorm);
    machine.run(machine.e64("v_cvt_pknorm_u16_f16", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}));
    EXPECT_EQ(machine.at(kDst, 0), 0xffffU << 16 | c.unorm);
  }
  machine.fill(kSrc0, 0x01008005);
  machine.run(machine.e32("v_sat_pk_u8_i16", kDst, vgpr(kSrc0)));
  EXPECT_EQ(machine.at(kDst, 0), 0x0000ff00U);
  machine.fill(kSrc0, 0x0012007f);
  machine.run(machine.e32("v_sat_pk_u8_i16", kDst, vgpr(kSrc0)));
  EXPECT_EQ(machine.at(kDst, 0), 0x0000127fU);
}

// As a single register an aperture is the high half of its base; as a pair it is the whole address, as in s_mov_b64 s[8:9],
// src_shared_base.
TEST(Gfx9, AperturesAsOperands) {
  Machine machine(Target::gfx90a);
  machine.wave.shared_aperture = 0x0001000000000000;
  machine.wave.private_aperture = 0x0002000000000000;
  constexpr unsigned kBase = 235;
  machine.run(machine.assemble({0xbe880100 | kBase, 0}));
  EXPECT_EQ(machine.wave.read64(8), 0x0001000000000000U);
  machine.run(machine.assemble({0xbe880100 | (kBase + 3), 0}));
  EXPECT_EQ(machine.wave.read64(8), 0x00020000ffffffffU);
  machine.run(machine.e32("v_mov_b32", kDst, kBase + 2));
  EXPECT_EQ(machine.at(kDst, 5), 0x00020000U);
  machine.run(machine.e64("v_lshrrev_b64", kDst, {integer_constant(16), kBase, 0}));
  EXPECT_EQ(machine.pair(kDst, 5), 0x0000000100000000U);
}

TEST(Gfx90a, RowNewBroadcastMovesDoubles) {
  Machine machine(Target::gfx90a);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.set_pair(kSrc0, lane, std::bit_cast<U64>(lane + 0.25));
    machine.set_pair(kDst, lane, 0);
  }
  constexpr unsigned kDpp = 250;
  constexpr U32 kAll = 0xff000000;
  machine.run(machine.e32("v_ceil_f64", kDst, kDpp, 0, kAll | (0x150 + 5) << 8 | kSrc0));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ(machine.pair(kDst, lane), std::bit_cast<U64>(static_cast<double>(lane / 16 * 16 + 6)));
  // 64-bit operands support no other DPP control.
  machine.run(machine.e32("v_ceil_f64", kDst, kDpp, 0, kAll | 0x111 << 8 | kSrc0));
  EXPECT_EQ(machine.wave.event, Event::illegal_instruction);
  machine.run(machine.e32("v_mov_b32", kDst, kDpp, 0, kAll | (0x150 + 15) << 8 | kSrc0));
  EXPECT_EQ(machine.wave.event, Event::none);
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(machine.at(kDst, lane), machine.at(kSrc0, lane / 16 * 16 + 15));
}

TEST(Gfx90a, RegisterTuplesStartAtEvenNumbers) {
  Machine machine(Target::gfx90a);
  machine.run(machine.e64("v_add_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1 + 1), 0}));
  EXPECT_EQ(machine.wave.event, Event::illegal_instruction);
  machine.run(machine.e64("v_add_f64", kDst + 1, {vgpr(kSrc0), vgpr(kSrc1), 0}));
  EXPECT_EQ(machine.wave.event, Event::illegal_instruction);
  machine.run(machine.e64("v_add_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}));
  EXPECT_EQ(machine.wave.event, Event::none);
  Machine gfx8(Target::gfx803);
  gfx8.run(gfx8.e64("v_add_f64", kDst + 1, {vgpr(kSrc0), vgpr(kSrc1 + 1), 0}));
  EXPECT_EQ(gfx8.wave.event, Event::none);
}

}  // namespace
}  // namespace lacuna::isa::test
