#include "models/duplo/entry_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lacuna {
namespace {

LoadTag tag_of(std::uint32_t element) {
  return {.convolution = 0, .tile = {.form = {}, .first = {.image = 0, .element = element}}};
}

std::array<std::uint32_t, 4> words_of(std::uint32_t element) { return {element, element + 1, ~element, element * 3}; }

bool holds(const EntryData& data, LoadHistory::Handle entry, std::uint32_t element) {
  return std::ranges::equal(data.of(entry), words_of(element));
}

// Handles of released entries are reused in another order than places of data.
TEST(EntryData, DataStayWithTheirEntries) {
  for (const HistoryKeep keep : {HistoryKeep::until_retired, HistoryKeep::until_overwritten, HistoryKeep::always}) {
    for (const unsigned entries : {0U, 64U}) {
      LoadHistory history({.entries = entries, .ways = 1, .hash = HistoryHash::low, .keep = keep});
      EntryData data;
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const Tick now{i * 10};
        const std::uint32_t element = i * 37 % 101;
        if (const auto entry = history.find(tag_of(element), 0, now); entry != LoadHistory::kNone) {
          ASSERT_TRUE(holds(data, entry, element)) << "look-up " << i;
          continue;
        }
        const auto pair = static_cast<std::uint16_t>(i % 50);
        history.overwrite(0, pair, now);
        const auto entry = history.allocate(tag_of(element), 0, {.simd = 0, .first = pair});
        data.set(entry, words_of(element), history);
        history.retire(entry, history.generation(entry), Tick{now.ps + i % 7 * 100});
      }
    }
  }
}

// The number of stored data follows that of the entries in use, not that of the buffer.
TEST(EntryData, DataOfReleasedEntriesAreReused) {
  LoadHistory history({.entries = 1024, .ways = 1, .hash = HistoryHash::low, .keep = HistoryKeep::until_retired});
  EntryData data;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    const Tick now{i * 10};
    ASSERT_EQ(history.find(tag_of(i), 0, now), LoadHistory::kNone);
    const auto entry = history.allocate(tag_of(i), 0, {.simd = 0, .first = 0});
    data.set(entry, words_of(i), history);
    history.retire(entry, history.generation(entry), Tick{now.ps + 80});
    EXPECT_LE(data.size(), 32U);
  }
}

}  // namespace
}  // namespace lacuna
