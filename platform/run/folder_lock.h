// Ownership of an output folder by a run: a lock that Linux releases when the process ends, even if it is killed.
#pragma once

#include <sys/types.h>
#include <filesystem>
#include <optional>
#include <string>

namespace lacuna {

/// A unique name of this process's run: process ID and start time. Further processes of a run receive the name through the
/// environment (LACUNA_RUN).
std::string name_of_this_run();

struct FolderOwner {
  std::string run;
  pid_t process = 0;  ///< 0: the run has reserved the folder, but no process of the run uses it yet
};

/// The file `.lacuna-lock` of a folder. It contains the name of the owner, for messages and for further processes of a run, and
/// is not removed at the end of the run.
///
/// The constructor waits until no other process holds the decision lock of the folder; then this process may call take() or
/// reserve(). On a file system without locks, missing() returns the reason, and owner() returns only a run that has reserved
/// the folder.
class FolderLock {
 public:
  static constexpr const char* kFile = ".lacuna-lock";

  /// Opens or creates the file in `folder`. Throws WriteError.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;

  /// The last owner, whether or not its run has ended.
  const std::optional<FolderOwner>& last() const { return last_; }
  /// The current owner: a process that holds the lock, or a run that has reserved the folder and still exists.
  const std::optional<FolderOwner>& owner() const { return owner_; }
  /// Makes this process the owner for the lifetime of this object. Allowed if there is no owner(), or if the owner is the same
  /// run and has reserved the folder. Throws WriteError.
  void take(const std::string& run);
  /// Makes the run the owner until the run's first process ends, whose ID is part of the name. Throws WriteError.
  void reserve(const std::string& run);
  /// The reason why the folder cannot be locked; empty = it can.
  const std::string& missing() const { return missing_; }
  /// Descriptor of the lock's file. After fork(), the child process also holds the lock until it closes the descriptor.
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
