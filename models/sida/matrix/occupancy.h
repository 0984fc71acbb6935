// What the dual buffer of the accelerator has to hold when a matrix is read once for two products (Chapter 4.3.2 of the
// thesis, Table 4.1), and what its layouts take.
//
// Sub-tensors are T columns wide. The output-stationary core uses sub-tensor s in step s, the input-stationary core the rows
// of sub-tensor s in step s + 2: an entry (row, column) comes in step column / T and has been used by both after step
// row / T + 1. Above the diagonal both use it in one step, and nothing is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Entries in the buffer after each step: those of columns below (s + 1) T in rows from (s - 1) T on.
struct Occupancy {
  std::vector<std::uint64_t> steps;
  std::uint64_t entries = 0;  ///< of the matrix

  std::uint64_t peak() const;
  double mean() const;
  /// In percent of the matrix's entries; 0 without any.
  double peak_share() const;
  double mean_share() const;
};

/// Of a square matrix. `width`: columns of a sub-tensor, T, at least 1.
Occupancy occupancy(const SparseMatrix& matrix, Index width);

/// Share of the entries below the diagonal, in percent; 0 without any.
double share_below_diagonal(const SparseMatrix& matrix);

/// Bytes of a matrix that is stored twice, by columns and by rows: offsets of 4 bytes (8 from 2^32 entries on) for each column
/// and row, and for each entry twice a coordinate of 4 bytes and a value of `value_bytes`.
std::uint64_t dual_bytes(const SparseMatrix& matrix, unsigned value_bytes);

/// Blocks of a matrix that have an entry.
struct Blocks {
  Index side = 0;
  std::uint64_t count = 0;
  /// Bytes when values are stored once: two coordinates of one byte and a value for each entry, and for each block twice, by
  /// columns and by rows of blocks, a coordinate and an offset of 4 bytes, behind offsets of 4 bytes for each column and row of
  /// blocks.
  std::uint64_t bytes = 0;
};

/// `side`: 1 to 256, as coordinates within a block have one byte. Throws MatrixError for others.
Blocks blocks(const SparseMatrix& matrix, Index side, unsigned value_bytes);

}  // namespace lacuna::sida
