// Lines of x, w and z in a buffer that does not hold all that live: the line that was used longest ago leaves first.
//
// The thesis says nothing of vectors that do not fit; least recently used is ours. A use within the step of the last use does
// not count again. Memory: 12 bytes a line.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

class LineCache {
 public:
  LineCache(Index lines, std::uint64_t capacity_bytes)
      : capacity_(capacity_bytes), links_(lines + std::size_t{1}), used_(lines) {
    links_[lines] = {lines, lines};
  }

  bool holds(Index line) const { return used_[line] != 0; }
  std::uint64_t bytes() const { return bytes_; }

  /// A new step or a new sequence of uses begins.
  void advance() { ++now_; }

  /// The line is held afterwards. True if it was before; else others have left as far as its `bytes` needed room:
  /// `leaves(line)` is called for each and returns its bytes.
  template <typename Leaves>
  bool use(Index line, std::uint64_t bytes, Leaves leaves) {
    if (used_[line] == now_) return true;
    if (used_[line] != 0) {
      unlink(line);
      append(line);
      return true;
    }
    while (bytes_ + bytes > capacity_ && links_[end()].next != end()) {
      const Index oldest = links_[end()].next;
      drop(oldest, leaves(oldest));
    }
    bytes_ += bytes;
    append(line);
    return false;
  }

  /// The line is not held afterwards. It must be before.
  void drop(Index line, std::uint64_t bytes) {
    unlink(line);
    used_[line] = 0;
    bytes_ -= bytes;
  }

 private:
  struct Links {
    Index previous = 0, next = 0;
  };
  /// Behind the last line: the ends of the list.
  Index end() const { return static_cast<Index>(used_.size()); }
  void unlink(Index line) {
    links_[links_[line].previous].next = links_[line].next;
    links_[links_[line].next].previous = links_[line].previous;
  }
  void append(Index line) {
    links_[line] = {links_[end()].previous, end()};
    links_[links_[end()].previous].next = line;
    links_[end()].previous = line;
    used_[line] = now_;
  }

  std::uint64_t capacity_, bytes_ = 0;
  std::vector<Links> links_;
  std::vector<std::uint32_t> used_;  ///< when, of each line; 0: not held
  std::uint32_t now_ = 1;
};

}  // namespace lacuna::sida
