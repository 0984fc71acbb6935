// Rules that every replacement policy obeys, whichever victims it selects.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "models/cache/tag_array.h"

namespace lacuna::test {

/// Performs random accesses to a tag array; returns the slots that they use.
inline std::vector<TagArray::Slot> use_at_random(TagArray& tags, unsigned accesses, unsigned seed) {
  std::vector<TagArray::Slot> slots;
  std::mt19937 random(seed);
  for (unsigned i = 0; i < accesses; ++i) {
    const std::uint64_t line = random() % 1000;
    const auto set = static_cast<std::uint32_t>(line % tags.sets());
    TagArray::Slot slot = tags.find(set, line);
    if (slot == TagArray::kNone) {
      slot = tags.victim(set);
      EXPECT_EQ(tags.set_of(slot), set);
      if (tags.valid(slot)) tags.drop(slot);
      tags.install(slot, line);
      for (unsigned sector = 0; sector < tags.sectors(); ++sector) EXPECT_FALSE(tags.sector(slot, sector).complete);
    } else {
      tags.touch(slot);
    }
    tags.mark_dirty(tags.sector(slot, i % tags.sectors()), ByteMask(1));
    tags.sector(slot, i % tags.sectors()).complete = true;
    slots.push_back(slot);
  }
  return slots;
}

/// Checks that victims are ways of their set, that goes_before() never holds in both directions, and that an emptied array
/// behaves like a new array, whether few or many lines were installed before.
inline void check_replacement(const ReplacementPolicy& policy) {
  SCOPED_TRACE(policy.name);
  EXPECT_FALSE(policy.description.empty());
  constexpr std::uint32_t kSets = 16;
  constexpr unsigned kSectors = 2;
  constexpr unsigned kSeed = 3;
  for (const unsigned ways : {2U, 8U, 32U}) {
    TagArray tags(kSets, ways, kSectors, policy, kSeed);
    for (const unsigned lines : {1U, 5U, 31U, 32U, 33U, 34U, 200U, 2000U, 3U}) {
      use_at_random(tags, lines, lines);
      EXPECT_TRUE(tags.used());
      tags.drop_all();
      EXPECT_FALSE(tags.used());
      EXPECT_EQ(tags.dirty_sectors(), 0U);
      TagArray fresh(kSets, ways, kSectors, policy, kSeed);
      EXPECT_EQ(use_at_random(tags, 1500, 9), use_at_random(fresh, 1500, 9)) << "after " << lines << " of " << ways << " ways";
      for (TagArray::Slot slot = 0; slot < ways; ++slot) {
        for (TagArray::Slot other = 0; other < ways; ++other)
          EXPECT_FALSE(tags.goes_before(slot, other) && tags.goes_before(other, slot));
      }
      tags.drop_all();
    }
  }
}

}  // namespace lacuna::test
