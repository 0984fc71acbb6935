#include "models/cache/tag_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

namespace lacuna {
namespace {

TEST(TagArray, EmptySlotsAreTakenBeforeAnyLineIsReplaced) {
  TagArray tags(2, 3);
  for (std::uint64_t line = 0; line < 3; ++line) {
    const auto slot = tags.victim(1);
    EXPECT_FALSE(tags.valid(slot));
    tags.install(slot, line);
  }
  EXPECT_TRUE(tags.valid(tags.victim(1)));
  EXPECT_FALSE(tags.valid(tags.victim(0)));
}

// The numbers of ways cover both searches, by whole tags and by signatures of one byte. They also cover both forms of the LRU
// order: one number per set, and the number of the last use per way.
TEST(TagArray, ReplacesTheLeastRecentlyUsedLine) {
  // The reference is a list for each set, most recently used line first.
  constexpr std::uint32_t kSets = 4;
  for (const unsigned ways : {1U, 4U, 5U, 8U, 16U, 24U, 64U}) {
    TagArray tags(kSets, ways);
    std::vector<std::list<std::uint64_t>> model(kSets);
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t line = random() % (10 * ways);
      const auto set = static_cast<std::uint32_t>(line % kSets);
      auto& recent = model[set];
      const auto slot = tags.find(set, line);
      const auto known = std::find(recent.begin(), recent.end(), line);
      ASSERT_EQ(slot != TagArray::kNone, known != recent.end()) << ways;
      if (slot != TagArray::kNone) {
        ASSERT_EQ(tags.tag(slot), line);
        tags.touch(slot);
        recent.erase(known);
      } else {
        const auto victim = tags.victim(set);
        if (recent.size() == ways) {
          ASSERT_EQ(tags.tag(victim), recent.back()) << ways;
          recent.pop_back();
          tags.drop(victim);
        }
        tags.install(victim, line);
      }
      recent.push_front(line);
      // Occasionally a line is dropped without being replaced.
      if (i % 97 != 0) continue;
      tags.drop(tags.find(set, recent.back()));
      recent.pop_back();
    }
  }
}

TEST(TagArray, CountsDirtySectors) {
  TagArray tags(1, 4, 2);
  for (TagArray::Slot slot = 0; slot < 4; ++slot) tags.install(slot, slot);
  tags.mark_dirty(tags.sector(0, 0), ByteMask(0x0f));
  tags.mark_dirty(tags.sector(0, 0), ByteMask(0xf0));
  tags.mark_dirty(tags.sector(1, 0), ByteMask(0));
  tags.mark_dirty(tags.sector(2, 0), ByteMask(1));
  tags.mark_dirty(tags.sector(2, 1), ByteMask(1));
  EXPECT_EQ(tags.dirty_sectors(), 3u);
  EXPECT_EQ(tags.sector(0, 0).dirty, 0xffu);
  EXPECT_EQ(tags.sector(0, 1).dirty, 0u);
  tags.clean(tags.sector(0, 0));
  tags.clean(tags.sector(0, 0));
  EXPECT_EQ(tags.dirty_sectors(), 2u);
  tags.drop(2);
  EXPECT_EQ(tags.dirty_sectors(), 0u);
  tags.mark_dirty(tags.sector(3, 1), ByteMask(1));
  tags.drop_all();
  EXPECT_EQ(tags.dirty_sectors(), 0u);
  EXPECT_EQ(tags.sector(3, 1).dirty, 0u);
  EXPECT_EQ(tags.find(0, 1), TagArray::kNone);
}

// The upper half of a sector of 128 bytes becomes dirty, becomes clean and is dropped like the lower half.
TEST(TagArray, SectorsOf128Bytes) {
  TagArray tags(2, 2, 2, ReplacementPolicy::lru, 0, 128);
  const ByteMask last = ByteMask(1) << 127;
  for (TagArray::Slot slot = 0; slot < 4; ++slot) tags.install(slot, slot);
  tags.mark_dirty(tags.sector(1, 1), last);
  EXPECT_TRUE(tags.is_dirty(tags.sector(1, 1)));
  EXPECT_FALSE(tags.is_dirty(tags.sector(1, 0)));
  tags.mark_dirty(tags.sector(1, 1), ByteMask(2));
  EXPECT_EQ(tags.dirty_sectors(), 1U) << "counted once";
  EXPECT_EQ(tags.dirty(tags.sector(1, 1)), last | ByteMask(2));
  tags.clean(tags.sector(1, 1));
  EXPECT_EQ(tags.dirty(tags.sector(1, 1)), ByteMask{});
  EXPECT_EQ(tags.dirty_sectors(), 0U);
  tags.mark_dirty(tags.sector(2, 0), last);
  tags.drop(2);
  EXPECT_EQ(tags.dirty_sectors(), 0U);
  tags.install(2, 7);
  EXPECT_FALSE(tags.is_dirty(tags.sector(2, 0))) << "no state of the previous line remains";
  tags.mark_dirty(tags.sector(3, 1), last);
  tags.drop_all();
  EXPECT_FALSE(tags.is_dirty(tags.sector(3, 1)));
  EXPECT_EQ(tags.dirty_sectors(), 0U);
}

TEST(TagArray, ReplaceIsDropAndInstall) {
  for (const unsigned ways : {3U, 4U, 8U, 16U, 20U}) {
    constexpr unsigned kSectors = 2;
    TagArray replaced(2, ways, kSectors);
    TagArray dropped(2, ways, kSectors);
    std::mt19937 random(ways);
    const TagArray::Sector present{.ready = {2}, .locked = {3}, .complete = true};
    for (std::uint64_t line = 0; line < 2000; ++line) {
      const auto set = static_cast<std::uint32_t>(line % 2);
      const auto index = static_cast<unsigned>(random() % kSectors);
      const bool other = random() % 4 == 0;
      const TagArray::Slot slot = other ? set * ways + static_cast<TagArray::Slot>(random() % ways) : replaced.victim(set);
      if (!other) {
        ASSERT_EQ(slot, dropped.victim(set));
      }
      replaced.replace(set, slot, line, index, present);
      if (dropped.valid(slot)) dropped.drop(slot);
      dropped.install(slot, line);
      dropped.sector(slot, index) = present;
      ASSERT_EQ(replaced.find(set, line), slot);
      for (unsigned i = 0; i < kSectors; ++i) ASSERT_EQ(replaced.sector(slot, i).complete, dropped.sector(slot, i).complete);
    }
  }
}

}  // namespace
}  // namespace lacuna
