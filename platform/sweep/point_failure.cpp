#include "platform/sweep/point_failure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "platform/run/log.h"
#include "platform/run/output_file.h"
#include "platform/sweep/condition.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// Sizes in bytes of the two parts of a long log that are kept: one that starts at the beginning of the log or at the cause,
/// and the end of the log.
constexpr std::uintmax_t kFirstBytes = 4 * 1024;
constexpr std::uintmax_t kLastBytes = 16 * 1024;
/// Number of bytes of a log that are searched for the cause, and maximum length of a cause.
constexpr std::uintmax_t kMostSearched = 256 * 1024 * 1024;
constexpr std::size_t kMostOfALine = 1000;
/// Minimum free space for the results of a point, in bytes; with less, the disk counts as full.
constexpr std::size_t kLeastSpace = 1024 * 1024;

constexpr std::string_view kSpeaker = "lacuna: ";
constexpr std::string_view kWarning = "lacuna: warning at ";

/// Converts a text to a line for tables: no control characters, bounded length.
std::string one_line(std::string_view text) {
  std::string line(trimmed(text.substr(0, text.find('\n'))));
  if (line.size() > kMostOfALine) {
    line.resize(kMostOfALine);
    line += "...";
  }
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return line;
}

/// Log files of a run: that of the first process, then those of further processes.
std::vector<fs::path> run_logs(const fs::path& output) {
  std::vector<fs::path> folders;
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator(output, status))
    if (entry.is_directory(status)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  folders.insert(folders.begin(), output);
  std::vector<fs::path> logs;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "log.txt", status)) logs.push_back(folder / "log.txt");
  return logs;
}

struct Said {
  std::string refusal;  ///< first message of lacuna itself that is not a warning
  std::string last;     ///< last line of other programs
};

Said said_in(const fs::path& log_file) {
  Said said;
  std::ifstream log(log_file, std::ios::binary);
  for (std::string line; std::getline(log, line);) {
    if (trimmed(line).empty()) continue;
    if (!line.starts_with(kSpeaker)) {
      said.last = one_line(line);
    } else if (said.refusal.empty() && !line.starts_with(kWarning)) {
      said.refusal = one_line(std::string_view(line).substr(kSpeaker.size()));
    }
  }
  return said;
}

std::string read_part(std::ifstream& file, std::uintmax_t begin, std::uintmax_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(begin));
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

/// Offset of the first line that contains the text; empty if it is not in the searched part.
std::optional<std::uintmax_t> line_with(std::ifstream& file, std::string_view text) {
  file.clear();
  file.seekg(0);
  std::uintmax_t begin = 0;
  for (std::string line; begin < kMostSearched && std::getline(file, line); begin += line.size() + 1)
    if (line.find(text) != std::string::npos) return begin;
  return std::nullopt;
}

void probe(const fs::path& folder, std::size_t bytes) {
  const fs::path file = folder / "space";
  const int probe = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int error = probe < 0 ? errno : 0;
  const std::string block(64 * 1024, '\0');
  for (std::size_t left = bytes; error == 0 && left > 0;) {
    const ssize_t written = write(probe, block.data(), std::min(left, block.size()));
    if (written < 0 && errno != EINTR) error = errno;
    if (written > 0) left -= static_cast<std::size_t>(written);
  }
  if (probe >= 0) close(probe);
  unlink(file.c_str());
  if (error != 0) throw WriteError(folder.string() + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace

std::string signal_text(int number) {
  const char* const name = sigabbrev_np(number);
  const char* const description = sigdescr_np(number);
  return (name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name) +
         (description == nullptr ? "" : std::string(" (") + description + ')');
}

std::string cause_of(const RunResult& result, const fs::path& folder) {
  if (result.state == PointState::done) return {};
  std::string cause = result.why;
  LoggedTrouble trouble;
  const std::vector<fs::path> logs = run_logs(folder / kPointOutput);
  for (const fs::path& log : logs) {
    const LoggedTrouble of_process = logged_trouble(log);
    if (trouble.error.empty()) trouble.error = of_process.error;
    if (trouble.last_warning.empty()) trouble.last_warning = of_process.last_warning;
  }
  if (!trouble.error.empty()) {
    add_to_list(cause, one_line(trouble.error), "; ");
    return cause;
  }
  if (!cause.empty()) {
    if (!trouble.last_warning.empty()) add_to_list(cause, one_line(trouble.last_warning), "; ");
    return cause;
  }
  const Said said = said_in(folder / kPointLog);
  // Use the refusal only if no run has started: later errors are in the run's log.
  if (logs.empty() && !said.refusal.empty()) return said.refusal;
  cause = result.signal != 0 ? "ended by " + signal_text(result.signal)
                             : "ended with exit code " + std::to_string(result.exit_code);
  if (!said.last.empty()) cause += "; its last line: " + said.last;
  return cause;
}

std::string said_of_cause(const std::string& cause) {
  constexpr std::size_t kEnough = 200;
  const std::size_t text = cause.find(": ");
  return cause.substr(text == std::string::npos ? 0 : text + 2, kEnough);
}

std::string kept_log(const fs::path& folder, const std::string& cause) {
  const fs::path name = folder / kPointLog;
  std::error_code status;
  const std::uintmax_t size = fs::file_size(name, status);
  std::ifstream file(name, std::ios::binary);
  if (status || !file) return {};
  if (size <= kFirstBytes + kLastBytes) return read_part(file, 0, size);
  const std::string said = said_of_cause(cause);
  const auto found = said.empty() ? std::nullopt : line_with(file, said);
  const std::uintmax_t tail = size - kLastBytes;
  // If the kept end does not contain the cause, begin at the cause; otherwise keep the beginning.
  const std::uintmax_t begin = found && *found < tail ? *found : 0;
  std::ostringstream log;
  if (begin != 0) log << '[' << begin << " bytes before are not kept]\n";
  const std::uintmax_t head = std::min(kFirstBytes, tail - begin);
  log << read_part(file, begin, head);
  if (begin + head < tail) log << "\n[" << tail - begin - head << " bytes are not kept]\n";
  log << read_part(file, tail, kLastBytes);
  return log.str();
}

void require_writable(const RunResult& result, const fs::path& folder) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  std::size_t space = kLeastSpace;
  if (limit.rlim_cur != RLIM_INFINITY) {
    const std::string reason = ": cannot be written: " + std::generic_category().message(EFBIG) + ", the limit is " +
                               std::to_string(limit.rlim_cur) + " bytes (ulimit -f)";
    std::error_code status;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, status))
      if (entry.is_regular_file(status) && entry.file_size(status) >= limit.rlim_cur)
        throw WriteError(entry.path().string() + reason);
    if (result.signal == SIGXFSZ) throw WriteError("a file of a point" + reason);
    space = std::min<std::size_t>(space, limit.rlim_cur);
  }
  probe(folder, space);
}

std::optional<std::uint64_t> out_of_memory_kills() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // cgroup v2: "0::/path"
    if (!line.starts_with("0::")) continue;
    std::ifstream events("/sys/fs/cgroup" + line.substr(3) + "/memory.events");
    std::string name;
    std::uint64_t count = 0;
    while (events >> name >> count)
      if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

}  // namespace lacuna
