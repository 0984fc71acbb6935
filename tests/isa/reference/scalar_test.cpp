// Tests scalar instructions against plain wide arithmetic.
#include <gtest/gtest.h>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/scalar_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Scalars) {
  for (const ScalarReference& entry : scalar_references())
    EXPECT_GT(check_scalar_rows(entry), 0U) << entry.mnemonic << " names no row";
}

// s_movrels reads SGPR[S0 + M0], s_movreld writes SGPR[D + M0]; pairs are aligned.
TEST(Reference, MovesOfIndexedRegisters) {
  constexpr unsigned kSource = 10;
  constexpr unsigned kDestination = 40;
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    for (unsigned opcode = 0x2a; opcode <= 0x2d; ++opcode) {
      const unsigned words = opcode % 2 == 0 ? 1 : 2;
      const bool indexes_source = opcode < 0x2c;
      const std::uint32_t word = 0xbe800000U | kDestination << 16 | opcode << 8 | kSource;
      const DecodeResult decoded = decode(&word, 1, target);
      ASSERT_TRUE(decoded.ok) << decoded.error;
      for (unsigned m0 = 0; m0 < 50; m0 += words) {
        Wavefront wave;
        wave.target = target;
        wave.sgpr_count = 102;
        for (unsigned i = 0; i < 102; ++i) wave.sgpr.at(i) = 0x5000 + 3 * i;
        wave.sgpr[kM0] = m0;
        auto wanted = wave.sgpr;
        for (unsigned w = 0; w < words; ++w)
          wanted.at(kDestination + w + (indexes_source ? 0 : m0)) = 0x5000 + 3 * (kSource + w + (indexes_source ? m0 : 0));
        decoded.instruction.execute(decoded.instruction, wave);
        EXPECT_EQ(wave.event, Event::none);
        EXPECT_EQ(wave.sgpr, wanted) << decoded.instruction.row->mnemonic << " m0 " << m0;
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test
