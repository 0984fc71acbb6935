// A sparse matrix by name: a file, or a kind of generated matrix.
#pragma once

#include <iosfwd>
#include <string>

#include "models/sida/matrix/matrix_market.h"

namespace lacuna {

/// Reads a Matrix Market file or a prepared file, or generates KIND:NAME=VALUE,…. Other names are considered kinds unless they
/// look like file names. Warnings about the file are written to `warnings`. Throws sida::MatrixError.
sida::ReadMatrix sida_matrix(const std::string& name, bool as_stored, std::ostream& warnings);

}  // namespace lacuna
