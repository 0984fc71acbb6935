// Implementations of the orders of order_of(). Matrices must be square.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Breadth first from vertices of small degree, neighbours by degree, then backwards (Cuthill and McKee 1969, George 1971).
std::vector<Index> reverse_cuthill_mckee(const SparseMatrix& matrix);

/// Maximises entries above the diagonal by a greedy choice (Eades, Lin and Smyth 1993).
std::vector<Index> towards_triangular(const SparseMatrix& matrix);

/// Places vertices with common neighbours near each other (Wei, Yu, Lu and Lin, SIGMOD '16), within a window of `window`
/// vertices.
std::vector<Index> graph_order(const SparseMatrix& matrix, unsigned window);

/// Recursive bisection by Scotch; parts follow each other. Throws MatrixError if there are more entries than Scotch supports.
std::vector<Index> by_partition(const SparseMatrix& matrix);

/// Maps vertices to a line so that edges are short, by Scotch. Takes minutes for graphs of 10^5 vertices without locality.
std::vector<Index> along_a_line(const SparseMatrix& matrix);

}  // namespace lacuna::sida
