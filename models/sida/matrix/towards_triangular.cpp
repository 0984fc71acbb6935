#include <algorithm>
#include <span>

#include "models/sida/matrix/bucket_lists.h"
#include "models/sida/matrix/order_methods.h"

namespace lacuna::sida {
namespace {

/// An entry (row, column) is above the diagonal if its row precedes its column in the order. Among the remaining vertices,
/// those without entries in their row are placed last, and those without entries in their column first; otherwise the next
/// vertex has the greatest excess of entries in its row over entries in its column.
class TowardsTriangular {
 public:
  explicit TowardsTriangular(const SparseMatrix& matrix)
      : columns_(matrix), rows_(transposed(matrix)), n_(matrix.columns), in_row_(n_), in_column_(n_), vertices_(n_) {
    for (Index v = 0; v < n_; ++v) {
      in_row_[v] = count_without_diagonal(rows_.column(v), v);
      in_column_[v] = count_without_diagonal(columns_.column(v), v);
      most_ = std::max(most_, in_column_[v]);
    }
    for (Index v = n_; v-- > 0;) vertices_.insert(v, key(v));
  }

  std::vector<Index> order() {
    std::vector<Index> result(n_);
    std::size_t front = 0, back = n_;
    while (front < back) {
      if (const Index last = vertices_.front(kLast); last != BucketLists::kNone) {
        take(last, result[--back]);
      } else if (const Index first = vertices_.front(kFirst); first != BucketLists::kNone) {
        take(first, result[front++]);
      } else {
        take(vertices_.front(vertices_.greatest()), result[front++]);
      }
    }
    return result;
  }

 private:
  static constexpr std::size_t kLast = 0, kFirst = 1;

  static Index count_without_diagonal(std::span<const Index> entries, Index v) {
    return static_cast<Index>(entries.size()) - (std::binary_search(entries.begin(), entries.end(), v) ? 1 : 0);
  }

  /// Key of a vertex: kLast without entries in its row, otherwise kFirst without entries in its column, otherwise a number that
  /// grows with the excess of entries in the row over entries in the column.
  std::size_t key(Index v) const {
    if (in_row_[v] == 0) return kLast;
    if (in_column_[v] == 0) return kFirst;
    return std::size_t{2} + most_ + in_row_[v] - in_column_[v];
  }
  void take(Index v, Index& place) {
    place = v;
    vertices_.remove(v);
    for (const Index column : rows_.column(v)) lessen(column, in_column_);
    for (const Index row : columns_.column(v)) lessen(row, in_row_);
  }
  void lessen(Index v, std::vector<Index>& count) {
    if (!vertices_.contains(v)) return;
    --count[v];
    vertices_.move(v, key(v));
  }

  const SparseMatrix& columns_;
  const SparseMatrix rows_;
  const Index n_;
  std::vector<Index> in_row_, in_column_;  ///< entries of each vertex's row and column at unplaced vertices
  Index most_ = 0;                         ///< maximum number of entries of a column
  BucketLists vertices_;                   ///< vertices that have not been placed
};

}  // namespace

std::vector<Index> towards_triangular(const SparseMatrix& matrix) { return TowardsTriangular(matrix).order(); }

}  // namespace lacuna::sida
