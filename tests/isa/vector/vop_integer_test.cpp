// Tests integer and bit instructions against plain C++ on wide integers, with edge and random values, under full and partial
// EXEC.
#include <algorithm>
#include <bitset>
#include <limits>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;
__extension__ using I128 = __int128;
__extension__ using U128 = unsigned __int128;

U64 u32(U64 v) { return v & 0xffffffff; }
I64 i32(U64 v) { return static_cast<std::int32_t>(v); }
U64 u16(U64 v) { return v & 0xffff; }
I64 signed16(U64 v) { return static_cast<std::int16_t>(v); }
I64 i24(U64 v) { return ((static_cast<I64>(v) & 0xffffff) ^ 0x800000) - 0x800000; }
U64 u24(U64 v) { return v & 0xffffff; }
U64 low(I64 v) { return static_cast<U64>(v); }
I64 byte(U64 v, unsigned i) { return static_cast<I64>((v >> (8 * i)) & 0xff); }
U64 clamp(I128 v, I128 from, I128 to) { return static_cast<U64>(v < from ? from : v > to ? to : v); }
constexpr I128 kMaxU32 = 0xffffffff;
constexpr I128 kMaxI32 = 0x7fffffff;
constexpr I128 kMinI32 = -kMaxI32 - 1;

I64 sad8(U64 a, U64 b, bool masked) {
  I64 sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (!masked || byte(b, i) != 0) sum += std::abs(byte(a, i) - byte(b, i));
  }
  return sum;
}

using Function = std::function<Expected(const Inputs&)>;

struct IntegerCase {
  const char* mnemonic;
  unsigned sources;
  Function plain;
  Function clamped;  // expected result with the CLAMP bit; null: CLAMP is not tested
  bool accumulates = false;
};

Expected value(U64 v) { return {v, false}; }
Expected sum(U128 v) { return {u32(static_cast<U64>(v)), (v >> 32) != 0}; }
Expected difference(I128 v) { return {u32(static_cast<U64>(v)), v < 0}; }

const std::vector<IntegerCase> kIntegerCases{
    {"v_mov_b32", 1, [](const Inputs& x) { return value(x.a); }, nullptr},
    {"v_not_b32", 1, [](const Inputs& x) { return value(~x.a); }, nullptr},
    {"v_bfrev_b32", 1,
     [](const Inputs& x) {
       U64 r = 0;
       for (unsigned i = 0; i < 32; ++i) r |= ((x.a >> i) & 1) << (31 - i);
       return value(r);
     },
     nullptr},
    {"v_ffbh_u32", 1,
     [](const Inputs& x) {
       for (unsigned i = 0; i < 32; ++i) {
         if ((x.a >> (31 - i) & 1) != 0) return value(i);
       }
       return value(~U64{0});
     },
     nullptr},
    {"v_ffbl_b32", 1,
     [](const Inputs& x) {
       for (unsigned i = 0; i < 32; ++i) {
         if ((x.a >> i & 1) != 0) return value(i);
       }
       return value(~U64{0});
     },
     nullptr},
    {"v_ffbh_i32", 1,
     [](const Inputs& x) {
       for (unsigned i = 0; i < 32; ++i) {
         if ((x.a >> (31 - i) & 1) != (x.a >> 31 & 1)) return value(i);
       }
       return value(~U64{0});
     },
     nullptr},
    {"v_add_u32", 2, [](const Inputs& x) { return sum(U128{u32(x.a)} + u32(x.b)); },
     [](const Inputs& x) {
       return Expected{clamp(I128{u32(x.a)} + u32(x.b), 0, kMaxU32), u32(x.a) + u32(x.b) > u32(~U64{0})};
     }},
    {"v_sub_u32", 2, [](const Inputs& x) { return difference(I128{u32(x.a)} - u32(x.b)); },
     [](const Inputs& x) {
       return Expected{clamp(I128{u32(x.a)} - u32(x.b), 0, kMaxU32), u32(x.a) < u32(x.b)};
     }},
    {"v_subrev_u32", 2, [](const Inputs& x) { return difference(I128{u32(x.b)} - u32(x.a)); },
     [](const Inputs& x) {
       return Expected{clamp(I128{u32(x.b)} - u32(x.a), 0, kMaxU32), u32(x.b) < u32(x.a)};
     }},
    {"v_mul_i32_i24", 2, [](const Inputs& x) { return value(low(i24(x.a) * i24(x.b))); },
     [](const Inputs& x) { return value(clamp(I128{i24(x.a)} * i24(x.b), kMinI32, kMaxI32)); }},
    {"v_mul_hi_i32_i24", 2, [](const Inputs& x) { return value(low((i24(x.a) * i24(x.b)) >> 32)); }, nullptr},
    {"v_mul_u32_u24", 2, [](const Inputs& x) { return value(u24(x.a) * u24(x.b)); },
     [](const Inputs& x) { return value(clamp(I128{u24(x.a)} * u24(x.b), 0, kMaxU32)); }},
    {"v_mul_hi_u32_u24", 2, [](const Inputs& x) { return value((u24(x.a) * u24(x.b)) >> 32); }, nullptr},
    {"v_min_i32", 2, [](const Inputs& x) { return value(low(i32(x.a) < i32(x.b) ? i32(x.a) : i32(x.b))); }, nullptr},
    {"v_max_i32", 2, [](const Inputs& x) { return value(low(i32(x.a) > i32(x.b) ? i32(x.a) : i32(x.b))); }, nullptr},
    {"v_min_u32", 2, [](const Inputs& x) { return value(u32(x.a) < u32(x.b) ? x.a : x.b); }, nullptr},
    {"v_max_u32", 2, [](const Inputs& x) { return value(u32(x.a) > u32(x.b) ? x.a : x.b); }, nullptr},
    {"v_lshrrev_b32", 2, [](const Inputs& x) { return value(u32(x.b) >> (x.a % 32)); }, nullptr},
    {"v_ashrrev_i32", 2, [](const Inputs& x) { return value(low(i32(x.b) >> (x.a % 32))); }, nullptr},
    {"v_lshlrev_b32", 2, [](const Inputs& x) { return value(u32(x.b) << (x.a % 32)); }, nullptr},
    {"v_and_b32", 2, [](const Inputs& x) { return value(x.a & x.b); }, nullptr},
    {"v_or_b32", 2, [](const Inputs& x) { return value(x.a | x.b); }, nullptr},
    {"v_xor_b32", 2, [](const Inputs& x) { return value(x.a ^ x.b); }, nullptr},
    {"v_add_u16", 2, [](const Inputs& x) { return value(u16(x.a + x.b)); },
     [](const Inputs& x) { return value(clamp(I128{u16(x.a)} + u16(x.b), 0, 0xffff)); }},
    {"v_sub_u16", 2, [](const Inputs& x) { return value(u16(x.a - x.b)); },
     [](const Inputs& x) { return value(clamp(I128{u16(x.a)} - u16(x.b), 0, 0xffff)); }},
    {"v_subrev_u16", 2, [](const Inputs& x) { return value(u16(x.b - x.a)); },
     [](const Inputs& x) { return value(clamp(I128{u16(x.b)} - u16(x.a), 0, 0xffff)); }},
    {"v_mul_lo_u16", 2, [](const Inputs& x) { return value(u16(u16(x.a) * u16(x.b))); }, nullptr},
    {"v_lshlrev_b16", 2, [](const Inputs& x) { return value(u16(u16(x.b) << (x.a % 16))); }, nullptr},
    {"v_lshrrev_b16", 2, [](const Inputs& x) { return value(u16(x.b) >> (x.a % 16)); }, nullptr},
    {"v_ashrrev_i16", 2, [](const Inputs& x) { return value(u16(low(signed16(x.b) >> (x.a % 16)))); }, nullptr},
    {"v_max_u16", 2, [](const Inputs& x) { return value(std::max(u16(x.a), u16(x.b))); }, nullptr},
    {"v_min_u16", 2, [](const Inputs& x) { return value(std::min(u16(x.a), u16(x.b))); }, nullptr},
    {"v_max_i16", 2, [](const Inputs& x) { return value(u16(low(std::max(signed16(x.a), signed16(x.b))))); }, nullptr},
    {"v_min_i16", 2, [](const Inputs& x) { return value(u16(low(std::min(signed16(x.a), signed16(x.b))))); }, nullptr},
    {"v_mul_lo_u32", 2, [](const Inputs& x) { return value(u32(x.a) * u32(x.b)); }, nullptr},
    {"v_mul_hi_u32", 2, [](const Inputs& x) { return value((u32(x.a) * u32(x.b)) >> 32); }, nullptr},
    {"v_mul_hi_i32", 2, [](const Inputs& x) { return value(low((i32(x.a) * i32(x.b)) >> 32)); }, nullptr},
    {"v_bcnt_u32_b32", 2, [](const Inputs& x) { return value(std::bitset<32>(u32(x.a)).count() + x.b); }, nullptr},
    {"v_bfm_b32", 2,
     [](const Inputs& x) {
       U64 r = 0;
       for (U64 i = 0; i < x.a % 32; ++i) r |= U64{1} << (i + x.b % 32);
       return value(r);
     },
     nullptr},
    {"v_lshlrev_b64", 2, [](const Inputs& x) { return value(x.b << (x.a % 64)); }, nullptr},
    {"v_lshrrev_b64", 2, [](const Inputs& x) { return value(x.b >> (x.a % 64)); }, nullptr},
    {"v_ashrrev_i64", 2, [](const Inputs& x) { return value(low(static_cast<I64>(x.b) >> (x.a % 64))); }, nullptr},
    {"v_cvt_pk_u16_u32", 2,
     [](const Inputs& x) { return value(std::min(u32(x.a), U64{0xffff}) | std::min(u32(x.b), U64{0xffff}) << 16); }, nullptr},
    {"v_cvt_pk_i16_i32", 2,
     [](const Inputs& x) { return value(u16(clamp(i32(x.a), -0x8000, 0x7fff)) | u16(clamp(i32(x.b), -0x8000, 0x7fff)) << 16); },
     nullptr},
    {"v_mad_i32_i24", 3, [](const Inputs& x) { return value(low(i24(x.a) * i24(x.b) + i32(x.c))); },
     [](const Inputs& x) { return value(clamp(I128{i24(x.a)} * i24(x.b) + i32(x.c), kMinI32, kMaxI32)); }},
    {"v_mad_u32_u24", 3, [](const Inputs& x) { return value(u24(x.a) * u24(x.b) + u32(x.c)); },
     [](const Inputs& x) { return value(clamp(I128{u24(x.a)} * u24(x.b) + u32(x.c), 0, kMaxU32)); }},
    {"v_mad_u16", 3, [](const Inputs& x) { return value(u16(u16(x.a) * u16(x.b) + u16(x.c))); },
     [](const Inputs& x) { return value(clamp(I128{u16(x.a)} * u16(x.b) + u16(x.c), 0, 0xffff)); }},
    {"v_mad_i16", 3, [](const Inputs& x) { return value(u16(low(signed16(x.a) * signed16(x.b) + signed16(x.c)))); },
     [](const Inputs& x) { return value(u16(clamp(I128{signed16(x.a)} * signed16(x.b) + signed16(x.c), -0x8000, 0x7fff))); }},
    {"v_mad_u64_u32", 3,
     [](const Inputs& x) {
       const U128 exact = U128{u32(x.a)} * u32(x.b) + x.c;
       return Expected{static_cast<U64>(exact), (exact >> 64) != 0};
     },
     nullptr},
    {"v_mad_i64_i32", 3,
     [](const Inputs& x) {
       const I128 exact = I128{i32(x.a)} * i32(x.b) + static_cast<I64>(x.c);
       return Expected{static_cast<U64>(exact), ((exact >> 64) & 1) != 0};
     },
     nullptr},
    {"v_bfe_u32", 3,
     [](const Inputs& x) {
       U64 r = 0;
       for (U64 i = 0; i < x.c % 32; ++i) r |= (x.b % 32 + i < 32 ? u32(x.a) >> (x.b % 32 + i) & 1 : 0) << i;
       return value(r);
     },
     nullptr},
    {"v_bfe_i32", 3,
     [](const Inputs& x) {
       const U64 offset = x.b % 32;
       const U64 width = x.c % 32;
       if (width == 0) return value(0);
       U64 r = 0;  // bits beyond the top are the sign; the field's top bit is extended
       for (U64 i = 0; i < 32; ++i) r |= (u32(x.a) >> std::min(offset + std::min(i, width - 1), U64{31}) & 1) << i;
       return value(r);
     },
     nullptr},
    {"v_bfi_b32", 3, [](const Inputs& x) { return value((x.a & x.b) | (~x.a & x.c)); }, nullptr},
    {"v_alignbit_b32", 3, [](const Inputs& x) { return value((u32(x.a) << 32 | u32(x.b)) >> (x.c % 32)); }, nullptr},
    {"v_alignbyte_b32", 3, [](const Inputs& x) { return value((u32(x.a) << 32 | u32(x.b)) >> (8 * (x.c % 4))); }, nullptr},
    {"v_min3_i32", 3,
     [](const Inputs& x) {
       return value(low(std::min({i32(x.a), i32(x.b), i32(x.c)})));
     },
     nullptr},
    {"v_max3_i32", 3,
     [](const Inputs& x) {
       return value(low(std::max({i32(x.a), i32(x.b), i32(x.c)})));
     },
     nullptr},
    {"v_min3_u32", 3,
     [](const Inputs& x) {
       return value(std::min({u32(x.a), u32(x.b), u32(x.c)}));
     },
     nullptr},
    {"v_max3_u32", 3,
     [](const Inputs& x) {
       return value(std::max({u32(x.a), u32(x.b), u32(x.c)}));
     },
     nullptr},
    {"v_med3_i32", 3,
     [](const Inputs& x) {
       std::array<I64, 3> v{i32(x.a), i32(x.b), i32(x.c)};
       std::sort(v.begin(), v.end());
       return value(low(v[1]));
     },
     nullptr},
    {"v_med3_u32", 3,
     [](const Inputs& x) {
       std::array<U64, 3> v{u32(x.a), u32(x.b), u32(x.c)};
       std::sort(v.begin(), v.end());
       return value(v[1]);
     },
     nullptr},
    {"v_lerp_u8", 3,
     [](const Inputs& x) {
       I64 r = 0;
       for (unsigned i = 0; i < 4; ++i) r |= ((byte(x.a, i) + byte(x.b, i) + byte(x.c, i) % 2) / 2) << (8 * i);
       return value(low(r));
     },
     nullptr},
    {"v_sad_u8", 3, [](const Inputs& x) { return value(low(sad8(x.a, x.b, false)) + x.c); },
     [](const Inputs& x) { return value(clamp(I128{sad8(x.a, x.b, false)} + u32(x.c), 0, kMaxU32)); }},
    {"v_sad_hi_u8", 3, [](const Inputs& x) { return value((low(sad8(x.a, x.b, false)) << 16) + x.c); },
     [](const Inputs& x) { return value(clamp((I128{sad8(x.a, x.b, false)} << 16) + u32(x.c), 0, kMaxU32)); }},
    {"v_sad_u16", 3,
     [](const Inputs& x) {
       return value(low(std::abs(static_cast<I64>(u16(x.a)) - static_cast<I64>(u16(x.b))) +
                        std::abs(static_cast<I64>(u16(x.a >> 16)) - static_cast<I64>(u16(x.b >> 16)))) +
                    x.c);
     },
     nullptr},
    {"v_sad_u32", 3,
     [](const Inputs& x) { return value(low(std::abs(static_cast<I64>(u32(x.a)) - static_cast<I64>(u32(x.b)))) + x.c); },
     [](const Inputs& x) {
       return value(clamp(I128{std::abs(static_cast<I64>(u32(x.a)) - static_cast<I64>(u32(x.b)))} + u32(x.c), 0, kMaxU32));
     }},
    {"v_msad_u8", 3, [](const Inputs& x) { return value(low(sad8(x.a, x.b, true)) + x.c); },
     [](const Inputs& x) { return value(clamp(I128{sad8(x.a, x.b, true)} + u32(x.c), 0, kMaxU32)); }},
    {"v_qsad_pk_u16_u8", 3,
     [](const Inputs& x) {
       U64 r = 0;
       for (unsigned i = 0; i < 4; ++i) {
         r |= u16(low(sad8(x.a >> (8 * i), x.b, false)) + (x.c >> (16 * i))) << (16 * i);
       }
       return value(r);
     },
     nullptr},
    {"v_mqsad_pk_u16_u8", 3,
     [](const Inputs& x) {
       U64 r = 0;
       for (unsigned i = 0; i < 4; ++i) r |= u16(low(sad8(x.a >> (8 * i), x.b, true)) + (x.c >> (16 * i))) << (16 * i);
       return value(r);
     },
     [](const Inputs& x) {
       U64 r = 0;
       for (unsigned i = 0; i < 4; ++i) {
         r |= clamp(I128{sad8(x.a >> (8 * i), x.b, true)} + u16(x.c >> (16 * i)), 0, 0xffff) << (16 * i);
       }
       return value(r);
     }},
    {"v_perm_b32", 3,
     [](const Inputs& x) {
       U64 r = 0;
       const std::array<U64, 4> signs{u32(x.b) >> 15 & 1, u32(x.b) >> 31 & 1, u32(x.a) >> 15 & 1, u32(x.a) >> 31 & 1};
       for (unsigned i = 0; i < 4; ++i) {
         const U64 s = low(byte(x.c, i));
         const U64 picked = s < 4    ? low(byte(x.b, static_cast<unsigned>(s)))
                            : s < 8  ? low(byte(x.a, static_cast<unsigned>(s - 4)))
                            : s < 12 ? (signs.at(s - 8) != 0 ? 0xff : 0)
                            : s < 13 ? 0
                                     : 0xff;
         r |= picked << (8 * i);
       }
       return value(r);
     },
     nullptr},
};

std::vector<Inputs> integer_inputs(unsigned sources) {
  const std::vector<U64> edges{0,
                               1,
                               2,
                               5,
                               31,
                               32,
                               0x7f,
                               0x80,
                               0xff,
                               0x7fff,
                               0x8000,
                               0xffff,
                               0x10000,
                               0x7fffff,
                               0x800000,
                               0xffffff,
                               0x7fffffff,
                               0x80000000,
                               0x80000001,
                               0xfffffffe,
                               0xffffffff,
                               0x0c08040d,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               0xffffffff00000000,
                               ~U64{0}};
  const std::vector<U64> few{0, 1, 7, 0x1f, 0x8000, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x8000000000000000, ~U64{0}};
  return combine(sources < 3 ? edges : few, sources, 4000,
                 [](std::mt19937_64& g) { return g() >> (g() % 4 == 0 ? g() % 64 : 0); });
}

class VopInteger : public testing::TestWithParam<IntegerCase> {};

TEST_P(VopInteger, MatchesReference) {
  const IntegerCase& test = GetParam();
  Machine machine;
  const auto inputs = integer_inputs(test.sources);
  const InstructionRow& row = machine.row(test.mnemonic);
  if (row.format == Format::vop1 || row.format == Format::vop2) {
    check_lanes(machine, machine.e32(test.mnemonic, kDst, vgpr(kSrc0), kSrc1), inputs, false, test.plain);
  }
  Vop3 modifiers;
  modifiers.sdst = 20;
  const unsigned third = test.sources > 2 ? vgpr(kSrc2) : 0;
  const unsigned second = test.sources > 1 ? vgpr(kSrc1) : 0;
  check_lanes(machine, machine.e64(test.mnemonic, kDst, {vgpr(kSrc0), second, third}, modifiers), inputs, false, test.plain);
  if (test.clamped) {
    modifiers.clamp = true;
    check_lanes(machine, machine.e64(test.mnemonic, kDst, {vgpr(kSrc0), second, third}, modifiers), inputs, false,
                test.clamped);
  }
}

INSTANTIATE_TEST_SUITE_P(All, VopInteger, testing::ValuesIn(kIntegerCases),
                         [](const auto& tested) { return std::string(tested.param.mnemonic); });

TEST(VopCarry, ChainsThroughVcc) {
  struct Chain {
    const char* mnemonic;
    std::function<I128(U64, U64, U64)> exact;
  };
  for (const Chain& chain : {Chain{"v_addc_u32", [](U64 a, U64 b, U64 c) { return I128{a} + b + c; }},
                             Chain{"v_subb_u32", [](U64 a, U64 b, U64 c) { return I128{a} - b - c; }},
                             Chain{"v_subbrev_u32", [](U64 a, U64 b, U64 c) { return I128{b} - a - c; }}}) {
    Machine machine;
    std::mt19937_64 generator(5);
    const std::array<std::uint32_t, 6> edges{0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    for (unsigned round = 0; round < 20; ++round) {
      const U64 carries = generator();
      const U64 exec = round % 2 == 0 ? kAllLanes : generator();
      machine.wave.set_exec(exec);
      machine.wave.set_vcc(carries);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        machine.at(kSrc0, lane) = round < 10 ? edges[lane % 6] : static_cast<std::uint32_t>(generator());
        machine.at(kSrc1, lane) = round < 10 ? edges[lane / 6 % 6] : static_cast<std::uint32_t>(generator());
        machine.at(kDst, lane) = kUntouched;
      }
      machine.run(machine.e32(chain.mnemonic, kDst, vgpr(kSrc0), kSrc1));
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const bool active = ((exec >> lane) & 1) != 0;
        const I128 exact = chain.exact(machine.at(kSrc0, lane), machine.at(kSrc1, lane), (carries >> lane) & 1);
        EXPECT_EQ(machine.at(kDst, lane), active ? static_cast<std::uint32_t>(exact) : kUntouched) << chain.mnemonic;
        EXPECT_EQ((machine.wave.vcc() >> lane) & 1, active && (exact < 0 || exact > kMaxU32) ? 1U : 0U) << chain.mnemonic;
      }
    }
  }
}

TEST(VopCarry, ScalarPairsForBothCarries) {
  Machine machine;
  machine.wave.write64(30, 0x1);
  machine.fill(kSrc0, 0xffffffff);
  machine.fill(kSrc1, 0);
  Vop3 modifiers;
  modifiers.sdst = 40;
  machine.run(machine.e64("v_addc_u32", kDst, {vgpr(kSrc0), vgpr(kSrc1), sgpr(30)}, modifiers));
  EXPECT_EQ(machine.wave.read64(40), 1U);
  EXPECT_EQ(machine.at(kDst, 0), 0U);
  EXPECT_EQ(machine.at(kDst, 1), 0xffffffffU);
}

TEST(VopMaskedQuadSad, FourAccumulators) {
  Machine machine;
  std::mt19937_64 generator(3);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.set_pair(kSrc0, lane, generator());
    machine.at(kSrc1, lane) = static_cast<std::uint32_t>(generator()) & (lane % 3 == 0 ? 0xff00ffff : 0xffffffff);
    for (unsigned i = 0; i < 4; ++i) machine.at(24 + i, lane) = static_cast<std::uint32_t>(generator());
  }
  machine.run(machine.e64("v_mqsad_u32_u8", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(24)}));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const U64 want =
          low(sad8(machine.pair(kSrc0, lane) >> (8 * i), machine.at(kSrc1, lane), true)) + machine.at(24 + i, lane);
      EXPECT_EQ(machine.at(kDst + i, lane), u32(want));
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test
