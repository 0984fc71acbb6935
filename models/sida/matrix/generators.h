// Matrices by kind and seed: stand-ins for collections of matrices, with the sizes and the locality of the real ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// A number that a kind of matrix takes.
struct MatrixKnob {
  const char* name;
  double least, most, preset;
  bool whole;  ///< only whole numbers
  const char* meaning;
};

struct MatrixKind {
  const char* name;
  const char* meaning;
  std::vector<MatrixKnob> knobs;  ///< of this kind, behind those that all kinds have
};

/// All kinds, in the order of their names.
std::span<const MatrixKind> matrix_kinds();
/// Knobs that all kinds have: rows, entries, seed, shuffled, pattern.
std::span<const MatrixKnob> common_knobs();

/// True for KIND or KIND:NAME=VALUE,… with the name of a kind.
bool is_matrix_kind(std::string_view text);

/// Makes the matrix that `text` describes, KIND or KIND:NAME=VALUE,…; values of entries are uniform in (0, 1]. The same text
/// gives the same matrix on every machine; `power` with the same C library, whose pow() it uses. Entries that meet at one place
/// are one: there are at most as many as asked for. Throws MatrixError with the nearest name, or what is legal.
SparseMatrix generated(std::string_view text);

}  // namespace lacuna::sida
