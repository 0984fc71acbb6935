// The structure of a matrix in memory as the pipeline uses it, by columns and by rows: offsets and coordinates, without values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/machine/pass_shapes.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Copies of both orders, unaffected by later writes to the matrix. Host memory: 8 bytes per entry, and 8 per row and column.
class StoredOrders {
 public:
  /// Throws ProgramError if offsets or coordinates are invalid, or if the two orders of an unblocked matrix have different
  /// entries.
  StoredOrders(const Memory& memory, const Program& program, std::uint16_t matrix);

  MatrixOrders orders() const { return {columns_.order(), rows_.order()}; }

 private:
  struct Lines {
    std::vector<std::uint64_t> offsets;
    std::vector<Index> coordinates;
    LineOrder order() const { return {offsets, coordinates}; }
  };
  void read_dual(const Memory& memory, const Program& program, std::uint16_t matrix);
  void read_blocks(const Memory& memory, const Program& program, std::uint16_t matrix);
  Lines rows_of_columns(std::uint64_t rows) const;

  Lines columns_, rows_;
};

}  // namespace lacuna::sida
