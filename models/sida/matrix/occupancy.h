// Occupancy of the accelerator's dual buffer when a matrix is read once for two products (Section 4.3.2 of the thesis, Table
// 4.1), and sizes of the matrix's layouts.
//
// Sub-tensors are T columns wide. The output-stationary core uses sub-tensor s in step s, the input-stationary core the rows of
// sub-tensor s in step s + 2: an entry (row, column) is loaded in step column / T and kept until the end of step row / T + 1.
// If column / T > row / T + 1, both cores use the entry in the same step, and it is not kept.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Entries in the buffer after each step s: those in columns below (s + 1) T and in rows from (s - 1) T on.
struct Occupancy {
  std::vector<std::uint64_t> steps;
  std::uint64_t entries = 0;  ///< number of entries of the matrix

  std::uint64_t peak() const;
  double mean() const;
  /// Peak in percent of the matrix's entries; 0 without entries.
  double peak_share() const;
  double mean_share() const;
};

/// The matrix must be square. `width`: number of columns T of a sub-tensor, at least 1.
Occupancy occupancy(const SparseMatrix& matrix, Index width);

/// Share of entries below the diagonal, in percent; 0 without entries.
double share_below_diagonal(const SparseMatrix& matrix);

/// Size in bytes of a matrix that is stored twice, by columns and by rows: in each order, an offset of 4 bytes (8 from 2^32
/// entries on) for each line and for the end, and a coordinate of 4 bytes and a value of `value_bytes` for each entry.
std::uint64_t dual_bytes(const SparseMatrix& matrix, unsigned value_bytes);

/// Number of blocks that have an entry, and size of the blocked layout.
struct Blocks {
  Index side = 0;
  std::uint64_t count = 0;
  /// Size if values are stored once: per entry two coordinates of one byte each and a value; per block, in each of the two
  /// orders of blocks, a coordinate and an offset of 4 bytes each; and, in each order, an offset of 4 bytes for each line of
  /// blocks and for the end.
  std::uint64_t bytes = 0;
};

/// `side`: number of rows and columns of a block, 1 to 256, as coordinates within a block have one byte. Throws MatrixError for
/// other values.
Blocks blocks(const SparseMatrix& matrix, Index side, unsigned value_bytes);

}  // namespace lacuna::sida
