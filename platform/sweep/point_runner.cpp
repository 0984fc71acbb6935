#include "platform/sweep/point_runner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>
#include <utility>

#include "platform/run/file_size_limit.h"
#include "platform/run/output_file.h"
#include "platform/sweep/build_origin.h"
#include "platform/sweep/point_failure.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/sweep_progress.h"
#include "platform/version.h"

extern "C" char** environ;

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kProgressPeriod{200};
/// Exit code for a process that cannot be started, as of env(1).
constexpr int kPointNotStarted = 126;

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// The process's environment with the point's variables; variables of Lacuna itself are removed, since its configuration is on
/// the command line.
std::vector<std::string> environment_of(const NamedValues& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name.starts_with("LACUNA_");
    for (const auto& [variable, value] : variables) replaced = replaced || variable == name;
    if (!replaced) entries.emplace_back(text);
  }
  for (const auto& [variable, value] : variables) entries.push_back(variable + '=' + value);
  return entries;
}

std::chrono::steady_clock::duration in_clock_time(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Owns a file descriptor; closes it on destruction.
struct FileDescriptor {
  explicit FileDescriptor(int opened) : number(opened) {}
  ~FileDescriptor() {
    if (number >= 0) close(number);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  const int number;
};

/// Signals a process group. `leader_lives`: the leader has not been reaped, so its pid cannot have been reused.
void signal_group(pid_t leader, bool leader_lives, int number) {
  // The leader may have left the group that it was started in.
  if (kill(-leader, number) != 0 && leader_lives) kill(leader, number);
}

bool group_lives(pid_t leader) { return kill(-leader, 0) == 0; }

/// Whether the signal must have been sent by another process, because it is never raised by a fault.
bool is_from_outside(int number) {
  constexpr std::array kOutside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  return std::find(kOutside.begin(), kOutside.end(), number) != kOutside.end();
}

}  // namespace

/// Blocks SIGCHLD, SIGINT and SIGTERM for its lifetime; wait() returns them one at a time.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&held_, number);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Returns the number of a pending signal, or 0 if none arrives within kProgressPeriod.
  int wait() const {
    const timespec while_{0, std::chrono::nanoseconds(kProgressPeriod).count()};
    const int number = sigtimedwait(&held_, nullptr, &while_);
    return number < 0 ? 0 : number;
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

fs::path PointRunner::folder(const PointTask& task) const { return setup_.folders / std::to_string(task.index); }

void PointRunner::start(const PointTask& task) {
  const fs::path place = folder(task);
  std::error_code status;
  fs::remove_all(place, status);
  fs::create_directories(place, status);
  if (status) throw WriteError(place.string() + ": cannot be made: " + status.message());
  const std::string log_name = place / kPointLog;
  const FileDescriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const FileDescriptor log(open(log_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (log.number < 0) throw WriteError(log_name + ": cannot be written: " + std::generic_category().message(errno));
  std::vector<std::string> words{setup_.simulator.string()};
  words.insert(words.end(), task.words.begin(), task.words.end());
  // Insert after the command and before a possible --.
  words.insert(words.begin() + 2, {"--quiet", "--out=" + (place / kPointOutput).string()});
  std::vector<std::string> variables = environment_of(task.environment);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const pid_t parent = getpid();

  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM}) sigdelset(&mask, number);
  const Clock::time_point begin = Clock::now();
  // vfork() instead of fork(), which would copy the page table for every point and take longer than the rest of the start.
  // Until execve(), the child shares this process's memory and must not modify it.
  const pid_t child = vfork();
  if (child < 0) throw SweepError("no process can be started: " + std::generic_category().message(errno));
  if (child == 0) {
    // When the sweep is killed, its points are killed too, so that they do not compete with the next sweep.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kPointNotStarted);
    setpgid(0, 0);
    dup2(input.number, STDIN_FILENO);
    dup2(log.number, STDOUT_FILENO);
    dup2(log.number, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    restore_file_size_signal();
    if (chdir(setup_.run_in.c_str()) == 0) execve(arguments.front(), arguments.data(), environment.data());
    _exit(kPointNotStarted);
  }
  running_[child] = {&task, begin};
}

RunResult PointRunner::result_of(const Running& running, int status, const rusage& usage) {
  RunResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - running.begin).count();
  result.user_seconds = seconds(usage.ru_utime);
  result.system_seconds = seconds(usage.ru_stime);
  result.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + result.signal;
  result.host = host_name();
  result.date = date_now();
  if (running.timed_out) {
    result.state = PointState::timeout;
    result.why = "not ended after " + readable_duration(setup_.timeout_seconds);
    if (result.signal == SIGKILL) result.why += ", nor by SIGTERM within " + readable_duration(setup_.grace_seconds);
  } else if (is_from_outside(result.signal)) {
    result.state = PointState::killed;
    result.why = "killed by " + signal_text(result.signal);
    const std::string peak = std::to_string(result.peak_memory_bytes >> 20) + " MiB";
    const auto kills = out_of_memory_kills();
    if (result.signal == SIGKILL && kills && out_of_memory_kills_ && *kills > *out_of_memory_kills_) {
      ++*out_of_memory_kills_;
      result.why += ", out of memory, at " + peak;
    } else if (result.signal == SIGKILL) {
      result.why += " from outside of the sweep, at " + peak + " of memory";
    }
  } else {
    result.state = result.exit_code == 0 ? PointState::done : PointState::failed;
  }
  return result;
}

bool PointRunner::report(Group group, const Observer& observer) {
  const Running ended = group->second;
  running_.erase(group);
  // Start the next point first, so that it runs while the results of the ended point are stored.
  if (const PointTask* next = starting_ ? observer.next() : nullptr) start(*next);
  return observer.ended(*ended.task, *ended.result, folder(*ended.task));
}

bool PointRunner::collect(const Observer& observer) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t child = wait4(-1, &status, WNOHANG, &usage);
    if (child <= 0) return true;
    const auto found = running_.find(child);
    if (found == running_.end()) continue;
    found->second.result = result_of(found->second, status, usage);
    // After SIGTERM, a script may exit before the program that the script started has written its results.
    if (found->second.timed_out && group_lives(child)) continue;
    if (!report(found, observer)) return false;
  }
}

bool PointRunner::enforce_timeout(const Observer& observer) {
  if (setup_.timeout_seconds == 0) return true;
  const Clock::time_point now = Clock::now();
  for (auto next = running_.begin(); next != running_.end();) {
    const auto group = next++;
    auto& [leader, running] = *group;
    if (!running.timed_out) {
      if (now - running.begin < std::chrono::duration<double>(setup_.timeout_seconds)) continue;
      running.timed_out = true;
      running.kill_at = now + in_clock_time(setup_.grace_seconds);
      signal_group(leader, true, SIGTERM);
    } else if (now >= running.kill_at) {
      signal_group(leader, !running.result, SIGKILL);
      if (running.result && !report(group, observer)) return false;
    } else if (running.result && !group_lives(leader) && !report(group, observer)) {
      return false;
    }
  }
  return true;
}

void PointRunner::end_all(const HeldSignals& signals) {
  for (const auto& [leader, running] : running_) signal_group(leader, !running.result, SIGTERM);
  const Clock::time_point kill_at = Clock::now() + in_clock_time(setup_.grace_seconds);
  const auto lives = [](auto& entry) {
    if (!entry.second.result && waitpid(entry.first, nullptr, WNOHANG) == 0) return true;
    entry.second.result.emplace();
    while (waitpid(-entry.first, nullptr, WNOHANG) > 0) {
    }
    return group_lives(entry.first);
  };
  while (std::any_of(running_.begin(), running_.end(), lives) && Clock::now() < kill_at) {
    const int number = signals.wait();
    if (number == SIGINT || number == SIGTERM) break;
  }
  for (const auto& [leader, running] : running_) {
    if (running.result && !group_lives(leader)) continue;
    signal_group(leader, !running.result, SIGKILL);
    if (!running.result) waitpid(leader, nullptr, 0);
  }
  running_.clear();
}

bool PointRunner::run(const Observer& observer) {
  const HeldSignals signals;
  // Adopt processes that a point's first process leaves behind: a group exists until each of its processes has been reaped, and
  // another parent might never reap them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  out_of_memory_kills_ = out_of_memory_kills();
  try {
    while (running_.size() < setup_.jobs) {
      const PointTask* const next = observer.next();
      if (next == nullptr) break;
      start(*next);
    }
    while (!running_.empty()) {
      observer.progress(running_.size());
      const int number = signals.wait();
      const bool stop = number == SIGINT || number == SIGTERM;
      if (stop) starting_ = false;
      // Collect also after a signal to stop, so that results of points that ended before the signal are kept.
      if (collect(observer) && !stop && enforce_timeout(observer)) continue;
      if (stop && observer.ending && !running_.empty()) observer.ending(running_.size());
      end_all(signals);
      return false;
    }
  } catch (...) {
    end_all(signals);
    throw;
  }
  return true;
}

std::string shell_command(const fs::path& simulator, const std::vector<std::string>& words, const NamedValues& environment) {
  const auto quoted = [](const std::string& word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + '\'';
  };
  std::string text;
  for (const auto& [name, value] : environment) text += name + '=' + quoted(value) + ' ';
  text += quoted(simulator.string());
  for (const std::string& word : words) text += ' ' + quoted(word);
  return text;
}

PointRecord record_of(const std::string& key, const PointInputs& inputs, const std::string& command, const RunResult& result,
                      const fs::path& folder) {
  PointRecord record;
  record.key = key;
  record.inputs = inputs;
  record.command = command;
  record.state = result.state;
  record.exit_code = result.exit_code;
  record.seconds = result.seconds;
  record.user_seconds = result.user_seconds;
  record.system_seconds = result.system_seconds;
  record.peak_memory_bytes = result.peak_memory_bytes;
  record.host = result.host;
  record.date = result.date;
  record.commit = build_commit();
  record.compiler = build_compiler();
  record.cause = cause_of(result, folder);
  record.log = kept_log(folder, record.cause);
  try {
    // Results of a point that has failed, timed out or been killed are stored as well: its state shows that they are
    // incomplete.
    record.results = read_results(folder / kPointOutput);
    std::ifstream log(folder / kPointLog, std::ios::binary);
    for (StatisticValue& value : parse_result_line(log)) record.results.statistics.push_back(std::move(value));
  } catch (const SweepError& e) {
    // A failed run without results has already reported the reason.
    if (record.state == PointState::done) {
      record.state = PointState::failed;
      record.cause = e.what();
    }
  }
  if (record.results.version.empty()) record.results.version = kVersion;
  return record;
}

}  // namespace lacuna
