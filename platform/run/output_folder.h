// The output folder of a run.
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

/// A folder that cannot be created or must not be used.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The files of one run. A folder that Lacuna did not create is used only if it is empty; in a folder of Lacuna, files of an
/// earlier run are removed. While a run owns the folder, no other run can use it.
///
/// Files that are written whole are complete or absent (WholeFile). A growing file contains all text that was written at least
/// half a second ago. statistics.json is written last: without it, the run has not ended or has failed.
class OutputFolder {
 public:
  /// Name of the run for processes without LACUNA_RUN, which share a folder while they run at the same time.
  static constexpr const char* kUnknownRun = "-";

  /// Creates parent/run-NNNN with the first free number from 0001. Throws OutputError, WriteError.
  static OutputFolder numbered(const std::filesystem::path& parent);
  /// Uses this folder; creates it if it does not exist. Throws OutputError if it contains foreign files or is in use, and
  /// WriteError.
  static OutputFolder at(const std::filesystem::path& folder);
  /// Like at(), for a run whose processes will call claim(); this process is, or becomes by execve(2), one of them.
  static void reserve(const std::filesystem::path& folder, const std::string& run);
  /// Like at(), for a process of the run. The first process gets the folder, each further process folder/process-PID.
  static OutputFolder claim(const std::filesystem::path& folder, const std::string& run);

  const std::filesystem::path& path() const { return path_; }
  /// Writes a whole file. Throws WriteError.
  void write(const std::string& name, const std::function<void(std::ostream&)>& contents) const;
  /// Opens a file that grows during the run. Throws WriteError.
  std::shared_ptr<OutputFile> begin(const std::string& name, OutputFile::Form form = OutputFile::Form::plain);
  /// Writes the remaining text of the growing files. Throws WriteError if one of them failed, now or before.
  void flush() const;
  /// The first error of a growing file; empty if there was none.
  std::string failure() const;
  const FolderLock& lock() const { return lock_; }

 private:
  OutputFolder(std::filesystem::path path, FolderLock lock, const std::string& run);

  std::filesystem::path path_;
  FolderLock lock_;
  std::vector<std::shared_ptr<OutputFile>> files_;
};

}  // namespace lacuna
