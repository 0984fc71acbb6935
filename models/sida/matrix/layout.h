// A matrix as the accelerator reads it (lacuna/abi/sida.h): by columns and by rows, or values once in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "include/lacuna/abi/sida.h"
#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

struct MatrixLayout {
  unsigned element = LACUNA_SIDA_F64;  ///< of the values
  bool values = true;                  ///< false: a pattern, whatever values the matrix has
  bool blocked = false;
  Index block_side = 256;  ///< 1 to 256
};

/// Puts an array into memory, aligned to 16 bytes, and returns its address.
using PlaceArray = std::function<std::uint64_t(std::span<const std::byte> array)>;

/// Arrays are made one after the other and handed to `place`. Offsets have 4 bytes, 8 from 2^32 entries on. A matrix without
/// values has ones. Throws MatrixError for values that an integer element cannot hold, and for a block side beyond the limits.
lacuna_sida_matrix lay_out(const SparseMatrix& matrix, const MatrixLayout& layout, const PlaceArray& place);

}  // namespace lacuna::sida
