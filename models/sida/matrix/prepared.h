// Prepared matrices: binary files of matrices that have been read and ordered. They load a hundred times faster than Matrix
// Market files.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

// Format, little-endian: the eight letters "LacunaSM"; version (1) and whether entries have values, 32 bits each; numbers of
// rows and columns, 32 bits each; number of entries, 64 bits; the arrays of offsets (64 bits), rows of entries (32 bits) and
// values (64 bits, IEEE 754); CRC-32 of all preceding bytes, stored in 64 bits.

/// Whether the file begins like a prepared matrix.
bool is_prepared(const std::filesystem::path& file);

/// Reads a prepared matrix. Throws MatrixError if the file is incomplete, damaged or of another version.
SparseMatrix read_prepared(const std::filesystem::path& file);
void write_prepared(const SparseMatrix& matrix, std::ostream& out);

}  // namespace lacuna::sida
