// A matrix in both orders, and the shape of a pass over it, for tests of the pipeline.
#pragma once

#include <string>
#include <utility>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/random.h"
#include "models/sida/matrix/sparse_matrix.h"
#include "models/sida/pipeline/pass_pipeline.h"

namespace lacuna::sida {

struct TestPass {
  SparseMatrix columns, rows;
  PassShape shape;

  explicit TestPass(SparseMatrix matrix) : columns(std::move(matrix)), rows(transposed(columns)) {
    shape.os = {columns.offsets, columns.indices};
    shape.is = {rows.offsets, rows.indices};
    shape.x_length = columns.rows;
    shape.y_length = shape.z_length = columns.columns;
    shape.finish.written_bytes = 8;
  }
  TestPass(const TestPass&) = delete;
  TestPass& operator=(const TestPass&) = delete;

  /// Sets the code of PageRank, which moves seven vectors: load code reads three, E-wise code reads two and writes one, finish
  /// code writes one.
  void make_pagerank() {
    shape.load = {.read_bytes = 24, .written_bytes = 0, .instructions = 4, .reductions = 0};
    shape.ewise = {.read_bytes = 16, .written_bytes = 8, .instructions = 8, .reductions = 1};
    shape.finish = {.read_bytes = 0, .written_bytes = 8, .instructions = 1, .reductions = 0};
  }
  void make_os_only() {
    shape.has_is = false;
    shape.is = {};
    shape.z_length = 0;
  }
  void make_pair() {
    shape.same_lines = true;
    shape.is = {};
    shape.z_length = shape.x_length;
  }
};

/// Matrices with corner cases: empty lines, one dense line, diagonals, triangles, one column.
inline SparseMatrix odd_matrix(Random& random) {
  Coordinates c;
  c.rows = c.columns = 1 + random.below(random.below(4) == 0 ? 3 : 60);
  const Index n = c.rows, kind = random.below(8);
  const Index entries = random.below(1 + 6 * n);
  for (Index e = 0; e < entries && kind != 2; ++e) {
    Index row = random.below(n), column = random.below(n);
    if (kind == 3 && row < column) std::swap(row, column);
    if (kind == 4 && row > column) std::swap(row, column);
    if (kind == 7) row = row / 4 * 4, column = column / 5 * 5;  // leaves many lines empty
    c.add(row, column);
  }
  const Index dense = random.below(n);
  for (Index i = 0; i < n; ++i) {
    if (kind == 2) c.add(i, i);
    if (kind == 5) c.add(i, dense);
    if (kind == 6) c.add(dense, i);
  }
  return by_columns(std::move(c));
}

}  // namespace lacuna::sida
