// Random sparse matrices and graphs in compressed rows (CSR).
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/common/random.h"

namespace workload {

/// Row r has the entries [offsets[r], offsets[r + 1]) of `columns`, in ascending order. In a graph, nodes are rows and edges
/// are entries.
struct Csr {
  std::vector<unsigned> offsets, columns;

  std::size_t rows() const { return offsets.size() - 1; }
  std::size_t entries() const { return columns.size(); }
  std::size_t longest_row() const;
};

/// Returns a matrix with `entries` distinct entries in random rows and columns. Throws a UsageError if `entries` exceeds rows *
/// columns.
Csr random_csr(Random& random, std::size_t rows, std::size_t columns, std::size_t entries);
/// Returns a matrix with `degree` entries in each row, in random columns. Throws a UsageError if `degree` exceeds `columns`.
Csr random_regular_csr(Random& random, std::size_t rows, std::size_t columns, std::size_t degree);

/// Number of lanes that share a row, so that most lanes have work: 1, 4, 16 or 64.
unsigned lanes_for_rows(const Csr& matrix);

}  // namespace workload
