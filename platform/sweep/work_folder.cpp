#include "platform/sweep/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "platform/run/output_file.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "run-";
constexpr const char* kLock = ".lock";

int try_lock(const fs::path& file) {
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return -1;
  }
  return lock;
}

/// Path of the lock: next to the folder, because the lock exists before the folder.
fs::path lock_of(const fs::path& folder) { return folder.string() + kLock; }

}  // namespace

WorkFolder::WorkFolder(fs::path parent) : parent_(std::move(parent)) {
  std::error_code status;
  fs::create_directories(parent_, status);
  if (status) throw WriteError(parent_.string() + ": cannot be made: " + status.message());
  for (const auto& entry : fs::directory_iterator(parent_, status)) {
    const fs::path& file = entry.path();
    if (!file.filename().string().starts_with(kPrefix) || file.extension() != kLock) continue;
    const int lock = try_lock(file);
    if (lock < 0) continue;  // the process that holds the lock is alive
    fs::path folder = file;
    std::error_code ignored;
    fs::remove_all(folder.replace_extension(), ignored);
    fs::remove(file, ignored);
    close(lock);
  }
  for (unsigned number = 1; lock_ < 0; ++number) {
    path_ = parent_ / (kPrefix + std::to_string(getpid()) + '-' + std::to_string(number));
    lock_ = try_lock(lock_of(path_));
    if (lock_ < 0 && errno != EWOULDBLOCK)
      throw WriteError(lock_of(path_).string() + ": cannot be made: " + std::generic_category().message(errno));
  }
  fs::create_directories(path_, status);
  if (status) throw WriteError(path_.string() + ": cannot be made: " + status.message());
}

WorkFolder::~WorkFolder() {
  std::error_code status;
  fs::remove_all(path_, status);
  fs::remove(lock_of(path_), status);
  close(lock_);
  // Fails, as it should, if the folder still contains files of another sweep.
  fs::remove(parent_, status);
}

}  // namespace lacuna
