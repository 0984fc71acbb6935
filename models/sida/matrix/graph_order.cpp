#include <cmath>

#include "models/sida/matrix/bucket_lists.h"
#include "models/sida/matrix/order_methods.h"

namespace lacuna::sida {
namespace {

/// Repeatedly chooses the vertex with the highest score relative to the window, which holds the last vertices chosen. A vertex
/// scores one point for each entry that connects it with a vertex of the window, and one for each row that contains both
/// vertices. Rows with more entries than the square root of the number of vertices give no points: they would contribute almost
/// equally to all vertices, and dominate the run time.
class GraphOrder {
 public:
  GraphOrder(const SparseMatrix& matrix, unsigned window)
      : columns_(matrix),
        rows_(transposed(matrix)),
        n_(matrix.columns),
        window_(window),
        longest_(static_cast<std::uint64_t>(std::sqrt(n_)) + 1),
        vertices_(n_) {}

  std::vector<Index> order() {
    std::vector<Index> result;
    result.reserve(n_);
    // Insert in reverse order, so that the lowest vertex is chosen if all scores are equal.
    for (Index v = n_; v-- > 0;) vertices_.insert(v, 0);
    Index first = 0;
    for (Index v = 1; v < n_; ++v) {
      if (columns_.column(v).size() > columns_.column(first).size()) first = v;
    }
    while (result.size() < n_) {
      const Index v = result.empty() ? first : vertices_.front(vertices_.greatest());
      vertices_.remove(v);
      result.push_back(v);
      give_points(v, 1);
      if (result.size() > window_) give_points(result[result.size() - 1 - window_], -1);
    }
    return result;
  }

 private:
  void give_points(Index v, int points) {
    for (const Index column : rows_.column(v)) give(column, points);
    for (const Index row : columns_.column(v)) {
      give(row, points);
      const auto siblings = rows_.column(row);
      if (siblings.size() > longest_) continue;
      for (const Index sibling : siblings) give(sibling, points);
    }
  }
  void give(Index v, int points) {
    if (vertices_.contains(v)) vertices_.move(v, vertices_.key(v) + static_cast<std::size_t>(points));
  }

  const SparseMatrix& columns_;
  const SparseMatrix rows_;
  const Index n_;
  const unsigned window_;
  const std::uint64_t longest_;
  BucketLists vertices_;  ///< vertices not chosen yet, by score
};

}  // namespace

std::vector<Index> graph_order(const SparseMatrix& matrix, unsigned window) { return GraphOrder(matrix, window).order(); }

}  // namespace lacuna::sida
