// The files of a batch's folder.
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
inline constexpr const char* kSubmitted = "submitted";  ///< there once sbatch has taken it; holds the job's number
inline constexpr const char* kBatchPoints = "points";   ///< a folder for each point that has begun
inline constexpr const char* kCollected = "collected";  ///< a file for each point that is in the database

struct BatchFile {
  std::filesystem::path run_in;
  std::filesystem::path simulator;
  double timeout_seconds = 0;
  double grace_seconds = 10;
  unsigned points_per_task = 1;
  /// Files that enter the points, with their digests, for a job that begins days later.
  std::map<std::string, std::string> files;
  std::vector<BatchPoint> points;
};

/// Complete or not there.
void write_batch(const std::filesystem::path& folder, const BatchFile& batch);
/// Throws SweepError.
BatchFile read_batch(const std::filesystem::path& folder);

/// Of a point, in its folder: complete or not there.
void write_end(const std::filesystem::path& folder, const PointEnd& end);
std::optional<PointEnd> read_end(const std::filesystem::path& folder);

}  // namespace lacuna
