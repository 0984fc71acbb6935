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

/// Returns the order called `name`, or reads it from the file of that name, which has one number per line, counted from 1.
/// Throws MatrixError, with the nearest name, if `name` is neither an order nor a file, and if the matrix is not square.
std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name);

}  // namespace lacuna::sida
