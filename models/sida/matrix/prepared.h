// Prepared matrices: binary files of matrices that have been read and ordered. They load a hundred times faster than Matrix
// Market files.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

// Format, little-endian: eight letters "LacunaSM"; version 1, and whether entries have values, in 32 bits each; rows and
// columns in 32 bits, number of entries in 64; offsets in 64 bits, rows of entries in 32, values in 64 (IEEE 754); FNV-1a hash
// of all preceding bytes in 64 bits.

/// Whether the file begins like a prepared matrix.
bool is_prepared(const std::filesystem::path& file);

/// Throws MatrixError if the file is incomplete, damaged or of another version.
SparseMatrix read_prepared(const std::filesystem::path& file);
void write_prepared(const SparseMatrix& matrix, std::ostream& out);

}  // namespace lacuna::sida
