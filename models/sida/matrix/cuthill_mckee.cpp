#include <algorithm>
#include <numeric>

#include "models/sida/matrix/order_methods.h"

namespace lacuna::sida {
namespace {

/// Each component of the graph starts at a peripheral vertex: a breadth-first walk from the vertex of smallest degree ends at
/// such a vertex, and further walks start there as long as the number of levels grows.
class CuthillMcKee {
 public:
  explicit CuthillMcKee(const SparseMatrix& matrix) : graph_(neighbours(matrix)), level_(graph_.columns, kUnseen) {}

  std::vector<Index> order() {
    const Index n = graph_.columns;
    std::vector<Index> by_degree(n);
    std::iota(by_degree.begin(), by_degree.end(), Index{0});
    std::stable_sort(by_degree.begin(), by_degree.end(), [this](Index a, Index b) { return degree(a) < degree(b); });
    std::vector<Index> result;
    result.reserve(n);
    for (const Index start : by_degree) {
      if (level_[start] != kUnseen) continue;
      walk(far_from(start), result);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  static constexpr Index kUnseen = ~Index{0};

  std::uint64_t degree(Index v) const { return graph_.offsets[v + 1] - graph_.offsets[v]; }

  /// Appends the component of `start` to `to`, breadth first. Returns the position in `to` of the last level.
  std::size_t walk(Index start, std::vector<Index>& to) {
    std::size_t next = to.size(), last_level = next;
    to.push_back(start);
    level_[start] = 0;
    for (; next < to.size(); ++next) {
      const Index v = to[next];
      if (level_[v] != level_[to[last_level]]) last_level = next;
      const std::size_t first = to.size();
      for (const Index neighbour : graph_.column(v)) {
        if (level_[neighbour] != kUnseen) continue;
        level_[neighbour] = level_[v] + 1;
        to.push_back(neighbour);
      }
      std::stable_sort(to.begin() + static_cast<std::ptrdiff_t>(first), to.end(),
                       [this](Index a, Index b) { return degree(a) < degree(b); });
    }
    return last_level;
  }

  Index far_from(Index start) {
    Index depth = 0;
    // The number of levels grows until the last round; a few rounds suffice in practice (George and Liu, 1979).
    constexpr unsigned kRounds = 8;
    for (unsigned round = 0; round < kRounds; ++round) {
      part_.clear();
      const std::size_t last = walk(start, part_);
      const Index reached = level_[part_.back()];
      for (const Index v : part_) level_[v] = kUnseen;
      if (round > 0 && reached <= depth) break;
      depth = reached;
      start = *std::min_element(part_.begin() + static_cast<std::ptrdiff_t>(last), part_.end(),
                                [this](Index a, Index b) { return degree(a) < degree(b); });
    }
    return start;
  }

  const SparseMatrix graph_;
  std::vector<Index> level_;
  std::vector<Index> part_;
};

}  // namespace

std::vector<Index> reverse_cuthill_mckee(const SparseMatrix& matrix) { return CuthillMcKee(matrix).order(); }

}  // namespace lacuna::sida
