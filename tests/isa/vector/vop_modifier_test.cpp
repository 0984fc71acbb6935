// Tests NEG, ABS, OMOD, CLAMP, SDWA and DPP, kinds of operands, and overlapping registers.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

U32 bits(float v) { return std::bit_cast<U32>(v); }

constexpr U32 sdwa(unsigned src0, unsigned dst_sel, unsigned dst_unused, unsigned src0_sel, unsigned src1_sel,
                   bool sext0 = false, bool neg0 = false, bool abs0 = false, bool clamp = false) {
  return src0 | dst_sel << 8 | dst_unused << 11 | (clamp ? 1U << 13 : 0) | src0_sel << 16 | (sext0 ? 1U << 19 : 0) |
         (neg0 ? 1U << 20 : 0) | (abs0 ? 1U << 21 : 0) | src1_sel << 24;
}
constexpr unsigned kSdwaSource = 249, kDppSource = 250;
enum : unsigned { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };
enum : unsigned { kPad, kSignExtend, kPreserve };

constexpr U32 dpp(unsigned src0, unsigned control, unsigned row_mask = 0xf, unsigned bank_mask = 0xf, bool bound = false) {
  return src0 | control << 8 | (bound ? 1U << 19 : 0) | bank_mask << 24 | row_mask << 28;
}

TEST(VopModifiers, NegAndAbsOfEachSource) {
  Machine machine;
  machine.fill(kSrc0, bits(2.0F));
  machine.fill(kSrc1, bits(-3.0F));
  machine.fill(kSrc2, bits(10.0F));
  const auto result = [&](unsigned abs, unsigned neg) {
    machine.run(machine.e64("v_fma_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)}, {.abs = abs, .neg = neg}));
    return std::bit_cast<float>(machine.at(kDst, 17));
  };
  EXPECT_EQ(result(0, 0), 4.0F);
  EXPECT_EQ(result(0, 1), 16.0F);
  EXPECT_EQ(result(2, 0), 16.0F);
  EXPECT_EQ(result(2, 2), 4.0F) << "NEG is applied after ABS";
  EXPECT_EQ(result(0, 4), -16.0F);
}

TEST(VopModifiers, SignOfNarrowAndWideSources) {
  Machine machine;
  machine.fill(kSrc0, 0xffff3c00);  // f16 1.0, arbitrary bits above
  machine.fill(kSrc1, 0);
  machine.run(machine.e64("v_add_f16", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.neg = 1}));
  EXPECT_EQ(machine.at(kDst, 0), 0xbc00U);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.set_pair(kSrc0, lane, std::bit_cast<U64>(-1.5));
    machine.set_pair(kSrc1, lane, std::bit_cast<U64>(4.0));
  }
  machine.run(machine.e64("v_mul_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.abs = 1, .neg = 2}));
  EXPECT_EQ(machine.pair(kDst, 5), std::bit_cast<U64>(-6.0));
}

TEST(VopModifiers, OutputMultiplierAndClamp) {
  Machine machine;
  machine.fill(kSrc0, bits(0.75F));
  machine.fill(kSrc1, bits(0.5F));
  const auto result = [&](unsigned omod, bool clamp) {
    machine.run(machine.e64("v_add_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.omod = omod, .clamp = clamp}));
    return std::bit_cast<float>(machine.at(kDst, 3));
  };
  machine.wave.mode = mode_of(0, false, false);
  EXPECT_EQ(result(1, false), 2.5F);
  EXPECT_EQ(result(2, false), 5.0F);
  EXPECT_EQ(result(3, false), 0.625F);
  EXPECT_EQ(result(3, true), 0.625F) << "the clamp is applied after the multiplier";
  EXPECT_EQ(result(1, true), 1.0F);
  machine.wave.mode = mode_of(0, true, false);
  EXPECT_EQ(result(1, false), 1.25F) << "ignored when denormals are kept";
  machine.wave.mode = mode_of(0, false, true);
  EXPECT_EQ(result(1, false), 1.25F) << "ignored in IEEE mode";

  machine.wave.mode = mode_of(0, false, false);
  machine.fill(kSrc0, bits(-0.0F));
  machine.fill(kSrc1, bits(-0.0F));
  machine.run(machine.e64("v_add_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.omod = 1}));
  EXPECT_EQ(machine.at(kDst, 0), 0U) << "no negative zero from a multiplier";
}

TEST(VopModifiers, ClampOfNanFollowsDx10Clamp) {
  Machine machine;
  machine.fill(kSrc0, 0x7fc01234);
  machine.fill(kSrc1, bits(1.0F));
  const auto result = [&](bool dx10_clamp) {
    machine.wave.mode = mode_of(0, true, true, dx10_clamp);
    machine.run(machine.e64("v_mul_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.clamp = true}));
    return machine.at(kDst, 0);
  };
  EXPECT_EQ(result(true), 0U);
  EXPECT_EQ(result(false), 0x7fc01234U);
  machine.fill(kSrc0, bits(-7.0F));
  EXPECT_EQ(result(true), 0U);
  machine.fill(kSrc0, bits(7.0F));
  EXPECT_EQ(result(true), bits(1.0F));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.set_pair(kSrc0, lane, std::bit_cast<U64>(3.0));
    machine.set_pair(kSrc1, lane, std::bit_cast<U64>(0.125));
  }
  machine.run(machine.e64("v_mul_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.clamp = true}));
  EXPECT_EQ(machine.pair(kDst, 0), std::bit_cast<U64>(0.375));
  machine.run(machine.e64("v_add_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.clamp = true}));
  EXPECT_EQ(machine.pair(kDst, 0), std::bit_cast<U64>(1.0));
}

// -- operand kinds

TEST(VopOperands, ScalarsAndConstantsAreBroadcast) {
  Machine machine;
  machine.wave.sgpr[9] = 1000;
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc1, lane) = lane;
  machine.run(machine.e32("v_add_u32", kDst, sgpr(9), kSrc1));
  EXPECT_EQ(machine.at(kDst, 63), 1063U);
  machine.run(machine.e32("v_add_u32", kDst, integer_constant(-16), kSrc1));
  EXPECT_EQ(machine.at(kDst, 20), 4U);
  machine.run(machine.e32("v_add_u32", kDst, 255, kSrc1, 0x12345600));
  EXPECT_EQ(machine.at(kDst, 1), 0x12345601U);
  machine.wave.write64(10, std::bit_cast<U64>(2.5));
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.set_pair(kSrc1, lane, std::bit_cast<U64>(1.0 * lane));
  machine.run(machine.e64("v_fma_f64", kDst, {sgpr(10), vgpr(kSrc1), kMinusTwo}));
  EXPECT_EQ(machine.pair(kDst, 7), std::bit_cast<U64>(15.5));
  machine.wave.sgpr[11] = bits(8.0F);
  machine.fill(kSrc0, bits(3.0F));
  machine.run(machine.e64("v_mul_f32", kDst, {sgpr(11), kHalf, 0}));
  EXPECT_EQ(machine.at(kDst, 63), bits(4.0F)) << "no vector source at all";
}

TEST(VopOperands, DestinationOverlapsSources) {
  Machine machine;
  const auto fill = [&] {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      machine.set_pair(20, lane, std::bit_cast<U64>(1.0 + lane));
      machine.set_pair(22, lane, std::bit_cast<U64>(2.0 * lane));
    }
  };
  // v[21:22] = v[20:21] + v[22:23]: both halves of the result overlap source registers.
  fill();
  machine.run(machine.e64("v_add_f64", 21, {vgpr(20), vgpr(22), 0}));
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(machine.pair(21, lane), std::bit_cast<U64>(1.0 + 3.0 * lane));
  fill();
  machine.wave.set_exec(0x5555555555555555);
  machine.run(machine.e64("v_fma_f64", 20, {vgpr(20), vgpr(20), vgpr(20)}));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double x = 1.0 + lane;
    EXPECT_EQ(machine.pair(20, lane), std::bit_cast<U64>(lane % 2 == 0 ? x * x + x : x));
  }
  machine.wave.set_exec(kAllLanes);
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(30, lane) = lane;
  machine.run(machine.e32("v_add_u32", 30, vgpr(30), 30));
  EXPECT_EQ(machine.at(30, 40), 80U);
  // The shift count is half of the 64-bit source, which the result overlaps.
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.set_pair(30, lane, U64{lane} | U64{1} << 40);
  machine.run(machine.e64("v_lshlrev_b64", 30, {vgpr(30), vgpr(30), 0}));
  EXPECT_EQ(machine.pair(30, 3), (U64{3} | U64{1} << 40) << 3);
}

// A destination that overlaps sources in any way receives the same result as a separate destination, even for NaNs and
// denormals, for which executors examine the sources again after the operation.
TEST(VopOperands, EveryOverlapGivesTheSameBits) {
  constexpr unsigned kFirst = 20;  // registers with data, up to kLast
  constexpr unsigned kLast = 28;
  constexpr unsigned kApart = 40;
  const struct {
    const char* mnemonic;
    std::array<unsigned, 3> sources;
    unsigned words;  // registers of the result
  } kModifierCases[] = {
      {"v_add_f32", {vgpr(21), vgpr(22), 0}, 1},
      {"v_mac_f32", {vgpr(21), vgpr(22), 0}, 1},
      {"v_fma_f32", {vgpr(21), vgpr(22), vgpr(23)}, 1},
      {"v_max_f32", {vgpr(21), vgpr(22), 0}, 1},
      {"v_med3_f32", {vgpr(21), vgpr(22), vgpr(23)}, 1},
      {"v_add_f16", {vgpr(21), vgpr(22), 0}, 1},
      {"v_xor_b32", {vgpr(21), vgpr(22), 0}, 1},
      {"v_bfi_b32", {vgpr(21), vgpr(22), vgpr(23)}, 1},
      {"v_cvt_f32_f64", {vgpr(21), 0, 0}, 1},
      {"v_cvt_f64_f32", {vgpr(22), 0, 0}, 2},
      {"v_fma_f64", {vgpr(21), vgpr(22), vgpr(24)}, 2},
      {"v_max_f64", {vgpr(21), vgpr(22), 0}, 2},
      {"v_lshlrev_b64", {vgpr(21), vgpr(23), 0}, 2},
      {"v_qsad_pk_u16_u8", {vgpr(21), vgpr(23), vgpr(24)}, 2},
      {"v_mqsad_u32_u8", {vgpr(21), vgpr(23), vgpr(24)}, 4},
  };
  constexpr std::array<U32, 8> kSpecial{0x7fc12345, 0x7f812345, 0xffc00001, 0x00000001,
                                        0x807fffff, 0x7f800000, 0x7ff7abcd, 0x7c01};
  Machine machine;
  const auto fill = [&] {
    U32 random = 1;
    for (unsigned reg = kFirst; reg <= kLast; ++reg) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        random = random * 1664525 + 1013904223;
        machine.at(reg, lane) = random % 4 == 0 ? kSpecial[random >> 8 & 7] : random;
      }
    }
  };
  for (const U64 exec : {kAllLanes, U64{0x5555'aaaa'0ff0'8001}}) {
    machine.wave.set_exec(exec);
    for (const auto& c : kModifierCases) {
      for (unsigned dst = kFirst; dst + c.words <= kLast + 1; ++dst) {
        fill();
        for (unsigned word = 0; word < c.words; ++word) {
          for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kApart + word, lane) = machine.at(dst + word, lane);
        }
        machine.run(machine.e64(c.mnemonic, kApart, c.sources));
        machine.run(machine.e64(c.mnemonic, dst, c.sources));
        for (unsigned word = 0; word < c.words; ++word) {
          for (unsigned lane = 0; lane < kLanes; ++lane) {
            ASSERT_EQ(machine.at(dst + word, lane), machine.at(kApart + word, lane))
                << c.mnemonic << " to v" << dst << ", word " << word << ", lane " << lane;
          }
        }
      }
    }
  }
}

// -- SDWA

TEST(VopSdwa, SelectsAndExtendsSources) {
  Machine machine;
  machine.fill(kSrc0, 0x8091a2f3);
  machine.fill(kSrc1, 0);
  const std::array<U32, 7> plain{0xf3, 0xa2, 0x91, 0x80, 0xa2f3, 0x8091, 0x8091a2f3};
  const std::array<U32, 7> extended{0xfffffff3, 0xffffffa2, 0xffffff91, 0xffffff80, 0xffffa2f3, 0xffff8091, 0x8091a2f3};
  for (unsigned select = 0; select < 7; ++select) {
    machine.run(machine.e32("v_or_b32", kDst, kSdwaSource, kSrc1, sdwa(kSrc0, kDword, kPad, select, kDword)));
    EXPECT_EQ(machine.at(kDst, 9), plain[select]);
    machine.run(machine.e32("v_or_b32", kDst, kSdwaSource, kSrc1, sdwa(kSrc0, kDword, kPad, select, kDword, true)));
    EXPECT_EQ(machine.at(kDst, 9), extended[select]);
  }
  machine.fill(kSrc1, 0x01020304);
  machine.run(machine.e32("v_add_u32", kDst, kSdwaSource, kSrc1, sdwa(kSrc0, kDword, kPad, kByte0, kByte2)));
  EXPECT_EQ(machine.at(kDst, 0), 0xf3U + 0x02U);
  EXPECT_EQ(machine.wave.vcc(), 0U);
}

TEST(VopSdwa, PlacesResult) {
  Machine machine;
  machine.wave.set_exec(~U64{1});
  for (const auto& [select, unused, want] :
       {std::tuple{kByte1, kPad, 0x0000ab00U}, std::tuple{kByte1, kSignExtend, 0xffffab00U},
        std::tuple{kByte1, kPreserve, 0xdeadabefU}, std::tuple{kWord1, kPad, 0x89ab0000U},
        std::tuple{kWord0, kSignExtend, 0xffff89abU}, std::tuple{kWord0, kPreserve, 0xdead89abU},
        std::tuple{kByte3, kPreserve, 0xabadbeefU}, std::tuple{kDword, kPad, 0x012389abU}}) {
    machine.fill(kSrc0, 0x012389ab);
    machine.fill(kDst, kUntouched);
    machine.run(machine.e32("v_mov_b32", kDst, kSdwaSource, 0, sdwa(kSrc0, select, unused, kDword, kByte0)));
    EXPECT_EQ(machine.at(kDst, 8), want);
    EXPECT_EQ(machine.at(kDst, 0), kUntouched);
  }
}

TEST(VopSdwa, HalvesOfPackedF16) {
  Machine machine;
  machine.fill(kSrc0, 0x40003c00);  // 2.0 above 1.0
  machine.fill(kSrc1, 0x44004200);  // 4.0 above 3.0
  machine.fill(kDst, 0x11112222);
  machine.run(machine.e32("v_mul_f16", kDst, kSdwaSource, kSrc1, sdwa(kSrc0, kWord1, kPreserve, kWord1, kWord1)));
  EXPECT_EQ(machine.at(kDst, 0), 0x48002222U);
  machine.run(machine.e32("v_add_f16", kDst, kSdwaSource, kSrc1, sdwa(kSrc0, kWord0, kPad, kWord1, kWord0, false, true)));
  EXPECT_EQ(machine.at(kDst, 0), 0x00003c00U) << "-2 + 3";
}

TEST(VopSdwa, Compare) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = lane << 8 | 0xff;
  machine.fill(kSrc1, 0x10);
  machine.run(machine.e32("v_cmp_lt_u32", 0, kSdwaSource, kSrc1, sdwa(kSrc0, kDword, kPad, kByte1, kByte0)));
  EXPECT_EQ(machine.wave.vcc(), 0xffffU);
}

// -- DPP

class VopDpp : public testing::Test {
 protected:
  void SetUp() override {
    for (unsigned lane = 0; lane < kLanes; ++lane) machine_.at(kSrc0, lane) = 1000 + lane;
  }
  // The source lane of each lane; -1 if the destination is unchanged, -2 if it becomes zero.
  std::array<int, kLanes> moved(unsigned control, unsigned row_mask = 0xf, unsigned bank_mask = 0xf, bool bound = false) {
    machine_.fill(kDst, kUntouched);
    machine_.run(machine_.e32("v_mov_b32", kDst, kDppSource, 0, dpp(kSrc0, control, row_mask, bank_mask, bound)));
    std::array<int, kLanes> from{};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const U32 value = machine_.at(kDst, lane);
      from[lane] = value == kUntouched ? -1 : value == 0 ? -2 : static_cast<int>(value) - 1000;
    }
    return from;
  }
  Machine machine_;
};

TEST_F(VopDpp, Controls) {
  struct Control {
    unsigned bits;
    std::function<int(int)> source;  // -1: none
  };
  const std::vector<Control> controls{{0x1b, [](int l) { return l / 4 * 4 + 3 - l % 4; }},  // quad_perm:[3,2,1,0]
                                      {0xe4, [](int l) { return l; }},
                                      {0x101, [](int l) { return l % 16 + 1 < 16 ? l + 1 : -1; }},
                                      {0x10f, [](int l) { return l % 16 == 0 ? l + 15 : -1; }},
                                      {0x111, [](int l) { return l % 16 >= 1 ? l - 1 : -1; }},
                                      {0x118, [](int l) { return l % 16 >= 8 ? l - 8 : -1; }},
                                      {0x121, [](int l) { return l / 16 * 16 + (l + 15) % 16; }},
                                      {0x12f, [](int l) { return l / 16 * 16 + (l + 1) % 16; }},
                                      {0x130, [](int l) { return l + 1 < 64 ? l + 1 : -1; }},
                                      {0x134, [](int l) { return (l + 1) % 64; }},
                                      {0x138, [](int l) { return l - 1; }},
                                      {0x13c, [](int l) { return (l + 63) % 64; }},
                                      {0x140, [](int l) { return l / 16 * 16 + 15 - l % 16; }},
                                      {0x141, [](int l) { return l / 8 * 8 + 7 - l % 8; }},
                                      {0x142, [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
                                      {0x143, [](int l) { return l < 32 ? -1 : 31; }}};
  for (const Control& control : controls) {
    const auto plain = moved(control.bits);
    const auto bound = moved(control.bits, 0xf, 0xf, true);
    for (int lane = 0; lane < 64; ++lane) {
      const int source = control.source(lane);
      EXPECT_EQ(plain.at(static_cast<unsigned>(lane)), source) << std::hex << control.bits << std::dec << " lane " << lane;
      EXPECT_EQ(bound.at(static_cast<unsigned>(lane)), source < 0 ? -2 : source) << std::hex << control.bits;
    }
  }
}

TEST_F(VopDpp, RowAndBankMasks) {
  const auto from = moved(0xe4, 0b0101, 0b0011);
  for (int lane = 0; lane < 64; ++lane) {
    const bool enabled = lane / 16 % 2 == 0 && lane % 16 < 8;
    EXPECT_EQ(from.at(static_cast<unsigned>(lane)), enabled ? lane : -1);
  }
}

TEST_F(VopDpp, InactiveLanesAreNotRead) {
  machine_.wave.set_exec(~U64{0b0100});
  const auto from = moved(0x111);  // lane 3 would read lane 2
  EXPECT_EQ(from[1], 0);
  EXPECT_EQ(from[2], -1) << "inactive";
  EXPECT_EQ(from[3], -1) << "its source is inactive";
  EXPECT_EQ(from[4], 3);
  EXPECT_EQ(moved(0x111, 0xf, 0xf, true)[3], -2);
}

TEST_F(VopDpp, OnlySourceZeroMoves) {
  for (unsigned lane = 0; lane < kLanes; ++lane) machine_.at(kSrc1, lane) = 10 * lane;
  machine_.run(machine_.e32("v_add_u32", kDst, kDppSource, kSrc1, dpp(kSrc0, 0x111, 0xf, 0xf, true)));
  EXPECT_EQ(machine_.at(kDst, 0), 0U);
  EXPECT_EQ(machine_.at(kDst, 5), 1004U + 50U);
}

}  // namespace
}  // namespace lacuna::isa::test
