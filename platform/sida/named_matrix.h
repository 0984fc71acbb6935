// A sparse matrix by name: a file, or a kind that a generator makes.
#pragma once

#include <iosfwd>
#include <string>

#include "models/sida/matrix/matrix_market.h"

namespace lacuna {

/// A Matrix Market file, a prepared one, or KIND:NAME=VALUE,…. A name that is neither is taken for a kind unless it looks like
/// a file's. Warnings of the file go to `warnings`. Throws sida::MatrixError.
sida::ReadMatrix sida_matrix(const std::string& name, bool as_stored, std::ostream& warnings);

}  // namespace lacuna
