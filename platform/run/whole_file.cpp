#include "platform/run/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ostream>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/run/file_size_limit.h"

namespace lacuna {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kUnfinished = ".part";
/// Maximum number of bytes of the final name that the hidden name contains, so that the hidden name does not exceed the file
/// system's limit.
constexpr std::size_t kMostOfName = 200;
constexpr std::size_t kBuffer = 64 * 1024;
constexpr mode_t kPermissions = 07777;

fs::path unfinished_name(const fs::path& target) {
  static std::atomic<unsigned> number{0};
  const std::string name = target.filename().string().substr(0, kMostOfName);
  return target.parent_path() /
         ('.' + name + '.' + std::to_string(getpid()) + '.' + std::to_string(++number) + std::string(kUnfinished));
}

/// Buffer of a std::ostream: a failed write throws its WriteError through the stream.
class WholeFileBuffer : public std::streambuf {
 public:
  explicit WholeFileBuffer(WholeFile& file) : file_(file), buffer_(kBuffer) { empty(); }

 private:
  void empty() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  int sync() override {
    const std::string_view bytes(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    empty();
    file_.write(bytes);
    return 0;
  }
  int_type overflow(int_type character) override {
    sync();
    if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
    return traits_type::not_eof(character);
  }

  WholeFile& file_;
  std::vector<char> buffer_;
};

}  // namespace

WriteError write_error(const std::string& name, int error) {
  return WriteError(name + ": cannot be written" + (error == 0 ? "" : ": " + std::generic_category().message(error)));
}

int write_all(int file, std::string_view bytes) {
  const HeldFileSizeSignal held;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

WholeFile::WholeFile(fs::path path) : path_(std::move(path)), target_(path_) {
  open();
  if (file_ < 0) throw write_error(path_.string(), errno);
}

WholeFile::~WholeFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void WholeFile::open() {
  std::error_code status;
  if (fs::is_symlink(path_, status)) {
    if (fs::path named = fs::canonical(path_, status); !status) target_ = std::move(named);
  }
  struct stat earlier {};
  const bool exists = stat(target_.c_str(), &earlier) == 0;
  const auto open_target = [&] { file_ = ::open(target_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); };
  if (exists && !S_ISREG(earlier.st_mode)) return open_target();
  // A file without write permission must not be replaced either.
  if (exists && access(target_.c_str(), W_OK) != 0) return;
  fs::path temporary = unfinished_name(target_);
  unlink(temporary.c_str());  // may be left over from a process with the same ID
  file_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0 && exists && (errno == EACCES || errno == EPERM)) return open_target();
  if (file_ < 0) return;
  if (exists) static_cast<void>(fchmod(file_, earlier.st_mode & kPermissions));
  temporary_ = std::move(temporary);
}

void WholeFile::write(std::string_view bytes) {
  if (const int error = write_all(file_, bytes); error != 0) throw write_error(path_.string(), error);
}

void WholeFile::commit() {
  if (close(std::exchange(file_, -1)) != 0) throw write_error(path_.string(), errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) throw write_error(path_.string(), errno);
  temporary_.clear();
}

bool WholeFile::is_unfinished(std::string_view name) { return name.starts_with('.') && name.ends_with(kUnfinished); }

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& contents) {
  WholeFile file(path);
  WholeFileBuffer buffer(file);
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  contents(out);
  out.flush();
  file.commit();
}

}  // namespace lacuna
