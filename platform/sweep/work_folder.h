// A folder beside the database for points that run, which is gone when they are: also when the process that made it was killed.
#pragma once

#include <filesystem>

namespace lacuna {

class WorkFolder {
 public:
  /// Makes a folder of its own in `parent`, and removes those that killed processes have left there.
  explicit WorkFolder(std::filesystem::path parent);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path parent_;
  std::filesystem::path path_;
  int lock_ = -1;  ///< held as long as the process lives
};

}  // namespace lacuna
