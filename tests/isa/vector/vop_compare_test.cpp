// Tests comparisons, classes and v_cndmask: mask results, EXEC writes, inactive lanes.
#include "tests/isa/vector/reference_float.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

using U64 = std::uint64_t;

const std::vector<U64>& float_edges() {
  static const std::vector<U64> edges{0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x3f800000, 0xbf800000,
                                      0x3f800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
                                      0x7f800001, 0x00003c00, 0x0000bc00, 0x00007c00, 0x0000fc01, 0x00000400, 0x00008001};
  return edges;
}

// Order of two numbers: -1, 0, 1, or 2 for unordered.
int relation(U64 a, U64 b, const FloatFormat& f, bool flush) {
  if (f.nan(a) || f.nan(b)) return 2;
  const auto key = [&](U64 v) {
    const auto magnitude = static_cast<std::int64_t>(f.magnitude(flush ? f.flushed(v) : v));
    return f.negative(v) ? -magnitude : magnitude;
  };
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}

struct Condition {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr std::array<Condition, 16> kConditions{{{"f", false, false, false, false},
                                                 {"lt", true, false, false, false},
                                                 {"eq", false, true, false, false},
                                                 {"le", true, true, false, false},
                                                 {"gt", false, false, true, false},
                                                 {"lg", true, false, true, false},
                                                 {"ge", false, true, true, false},
                                                 {"o", true, true, true, false},
                                                 {"u", false, false, false, true},
                                                 {"nge", true, false, false, true},
                                                 {"nlg", false, true, false, true},
                                                 {"ngt", true, true, false, true},
                                                 {"nle", false, false, true, true},
                                                 {"neq", true, false, true, true},
                                                 {"nlt", false, true, true, true},
                                                 {"tru", true, true, true, true}}};

bool holds(const Condition& c, int relation) {
  return relation == -1 ? c.less : relation == 0 ? c.equal : relation == 1 ? c.greater : c.unordered;
}

TEST(VopCompare, FloatsOrderedAndUnordered) {
  for (const auto& [suffix, format] : {std::pair{"_f32", &kF32}, std::pair{"_f16", &kF16}, std::pair{"_f64", &kF64}}) {
    const FloatFormat& f = *format;
    std::vector<U64> edges = float_edges();
    if (format == &kF64) {
      for (U64& v : edges) v = v << 32 | (v & 1);
    }
    const auto inputs = combine(edges, 2, 300, [&](std::mt19937_64& g) { return edges[g() % edges.size()] ^ (g() & 1); });
    const U64 all = (f.sign() - 1) | f.sign();
    for (const Condition& condition : kConditions) {
      for (const bool denormals : {true, false}) {
        Machine machine;
        machine.wave.mode = mode_of(0, denormals);
        const std::string name = std::string("v_cmp_") + condition.name + suffix;
        const auto expected = [&](const Inputs& x) {
          return Expected{0, holds(condition, relation(x.a & all, x.b & all, f, !denormals))};
        };
        check_lanes(machine, machine.e32(name, 0, vgpr(kSrc0), kSrc1), inputs, false, expected);
        check_lanes(machine, machine.e64(name, 30, {vgpr(kSrc0), vgpr(kSrc1), 0}), inputs, false, expected);
      }
    }
  }
}

TEST(VopCompare, Integers) {
  struct Type {
    const char* suffix;
    unsigned bits;
    bool is_signed;
  };
  const std::vector<U64> edges{
      0, 1, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~U64{0}};
  const auto inputs = combine(edges, 2, 300, [](std::mt19937_64& g) { return g(); });
  for (const Type& type : {Type{"_i16", 16, true}, Type{"_u16", 16, false}, Type{"_i32", 32, true}, Type{"_u32", 32, false},
                           Type{"_i64", 64, true}, Type{"_u64", 64, false}}) {
    for (unsigned i = 0; i < 8; ++i) {
      const Condition condition = i == 7 ? kConditions[15] : kConditions.at(i);
      const std::string name = std::string("v_cmp_") + (i == 5 ? "ne" : i == 7 ? "t" : condition.name) + type.suffix;
      Machine machine;
      check_lanes(machine, machine.e32(name, 0, vgpr(kSrc0), kSrc1), inputs, false, [&](const Inputs& x) {
        __extension__ using Signed = __int128;
        const auto value = [&](U64 v) {
          const U64 kept = type.bits == 64 ? v : v & ((U64{1} << type.bits) - 1);
          const bool negative = type.is_signed && (kept >> (type.bits - 1)) != 0;
          return static_cast<Signed>(kept) - (negative ? Signed{1} << type.bits : 0);
        };
        return Expected{0, holds(condition, value(x.a) < value(x.b) ? -1 : value(x.a) > value(x.b) ? 1 : 0)};
      });
    }
  }
}

TEST(VopCompare, ExecIsWrittenByCmpx) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.at(kSrc0, lane) = lane;
    machine.at(kSrc1, lane) = 32;
  }
  machine.wave.set_exec(0x00ffff0000ffff00);
  machine.wave.set_vcc(kAllLanes);
  machine.run(machine.e32("v_cmpx_gt_u32", 0, vgpr(kSrc0), kSrc1));
  const U64 expected = 0x00ffff0000ffff00 & ~((U64{1} << 33) - 1);
  EXPECT_EQ(machine.wave.vcc(), expected);
  EXPECT_EQ(machine.wave.exec(), expected);

  machine.wave.set_exec(kAllLanes);
  machine.run(machine.e64("v_cmpx_eq_f32", 50, {vgpr(kSrc0), vgpr(kSrc0), 0}));
  EXPECT_EQ(machine.wave.read64(50), kAllLanes);
  machine.run(machine.e32("v_cmp_lt_u32", 0, vgpr(kSrc0), kSrc1));
  EXPECT_EQ(machine.wave.vcc(), 0xffffffffU);
  EXPECT_EQ(machine.wave.exec(), kAllLanes) << "v_cmp leaves EXEC alone";
}

TEST(VopCompare, Class) {
  struct Example {
    std::uint32_t bits;
    unsigned which;
  };
  const std::array<Example, 13> examples{{{0x7f800001, 0},
                                          {0xffbfffff, 0},
                                          {0x7fc00000, 1},
                                          {0xffffffff, 1},
                                          {0xff800000, 2},
                                          {0xbf800000, 3},
                                          {0x80000001, 4},
                                          {0x80000000, 5},
                                          {0x00000000, 6},
                                          {0x007fffff, 7},
                                          {0x00800000, 8},
                                          {0x7f7fffff, 8},
                                          {0x7f800000, 9}}};
  Machine machine;
  machine.wave.mode = mode_of(0, false);  // denormals are recognised although flushing is enabled
  for (unsigned asked = 0; asked < 10; ++asked) {
    for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = examples[lane % examples.size()].bits;
    machine.fill(kSrc1, 1U << asked);
    machine.run(machine.e32("v_cmp_class_f32", 0, vgpr(kSrc0), kSrc1));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ((machine.wave.vcc() >> lane) & 1, examples[lane % examples.size()].which == asked ? 1U : 0U);
    }
    // f64 values of the same sign and class.
    const auto widen = [](std::uint32_t v) {
      const std::uint64_t sign = U64{v >> 31} << 63;
      const std::uint32_t magnitude = v & 0x7fffffff;
      if (magnitude >= 0x7f800000) return sign | 0x7ff0000000000000 | U64{magnitude & 0x7fffff} << 29;
      if (magnitude >= 0x00800000) return sign | 0x3ff0000000000000;
      return sign | magnitude;
    };
    for (unsigned lane = 0; lane < kLanes; ++lane) machine.set_pair(kSrc0, lane, widen(examples[lane % examples.size()].bits));
    machine.run(machine.e64("v_cmp_class_f64", 30, {vgpr(kSrc0), vgpr(kSrc1), 0}));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ((machine.wave.read64(30) >> lane) & 1, examples[lane % examples.size()].which == asked ? 1U : 0U);
    }
  }
}

TEST(VopCompare, SourceModifiersCount) {
  Machine machine;
  machine.fill(kSrc0, 0x3f800000);
  machine.fill(kSrc1, 0xbf800000);
  machine.run(machine.e64("v_cmp_eq_f32", 30, {vgpr(kSrc0), vgpr(kSrc1), 0}));
  EXPECT_EQ(machine.wave.read64(30), 0U);
  machine.run(machine.e64("v_cmp_eq_f32", 30, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.neg = 2}));
  EXPECT_EQ(machine.wave.read64(30), kAllLanes);
  machine.run(machine.e64("v_cmp_eq_f32", 30, {vgpr(kSrc0), vgpr(kSrc1), 0}, {.abs = 2}));
  EXPECT_EQ(machine.wave.read64(30), kAllLanes);
}

TEST(VopSelect, CndmaskByVccAndByScalarPair) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    machine.at(kSrc0, lane) = 100 + lane;
    machine.at(kSrc1, lane) = 200 + lane;
  }
  machine.wave.set_vcc(0xf0f0f0f012345678);
  machine.wave.write64(40, 0x00000000ffffffff);
  machine.wave.set_exec(0xfffffffffffffff0);
  machine.fill(kDst, kUntouched);
  machine.run(machine.e32("v_cndmask_b32", kDst, vgpr(kSrc0), kSrc1));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool second = ((0xf0f0f0f012345678 >> lane) & 1) != 0;
    EXPECT_EQ(machine.at(kDst, lane), lane < 4 ? kUntouched : (second ? 200 : 100) + lane);
  }
  machine.run(machine.e64("v_cndmask_b32", kDst, {integer_constant(0), vgpr(kSrc1), sgpr(40)}));
  for (unsigned lane = 4; lane < kLanes; ++lane) EXPECT_EQ(machine.at(kDst, lane), lane < 32 ? 200 + lane : 0);
}

}  // namespace
}  // namespace lacuna::isa::test
