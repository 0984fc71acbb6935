// The folder that a run writes its results to.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/run/output_file.h"

namespace lacuna {

/// A folder that cannot be made or must not be used.
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
  /// Writes a whole file. Throws WriteError.
  void write(const std::string& name, const std::function<void(std::ostream&)>& contents) const;
  /// Begins a file that grows while the run goes on. Throws WriteError.
  std::shared_ptr<OutputFile> begin(const std::string& name);
  /// Writes what the files that have been begun still hold. Throws WriteError when one of them failed, now or before.
  void flush() const;
  /// What went wrong first with one of the files that have been begun; empty while nothing has.
  std::string failure() const;

 private:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<std::shared_ptr<OutputFile>> files_;
};

}  // namespace lacuna
