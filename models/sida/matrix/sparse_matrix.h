// Sparse matrices in host memory: read or generated, ordered, and laid out for the sparse dataflow accelerator.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna::sida {

/// Thrown if a matrix, its file or its description is invalid; what() states the location and the valid values.
class MatrixError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Index of a row or column, from 0. A matrix has at most 2^32 - 1 rows and at most 2^32 - 1 columns.
using Index = std::uint32_t;

/// Entries by coordinates, in any order; several entries may have the same position.
struct Coordinates {
  Index rows = 0, columns = 0;
  std::vector<Index> row, column;  ///< position of each entry
  std::vector<double> values;      ///< value of each entry; empty: a pattern without values

  std::size_t entries() const { return row.size(); }
  void add(Index r, Index c) {
    row.push_back(r);
    column.push_back(c);
  }
  void add(Index r, Index c, double value) {
    add(r, c);
    values.push_back(value);
  }
};

/// Entries by columns ("CSC"): rows ascend in each column, and each position has at most one entry.
struct SparseMatrix {
  Index rows = 0, columns = 0;
  std::vector<std::uint64_t> offsets{0};  ///< first entry of each column, followed by the number of entries
  std::vector<Index> indices;             ///< row of each entry
  std::vector<double> values;             ///< value of each entry; empty: a pattern without values

  std::uint64_t entries() const { return indices.size(); }
  bool is_pattern() const { return values.empty(); }
  bool is_square() const { return rows == columns; }
  std::span<const Index> column(Index c) const { return {indices.data() + offsets[c], indices.data() + offsets[c + 1]}; }
};

/// Sorts entries by columns. Entries at the same position are added in the order of `entries`; `duplicates`, if not null,
/// receives the number of entries removed. Throws MatrixError for coordinates outside of the matrix.
SparseMatrix by_columns(Coordinates entries, std::uint64_t* duplicates = nullptr);

/// The transpose: its columns are the rows of `matrix`, so it also represents `matrix` by rows ("CSR").
SparseMatrix transposed(const SparseMatrix& matrix);
/// The transpose without values.
SparseMatrix transposed_pattern(const SparseMatrix& matrix);

/// The matrix with permuted rows and columns, P A P^T: row and column i of the result are row and column order[i] of `matrix`.
/// Throws MatrixError unless the matrix is square and `order` is a permutation.
SparseMatrix permuted(const SparseMatrix& matrix, std::span<const Index> order);

/// The pattern of A + A^T without the diagonal: the neighbours of each vertex in an undirected graph. The matrix must be
/// square.
SparseMatrix neighbours(const SparseMatrix& matrix);

}  // namespace lacuna::sida
