// Ownership of an output folder by a run: a lock that the kernel releases with the process that holds it, however that ends.
#pragma once

#include <sys/types.h>
#include <filesystem>
#include <optional>
#include <string>

namespace lacuna {

/// A unique name of this process's run: process number and start time. Further processes of a run receive it through the
/// environment (LACUNA_RUN).
std::string name_of_this_run();

struct FolderOwner {
  std::string run;
  pid_t process = 0;  ///< 0: the run has reserved the folder, but none of its processes uses it yet
};

/// The file `.lacuna-lock` of a folder. It holds the name of the owner, for messages and for further processes of a run, and
/// stays when the run has ended.
///
/// The constructor waits until no other process decides about the folder; then this process decides: take(), reserve(), or
/// neither. On a file system without locks no folder is ever owned; missing() then returns the reason.
class FolderLock {
 public:
  static constexpr const char* kFile = ".lacuna-lock";

  /// Throws WriteError.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;

  /// The last owner, whether or not its run has ended.
  const std::optional<FolderOwner>& last() const { return last_; }
  /// The current owner: a process that holds the lock, or a run that has reserved the folder and still exists.
  const std::optional<FolderOwner>& owner() const { return owner_; }
  /// Makes this process the owner until this object, or the process, ends. Only without an owner(), or with one of the same run
  /// that has reserved the folder. Throws WriteError.
  void take(const std::string& run);
  /// Makes the run the owner as long as the process exists that the run is named after. Throws WriteError.
  void reserve(const std::string& run);
  /// The reason why the folder cannot be locked; empty = it can.
  const std::string& missing() const { return missing_; }
  /// The lock's file: a child process made by fork() also holds the lock until it closes it.
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
