#include "models/sida/matrix/sparse_matrix.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace lacuna::sida {
namespace {

/// Converts numbers of entries to offsets in place: before the call, element i + 1 is the number of entries of line i.
void count_up(std::vector<std::uint64_t>& offsets) { std::partial_sum(offsets.begin(), offsets.end(), offsets.begin()); }

/// Sorts the rows of a column with their values. Entries at the same position keep their order.
void sort_column(SparseMatrix& m, std::uint64_t begin, std::uint64_t end, std::vector<std::pair<Index, double>>& scratch) {
  const auto first = m.indices.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = m.indices.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::is_sorted(first, last)) return;
  if (m.is_pattern()) {
    std::sort(first, last);
    return;
  }
  scratch.clear();
  for (std::uint64_t i = begin; i < end; ++i) scratch.emplace_back(m.indices[i], m.values[i]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::uint64_t i = begin; i < end; ++i) std::tie(m.indices[i], m.values[i]) = scratch[i - begin];
}

/// Merges entries at the same position by adding their values. Returns the number of entries removed.
std::uint64_t merge_places(SparseMatrix& m) {
  std::uint64_t to = 0, from = 0;
  for (Index c = 0; c < m.columns; ++c) {
    const std::uint64_t begin = to, end = m.offsets[c + 1];
    m.offsets[c] = begin;
    for (; from < end; ++from) {
      if (to > begin && m.indices[to - 1] == m.indices[from]) {
        if (!m.is_pattern()) m.values[to - 1] += m.values[from];
        continue;
      }
      m.indices[to] = m.indices[from];
      if (!m.is_pattern()) m.values[to] = m.values[from];
      ++to;
    }
  }
  m.offsets[m.columns] = to;
  m.indices.resize(to);
  if (!m.is_pattern()) m.values.resize(to);
  return from - to;
}

}  // namespace

SparseMatrix by_columns(Coordinates entries, std::uint64_t* duplicates) {
  SparseMatrix m;
  m.rows = entries.rows;
  m.columns = entries.columns;
  const std::size_t count = entries.entries();
  if (entries.column.size() != count || (!entries.values.empty() && entries.values.size() != count))
    throw MatrixError("entries have rows, columns and values of different number");
  m.offsets.assign(std::size_t{m.columns} + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (entries.row[i] >= m.rows || entries.column[i] >= m.columns) {
      throw MatrixError("entry " + std::to_string(i) + " is at (" + std::to_string(entries.row[i]) + ", " +
                        std::to_string(entries.column[i]) + "), outside of " + std::to_string(m.rows) + " rows and " +
                        std::to_string(m.columns) + " columns");
    }
    ++m.offsets[entries.column[i] + 1];
  }
  count_up(m.offsets);
  std::vector<std::uint64_t> next(m.offsets.begin(), m.offsets.end() - 1);
  m.indices.resize(count);
  m.values.resize(entries.values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t at = next[entries.column[i]]++;
    m.indices[at] = entries.row[i];
    if (!m.is_pattern()) m.values[at] = entries.values[i];
  }
  entries = {};
  next = std::vector<std::uint64_t>();  // unlike {}, this frees its memory
  std::vector<std::pair<Index, double>> scratch;
  for (Index c = 0; c < m.columns; ++c) sort_column(m, m.offsets[c], m.offsets[c + 1], scratch);
  const std::uint64_t merged = merge_places(m);
  if (duplicates != nullptr) *duplicates = merged;
  return m;
}

SparseMatrix transposed_pattern(const SparseMatrix& matrix) {
  SparseMatrix t;
  t.rows = matrix.columns;
  t.columns = matrix.rows;
  t.offsets.assign(std::size_t{t.columns} + 1, 0);
  for (const Index r : matrix.indices) ++t.offsets[r + 1];
  count_up(t.offsets);
  std::vector<std::uint64_t> next(t.offsets.begin(), t.offsets.end() - 1);
  t.indices.resize(matrix.indices.size());
  for (Index c = 0; c < matrix.columns; ++c) {
    for (const Index r : matrix.column(c)) t.indices[next[r]++] = c;
  }
  return t;
}

SparseMatrix transposed(const SparseMatrix& matrix) {
  SparseMatrix t = transposed_pattern(matrix);
  if (matrix.is_pattern()) return t;
  t.values.resize(matrix.values.size());
  std::vector<std::uint64_t> next(t.offsets.begin(), t.offsets.end() - 1);
  for (std::uint64_t i = 0; i < matrix.indices.size(); ++i) t.values[next[matrix.indices[i]]++] = matrix.values[i];
  return t;
}

SparseMatrix permuted(const SparseMatrix& matrix, std::span<const Index> order) {
  if (!matrix.is_square()) {
    throw MatrixError("only a square matrix can be reordered: this one has " + std::to_string(matrix.rows) + " rows and " +
                      std::to_string(matrix.columns) + " columns");
  }
  if (order.size() != matrix.rows) {
    throw MatrixError("the order has " + std::to_string(order.size()) + " numbers, the matrix " + std::to_string(matrix.rows) +
                      " rows");
  }
  constexpr Index kUnseen = ~Index{0};
  std::vector<Index> place(order.size(), kUnseen);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= order.size())
      throw MatrixError("the order has number " + std::to_string(order[i]) + ", beyond the last row");
    if (place[order[i]] != kUnseen) throw MatrixError("the order has number " + std::to_string(order[i]) + " twice");
    place[order[i]] = static_cast<Index>(i);
  }
  SparseMatrix p;
  p.rows = p.columns = matrix.rows;
  p.offsets.reserve(order.size() + 1);
  p.indices.reserve(matrix.indices.size());
  p.values.reserve(matrix.values.size());
  std::vector<std::pair<Index, double>> scratch;
  for (const Index c : order) {
    const std::uint64_t begin = p.indices.size();
    for (std::uint64_t i = matrix.offsets[c]; i < matrix.offsets[c + 1]; ++i) {
      p.indices.push_back(place[matrix.indices[i]]);
      if (!matrix.is_pattern()) p.values.push_back(matrix.values[i]);
    }
    sort_column(p, begin, p.indices.size(), scratch);
    p.offsets.push_back(p.indices.size());
  }
  return p;
}

SparseMatrix neighbours(const SparseMatrix& matrix) {
  Coordinates both;
  both.rows = both.columns = matrix.rows;
  both.row.reserve(2 * matrix.entries());
  both.column.reserve(2 * matrix.entries());
  for (Index c = 0; c < matrix.columns; ++c) {
    for (const Index r : matrix.column(c)) {
      if (r == c) continue;
      both.add(r, c);
      both.add(c, r);
    }
  }
  return by_columns(std::move(both));
}

}  // namespace lacuna::sida
