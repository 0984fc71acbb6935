// Tags, states and replacement order of a set-associative cache, in flat arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/common/units.h"

namespace lacuna {

/// Lines are named by their number (address / line size); the caller chooses the set.
class TagArray {
 public:
  using Slot = std::uint32_t;  // set * ways + way
  static constexpr Slot kNone = ~Slot{0};

  struct Line {
    Tick requested{};       ///< when the pending or last fill left
    Tick ready{};           ///< when it arrived
    bool complete = false;  ///< all bytes are here, not only the dirty ones
  };

  TagArray(std::uint32_t sets, unsigned ways);

  std::uint32_t sets() const { return sets_; }
  std::uint32_t slots() const { return sets_ * ways_; }

  /// The slot of a line that is present, or kNone. Does not change the replacement order.
  Slot find(std::uint32_t set, std::uint64_t line) const {
    const Slot first = set * ways_;
    for (Slot slot = first; slot < first + ways_; ++slot) {
      if (tags_[slot] == line) return slot;
    }
    return kNone;
  }
  /// An empty slot of the set, or the least recently used one.
  Slot victim(std::uint32_t set) const;
  /// Makes a slot the most recently used of its set.
  void touch(Slot slot) { used_[slot] = ++clock_; }

  bool valid(Slot slot) const { return tags_[slot] != kEmpty; }
  std::uint64_t tag(Slot slot) const { return tags_[slot]; }
  Line& line(Slot slot) { return lines_[slot]; }
  const Line& line(Slot slot) const { return lines_[slot]; }
  /// Puts a clean line into an empty slot.
  void install(Slot slot, std::uint64_t line, const Line& state) {
    tags_[slot] = line;
    lines_[slot] = state;
    touch(slot);
  }
  void drop(Slot slot) {
    clean(slot);
    tags_[slot] = kEmpty;
    lines_[slot] = {};
    used_[slot] = 0;
  }
  void drop_all();

  /// Bytes of the line that downstream does not have: bit i = byte i.
  std::uint64_t dirty(Slot slot) const { return dirty_[slot]; }
  void mark_dirty(Slot slot, std::uint64_t bytes) {
    dirty_lines_ += dirty_[slot] == 0 && bytes != 0 ? 1 : 0;
    dirty_[slot] |= bytes;
  }
  void clean(Slot slot) {
    dirty_lines_ -= dirty_[slot] != 0 ? 1 : 0;
    dirty_[slot] = 0;
  }
  std::uint32_t dirty_lines() const { return dirty_lines_; }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  std::uint32_t sets_;
  unsigned ways_;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> tags_;  // line numbers
  std::vector<std::uint64_t> used_;  // 0 = empty
  std::vector<std::uint64_t> dirty_;
  std::vector<Line> lines_;
  std::uint32_t dirty_lines_ = 0;
};

}  // namespace lacuna
