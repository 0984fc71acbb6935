// Which run an output folder belongs to: a lock that the kernel drops with the process that holds it, however that ends.
#pragma once

#include <sys/types.h>
#include <filesystem>
#include <optional>
#include <string>

namespace lacuna {

/// A name for this process's run that no other one has: process number and time of its start. Further processes of a run get it
/// by the environment (LACUNA_RUN).
std::string name_of_this_run();

struct FolderOwner {
  std::string run;
  pid_t process = 0;  ///< 0: the run has reserved the folder, and none of its processes uses it yet
};

/// The file `.lacuna-lock` of a folder. It holds the name of the owner, for messages and for further processes of a run, and
/// stays when the run has ended.
///
/// The constructor waits until no other process decides about the folder; then this one decides: take(), reserve(), or neither.
/// On a file system without locks nothing is ever owned; `missing` says so.
class FolderLock {
 public:
  static constexpr const char* kFile = ".lacuna-lock";

  /// Throws WriteError.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;

  /// The last one, ended or not.
  const std::optional<FolderOwner>& last() const { return last_; }
  /// The one that has the folder now: a process that holds the lock, or a run that has reserved it and lives.
  const std::optional<FolderOwner>& owner() const { return owner_; }
  /// The folder is this process's until this object, or the process, ends. Only without an owner(), or with one of the same run
  /// that has reserved it. Throws WriteError.
  void take(const std::string& run);
  /// The folder is the run's as long as the process lives that the run is named after. Throws WriteError.
  void reserve(const std::string& run);
  /// The reason why the folder cannot be locked; empty = it can.
  const std::string& missing() const { return missing_; }
  /// The lock's file: a child process that fork() has made holds the lock too until it closes it.
  int descriptor() const { return file_; }

 private:
  bool lock(short type, off_t byte, int command);
  void write(const FolderOwner& owner);

  std::filesystem::path path_;
  int file_;
  std::optional<FolderOwner> last_;
  std::optional<FolderOwner> owner_;
  std::string missing_;
};

}  // namespace lacuna
