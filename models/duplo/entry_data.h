// Data of the entries of a load history buffer, as the loads that made the entries have brought them, for checks of hits. No
// hardware keeps them. Words of entries that have been released are reused, so their number follows that of the entries that a
// look-up could find: with duplo.release = retire, a small part of the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/duplo/load_history.h"

namespace lacuna {

class EntryData {
 public:
  /// Keeps the data of an entry that has just been made.
  void set(LoadHistory::Handle entry, std::span<const std::uint32_t> words, const LoadHistory& history) {
    if (of_entry_.size() <= entry) of_entry_.resize(std::size_t{entry} + 1, kNone);
    std::uint32_t& number = of_entry_[entry];
    // The handle of a released entry may still have a place.
    if (number == kNone || places_[number].entry != entry) number = take(history);
    Place& place = places_[number];
    place.entry = entry;
    place.generation = history.generation(entry);
    place.words.assign(words.begin(), words.end());
  }
  /// The data of an entry that the latest look-up could find.
  std::span<const std::uint32_t> of(LoadHistory::Handle entry) const { return places_[of_entry_[entry]].words; }
  void clear() { *this = {}; }
  /// Number of entries whose data are stored.
  std::size_t size() const { return places_.size() - free_.size(); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kFew = 16;
  struct Place {
    LoadHistory::Handle entry = LoadHistory::kNone;  ///< kNone: the place is free
    std::uint32_t generation = 0;
    std::vector<std::uint32_t> words;
  };

  /// Returns a free place. Before the places grow by half, those of released entries are freed.
  std::uint32_t take(const LoadHistory& history) {
    if (free_.empty() && places_.size() >= limit_) {
      for (std::uint32_t i = 0; i < places_.size(); ++i) {
        Place& place = places_[i];
        if (history.holds(place.entry, place.generation)) continue;
        place.entry = LoadHistory::kNone;
        free_.push_back(i);
      }
      limit_ = size() + size() / 2 + kFew;
    }
    if (free_.empty()) {
      places_.emplace_back();
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }

  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;      ///< numbers of free places
  std::vector<std::uint32_t> of_entry_;  ///< numbers of places, indexed by entry; valid while the place names the entry
  std::size_t limit_ = kFew;
};

}  // namespace lacuna
