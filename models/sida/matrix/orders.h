// Orderings of a matrix's rows and columns. An ordering lists the old index for each new index; permuted() applies the
// ordering.
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

/// All orderings, sorted by name.
std::span<const OrderKind> order_kinds();

/// Returns the ordering called `name`, or reads an ordering from the file of that name, which has one number per line, counted
/// from 1. Throws MatrixError if the matrix is not square, if the file is invalid, and, with the nearest name, if `name` is
/// neither an ordering nor a file.
std::vector<Index> order_of(const SparseMatrix& matrix, std::string_view name);

}  // namespace lacuna::sida
