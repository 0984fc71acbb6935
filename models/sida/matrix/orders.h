// Orders of a matrix' rows and columns. An order lists the old index for each new index; permuted() applies it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

struct OrderKind {
  const char* name;
  const char* meaning;
  std::vector<Index> (*make)(const SparseMatrix& matrix);
};

/// All orders, sorted by name.
std::span<const OrderKind> order_kinds();

/// The order of that name, or one from a file with one number, counted from 1, per line. Throws MatrixError if `name` is
/// neither, with the nearest name, and if the matrix is not square.
std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name);

}  // namespace lacuna::sida
