// Generated matrices, by kind and seed: stand-ins for matrix collections, with similar sizes and locality.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// A numeric parameter of a kind of matrix.
struct MatrixKnob {
  const char* name;
  double least, most, preset;
  bool whole;  ///< accepts only whole numbers
  const char* meaning;
};

struct MatrixKind {
  const char* name;
  const char* meaning;
  std::vector<MatrixKnob> knobs;  ///< parameters of this kind, in addition to common_knobs()
};

/// All kinds, in the order of their names.
std::span<const MatrixKind> matrix_kinds();
/// Parameters that all kinds have in common: rows, entries, seed, shuffled, reach, pattern.
std::span<const MatrixKnob> common_knobs();

/// Whether the text before the first colon, or all of it without a colon, is the name of a kind.
bool is_matrix_kind(std::string_view text);

/// Generates the matrix described by `text`, KIND or KIND:NAME=VALUE,...; values of entries are uniform in (0, 1], unless
/// `pattern` is 1. The same text gives the same matrix on every machine, except that `power` depends on the C library's pow().
/// Entries drawn at the same position are merged, so the matrix may have fewer entries than requested. Throws MatrixError with
/// the nearest name or the valid values.
SparseMatrix generated(std::string_view text);

}  // namespace lacuna::sida
