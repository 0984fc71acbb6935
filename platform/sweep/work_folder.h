// A folder next to the database for running points, which is removed afterwards. If the process that created the folder is
// killed, the next process that creates such a folder removes the old one.
#pragma once

#include <filesystem>

namespace lacuna {

class WorkFolder {
 public:
  /// Creates a new folder in `parent`, and removes folders that killed processes have left.
  explicit WorkFolder(std::filesystem::path parent);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path parent_;
  std::filesystem::path path_;
  int lock_ = -1;  ///< descriptor of the locked file; the lock ends with this object or with the process
};

}  // namespace lacuna
