// Finds entries of a load history buffer whose registers hold given data, regardless of their tags, to measure how much of the
// loaded data repeats without being detected by an ID. For statistics only; no hardware compares data.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "models/duplo/load_history.h"

namespace lacuna {

class EqualData {
 public:
  struct Entry {
    LoadHistory::Handle handle = LoadHistory::kNone;
    std::uint32_t generation = 0;
  };

  /// The last entry that was made with data of the given digest; its handle is kNone if there is none. The entry may have been
  /// released, or hold other data.
  Entry find(std::uint64_t digest) const {
    const auto known = last_.find(digest);
    return known == last_.end() ? Entry{} : known->second;
  }
  void add(std::uint64_t digest, Entry entry, const LoadHistory& history) {
    last_[digest] = entry;
    if (last_.size() < 2 * kept_ + kFew) return;
    std::erase_if(last_, [&](const auto& one) { return !history.holds(one.second.handle, one.second.generation); });
    kept_ = last_.size();
  }
  void clear() { last_.clear(), kept_ = 0; }

  static std::uint64_t digest(std::span<const std::uint32_t> words) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t all = words.size();
    for (const std::uint32_t word : words) all = (all ^ word) * kOdd ^ all >> 29;
    return all;
  }

 private:
  static constexpr std::size_t kFew = 64;
  std::unordered_map<std::uint64_t, Entry> last_;
  std::size_t kept_ = 0;  ///< number of entries in last_ after released entries were last erased
};

}  // namespace lacuna
