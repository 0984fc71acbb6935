// Sparse matrices of the host: what is read or made, ordered, and laid out for the sparse dataflow accelerator.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna::sida {

/// A matrix, a file of one, or the description of one is wrong; what() says where and what is legal.
class MatrixError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Rows and columns are numbered from 0; there are 2^32 - 1 at most.
using Index = std::uint32_t;

/// Entries by coordinates, in any order; some may be at one place.
struct Coordinates {
  Index rows = 0, columns = 0;
  std::vector<Index> row, column;  ///< of each entry
  std::vector<double> values;      ///< of each entry; empty: of none, a pattern

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

/// By columns ("CSC"): rows ascend in each column, each place has one entry.
struct SparseMatrix {
  Index rows = 0, columns = 0;
  std::vector<std::uint64_t> offsets{0};  ///< of each column's first entry, and behind the last one
  std::vector<Index> indices;             ///< row of each entry
  std::vector<double> values;             ///< of each entry; empty: of none, a pattern

  std::uint64_t entries() const { return indices.size(); }
  bool is_pattern() const { return values.empty(); }
  bool is_square() const { return rows == columns; }
  std::span<const Index> column(Index c) const { return {indices.data() + offsets[c], indices.data() + offsets[c + 1]}; }
};

/// By columns. Entries at one place are added up, in the order of `entries`; `duplicates`, if not null, gets how many were
/// added to others. Throws MatrixError for coordinates outside of the matrix.
SparseMatrix by_columns(Coordinates entries, std::uint64_t* duplicates = nullptr);

/// Its columns are the rows of `matrix`: the same matrix by rows ("CSR"), or its transpose by columns.
SparseMatrix transposed(const SparseMatrix& matrix);

/// Rows and columns in another order, P A P^T: row and column i of the result are `order[i]` of the matrix. Throws MatrixError
/// unless the matrix is square and `order` has each number once.
SparseMatrix permuted(const SparseMatrix& matrix, std::span<const Index> order);

/// The pattern of A + A^T without the diagonal: the neighbours of each vertex in an undirected graph. Of a square matrix.
SparseMatrix neighbours(const SparseMatrix& matrix);

}  // namespace lacuna::sida
