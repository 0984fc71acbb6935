#include "drivers/rocm/output_claim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace lacuna::rocm {
namespace {

/// Names the run and the process that the folder belongs to.
constexpr const char* kOwnerFile = "owner";

struct Owner {
  std::string run;
  pid_t process = 0;
};

/// Holds the lock of a file, so that two processes that start at the same time do not both find the folder free.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file) : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw OutputError(file.string() + ": cannot be written");
    flock(file_, LOCK_EX);
  }
  ~FileLock() { close(file_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

}  // namespace

OutputFolder claim_folder(const std::filesystem::path& folder) {
  const char* run = std::getenv("LACUNA_RUN");
  const std::string this_run = run == nullptr || *run == '\0' ? "-" : run;
  OutputFolder output = OutputFolder::at(folder);
  // From here on the folder is one of Lacuna's, whatever becomes of this process.
  std::ofstream(folder / "effective.cfg", std::ios::app).flush();
  const std::filesystem::path file = folder / kOwnerFile;
  const FileLock lock(file);
  Owner owner;
  std::ifstream(file) >> owner.run >> owner.process;
  const bool lives = owner.process > 0 && owner.process != getpid() && (kill(owner.process, 0) == 0 || errno == EPERM);
  if (lives || (owner.process > 0 && this_run != "-" && owner.run == this_run && owner.process != getpid()))
    return OutputFolder::at(folder / ("process-" + std::to_string(getpid())));
  std::ofstream(file, std::ios::trunc) << this_run << ' ' << getpid() << '\n';
  return output;
}

}  // namespace lacuna::rocm
