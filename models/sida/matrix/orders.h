// Orders of a matrix's rows and columns. An order lists the old numbers by new place; permuted() applies it.
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

/// All orders, by name.
std::span<const OrderKind> order_kinds();

/// The order of that name, or that of a file with one number from 1 a line. Throws MatrixError: of what is neither a name nor a
/// file, with the nearest name; of a matrix that is not square.
std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name);

}  // namespace lacuna::sida
