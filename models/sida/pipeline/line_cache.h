// Lines of x, w and z in a buffer that does not hold all that live: which of them leaves for another.
//
// The thesis says nothing of vectors that do not fit. Ours is the clock rule, an approximation of least recently used with one
// bit a line: a hand goes round the lines that are held; a line that has been used since the hand came by stays for another
// round, the first that has not leaves, and the new line takes its place.
// One access to one byte for a use that finds its line. Memory: 5 bytes a line, and 4 for each that is held.
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

  /// The line is held afterwards. True if it was before; else others have left as far as its `bytes` needed room:
  /// `leaves(line)` is called for each and returns its bytes. No line is larger than the capacity.
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

  /// The line is not held afterwards. It must be before.
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
  /// At the hand, which moves on; the line that was there goes to the end.
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
  std::vector<std::uint8_t> state_;  ///< of each line
  std::vector<Index> slot_;          ///< of each line that is held: its place in held_
  std::vector<Index> held_;          ///< in the order of the hand
  Index hand_ = 0;
};

}  // namespace lacuna::sida
