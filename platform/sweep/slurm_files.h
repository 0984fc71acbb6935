// Files in the folder of a batch.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/sweep/slurm_batch.h"

namespace lacuna {

inline constexpr const char* kBatchPrefix = "slurm-";
inline constexpr const char* kBatchFile = "batch.json";
inline constexpr const char* kSubmitted = "submitted";  ///< exists after sbatch has accepted the batch; contains the job number
inline constexpr const char* kBatchPoints = "points";   ///< contains a folder for each point that has started
inline constexpr const char* kCollected = "collected";  ///< contains a file for each point stored in the database

struct BatchFile {
  std::filesystem::path run_in;
  std::filesystem::path simulator;
  double timeout_seconds = 0;
  double grace_seconds = 10;
  unsigned points_per_task = 1;
  /// Digests of the input files of the points. Jobs may start days later, and verify that the files are unchanged.
  std::map<std::string, std::string> files;
  std::vector<BatchPoint> points;
};

/// Writes the batch's file atomically.
void write_batch(const std::filesystem::path& folder, const BatchFile& batch);
/// Reads the batch's file. Throws SweepError.
BatchFile read_batch(const std::filesystem::path& folder);

/// Writes the result of a point to its folder, atomically. read_result() returns nullopt if there is no result.
void write_result(const std::filesystem::path& folder, const RunResult& result);
std::optional<RunResult> read_result(const std::filesystem::path& folder);

}  // namespace lacuna
