// The methods behind order_of(). Of a square matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Breadth first from vertices of small degree, neighbours by degree, then backwards (Cuthill and McKee 1969, George 1971).
std::vector<Index> reverse_cuthill_mckee(const SparseMatrix& matrix);

/// As many entries above the diagonal as a greedy choice finds (Eades, Lin and Smyth 1993).
std::vector<Index> towards_triangular(const SparseMatrix& matrix);

/// Vertices that share neighbours close to each other (Wei, Yu, Lu and Lin, SIGMOD '16), within a window of `window` vertices.
std::vector<Index> graph_order(const SparseMatrix& matrix, unsigned window);

/// The parts of a recursive bisection one after the other, by Scotch. Throws MatrixError for more entries than it takes.
std::vector<Index> by_partition(const SparseMatrix& matrix);

/// Vertices mapped onto a line so that edges are short, by Scotch. Takes minutes for graphs of 10^5 vertices without locality.
std::vector<Index> along_a_line(const SparseMatrix& matrix);

}  // namespace lacuna::sida
