// Tests DS instructions: loads, stores and atomics in the local data share, and moves between lanes.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "tests/isa/memory/atomic_reference.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

TEST(Lds, LoadsAndStoresOfEveryWidth) {
  Machine m;
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = l * 16;
    for (unsigned k = 1; k < 5; ++k) m.v(k, l) = 0x80f00000 + k * 256 + l + (k << 15);
  }
  m.run({"ds_write_b128 v0, v[1:4]", "ds_read_b128 v[5:8], v0", "ds_read_b96 v[9:11], v0 offset:4",
         "ds_read_i8 v12, v0 offset:3", "ds_read_u16 v13, v0 offset:2", "ds_read_i16 v14, v0 offset:2",
         "ds_read2_b32 v[15:16], v0 offset0:1 offset1:3"});
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(m.v(5 + k, l), m.v(1 + k, l));
    for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(m.v(9 + k, l), m.v(2 + k, l));
    EXPECT_EQ(m.v(12, l), 0xffffff80U);
    EXPECT_EQ(m.v(13, l), m.v(1, l) >> 16);
    EXPECT_EQ(m.v(14, l), 0xffff0000U | m.v(1, l) >> 16);
    EXPECT_EQ(m.v(15, l), m.v(2, l));
    EXPECT_EQ(m.v(16, l), m.v(4, l));
  }
  EXPECT_EQ(m.wave.access.space, MemoryAccess::Space::lds);
  EXPECT_TRUE(m.wave.access.dual);
  EXPECT_EQ(m.addresses.lds[2], 36U);
  EXPECT_EQ(m.wave.access.dual_distance, 8U);
}

TEST(Lds, PairsStrideBy64Elements) {
  Machine m;
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = l * 4;
    m.v(1, l) = l;
    m.v(2, l) = 1000 + l;
  }
  m.run({"ds_write2st64_b32 v0, v1, v2 offset1:2"});
  EXPECT_EQ(m.lds_at<std::uint32_t>(5 * 4), 5U);
  EXPECT_EQ(m.lds_at<std::uint32_t>(2 * 64 * 4 + 5 * 4), 1005U);
}

TEST(Lds, BeyondTheAllocationReadsZeroAndWritesNothing) {
  Machine m;
  m.wave.lds_bytes = 64;
  m.set_lds<std::uint32_t>(60, 7);
  m.set_lds<std::uint32_t>(64, 9);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 60 + l;
    m.v(1, l) = 5;
    m.v(2, l) = 5;
  }
  m.run({"ds_read_b32 v1, v0"});
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(1, 0), 7U) << "the last word";
  EXPECT_EQ(m.v(1, 1), 0U) << "one byte beyond";
  for (unsigned l = 0; l < kLanes; ++l) m.v(0, l) = l * 4;
  m.wave.lds_bytes = 256;
  m.set_lds<std::uint32_t>(252, 8);
  m.run({"ds_read_b32 v1, v0"});
  EXPECT_EQ(m.v(1, 63), 8U) << "neighbours up to the last byte";
  m.wave.lds_bytes = 255;
  m.run({"ds_read_b32 v1, v0"});
  EXPECT_EQ(m.v(1, 63), 0U);
  m.wave.lds_bytes = 64;
  for (unsigned l = 0; l < kLanes; ++l) m.v(0, l) = 60 + l;
  m.run({"ds_write_b32 v0, v2 offset:4"});
  EXPECT_EQ(m.lds_at<std::uint32_t>(64), 9U);
  m.wave.sgpr[kM0] = 32;
  m.run({"ds_read_b32 v1, v0"});
  EXPECT_EQ(m.v(1, 0), 0U) << "M0 is a limit too on gfx8";
}

// Rows of lanes that access one word, consecutive words, overlapping words or arbitrary words, in any mixture, aligned or not,
// up to the last byte of the allocation and beyond it, or at negative addresses: results equal those of lane-by-lane execution.
TEST(Lds, AccessesOfAllLanesEqualThoseLaneByLane) {
  constexpr unsigned kFirst = 1;  // offsets of the pair of accesses, in units of four bytes
  constexpr unsigned kSecond = 9;
  std::mt19937 random(23);
  Machine m;
  const auto code =
      assemble_by_llvm({"ds_read_b32 v1, v0", "ds_read2_b32 v[2:3], v0 offset0:1 offset1:9", "ds_write_b32 v0, v4",
                        "ds_read2_b32 v[6:7], v0 offset0:9 offset1:1", "ds_read_b64 v[8:9], v0"},
                       m.wave.target);
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned size = round % 3 == 0 ? 1024 : 1024 - static_cast<unsigned>(random()) % 64;
    m.wave.lds_bytes = size;
    for (std::byte& b : m.lds) b = static_cast<std::byte>(random());
    const unsigned shape_of_all = static_cast<unsigned>(random()) % 4;
    for (unsigned row = 0; row < kLanes; row += 8) {
      const unsigned shape = round % 4 < 2 ? shape_of_all : static_cast<unsigned>(random()) % 4;
      const unsigned limit = round % 5 == 0 ? 1100 : 900;
      const unsigned start = static_cast<unsigned>(random()) % limit & (round % 2 == 0 ? ~3U : ~0U);
      for (unsigned l = 0; l < 8; ++l) {
        m.v(0, row + l) = shape == 0   ? start
                          : shape == 1 ? start + 4 * l
                          : shape == 2 ? start + l
                                       : static_cast<unsigned>(random()) % limit;
        if (round % 7 == 0 && row + l == round % kLanes) m.v(0, row + l) = 0U - 4 * (1 + static_cast<unsigned>(random()) % 10);
        m.v(4, row + l) = static_cast<std::uint32_t>(random());
      }
    }
    const auto word = [&](const std::vector<std::byte>& bytes, unsigned at) {
      std::uint32_t value = 0;
      if (std::uint64_t{at} + 4 <= size) std::memcpy(&value, bytes.data() + at, 4);
      return value;
    };
    const std::vector<std::byte> before = m.lds;
    std::vector<std::byte> after = before;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (std::uint64_t{m.v(0, l)} + 4 <= size) std::memcpy(after.data() + m.v(0, l), &m.v(4, l), 4);
    }
    for (const auto& words : code) m.step(words);
    ASSERT_EQ(m.lds, after) << round;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned at = m.v(0, l);
      ASSERT_EQ(m.v(1, l), word(before, at)) << round << " lane " << l;
      ASSERT_EQ(m.v(2, l), word(before, at + 4 * kFirst)) << round << " lane " << l;
      ASSERT_EQ(m.v(3, l), word(before, at + 4 * kSecond)) << round << " lane " << l;
      ASSERT_EQ(m.v(6, l), word(after, at + 4 * kSecond)) << round << " lane " << l;
      ASSERT_EQ(m.v(7, l), word(after, at + 4 * kFirst)) << round << " lane " << l;
      const bool both = std::uint64_t{at} + 8 <= size;
      ASSERT_EQ(m.v(8, l), both ? word(after, at) : 0) << round << " lane " << l;
      ASSERT_EQ(m.v(9, l), both ? word(after, at + 4) : 0) << round << " lane " << l;
    }
  }
}

struct Atomic {
  const char* name;
  std::uint64_t old, data, data2, result;
};

TEST(Lds, AtomicsOf32Bits) {
  const auto f = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)}; };
  const std::uint64_t nan = 0x7fc00001;
  const Atomic kCases[] = {
      {"add_rtn_u32", 0xffffffff, 2, 0, 1},
      {"sub_rtn_u32", 1, 2, 0, 0xffffffff},
      {"rsub_rtn_u32", 1, 2, 0, 1},
      {"inc_rtn_u32", 4, 5, 0, 5},
      {"inc_rtn_u32", 5, 5, 0, 0},
      {"dec_rtn_u32", 0, 5, 0, 5},
      {"dec_rtn_u32", 6, 5, 0, 5},
      {"dec_rtn_u32", 5, 5, 0, 4},
      {"min_rtn_i32", 0xffffffff, 1, 0, 0xffffffff},
      {"min_rtn_u32", 0xffffffff, 1, 0, 1},
      {"max_rtn_i32", 0xffffffff, 1, 0, 1},
      {"max_rtn_u32", 0xffffffff, 1, 0, 0xffffffff},
      {"and_rtn_b32", 12, 10, 0, 8},
      {"or_rtn_b32", 12, 10, 0, 14},
      {"xor_rtn_b32", 12, 10, 0, 6},
      {"mskor_rtn_b32", 0xff, 0xf0, 0x20, 0x2f},
      {"wrxchg_rtn_b32", 1, 9, 0, 9},
      {"cmpst_rtn_b32", 4, 4, 8, 8},
      {"cmpst_rtn_b32", 4, 5, 8, 4},
      {"cmpst_rtn_f32", f(-0.0F), f(0.0F), 8, 8},
      {"cmpst_rtn_f32", nan, nan, 8, nan},
      {"min_rtn_f32", f(-1), f(2), 0, f(-1)},
      {"max_rtn_f32", f(-1), f(2), 0, f(2)},
      {"max_rtn_f32", f(1), nan, 0, f(1)},
      {"add_rtn_f32", f(1.5F), f(2.25F), 0, f(3.75F)},
      {"add_rtn_f32", 0x7f800001, f(1), 0, 0x7fc00001},
      {"add_rtn_f32", f(std::numeric_limits<float>::infinity()), f(-std::numeric_limits<float>::infinity()), 0, 0x7fc00000},
      {"wrap_rtn_b32", 7, 5, 3, 2},
      {"wrap_rtn_b32", 4, 5, 3, 7}};
  std::vector<std::string> lines;
  for (const Atomic& c : kCases) {
    const std::string name = c.name;
    const bool two = name.starts_with("cmpst") || name.starts_with("mskor") || name.starts_with("wrap");
    lines.push_back("ds_" + name + " v3, v0, v1" + (two ? ", v2" : ""));
  }
  const auto encodings = assemble_by_llvm(lines, Target::gfx803);
  for (std::size_t k = 0; k < std::size(kCases); ++k) {
    const Atomic& c = kCases[k];
    Machine m;
    m.wave.set_exec(2);
    m.v(0, 1) = 16;
    m.v(1, 1) = static_cast<std::uint32_t>(c.data);
    m.v(2, 1) = static_cast<std::uint32_t>(c.data2);
    m.set_lds<std::uint32_t>(16, static_cast<std::uint32_t>(c.old));
    m.step(encodings[k]);
    EXPECT_EQ(m.lds_at<std::uint32_t>(16), c.result) << lines[k];
    EXPECT_EQ(m.v(3, 1), c.old) << lines[k];
  }
}

TEST(Lds, AtomicsOf64BitsAndOrderOfLanes) {
  Machine m;
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 8;
    m.v(1, l) = 1;
    m.v(2, l) = 1;
  }
  m.run({"ds_add_rtn_u64 v[3:4], v0, v[1:2]"});
  EXPECT_EQ(m.lds_at<std::uint64_t>(8), 64 * 0x100000001U);
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(m.v(3, l), l);
  m.set_lds<std::uint64_t>(8, 0x8000000000000000);
  m.run({"ds_max_i64 v0, v[1:2]"});
  EXPECT_EQ(m.lds_at<std::uint64_t>(8), 0x100000001U);
  m.v(0, 3) = 12;
  m.run({"ds_add_u64 v0, v[1:2]"});
  EXPECT_EQ(m.wave.event, Event::memory_fault);
  EXPECT_EQ(m.wave.fault.reason, MemoryFault::Reason::misaligned);
  EXPECT_EQ(m.wave.fault.lane, 3U);
}

TEST(Lds, CrossbarMovesDataBetweenLanes) {
  Machine m;
  m.wave.set_exec(~std::uint64_t{0} & ~std::uint64_t{2});  // lane 1 is inactive
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = 100 + l;
    m.v(1, l) = ((l + 5) % kLanes) * 4;
    m.v(4, l) = m.v(5, l) = m.v(6, l) = m.v(7, l) = 7777;
  }
  m.run({"ds_swizzle_b32 v4, v0 offset:swizzle(SWAP,16)", "ds_swizzle_b32 v5, v0 offset:swizzle(QUAD_PERM,3,2,1,1)",
         "ds_bpermute_b32 v6, v1, v0", "ds_permute_b32 v7, v1, v0"});
  EXPECT_EQ(m.v(4, 0), 116U);
  EXPECT_EQ(m.v(4, 48), 132U);
  EXPECT_EQ(m.v(4, 17), 0U) << "lane 1 is not active";
  EXPECT_EQ(m.v(4, 1), 7777U);
  EXPECT_EQ(m.v(5, 4), 107U);
  EXPECT_EQ(m.v(6, 0), 105U);
  EXPECT_EQ(m.v(6, 60), 0U) << "from lane 1";
  EXPECT_EQ(m.v(7, 5), 100U);
  EXPECT_EQ(m.v(7, 6), 0U) << "no lane has sent: lane 1 is inactive";
}

// In the LDS, MODE's denormal bits apply; rounding is to nearest regardless of MODE.
template <typename F>
void check_sums(const char* text, Target target, unsigned denormal_bit) {
  const std::vector<std::uint32_t> words = assemble_by_llvm({text}, target).at(0);
  for (std::uint32_t mode = 0; mode < 256; mode += 13) {
    Machine m;
    m.wave.target = target;
    m.wave.mode.bits = mode;
    const DenormalRules rules{(mode >> denormal_bit & 1) != 0, (mode >> denormal_bit & 2) != 0};
    FloatSource<F> source(mode + 1);
    std::array<F, kLanes> old;
    std::array<F, kLanes> expected;
    for (unsigned l = 0; l < kLanes; ++l) {
      old[l] = source.next();
      F data = source.next();
      while (std::isnan(old[l] + data)) data = source.next();
      m.v(0, l) = l * sizeof(F);
      m.set_lds<F>(l * sizeof(F), old[l]);
      const auto bits = std::bit_cast<BitsOf<F>>(data);
      m.v(2, l) = static_cast<std::uint32_t>(bits);
      if constexpr (sizeof(F) == 8) m.v(3, l) = static_cast<std::uint32_t>(bits >> 32);
      expected[l] = expected_sum(old[l], data, rules);
    }
    m.step(words);
    ASSERT_EQ(m.wave.event, Event::none);
    for (unsigned l = 0; l < kLanes; ++l) {
      EXPECT_EQ(m.lds_at<BitsOf<F>>(l * sizeof(F)), std::bit_cast<BitsOf<F>>(expected[l])) << text << " MODE " << mode;
      EXPECT_EQ(m.v(4, l), static_cast<std::uint32_t>(std::bit_cast<BitsOf<F>>(old[l])));
    }
  }
}

TEST(Lds, FloatSumsFollowMode) {
  check_sums<float>("ds_add_rtn_f32 v4, v0, v2", Target::gfx803, 4);
  check_sums<float>("ds_add_rtn_f32 v4, v0, v2", Target::gfx90a, 4);
  check_sums<double>("ds_add_rtn_f64 v[4:5], v0, v[2:3]", Target::gfx90a, 6);
}

// The second operand is in LDS, too, at a distance in dwords from the first. The distance is in the offset's 15 low bits or, if
// its top bit is set, in the address register's upper half.
TEST(Lds, SecondOperandFromLds) {
  Machine m;
  for (std::uint32_t k = 0; k < 1024; ++k) m.set_lds<std::uint32_t>(k * 4, k * k + 7);
  const auto before = [](std::uint32_t word) { return word * word + 7; };
  m.wave.set_exec(0xff);
  for (unsigned l = 0; l < 8; ++l) {
    m.v(0, l) = l * 4;
    const std::uint32_t distance = l % 2 == 0 ? 100 + l : static_cast<std::uint32_t>(-8);
    m.v(1, l) = distance << 16 | (400 + l * 4);
    m.v(2, l) = 1024 + l * 8;
  }
  m.run({"ds_add_src2_u32 v0 offset:64", "ds_sub_src2_u32 v1 offset:32768", "ds_write_src2_b64 v2 offset:32767"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (std::uint32_t l = 0; l < 8; ++l) {
    EXPECT_EQ(m.lds_at<std::uint32_t>(l * 4), before(l) + before(l + 64));
    const std::uint32_t from = l % 2 == 0 ? 100 + l + 100 + l : 100 + l - 8;
    EXPECT_EQ(m.lds_at<std::uint32_t>(400 + l * 4), before(100 + l) - before(from)) << l;
  }
  // Offset 32767 is a distance of -1 dword: each lane copies two dwords from the dword before its own address, one lane after
  // the other.
  EXPECT_EQ(m.lds_at<std::uint32_t>(1024), before(255));
  EXPECT_EQ(m.lds_at<std::uint32_t>(1028), before(255 + 1)) << "the upper half is the lower one's old value";
  m.set_lds<float>(0, 2.5F);
  m.set_lds<float>(4, -1.5F);
  m.wave.set_exec(1);
  m.run({"ds_min_src2_f32 v0 offset:1"});
  EXPECT_EQ(m.lds_at<float>(0), -1.5F);
  m.v(0, 0) = 4096 - 4;
  m.run({"ds_add_src2_u32 v0 offset:1"});
  EXPECT_EQ(m.lds_at<std::uint32_t>(4092), before(1023)) << "beyond the allocation are zeros";
}

TEST(Lds, ExchangesMarkedHalves) {
  Machine m;
  m.wave.set_exec(7);
  for (unsigned l = 0; l < 3; ++l) {
    m.v(0, l) = l * 8;
    m.set_lds<std::uint32_t>(l * 8 + 16, 10 + l);
    m.set_lds<std::uint32_t>(l * 8 + 20, 20 + l);
    m.v(2, l) = 0x70000000 | (l == 1 ? 0U : 0x80000000U);
    m.v(3, l) = 0x60000000 | (l == 2 ? 0x80000000U : 0U);
  }
  m.run({"ds_condxchg32_rtn_b64 v[4:5], v0, v[2:3] offset:16"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l < 3; ++l) {
    EXPECT_EQ(m.v(4, l), 10 + l);
    EXPECT_EQ(m.v(5, l), 20 + l);
    EXPECT_EQ(m.lds_at<std::uint32_t>(l * 8 + 16), l == 1 ? 11 : 0x70000000U);
    EXPECT_EQ(m.lds_at<std::uint32_t>(l * 8 + 20), l == 2 ? 0x60000000U : 20 + l);
  }
}

}  // namespace
}  // namespace lacuna::isa::test
