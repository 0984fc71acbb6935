// Counts the entries that must be loaded again if a matrix is read once for two products through a buffer of limited capacity:
// entries that wait for their row and do not fit are evicted, and loaded again when the row is used.
//
// An entry waits from the step that uses its column to the step before the use of its row (occupancy.h). Only as many entries
// as necessary are evicted, from the end of the highest row, which is used last. If used entries free their space, this is
// optimal: entries are intervals of equal weight, and the minimum number is dropped such that no step exceeds the capacity.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Space that a row occupies in the buffer.
enum class RowSpace : std::uint8_t {
  elements,  ///< space for waiting entries only
  whole,     ///< the first waiting entry reserves space for its row (thesis, section 4.4); a row is evicted as a whole
};

struct Reloads {
  std::uint64_t reloaded = 0;        ///< entries loaded a second time
  std::uint64_t kept = 0;            ///< entries that stayed in the buffer until their row was used
  std::uint64_t peak = 0;            ///< maximum space in use after a step, in entries
  std::vector<std::uint64_t> steps;  ///< entries loaded again, by step; there are two more steps than sub-tensors
};

/// The matrix must be square. `width`: columns of a sub-tensor; `room`: capacity of the buffer in entries.
Reloads reloads(const SparseMatrix& matrix, Index width, std::uint64_t room, RowSpace space = RowSpace::elements);

}  // namespace lacuna::sida
