// Tests matrix instructions against plain loops over matrices, with the register layout of each format defined here, special
// values, and moves between VGPRs and AGPRs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/table.h"
#include "models/isa/vector/valu_half.h"
#include "tests/isa/matrix/matrix_machine.h"

namespace lacuna::isa::test {
namespace {

enum class Kind { f32, f16, bf16, i8, f64 };

struct Case {
  const char* name;
  unsigned opcode;
  Kind kind;
  unsigned m, n, k, blocks;
  unsigned per_lane;  // elements of A and of B that a lane holds
};

constexpr std::array kCases{
    Case{"v_mfma_f32_32x32x1f32", 0x40, Kind::f32, 32, 32, 1, 2, 1},
    Case{"v_mfma_f32_16x16x1f32", 0x41, Kind::f32, 16, 16, 1, 4, 1},
    Case{"v_mfma_f32_4x4x1f32", 0x42, Kind::f32, 4, 4, 1, 16, 1},
    Case{"v_mfma_f32_32x32x2f32", 0x44, Kind::f32, 32, 32, 2, 1, 1},
    Case{"v_mfma_f32_16x16x4f32", 0x45, Kind::f32, 16, 16, 4, 1, 1},
    Case{"v_mfma_f32_32x32x4f16", 0x48, Kind::f16, 32, 32, 4, 2, 4},
    Case{"v_mfma_f32_16x16x4f16", 0x49, Kind::f16, 16, 16, 4, 4, 4},
    Case{"v_mfma_f32_4x4x4f16", 0x4a, Kind::f16, 4, 4, 4, 16, 4},
    Case{"v_mfma_f32_32x32x8f16", 0x4c, Kind::f16, 32, 32, 8, 1, 4},
    Case{"v_mfma_f32_16x16x16f16", 0x4d, Kind::f16, 16, 16, 16, 1, 4},
    Case{"v_mfma_i32_32x32x4i8", 0x50, Kind::i8, 32, 32, 4, 2, 4},
    Case{"v_mfma_i32_16x16x4i8", 0x51, Kind::i8, 16, 16, 4, 4, 4},
    Case{"v_mfma_i32_4x4x4i8", 0x52, Kind::i8, 4, 4, 4, 16, 4},
    Case{"v_mfma_i32_32x32x8i8", 0x54, Kind::i8, 32, 32, 8, 1, 4},
    Case{"v_mfma_i32_16x16x16i8", 0x55, Kind::i8, 16, 16, 16, 1, 4},
    Case{"v_mfma_f32_32x32x4bf16_1k", 0x63, Kind::bf16, 32, 32, 4, 2, 4},
    Case{"v_mfma_f32_16x16x4bf16_1k", 0x64, Kind::bf16, 16, 16, 4, 4, 4},
    Case{"v_mfma_f32_4x4x4bf16_1k", 0x65, Kind::bf16, 4, 4, 4, 16, 4},
    Case{"v_mfma_f32_32x32x8bf16_1k", 0x66, Kind::bf16, 32, 32, 8, 1, 4},
    Case{"v_mfma_f32_16x16x16bf16_1k", 0x67, Kind::bf16, 16, 16, 16, 1, 4},
    Case{"v_mfma_f32_32x32x2bf16", 0x68, Kind::bf16, 32, 32, 2, 2, 2},
    Case{"v_mfma_f32_16x16x2bf16", 0x69, Kind::bf16, 16, 16, 2, 4, 2},
    Case{"v_mfma_f32_4x4x2bf16", 0x6b, Kind::bf16, 4, 4, 2, 16, 2},
    Case{"v_mfma_f32_32x32x4bf16", 0x6c, Kind::bf16, 32, 32, 4, 1, 2},
    Case{"v_mfma_f32_16x16x8bf16", 0x6d, Kind::bf16, 16, 16, 8, 1, 2},
    Case{"v_mfma_f64_16x16x4f64", 0x6e, Kind::f64, 16, 16, 4, 1, 1},
    Case{"v_mfma_f64_4x4x4f64", 0x6f, Kind::f64, 4, 4, 4, 4, 1},
};

unsigned bits_of(Kind kind) { return kind == Kind::f64 ? 64 : kind == Kind::f32 ? 32 : kind == Kind::i8 ? 8 : 16; }
unsigned result_words(Kind kind) { return kind == Kind::f64 ? 2 : 1; }

/// Position of the element of D that register `item` (f64: register pair) of `lane` holds, according to the CDNA manuals'
/// layout table for each block size.
struct Element {
  unsigned block, row, column;
};
Element element_of_result(const Case& c, unsigned item, unsigned lane) {
  if (c.kind == Kind::f64) {
    if (c.m == 4) return {lane / 4 % 4, lane / 16, lane % 4};
    return {0, 4 * item + lane / 16, lane % 16};
  }
  switch (c.m) {
    case 32:
      return {item / 16, 8 * (item / 4 % 4) + 4 * (lane / 32) + item % 4, lane % 32};
    case 16:
      return {item / 4, 4 * (lane / 16) + item % 4, lane % 16};
    default:
      return {lane / 4, item, lane % 4};
  }
}
/// Position of element k in row `index` of A, or in column `index` of B, of a block.
struct Input {
  unsigned item, lane;
};
Input place_of_input(const Case& c, unsigned size, unsigned block, unsigned index, unsigned k) {
  const unsigned lanes_of_block = kLanes / c.blocks;
  if (c.kind == Kind::f64 && c.m == 4) return {0, index + 4 * block + 16 * k};
  return {k % c.per_lane, block * lanes_of_block + index + size * (k / c.per_lane)};
}

class Bench : public MatrixMachine {
 public:
  std::uint64_t element(const std::uint32_t* planes, Kind kind, unsigned item, unsigned lane) const {
    const unsigned bits = bits_of(kind);
    if (bits == 64) return std::uint64_t{planes[lane]} | std::uint64_t{planes[kLanes + lane]} << 32;
    const unsigned per_word = 32 / bits;
    const std::uint32_t word = planes[item / per_word * kLanes + lane];
    return bits == 32 ? word : word >> (item % per_word * bits) & ((1U << bits) - 1);
  }
};
constexpr unsigned kRegisters = Bench::kRegisters;

struct Fields {
  bool a_in_agprs = false, b_in_agprs = false, c_in_agprs = false;
  unsigned cbsz = 0, abid = 0, blgp = 0;
  int c_constant = -1;  // an operand encoding instead of registers
};
constexpr unsigned kA = 0, kB = 8, kC = 32, kD = 96;

Instruction instruction_of(const Bench& bench, const Case& c, const Fields& f, unsigned d = kD) {
  const MatrixWords words{
      c.opcode,    d,      kA,     kB,           f.c_constant >= 0 ? static_cast<unsigned>(f.c_constant) : 256 + kC,
      f.cbsz,      f.abid, f.blgp, f.a_in_agprs, f.b_in_agprs,
      f.c_in_agprs};
  return bench.decode_words(words.low(), words.high());
}

double widened(Kind kind, std::uint64_t bits) {
  switch (kind) {
    case Kind::f64:
      return std::bit_cast<double>(bits);
    case Kind::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case Kind::f16:
      return static_cast<double>(half_to_float(static_cast<std::uint32_t>(bits)));
    case Kind::bf16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
    case Kind::i8:
      return static_cast<std::int8_t>(bits);
  }
  return 0;
}

// One step of a sum, as defined in models/isa/matrix/mfma.h, for normal numbers only.
std::uint64_t step(Kind kind, std::uint64_t sum, double a, double b) {
  switch (kind) {
    case Kind::f64:
      return std::bit_cast<std::uint64_t>(std::fma(a, b, std::bit_cast<double>(sum)));
    case Kind::i8:
      return static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(static_cast<std::int32_t>(a * b));
    case Kind::f32:
      return std::bit_cast<std::uint32_t>(
          std::fma(static_cast<float>(a), static_cast<float>(b), std::bit_cast<float>(static_cast<std::uint32_t>(sum))));
    default: {
      const float product = static_cast<float>(a) * static_cast<float>(b);
      return std::bit_cast<std::uint32_t>(product + std::bit_cast<float>(static_cast<std::uint32_t>(sum)));
    }
  }
}

void check(Bench& bench, const Case& c, const Fields& f, const Instruction& instruction) {
  const std::uint32_t* a = (f.a_in_agprs ? bench.wave.agpr : bench.wave.vgpr) + kA * kLanes;
  const std::uint32_t* b = (f.b_in_agprs ? bench.wave.agpr : bench.wave.vgpr) + kB * kLanes;
  std::uint32_t* file = f.c_in_agprs ? bench.wave.agpr : bench.wave.vgpr;
  const unsigned items = c.m * c.n * c.blocks / kLanes;
  const Kind wide = c.kind == Kind::f64 ? Kind::f64 : Kind::f32;
  const std::vector<std::uint32_t> a_before(a, a + 2 * kLanes);
  const std::vector<std::uint32_t> b_before(b, b + 2 * kLanes);
  const std::vector<std::uint32_t> c_before(file + kC * kLanes, file + (kC + 32) * kLanes);
  bench.run(instruction);
  ASSERT_EQ(bench.wave.event, Event::none);
  unsigned failures = 0;
  for (unsigned item = 0; item < items && failures < 4; ++item) {
    for (unsigned lane = 0; lane < kLanes && failures < 4; ++lane) {
      const Element at = element_of_result(c, item, lane);
      std::uint64_t want = 0;
      if (f.c_constant == 242) want = c.kind == Kind::f64 ? 0x3ff0000000000000 : 0x3f800000;
      if (f.c_constant < 0) want = bench.element(c_before.data() + item * result_words(c.kind) * kLanes, wide, 0, lane);
      for (unsigned k = 0; k < c.k; ++k) {
        // CBSZ: A of one of 2^CBSZ consecutive blocks, selected by ABID, is used by all of them.
        const unsigned sharing = 1U << f.cbsz;
        const unsigned a_block = f.cbsz == 0 ? at.block : at.block / sharing * sharing + f.abid;
        const Input from_a = place_of_input(c, c.m, a_block, at.row, k);
        Input from_b = place_of_input(c, c.n, at.block, at.column, k);
        static constexpr unsigned kFirst[8] = {0, 0, 32, 0, 0, 16, 32, 48};
        if (f.blgp == 1 || f.blgp == 2) from_b.lane = from_b.lane % 32 + kFirst[f.blgp];
        if (f.blgp == 3) from_b.lane = (from_b.lane + 16) % 64;
        if (f.blgp >= 4) from_b.lane = from_b.lane % 16 + kFirst[f.blgp];
        want = step(c.kind, want, widened(c.kind, bench.element(a_before.data(), c.kind, from_a.item, from_a.lane)),
                    widened(c.kind, bench.element(b_before.data(), c.kind, from_b.item, from_b.lane)));
      }
      const std::uint32_t* d = file + (instruction.dst[0].index + item * result_words(c.kind)) * kLanes;
      const std::uint64_t got = bench.element(d, wide, 0, lane);
      if (got != want) {
        ++failures;
        ADD_FAILURE() << c.name << " block " << at.block << " [" << at.row << "][" << at.column << "]: got 0x" << std::hex
                      << got << ", want 0x" << want;
      }
    }
  }
}

// Fills the operands with random elements: floats are normal and of moderate size, so that no product or sum is denormal.
void fill(Bench& bench, const Case& c, std::mt19937_64& random) {
  const auto value = [&]() -> std::uint64_t {
    const double x = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 7) - 3);
    const double with_sign = random() % 2 == 0 ? x : -x;
    switch (c.kind) {
      case Kind::f64:
        return std::bit_cast<std::uint64_t>(with_sign);
      case Kind::f32:
        return std::bit_cast<std::uint32_t>(static_cast<float>(with_sign));
      case Kind::f16:
        return round_to_half(with_sign, 0, false);
      case Kind::bf16:
        return std::bit_cast<std::uint32_t>(static_cast<float>(with_sign)) >> 16;
      case Kind::i8:
        return random() & 0xff;
    }
    return 0;
  };
  for (std::uint32_t* file : {bench.wave.vgpr, bench.wave.agpr}) {
    for (unsigned r = 0; r < kRegisters; ++r) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const bool is_input = r < kC;
        std::uint32_t word = 0;
        if (c.kind == Kind::f64) {
          if (r % 2 != 0) continue;
          const std::uint64_t bits = value();
          file[r * kLanes + lane] = static_cast<std::uint32_t>(bits);
          file[(r + 1) * kLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
          continue;
        }
        if (is_input) {
          for (unsigned shift = 0; shift < 32; shift += bits_of(c.kind)) word |= static_cast<std::uint32_t>(value() << shift);
        } else {
          const double x = widened(c.kind, value()) * (1 + static_cast<double>(random() % 1000) * 0x1p-20);
          word =
              c.kind == Kind::i8 ? static_cast<std::uint32_t>(random()) : std::bit_cast<std::uint32_t>(static_cast<float>(x));
        }
        file[r * kLanes + lane] = word;
      }
    }
  }
}

class Mfma : public ::testing::TestWithParam<Case> {};

TEST_P(Mfma, MultipliesBlocks) {
  const Case& c = GetParam();
  Bench bench;
  std::mt19937_64 random(c.opcode);
  for (unsigned files = 0; files < 8; ++files) {
    fill(bench, c, random);
    const Fields f{(files & 1) != 0, (files & 2) != 0, (files & 4) != 0};
    const Instruction instruction = instruction_of(bench, c, f);
    ASSERT_EQ(instruction.row->mnemonic, c.name);
    check(bench, c, f, instruction);
  }
}

TEST_P(Mfma, AccumulatesInPlaceAndFromConstants) {
  const Case& c = GetParam();
  Bench bench;
  std::mt19937_64 random(c.opcode + 1000);
  fill(bench, c, random);
  check(bench, c, {}, instruction_of(bench, c, {}, kC));
  fill(bench, c, random);
  constexpr int kZero = 128;
  constexpr int kOne = 242;  // 1.0; an integer accumulator takes its bit pattern
  for (const int constant : {kZero, kOne}) {
    Fields f;
    f.c_constant = constant;
    check(bench, c, f, instruction_of(bench, c, f));
  }
}

TEST_P(Mfma, BroadcastsBlocksOfAAndPermutesLanesOfB) {
  const Case& c = GetParam();
  if (c.kind == Kind::f64) return;  // f64 has neither field: see FieldsWithoutMeaningAreRefused
  Bench bench;
  std::mt19937_64 random(c.opcode + 2000);
  fill(bench, c, random);
  for (unsigned cbsz = 0; (1U << cbsz) <= c.blocks; ++cbsz) {
    for (unsigned abid = 0; abid < (1U << cbsz); ++abid) {
      Fields f;
      f.cbsz = cbsz;
      f.abid = abid;
      check(bench, c, f, instruction_of(bench, c, f));
    }
  }
  for (unsigned blgp = 1; blgp < 8; ++blgp) {
    Fields f;
    f.blgp = blgp;
    check(bench, c, f, instruction_of(bench, c, f));
  }
}

TEST_P(Mfma, FieldsWithoutMeaningAreRefused) {
  const Case& c = GetParam();
  Bench bench;
  Fields too_wide;
  while ((1U << too_wide.cbsz) <= c.blocks) ++too_wide.cbsz;
  Fields no_such_block;
  no_such_block.abid = 1;
  std::vector<Fields> cases{too_wide, no_such_block};
  if (c.kind == Kind::f64) {
    Fields pattern;
    pattern.blgp = 1;
    Fields broadcast;
    broadcast.cbsz = 1;
    cases.insert(cases.end(), {pattern, broadcast});
  }
  for (const Fields& f : cases) {
    bench.run(instruction_of(bench, c, f));
    EXPECT_EQ(bench.wave.event, Event::illegal_instruction);
  }
}

TEST_P(Mfma, IgnoresExecAndTheRoundingMode) {
  const Case& c = GetParam();
  Bench bench;
  std::mt19937_64 random(c.opcode + 3000);
  fill(bench, c, random);
  bench.wave.set_exec(0x5);
  bench.wave.mode.bits = 0xf;  // toward zero, denormals flushed
  check(bench, c, {}, instruction_of(bench, c, {}));
}

INSTANTIATE_TEST_SUITE_P(All, Mfma, ::testing::ValuesIn(kCases), [](const auto& one) { return std::string(one.param.name); });

// -- special values of 16x16 f16, bf16 and f32

std::uint32_t of_one_product(unsigned opcode, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  Bench bench;
  for (unsigned r = 0; r < kRegisters; ++r) std::fill_n(bench.wave.v(r), kLanes, 0);
  bench.wave.v(kA)[0] = a;  // A[0][0] and B[0][0]
  bench.wave.v(kB)[0] = b;
  bench.wave.v(kC)[0] = c;
  bench.run(bench.decode_words(0xd3800000 | opcode << 16 | kD, (256 + kC) << 18 | (256 + kB) << 9 | (256 + kA)));
  return bench.wave.v(kD)[0];
}
constexpr unsigned kF16 = 0x4d, kBf16 = 0x67, kF32 = 0x45;

TEST(MfmaValues, NarrowFormatsFlushDenormals) {
  EXPECT_EQ(of_one_product(kF16, 0x0001, 0x3c00, 0), 0U);  // input
  EXPECT_EQ(of_one_product(kF16, 0x03ff, 0x7bff, 0x3f800000), 0x3f800000U);
  EXPECT_EQ(of_one_product(kF16, 0x0400, 0x3c00, 0), 0x38800000U);  // the smallest normal number is kept
  EXPECT_EQ(of_one_product(kF16, 0, 0, 0x007fffff), 0U);            // accumulator
  EXPECT_EQ(of_one_product(kBf16, 0x0001, 0x3f80, 0), 0U);
  EXPECT_EQ(of_one_product(kBf16, 0x0080, 0x3f00, 0), 0U);         // product
  EXPECT_EQ(of_one_product(kF32, 0x00000001, 0x3f800000, 0), 1U);  // f32 keeps denormals
  EXPECT_EQ(of_one_product(kF32, 0, 0, 0x007fffff), 0x007fffffU);
}

TEST(MfmaValues, InfinitiesAndNans) {
  constexpr std::uint32_t kNan = 0xffc00000;
  EXPECT_EQ(of_one_product(kF16, 0x7c00, 0x3c00, 0), 0x7f800000U);
  EXPECT_EQ(of_one_product(kF16, 0x7c00, 0xbc00, 0), 0xff800000U);
  EXPECT_EQ(of_one_product(kF16, 0x7c00, 0, 0), kNan);
  EXPECT_EQ(of_one_product(kF16, 0x7c00, 0x3c00, 0xff800000), kNan);
  EXPECT_EQ(of_one_product(kF16, 0x7d23, 0x3c00, 0), kNan);
  EXPECT_EQ(of_one_product(kF32, 0x7f800001, 0x3f800000, 0), kNan);
  EXPECT_EQ(of_one_product(kBf16, 0x7f80, 0x3f80, 0x7fc12345), kNan);
}

TEST(MfmaValues, F32IsFused) {
  // (1 + 2^-23)^2 - 1 - 2^-22 = 2^-46: lost when the product is rounded.
  EXPECT_EQ(of_one_product(kF32, 0x3f800001, 0x3f800001, 0xbf800002), std::bit_cast<std::uint32_t>(0x1p-46F));
}

// -- moves between VGPRs and AGPRs, and their separate allocation

TEST(Accumulators, MoveUnderExec) {
  Bench bench;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bench.wave.v(3)[lane] = lane;
    bench.wave.agpr[7 * kLanes + lane] = 1000 + lane;
    bench.wave.agpr[5 * kLanes + lane] = 2000 + lane;
  }
  bench.wave.set_exec(0xff00ff00ff00ff00);
  bench.run(bench.decode_words(0xd3d90000 | 7, 256 + 3));                          // v_accvgpr_write_b32 a7, v3
  bench.run(bench.decode_words(0xd3d80000 | 9, 256 + 7));                          // v_accvgpr_read_b32 v9, a7
  bench.run(bench.decode_words(0x7e000000 | 5U << 17 | 82U << 9 | (256 + 7), 0));  // v_accvgpr_mov_b32 a5, a7
  bench.run(bench.decode_words(0xd3d90000 | 8, 193));                              // v_accvgpr_write_b32 a8, -1
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool active = lane / 8 % 2 == 1;
    EXPECT_EQ(bench.wave.agpr[7 * kLanes + lane], active ? lane : 1000 + lane);
    EXPECT_EQ(bench.wave.v(9)[lane], active ? lane : 0);
    EXPECT_EQ(bench.wave.agpr[5 * kLanes + lane], active ? lane : 2000 + lane);
    EXPECT_EQ(bench.wave.agpr[8 * kLanes + lane], active ? ~0U : 0);
  }
}

TEST(Accumulators, CountAgainstTheirOwnAllocation) {
  Bench bench;
  Fields f;
  f.c_in_agprs = true;
  const Instruction instruction = instruction_of(bench, kCases[4], f);
  EXPECT_EQ(instruction.max_vgpr, kB + 1);
  EXPECT_EQ(instruction.max_agpr, kD + 4);
  EXPECT_TRUE(Allocation(kB + 1, 0, kD + 4).holds(instruction));
  EXPECT_FALSE(Allocation(kB + 1, 0, kD + 3).holds(instruction));
  EXPECT_FALSE(Allocation(kB, 0, kD + 4).holds(instruction));
  const RegisterUse use = register_use(instruction);
  EXPECT_EQ(use.writes[0], (RegisterRange{OperandKind::agpr, kD, 4}));
  EXPECT_EQ(use.reads[2], (RegisterRange{OperandKind::agpr, kC, 4}));
}

}  // namespace
}  // namespace lacuna::isa::test
