// Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996), optionally compressed
// with gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

enum class Symmetry : std::uint8_t { general, symmetric, skew };

struct ReadOptions {
  /// Read only the stored entries: for a symmetric matrix the lower triangle.
  bool as_stored = false;
};

struct ReadMatrix {
  SparseMatrix matrix;
  Symmetry symmetry = Symmetry::general;
  std::uint64_t stored = 0;           ///< entries in the file
  std::uint64_t duplicates = 0;       ///< entries at the position of an earlier entry; their values were added to it
  std::vector<std::string> warnings;  ///< messages, each with the file's name
};

/// Reads a file in format coordinate or array, with real, integer or pattern entries, that is general, symmetric or
/// skew-symmetric. Zeros in an array do not become entries. Throws MatrixError with file, line and the expected contents.
ReadMatrix read_matrix_market(const std::filesystem::path& file, const ReadOptions& options = {});

/// Writes a matrix in format coordinate, general. Values have enough digits to be read back exactly.
void write_matrix_market(const SparseMatrix& matrix, std::ostream& out);

}  // namespace lacuna::sida
