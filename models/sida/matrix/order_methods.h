// Implementations of the orderings that order_of() offers. Matrices must be square.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Breadth-first ordering from vertices of small degree, neighbours by ascending degree, reversed (Cuthill and McKee 1969,
/// George 1971).
std::vector<Index> reverse_cuthill_mckee(const SparseMatrix& matrix);

/// Greedily increases the number of entries above the diagonal (Eades, Lin and Smyth 1993).
std::vector<Index> towards_triangular(const SparseMatrix& matrix);

/// Places vertices with common neighbours near each other (Wei, Yu, Lu and Lin, SIGMOD '16), within a window of `window`
/// vertices.
std::vector<Index> graph_order(const SparseMatrix& matrix, unsigned window);

/// Orders vertices by their parts in a recursive bisection (Scotch). Throws MatrixError for more entries than Scotch supports.
std::vector<Index> by_partition(const SparseMatrix& matrix);

/// Maps vertices to a line with Scotch so that edges are short. Takes minutes for graphs of 10^5 vertices without locality.
std::vector<Index> along_a_line(const SparseMatrix& matrix);

}  // namespace lacuna::sida
