// A sparse matrix by name: a file, or a kind of generated matrix.
#pragma once

#include <iosfwd>
#include <string>

#include "models/sida/matrix/matrix_market.h"

namespace lacuna {

/// Reads the Matrix Market file or prepared file `name`. If there is no such file, generates the matrix that `name` specifies
/// as KIND:NAME=VALUE,…, unless `name` looks like a file name, which is an error. Warnings about the file are written to
/// `warnings`. Throws sida::MatrixError.
sida::ReadMatrix sida_matrix(const std::string& name, bool as_stored, std::ostream& warnings);

}  // namespace lacuna
