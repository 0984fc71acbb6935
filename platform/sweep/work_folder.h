// A folder next to the database for running points. It is removed afterwards, even if the process that created it was killed.
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
  int lock_ = -1;  ///< held until the process ends
};

}  // namespace lacuna
