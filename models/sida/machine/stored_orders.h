// Both orders of a matrix in memory as the pipeline needs them: offsets and coordinates, without values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sida/machine/pass_shapes.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Copies: what other agents write to the matrix afterwards has no effect. Memory: 8 bytes an entry, 8 a row and a column.
class StoredOrders {
 public:
  /// Throws ProgramError for offsets and coordinates that are illegal, and where the two orders have not the same entries.
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
