// Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996), also compressed by
// gzip.
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
  /// Only what is in the file: of a symmetric matrix the lower triangle.
  bool as_stored = false;
};

struct ReadMatrix {
  SparseMatrix matrix;
  Symmetry symmetry = Symmetry::general;
  std::uint64_t stored = 0;           ///< entries in the file
  std::uint64_t duplicates = 0;       ///< of these, added to others at the same place
  std::vector<std::string> warnings;  ///< each with the file's name
};

/// Reads a file of format coordinate or array, of real, integer or pattern entries, general, symmetric or skew-symmetric. Zeros
/// in an array are no entries. Throws MatrixError with file, line and what was expected.
ReadMatrix read_matrix_market(const std::filesystem::path& file, const ReadOptions& options = {});

/// Writes a matrix in format coordinate, general: values with as many digits as give them back.
void write_matrix_market(const SparseMatrix& matrix, std::ostream& out);

}  // namespace lacuna::sida
