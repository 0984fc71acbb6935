// The folder that a run writes its results to.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/run/folder_lock.h"
#include "platform/run/output_file.h"

namespace lacuna {

/// A folder that cannot be made or must not be used.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Holds the files of one run. A folder that Lacuna did not make is never written to unless it is empty; one that it made is
/// emptied of an earlier run's files. While a run has the folder no other one gets it.
///
/// Files that are written whole are there complete or not at all (WholeFile); those that grow have at any time what was
/// finished half a second before. statistics.json is written last: a folder without it has a run that did not end.
class OutputFolder {
 public:
  /// Of processes that do not know which run they are of: they share a folder as long as they live.
  static constexpr const char* kUnknownRun = "-";

  /// parent/run-0001 or the first number that is free. Throws OutputError, WriteError.
  static OutputFolder numbered(const std::filesystem::path& parent);
  /// Exactly this folder, made when it does not exist. Throws OutputError when it holds foreign files, or is in use;
  /// WriteError.
  static OutputFolder at(const std::filesystem::path& folder);
  /// The same for a run whose processes will use it, of which this process is or becomes one: they get it by claim().
  static void reserve(const std::filesystem::path& folder, const std::string& run);
  /// The same for a process of that run. The first process gets the folder, each further one folder/process-PID.
  static OutputFolder claim(const std::filesystem::path& folder, const std::string& run);

  const std::filesystem::path& path() const { return path_; }
  /// Writes a whole file. Throws WriteError.
  void write(const std::string& name, const std::function<void(std::ostream&)>& contents) const;
  /// Begins a file that grows while the run goes on. Throws WriteError.
  std::shared_ptr<OutputFile> begin(const std::string& name, OutputFile::Form form = OutputFile::Form::plain);
  /// Writes what the files that have been begun still hold. Throws WriteError when one of them failed, now or before.
  void flush() const;
  /// What went wrong first with one of the files that have been begun; empty while nothing has.
  std::string failure() const;
  const FolderLock& lock() const { return lock_; }

 private:
  OutputFolder(std::filesystem::path path, FolderLock lock, const std::string& run);

  std::filesystem::path path_;
  FolderLock lock_;
  std::vector<std::shared_ptr<OutputFile>> files_;
};

}  // namespace lacuna
