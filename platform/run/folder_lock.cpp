#include "platform/run/folder_lock.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "platform/run/whole_file.h"

namespace lacuna {
namespace {

// Bytes of the file that are locked; they need not exist. The locks are those of open file descriptions (fcntl(2),
// F_OFD_SETLK), which the process keeps even if it opens and closes the file again.
constexpr off_t kDecision = 0;
constexpr off_t kPossession = 1;

/// Start time of a process in clock ticks since boot, field 22 of /proc/PID/stat (proc(5)); empty if there is no such process.
std::string start_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name of the program is field 2, in parentheses, and may contain any characters.
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    if (!(fields >> field)) return {};
  return field;
}

/// Lengths of the parts of a run's name. The name has the same length in every run, because the program's environment contains
/// it, and the size of the environment determines where the stack begins.
constexpr std::size_t kProcessDigits = 7;  // digits of the largest PID of Linux, 4,194,304
constexpr std::size_t kStartDigits = 11;   // digits of thirty years in clock ticks

std::string padded(const std::string& number, std::size_t digits) {
  return std::string(digits - std::min(digits, number.size()), '0') + number;
}

/// Whether the process that is named in `run`, a result of name_of_this_run(), still exists.
bool lives(const std::string& run) {
  const std::size_t dot = run.find('.');
  const std::size_t first_digit = run.find_first_not_of('0');
  if (dot == std::string::npos || first_digit >= dot) return false;
  const std::string start = start_of(run.substr(first_digit, dot - first_digit));
  return !start.empty() && padded(start, kStartDigits) == run.substr(dot + 1);
}

}  // namespace

std::string name_of_this_run() {
  const std::string process = std::to_string(getpid());
  return padded(process, kProcessDigits) + '.' + padded(start_of(process), kStartDigits);
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : path_(folder / kFile), file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw write_error(path_.string(), errno);
  if (!lock(F_WRLCK, kDecision, F_OFD_SETLKW)) missing_ = std::generic_category().message(errno);
  std::array<char, 256> text{};
  const ssize_t bytes = pread(file_, text.data(), text.size() - 1, 0);
  std::istringstream words(std::string(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0));
  FolderOwner last;
  if (words >> last.run >> last.process) last_ = last;
  if (last_ && last_->process == 0 && lives(last_->run)) owner_ = last_;
  if (!missing_.empty() || lock(F_WRLCK, kPossession, F_OFD_SETLK)) return;
  if (errno == EAGAIN || errno == EACCES) {
    owner_ = last;
  } else {
    missing_ = std::generic_category().message(errno);
  }
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      last_(std::move(other.last_)),
      owner_(std::move(other.owner_)),
      missing_(std::move(other.missing_)) {}

void FolderLock::take(const std::string& run) {
  write({run, getpid()});
  lock(F_UNLCK, kDecision, F_OFD_SETLK);
}

void FolderLock::reserve(const std::string& run) { write({run, 0}); }

bool FolderLock::lock(short type, off_t byte, int command) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  int result = 0;
  while ((result = fcntl(file_, command, &range)) < 0 && errno == EINTR) {
  }
  return result == 0;
}

void FolderLock::write(const FolderOwner& owner) {
  const std::string text = owner.run + ' ' + std::to_string(owner.process) + '\n';
  int error = ftruncate(file_, 0) == 0 && lseek(file_, 0, SEEK_SET) == 0 ? 0 : errno;
  if (error == 0) error = write_all(file_, text);
  if (error != 0) throw write_error(path_.string(), error);
}

}  // namespace lacuna
