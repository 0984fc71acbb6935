// Tests that slots and workgroups are constructed when they are first placed, and reused afterwards.
#include "models/compute/wavefront_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

std::size_t constructed(WavefrontPool& pool) {
  std::size_t slots = 0;
  for (const auto& simd : pool.simds()) slots += simd->slots.size();
  return slots;
}

TEST(WavefrontPool, AnUnusedPoolHasNoSlotsAndNoWorkgroups) {
  UnitParts p;
  EXPECT_EQ(constructed(p.pool), 0U);
  EXPECT_TRUE(p.pool.workgroups().empty());
  EXPECT_EQ(p.pool.resident(), 0U);
}

TEST(WavefrontPool, PlacesWavefrontsInTheLowestFreeSlots) {
  UnitParts p;
  const auto d = p.dispatch({kEnd}, p.parameters.simds + 1);
  ResidentWorkgroup& group = *p.pool.place(*d, 0, {});
  EXPECT_EQ(constructed(p.pool), p.parameters.simds + 1);
  for (unsigned i = 0; i < group.wavefronts; ++i) {
    EXPECT_EQ(group.slots[i]->simd->number, i % p.parameters.simds);
    EXPECT_EQ(group.slots[i]->number, i / p.parameters.simds);
  }
}

TEST(WavefrontPool, ReusesSlotsAndWorkgroups) {
  UnitParts p;
  const auto d = p.dispatch({kEnd});
  ResidentWorkgroup& first = *p.pool.place(*d, 0, {});
  WavefrontSlot& slot = *first.slots[0];
  p.pool.release(slot);
  p.pool.release(first);
  ResidentWorkgroup& second = *p.pool.place(*d, 0, {});
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.slots[0], &slot);
  EXPECT_EQ(constructed(p.pool), 1U);
  EXPECT_EQ(p.pool.workgroups().size(), 1U);
}

TEST(WavefrontPool, IsFullWhenAllSlotsAreTaken) {
  UnitParts p;
  const auto d = p.dispatch({kEnd});
  d->needs.lds_bytes = 0;
  d->needs.vgprs = 4;
  d->needs.sgprs = 8;
  const unsigned most = p.parameters.simds * p.parameters.wavefronts_per_simd;
  for (unsigned i = 0; i < most; ++i) {
    EXPECT_EQ(p.pool.lacks(d->needs), "");
    ASSERT_NE(p.pool.place(*d, 0, {}), nullptr);
  }
  EXPECT_EQ(constructed(p.pool), most);
  EXPECT_EQ(p.pool.lacks(d->needs), "wavefront slots");
  EXPECT_EQ(p.pool.place(*d, 0, {}), nullptr);
}

// Registers and LDS read as zero before their first use.
TEST(WavefrontPool, BeginsAsZeros) {
  UnitParts p;
  const auto d = p.dispatch({kEnd});
  ResidentWorkgroup& group = *p.pool.place(*d, 0, {});
  const std::byte* const lds = p.pool.lds(group);
  EXPECT_TRUE(std::all_of(lds, lds + p.pool.lds_bytes(group), [](std::byte b) { return b == std::byte{0}; }));
  for (const auto& simd : p.pool.simds()) {
    const std::uint32_t* const words = simd->registers.data();
    EXPECT_EQ(simd->registers.size(), std::size_t{p.parameters.vgprs_per_simd} * isa::kLanes);
    EXPECT_TRUE(std::all_of(words, words + simd->registers.size(), [](std::uint32_t word) { return word == 0; }));
  }
}

}  // namespace
}  // namespace lacuna::test
