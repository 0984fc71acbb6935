// Tags, states and replacement order of a set-associative cache, in flat arrays. A line has one tag and one or more sectors,
// which are filled and become dirty each for itself.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cache/replacement.h"
#include "models/common/units.h"

namespace lacuna {

/// Lines are named by their number (address / line size); the caller chooses the set.
class TagArray {
 public:
  using Slot = std::uint32_t;  // set * ways + way
  static constexpr Slot kNone = ~Slot{0};
  static constexpr std::uint32_t kNoFill = ~std::uint32_t{0};

  struct Sector {
    Tick requested{};       ///< when the miss was found that the pending or last fill is for; it may have left later
    Tick ready{};           ///< when it arrived
    Tick locked{};          ///< until when it was filled or written last; its way is not free before
    bool complete = false;  ///< all bytes are here, not only the dirty ones
    std::uint32_t pending =
        kNoFill;              ///< of a cache that answers later: the fill that is under way, ready and locked are unknown
    std::uint64_t dirty = 0;  ///< bytes that downstream does not have: bit i = byte i of the sector
  };

  TagArray(std::uint32_t sets, unsigned ways, unsigned sectors = 1, ReplacementPolicy policy = ReplacementPolicy::lru,
           std::uint64_t seed = 0);

  std::uint32_t sets() const { return sets_; }
  std::uint32_t slots() const { return sets_ * ways_; }
  unsigned ways() const { return ways_; }
  unsigned sectors() const { return sectors_count_; }

  /// The slot of a line that is present, or kNone. Does not change the replacement order.
  Slot find(std::uint32_t set, std::uint64_t line) const {
    const Slot first = set * ways_;
    if (ways_ >= kMany) return find_among_many(first, line);
    for (Slot slot = first; slot < first + ways_; ++slot) {
      if (tags_[slot] == line) return slot;
    }
    return kNone;
  }
  /// A hint for the host: the set will be looked up, and perhaps changed.
  void prefetch(std::uint32_t set) const {
    const std::size_t first = std::size_t{set} * ways_;
    for (unsigned way = 0; way < ways_; way += kPerHostLine) __builtin_prefetch(&tags_[first + way], 1);
    replacement_.prefetch(set);
    // Which sector is not known: all of a set of few ways.
    if (ways_ * sectors_count_ > kPerHostLine) return;
    for (unsigned sector = 0; sector < ways_ * sectors_count_; sector += 2)
      __builtin_prefetch(&sectors_[first * sectors_count_ + sector], 1);
  }
  /// An empty slot of the set, or the one that gives way.
  Slot victim(std::uint32_t set);
  /// Of two slots of a full set, neither of them the victim: whether one gives way before the other. Never, where the policy
  /// does not order them.
  bool goes_before(Slot slot, Slot other) const { return replacement_.goes_before(slot / ways_, slot % ways_, other % ways_); }
  /// Tells the replacement policy of a use.
  void touch(Slot slot) { replacement_.touch(slot / ways_, slot % ways_); }

  bool valid(Slot slot) const { return tags_[slot] != kEmpty; }
  std::uint64_t tag(Slot slot) const { return tags_[slot]; }
  Sector& sector(Slot slot, unsigned index) { return sectors_[std::size_t{slot} * sectors_count_ + index]; }
  const Sector& sector(Slot slot, unsigned index) const { return sectors_[std::size_t{slot} * sectors_count_ + index]; }
  /// Puts a line without any bytes into an empty slot.
  void install(Slot slot, std::uint64_t line) {
    tags_[slot] = line;
    --empty_;
    used_ = true;
    touch(slot);
  }
  void drop(Slot slot);
  /// Costs nothing when nothing was installed since the last time: every kernel's start invalidates every first-level cache.
  void drop_all();

  void mark_dirty(Sector& sector, std::uint64_t bytes) {
    dirty_sectors_ += sector.dirty == 0 && bytes != 0 ? 1 : 0;
    sector.dirty |= bytes;
  }
  void clean(Sector& sector) {
    dirty_sectors_ -= sector.dirty != 0 ? 1 : 0;
    sector.dirty = 0;
  }
  std::uint32_t dirty_sectors() const { return dirty_sectors_; }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr unsigned kPerHostLine = 8;  // tags in 64 bytes
  static constexpr unsigned kMany = 8;
  Slot find_among_many(Slot first, std::uint64_t line) const;

  std::uint32_t sets_;
  unsigned ways_;
  unsigned sectors_count_;
  std::vector<std::uint64_t> tags_;  // line numbers
  std::vector<Sector> sectors_;
  Replacement replacement_;
  std::uint32_t dirty_sectors_ = 0;
  std::uint32_t empty_;  ///< slots
  bool used_ = false;    ///< a line was installed since drop_all()
};

}  // namespace lacuna
