// `lacuna sida info`, `generate` and `prepare`: buffer requirements of a sparse matrix, and generated matrices.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "platform/sida/run_application.h"

namespace lacuna {

enum class SidaAction : std::uint8_t { info, generate, prepare, run, explain, machine };

struct SidaOptions {
  SidaAction action = SidaAction::info;
  std::vector<std::string> orders;  ///< --order; empty: several orders for info, natural order for other actions
  unsigned sub_tensor = 1;          ///< --sub-tensor: columns of a sub-tensor
  unsigned block = 256;             ///< --block: side of a block
  unsigned value_bytes = 8;         ///< --value-bytes: size of a value
  bool as_stored = false;           ///< --as-stored: only the lower triangle of a symmetric file
  std::optional<std::string> room;  ///< --room: capacity for entries by row, with a unit
  std::optional<std::string> file;  ///< --out: the file to write
  SidaRunOptions run;               ///< options of run and explain
};

/// Prints sizes and layouts of a matrix (a file or KIND:…) and, for a square matrix in each order of rows, the occupancy of the
/// buffer. Writes warnings to `warnings`. Throws sida::MatrixError; ConfigurationError if the room is not a size.
void describe_matrix(const std::string& matrix, const SidaOptions& options, std::ostream& out, std::ostream& warnings);

/// Writes a generated matrix, in the first of the orders, as a Matrix Market file. Throws sida::MatrixError, WriteError.
void generate_matrix(const std::string& kind, const SidaOptions& options);

/// Writes a matrix (a file or KIND:…), in the first of the orders, as a prepared file. Throws like generate_matrix().
void prepare_matrix(const std::string& matrix, const SidaOptions& options, std::ostream& warnings);

}  // namespace lacuna
