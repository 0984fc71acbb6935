// Small random matrices with all patterns that products treat differently.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

/// A matrix with up to `most` rows and columns. `value` generates each entry's value.
template <class F>
SparseMatrix random_matrix(Draw& draw, Index most, bool square, F&& value) {
  enum Kind { kAny, kDenseColumn, kDenseRow, kDiagonal, kLower, kUpper, kEmptyLines, kFull, kEmpty, kKinds };
  const auto kind = static_cast<Kind>(draw.below(kKinds));
  SparseMatrix m;
  m.rows = draw.one_in(12) ? 1 : static_cast<Index>(1 + draw.below(most));
  m.columns = square || !draw.one_in(3) ? m.rows : static_cast<Index>(1 + draw.below(most));
  const std::uint64_t entries_per_line = 1 + draw.below(6);
  const Index dense_row = static_cast<Index>(draw.below(m.rows)), dense_column = static_cast<Index>(draw.below(m.columns));
  const auto exists = [&](Index r, Index c) {
    switch (kind) {
      case kDenseColumn:
        if (c == dense_column) return true;
        break;
      case kDenseRow:
        if (r == dense_row) return true;
        break;
      case kDiagonal:
        return r == c;
      case kLower:
        if (r < c) return false;
        break;
      case kUpper:
        if (r > c) return false;
        break;
      case kEmptyLines:
        if (r % 3 == 0 || c % 4 == 1) return false;
        break;
      case kFull:
        return true;
      case kEmpty:
        return false;
      case kAny:
      case kKinds:
        break;
    }
    return draw.below(m.rows) < entries_per_line;
  };
  for (Index c = 0; c < m.columns; ++c) {
    for (Index r = 0; r < m.rows; ++r) {
      if (!exists(r, c)) continue;
      m.indices.push_back(r);
      m.values.push_back(value());
    }
    m.offsets.push_back(m.indices.size());
  }
  return m;
}

}  // namespace lacuna::sida::test
