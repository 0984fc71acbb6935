// Tests the reference generators against published numbers and against their own definitions.
#include "tests/rocm/rocrand/reference_generators.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lacuna::reference {
namespace {

// Known answers of the authors' library Random123 (kat_vectors: philox4x32 10).
TEST(ReferenceGenerators, PhiloxKnownAnswers) {
  EXPECT_EQ(Philox4x32(0).block({0, 0, 0, 0}), (Philox4x32::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32(~0ULL).block({~0U, ~0U, ~0U, ~0U}), (Philox4x32::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32(0x299f31d0'a4093822).block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Philox4x32::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(ReferenceGenerators, XorwowJumpsAreSteps) {
  Xorwow stepped = Xorwow::seeded(7);
  Xorwow jumped = stepped;
  for (int i = 0; i < 1024; ++i) stepped.next();
  jumped.jump(Xorwow::Jump::power_of_two(10));
  EXPECT_EQ(stepped.shifts(), jumped.shifts());
  // The period of the linear part is 2^160 - 1: a jump by 2^160 is one step.
  Xorwow around = Xorwow::seeded(7);
  Xorwow once = around;
  around.jump(Xorwow::Jump::power_of_two(160));
  once.next();
  EXPECT_EQ(around.shifts(), once.shifts());
}

// The sequence of L'Ecuyer's own package (RngStreams, the same recurrences) if all seeds are 12345.
TEST(ReferenceGenerators, Mrg32k3aKnownAnswers) {
  Mrg32k3a generator({12345, 12345, 12345}, {12345, 12345, 12345});
  for (const double expected : {0.1270111220, 0.3185275653, 0.3091860156, 0.8258468629, 0.2216299157}) {
    EXPECT_NEAR(generator.next() / 4294967088.0, expected, 1e-9);
  }
}

TEST(ReferenceGenerators, Mrg32k3aJumpsAreSteps) {
  Mrg32k3a stepped = Mrg32k3a::seeded(99);
  Mrg32k3a jumped = stepped;
  for (int i = 0; i < 256; ++i) stepped.next();
  jumped.jump(Mrg32k3a::Jump::power_of_two(8));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stepped.next(), jumped.next());
}

// Checks the first points of dimension 0 and, for every dimension, that the first 256 points fall into 256 different intervals.
TEST(ReferenceGenerators, SobolIsANet) {
  EXPECT_EQ(Sobol(0, 32).at(1), 0x80000000u);
  EXPECT_EQ(Sobol(0, 32).at(2), 0xc0000000u);
  EXPECT_EQ(Sobol(0, 32).at(3), 0x40000000u);
  for (unsigned dimension = 0; dimension < Sobol::kDimensions; ++dimension) {
    for (const unsigned bits : {32U, 64U}) {
      const Sobol sobol(dimension, bits);
      EXPECT_EQ(sobol.at(0), 0u);
      std::vector<bool> hit(256);
      for (unsigned i = 0; i < 256; ++i) hit[sobol.at(i) >> (bits - 8)] = true;
      EXPECT_EQ(std::count(hit.begin(), hit.end(), true), 256) << dimension;
    }
    // A 64-bit coordinate begins with the bits of the 32-bit one.
    EXPECT_EQ(Sobol(dimension, 64).at(12345) >> 32, Sobol(dimension, 32).at(12345));
  }
}

// If the projection to two dimensions is a (0, k, 2)-net, each elementary interval of volume 2^-k contains exactly one of the
// first 2^k points.
TEST(ReferenceGenerators, SobolPlaneIsANet) {
  for (unsigned split = 0; split <= 6; ++split) {
    std::vector<unsigned> hits(64);
    const Sobol x(0, 32), y(1, 32);
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint64_t column = split == 0 ? 0 : x.at(i) >> (32 - split);
      const std::uint64_t row = split == 6 ? 0 : y.at(i) >> (26 + split);
      ++hits[column << (6 - split) | row];
    }
    EXPECT_EQ(hits, std::vector<unsigned>(64, 1)) << split;
  }
}

}  // namespace
}  // namespace lacuna::reference
