// The results of a run of the accelerator as a tree of statistics and as files.
#pragma once

#include <cstdint>
#include <string>

#include "models/common/config/statistics.h"
#include "models/sida/matrix/sparse_matrix.h"
#include "platform/sida/sida_parameters.h"
#include "platform/sida/timed_run.h"

namespace lacuna {

/// Sizes of a matrix, and its occupancy of the buffer with sub-tensors of one column.
struct SidaMatrixFacts {
  std::uint64_t rows = 0, entries = 0;
  std::uint64_t stored_entries = 0;  ///< entries stored in a file: for a symmetric pattern the lower triangle
  std::uint64_t dual_bytes = 0, blocked_bytes = 0;
  std::uint64_t kept_peak = 0;
  double kept_mean = 0;

  SidaMatrixFacts() = default;
  SidaMatrixFacts(const sida::SparseMatrix& matrix, unsigned block_side, unsigned value_bytes);
};

struct SidaRun {
  SidaTotals totals;
  SidaMatrixFacts matrix;
  std::uint64_t cycles = 0, iterations = 0, products = 0, fused = 0;
};

/// Adds the statistics tree `sida`. The run and the parameters must outlive `statistics`.
void describe_run(const SidaRun& run, const SidaParameters& parameters, StatisticsGroup& statistics);

/// Writes effective.cfg, statistics.json and, of machine sida, passes.csv to the folder. Throws OutputError, WriteError.
void write_run(const std::string& folder, const std::string& program, int exit_code, double wall_seconds, const SidaRun& run,
               const SidaParameters& parameters);

}  // namespace lacuna
