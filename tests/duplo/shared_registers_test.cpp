// Tests register pairs shared by wavefronts against a second implementation, which keeps values in the physical pairs.
#include "models/duplo/shared_registers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace lacuna {
namespace {

TEST(SharedRegisters, AWriteToASharedPairTakesAnother) {
  SharedRegisters registers(8);
  const unsigned a = registers.begin(2);
  const unsigned b = registers.begin(2);
  const SharedRegisters::Pair held = registers.pair(a, 0);
  registers.share(b, 1, held);
  EXPECT_EQ(registers.pair(b, 1), held);
  EXPECT_EQ(registers.readers(held), 2U);
  EXPECT_EQ(registers.in_use(), 3U);
  EXPECT_EQ(registers.allocated(), 4U);
  EXPECT_TRUE(registers.write(a, 0));
  EXPECT_NE(registers.pair(a, 0), held);
  EXPECT_EQ(registers.pair(b, 1), held);
  EXPECT_FALSE(registers.write(b, 1));  // `b` is its only reader
  EXPECT_TRUE(registers.consistent());
}

TEST(SharedRegisters, APairStaysWhenItsFirstWavefrontEnds) {
  SharedRegisters registers(4);
  const unsigned a = registers.begin(1);
  const unsigned b = registers.begin(1);
  const SharedRegisters::Pair held = registers.pair(a, 0);
  registers.share(b, 0, held);
  registers.end(a);
  EXPECT_EQ(registers.readers(held), 1U);
  EXPECT_EQ(registers.in_use(), 1U);
  registers.end(b);
  EXPECT_EQ(registers.in_use(), 0U);
}

// A pair shared with itself: a load hits on the register that is its destination.
TEST(SharedRegisters, SharingWithItselfChangesNothing) {
  SharedRegisters registers(2);
  const unsigned a = registers.begin(2);
  const SharedRegisters::Pair held = registers.pair(a, 1);
  registers.share(a, 1, held);
  EXPECT_EQ(registers.pair(a, 1), held);
  EXPECT_EQ(registers.readers(held), 1U);
  EXPECT_TRUE(registers.consistent());
}

TEST(SharedRegisters, RemembersTheMostPairsInUse) {
  SharedRegisters registers(8);
  EXPECT_EQ(registers.most_in_use(), 0U);
  const unsigned a = registers.begin(3);
  const unsigned b = registers.begin(2);
  registers.share(b, 0, registers.pair(a, 0));
  EXPECT_EQ(registers.in_use(), 4U);
  EXPECT_EQ(registers.most_in_use(), 5U);
  registers.end(a);
  registers.begin(3);
  EXPECT_EQ(registers.most_in_use(), 5U);
  registers.begin(3);
  EXPECT_EQ(registers.most_in_use(), 8U);
  registers.reset();
  EXPECT_EQ(registers.most_in_use(), 8U);
}

// A pair that is free must not be shared: the next wavefront would get it.
TEST(SharedRegisters, SharingAFreePairIsInconsistent) {
  SharedRegisters registers(4);
  const unsigned a = registers.begin(1);
  const unsigned b = registers.begin(1);
  const SharedRegisters::Pair freed = registers.pair(b, 0);
  registers.end(b);
  EXPECT_NO_THROW(registers.require_consistent());
  registers.share(a, 0, freed);
  EXPECT_FALSE(registers.consistent());
  EXPECT_THROW(registers.require_consistent(), std::logic_error);
}

// Random programs that allocate up to the whole register file. The physical pairs must hold the values that each wavefront
// expects (`values`).
TEST(SharedRegisters, RandomProgramsNeverLoseAValue) {
  constexpr unsigned kPairs = 64;
  std::mt19937 random(4);
  for (unsigned program = 0; program < 200; ++program) {
    SharedRegisters registers(kPairs);
    std::map<unsigned, std::vector<unsigned>> values;  // values by wavefront and logical pair
    std::vector<unsigned> physical(kPairs);
    unsigned next = 1;
    const auto store = [&](unsigned wavefront, unsigned logical) {
      registers.write(wavefront, logical);
      values[wavefront][logical] = physical[registers.pair(wavefront, logical)] = next++;
    };
    for (unsigned step = 0; step < 500; ++step) {
      const unsigned free = kPairs - registers.allocated();
      if (free > 0 && (values.empty() || random() % 16 == 0)) {
        const unsigned pairs = 1 + static_cast<unsigned>(random() % free);
        const unsigned wavefront = registers.begin(pairs);
        values[wavefront].resize(pairs);
        for (unsigned logical = 0; logical < pairs; ++logical) store(wavefront, logical);
        continue;
      }
      if (values.empty()) continue;
      const auto any = [&] { return std::next(values.begin(), static_cast<std::ptrdiff_t>(random() % values.size())); };
      const auto one = any();
      const auto logical = static_cast<unsigned>(random() % one->second.size());
      if (random() % 40 == 0) {
        registers.end(one->first);
        values.erase(one);
      } else if (random() % 2 == 0) {
        store(one->first, logical);
      } else {
        const auto other = any();
        const auto from = static_cast<unsigned>(random() % other->second.size());
        registers.share(one->first, logical, registers.pair(other->first, from));
        one->second[logical] = other->second[from];
      }
      ASSERT_TRUE(registers.consistent());
      for (const auto& [wavefront, held] : values) {
        for (unsigned i = 0; i < held.size(); ++i) ASSERT_EQ(physical[registers.pair(wavefront, i)], held[i]);
      }
    }
  }
}

}  // namespace
}  // namespace lacuna
