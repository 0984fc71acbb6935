// Matrices that have been read and ordered, as they are in memory: loading one takes a hundredth of the time of its Matrix
// Market file.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

// Little-endian: eight letters "LacunaSM", version 1 and whether entries have values in 32 bits each, rows and columns in 32,
// entries in 64, offsets in 64, rows of entries in 32, values in 64 bits as IEEE 754 has them, and the FNV-1a hash of all of it
// in 64.

/// True if the file begins as a prepared matrix does.
bool is_prepared(const std::filesystem::path& file);

/// Throws MatrixError for a file that is not complete, damaged or of another version.
SparseMatrix read_prepared(const std::filesystem::path& file);
void write_prepared(const SparseMatrix& matrix, std::ostream& out);

}  // namespace lacuna::sida
