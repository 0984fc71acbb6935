// The folder that a run writes its results to.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace lacuna {

class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Holds effective.cfg, statistics.json, kernels.csv, log.txt and console.txt. A folder that Lacuna did not make is never
/// written to unless it is empty; one that it made is overwritten.
class OutputFolder {
 public:
  /// parent/run-0001 or the first number that is free. Throws OutputError.
  static OutputFolder numbered(const std::filesystem::path& parent);
  /// Exactly this folder, made when it does not exist. Throws OutputError when it holds foreign files.
  static OutputFolder at(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  /// Opens a file of the folder for writing, empty. Throws OutputError.
  std::ofstream create(const std::string& name) const;

 private:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace lacuna
