#include "models/sida/matrix/orders.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <string>

#include "models/sida/matrix/line_reader.h"
#include "models/sida/matrix/names.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

constexpr OrderKind kOrders[]{
    {"natural", "as it is"},
    {"random", "at random"},
    {"rcm", "reverse Cuthill-McKee (1969, George 1971): small bandwidth, for meshes and roads"},
    {"triangular", "as many entries above the diagonal as a greedy choice finds (Eades, Lin, Smyth 1993), for directed graphs"},
};

/// Breadth first from vertices of small degree, neighbours by degree, then backwards. Each part begins at a vertex that is far
/// from others: the last one of a walk from the vertex of the smallest degree, repeated while it gets deeper.
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

  /// Appends the part of the graph that `start` is in, breadth first. Returns where its last level begins.
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
    // Each round walks deeper; a few are enough in practice (George and Liu, 1979).
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

/// An entry (row, column) is above the diagonal if its row comes first. Vertices without entries in columns to come are taken
/// last, those without entries in rows to come first; else the one with the most of its entries in its row is taken next.
class TowardsTriangular {
 public:
  explicit TowardsTriangular(const SparseMatrix& matrix)
      : columns_(matrix),
        rows_(transposed(matrix)),
        n_(matrix.columns),
        in_row_(n_),
        in_column_(n_),
        next_(n_),
        previous_(n_),
        list_(n_, kTaken) {
    for (Index v = 0; v < n_; ++v) {
      in_row_[v] = count_without_diagonal(rows_.column(v), v);
      in_column_[v] = count_without_diagonal(columns_.column(v), v);
      most_ = std::max({most_, in_row_[v], in_column_[v]});
    }
    // Lists by (entries in the row - entries in the column), and one each of vertices without one of them.
    heads_.assign(2 * std::size_t{most_} + 3, kNone);
    for (Index v = n_; v-- > 0;) insert(v);
  }

  std::vector<Index> order() {
    std::vector<Index> result(n_);
    std::size_t front = 0, back = n_;
    while (front < back) {
      if (heads_[kLast] != kNone) {
        take(heads_[kLast], result[--back]);
      } else if (heads_[kFirst] != kNone) {
        take(heads_[kFirst], result[front++]);
      } else {
        while (heads_[greatest_] == kNone) --greatest_;
        take(heads_[greatest_], result[front++]);
      }
    }
    return result;
  }

 private:
  static constexpr Index kNone = ~Index{0};
  static constexpr std::size_t kLast = 0, kFirst = 1, kTaken = ~std::size_t{0};

  static Index count_without_diagonal(std::span<const Index> entries, Index v) {
    return static_cast<Index>(entries.size()) - (std::binary_search(entries.begin(), entries.end(), v) ? 1 : 0);
  }

  std::size_t list_of(Index v) const {
    if (in_row_[v] == 0) return kLast;
    if (in_column_[v] == 0) return kFirst;
    return std::size_t{2} + most_ + in_row_[v] - in_column_[v];
  }
  void insert(Index v) {
    const std::size_t list = list_[v] = list_of(v);
    next_[v] = heads_[list];
    previous_[v] = kNone;
    if (heads_[list] != kNone) previous_[heads_[list]] = v;
    heads_[list] = v;
    greatest_ = std::max(greatest_, list);
  }
  void remove(Index v) {
    if (next_[v] != kNone) previous_[next_[v]] = previous_[v];
    (previous_[v] == kNone ? heads_[list_[v]] : next_[previous_[v]]) = next_[v];
    list_[v] = kTaken;
  }
  void take(Index v, Index& place) {
    place = v;
    remove(v);
    for (const Index column : rows_.column(v)) lessen(column, in_column_);
    for (const Index row : columns_.column(v)) lessen(row, in_row_);
  }
  void lessen(Index v, std::vector<Index>& count) {
    if (list_[v] == kTaken) return;
    remove(v);
    --count[v];
    insert(v);
  }

  const SparseMatrix& columns_;
  const SparseMatrix rows_;
  const Index n_;
  std::vector<Index> in_row_, in_column_;  ///< of vertices that have not been taken
  std::vector<Index> next_, previous_;
  std::vector<std::size_t> list_;
  std::vector<Index> heads_;
  Index most_ = 0;
  std::size_t greatest_ = 0;  ///< no list beyond it has a vertex
};

std::vector<Index> order_in_file(const std::filesystem::path& file, Index rows) {
  LineReader lines(file);
  std::vector<Index> order;
  while (const auto line = lines.next()) {
    if (line->empty() || line->front() == '%') continue;
    Index number = 0;
    const auto [end, problem] = std::from_chars(line->data(), line->data() + line->size(), number);
    if (problem != std::errc() || end != line->data() + line->size() || number == 0)
      lines.fail("a line of an order is the number of a row, from 1");
    order.push_back(number - 1);
  }
  if (order.size() != rows) {
    throw MatrixError(file.string() + ": the order has " + std::to_string(order.size()) + " numbers, the matrix " +
                      std::to_string(rows) + " rows");
  }
  return order;
}

}  // namespace

std::span<const OrderKind> order_kinds() { return kOrders; }

std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name, std::uint64_t seed) {
  if (!matrix.is_square()) throw MatrixError("only a square matrix can be reordered");
  if (name == "natural") {
    std::vector<Index> order(matrix.columns);
    std::iota(order.begin(), order.end(), Index{0});
    return order;
  }
  if (name == "random") return Random(seed).order(matrix.columns);
  if (name == "rcm") return CuthillMcKee(matrix).order();
  if (name == "triangular") return TowardsTriangular(matrix).order();
  std::error_code problem;
  if (std::filesystem::exists(std::filesystem::path(name), problem))
    return order_in_file(std::filesystem::path(name), matrix.rows);
  std::vector<std::string> names;
  for (const OrderKind& order : kOrders) names.emplace_back(order.name);
  throw MatrixError("no order and no file '" + std::string(name) + "'" + nearest_or_all(names, std::string(name)));
}

}  // namespace lacuna::sida
