// Writes a matrix in the accelerator's format (lacuna/abi/sida.h): by columns and by rows, or blocked with values stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "include/lacuna/abi/sida.h"
#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

struct MatrixLayout {
  unsigned element = LACUNA_SIDA_F64;  ///< element type of the values
  bool values = true;                  ///< false: a pattern, even if the matrix has values
  bool blocked = false;
  Index block_side = 256;  ///< side of a block, 1 to 256
};

/// Places an array in memory, aligned to 16 bytes, and returns its address.
using PlaceArray = std::function<std::uint64_t(std::span<const std::byte> array)>;

/// Creates the arrays and passes them to `place`. Offsets have 4 bytes, or 8 from 2^32 entries on. All values are 1 if the
/// matrix has none. Throws MatrixError for values that an integer element cannot represent, and for an invalid block side.
lacuna_sida_matrix lay_out(const SparseMatrix& matrix, const MatrixLayout& layout, const PlaceArray& place);

}  // namespace lacuna::sida
