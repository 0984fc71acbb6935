// Replacement of lines of x, w and z in a buffer that cannot hold all live lines.
//
// The thesis does not cover vectors that do not fit. We use the clock algorithm, which approximates LRU with one bit per line:
// a hand cycles through the lines held. A line that was used since the hand last passed stays for another round; the first line
// that was not used is replaced. A hit costs one access to one byte. Host memory: 5 bytes per line, and 4 per line held.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

class LineCache {
 public:
  LineCache(Index lines, std::uint64_t capacity_bytes) : capacity_(capacity_bytes), state_(lines), slot_(lines) {}

  bool holds(Index line) const { return state_[line] != kAbsent; }
  std::uint64_t bytes() const { return bytes_; }

  /// Uses a line of `bytes` bytes. Returns true if it was already held; otherwise evicts lines until there is room, and holds
  /// it. `leaves(line)` is called for each evicted line and returns its size. No line may be larger than the capacity.
  template <typename Leaves>
  bool use(Index line, std::uint64_t bytes, Leaves leaves) {
    if (state_[line] != kAbsent) {
      state_[line] = kUsed;
      return true;
    }
    while (bytes_ + bytes > capacity_ && !held_.empty()) {
      const Index oldest = next_to_leave();
      drop(oldest, leaves(oldest));
    }
    bytes_ += bytes;
    state_[line] = kUsed;
    insert(line);
    return false;
  }

  /// Removes the line, which must be held.
  void drop(Index line, std::uint64_t bytes) {
    const Index slot = slot_[line];
    held_[slot] = held_.back();
    slot_[held_[slot]] = slot;
    held_.pop_back();
    state_[line] = kAbsent;
    bytes_ -= bytes;
  }

 private:
  static constexpr std::uint8_t kAbsent = 0, kHeld = 1, kUsed = 2;

  Index next_to_leave() {
    for (;; ++hand_) {
      if (hand_ >= held_.size()) hand_ = 0;
      std::uint8_t& state = state_[held_[hand_]];
      if (state == kHeld) return held_[hand_];
      state = kHeld;
    }
  }
  /// Inserts a line at the hand and advances the hand; the line that was in that position moves to the end.
  void insert(Index line) {
    held_.push_back(line);
    slot_[line] = static_cast<Index>(held_.size() - 1);
    if (hand_ + std::size_t{1} >= held_.size()) return;
    const Index moved = held_[hand_];
    held_.back() = moved;
    slot_[moved] = slot_[line];
    held_[hand_] = line;
    slot_[line] = hand_++;
  }

  std::uint64_t capacity_, bytes_ = 0;
  std::vector<std::uint8_t> state_;  ///< kAbsent, kHeld or kUsed, for each line
  std::vector<Index> slot_;          ///< index in held_ of each held line
  std::vector<Index> held_;          ///< lines held, in the order of the hand
  Index hand_ = 0;
};

}  // namespace lacuna::sida
