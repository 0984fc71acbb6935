// What a buffer of limited capacity has to load again when a matrix is read once for two products: entries that wait for their
// row and find no room are evicted, and loaded by row when the row is due.
//
// An entry waits from the step of its column to the one before that of its row (occupancy.h). Room is taken from the end of the
// highest row, that which is due last, and only as much as is needed. Where entries give their room back when they are used, no
// other choice loads fewer entries again: intervals of equal weight, of which as few as possible are dropped so that no step
// has more than there is room for.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// What a row takes of the buffer.
enum class RowSpace : std::uint8_t {
  elements,  ///< its entries that wait
  whole,  ///< from the first entry that waits on, room for all of the row's (section 4.4 of the thesis); a row goes as a whole
};

struct Reloads {
  std::uint64_t reloaded = 0;        ///< entries that are loaded a second time
  std::uint64_t kept = 0;            ///< entries that waited in the buffer until their row was due
  std::uint64_t peak = 0;            ///< the most room in use after a step, entries
  std::vector<std::uint64_t> steps;  ///< entries loaded again in each step; two more than there are sub-tensors
};

/// Of a square matrix. `width`: columns of a sub-tensor; `room`: entries that the buffer holds by row.
Reloads reloads(const SparseMatrix& matrix, Index width, std::uint64_t room, RowSpace space = RowSpace::elements);

}  // namespace lacuna::sida
