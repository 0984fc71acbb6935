#include "platform/sweep/point_runner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

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
/// As env(1) has it for a program that cannot be run.
constexpr int kPointNotStarted = 126;

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// The process's environment with the point's variables; Lacuna's own come from the command line alone.
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

/// Closed when it goes.
struct FileDescriptor {
  explicit FileDescriptor(int opened) : number(opened) {}
  ~FileDescriptor() {
    if (number >= 0) close(number);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  const int number;
};

/// `leader_lives`: its number is still its own, not that of another process.
void signal_group(pid_t leader, bool leader_lives, int number) {
  // Should it have left the group that it was started in.
  if (kill(-leader, number) != 0 && leader_lives) kill(leader, number);
}

bool group_lives(pid_t leader) { return kill(-leader, 0) == 0; }

/// A signal by which a process does not end itself when it goes wrong: another one has sent it.
bool is_from_outside(int number) {
  constexpr std::array kOutside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  return std::find(kOutside.begin(), kOutside.end(), number) != kOutside.end();
}

}  // namespace

/// SIGCHLD, SIGINT and SIGTERM wait until they are asked for.
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

  /// The number of a signal, or 0 after a while without one.
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
  // Behind the command, before what may be behind --.
  words.insert(words.begin() + 2, {"--quiet", "--out=" + (place / kPointOutput).string()});
  std::vector<std::string> variables = environment_of(task.environment);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const pid_t parent = getpid();

  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM}) sigdelset(&mask, number);
  const Clock::time_point begin = Clock::now();
  // The child has this process's memory until it is the program, and changes nothing in it: a copy of the page table for each
  // point would cost more than the rest of its start.
  const pid_t child = vfork();
  if (child < 0) throw SweepError("no process can be started: " + std::generic_category().message(errno));
  if (child == 0) {
    // A sweep that is killed takes its points with it, so that the next one finds the machine free.
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

PointEnd PointRunner::end_of(const Running& running, int status, const rusage& usage) {
  PointEnd end;
  end.seconds = std::chrono::duration<double>(Clock::now() - running.begin).count();
  end.user_seconds = seconds(usage.ru_utime);
  end.system_seconds = seconds(usage.ru_stime);
  end.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + end.signal;
  end.host = host_name();
  end.date = date_now();
  if (running.timed_out) {
    end.state = PointState::timeout;
    end.why = "not ended after " + readable_duration(setup_.timeout_seconds);
    if (end.signal == SIGKILL) end.why += ", nor by SIGTERM within " + readable_duration(setup_.grace_seconds);
  } else if (is_from_outside(end.signal)) {
    end.state = PointState::killed;
    end.why = "killed by " + signal_text(end.signal);
    const std::string peak = std::to_string(end.peak_memory_bytes >> 20) + " MiB";
    const auto kills = out_of_memory_kills();
    if (end.signal == SIGKILL && kills && out_of_memory_kills_ && *kills > *out_of_memory_kills_) {
      ++*out_of_memory_kills_;
      end.why += ", out of memory, at " + peak;
    } else if (end.signal == SIGKILL) {
      end.why += " from outside of the sweep, at " + peak + " of memory";
    }
  } else {
    end.state = end.exit_code == 0 ? PointState::done : PointState::failed;
  }
  return end;
}

bool PointRunner::report(Group group, const Observer& observer) {
  const Running ended = group->second;
  running_.erase(group);
  // The next one works while this one is put away.
  if (const PointTask* next = starting_ ? observer.next() : nullptr) start(*next);
  return observer.ended(*ended.task, *ended.ended, folder(*ended.task));
}

bool PointRunner::collect(const Observer& observer) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t child = wait4(-1, &status, WNOHANG, &usage);
    if (child <= 0) return true;
    const auto found = running_.find(child);
    if (found == running_.end()) continue;
    found->second.ended = end_of(found->second, status, usage);
    // A script may have ended by the SIGTERM that the program which it started obeys in a moment.
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
      signal_group(leader, !running.ended, SIGKILL);
      if (running.ended && !report(group, observer)) return false;
    } else if (running.ended && !group_lives(leader) && !report(group, observer)) {
      return false;
    }
  }
  return true;
}

void PointRunner::end_all(const HeldSignals& signals) {
  for (const auto& [leader, running] : running_) signal_group(leader, !running.ended, SIGTERM);
  const Clock::time_point kill_at = Clock::now() + in_clock_time(setup_.grace_seconds);
  const auto lives = [](auto& entry) {
    if (!entry.second.ended && waitpid(entry.first, nullptr, WNOHANG) == 0) return true;
    entry.second.ended.emplace();
    while (waitpid(-entry.first, nullptr, WNOHANG) > 0) {
    }
    return group_lives(entry.first);
  };
  while (std::any_of(running_.begin(), running_.end(), lives) && Clock::now() < kill_at) {
    const int number = signals.wait();
    if (number == SIGINT || number == SIGTERM) break;
  }
  for (const auto& [leader, running] : running_) {
    if (running.ended && !group_lives(leader)) continue;
    signal_group(leader, !running.ended, SIGKILL);
    if (!running.ended) waitpid(leader, nullptr, 0);
  }
  running_.clear();
}

bool PointRunner::run(const Observer& observer) {
  const HeldSignals signals;
  // What a point's first process leaves is a child of this one, not of a process that may never wait for it: a group lives
  // until each of its processes has been waited for.
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
      // Also at the end: what has ended before it is kept.
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

PointRecord record_of(const std::string& key, const PointInputs& inputs, const std::string& command, const PointEnd& end,
                      const fs::path& folder) {
  PointRecord record;
  record.key = key;
  record.inputs = inputs;
  record.command = command;
  record.state = end.state;
  record.exit_code = end.exit_code;
  record.seconds = end.seconds;
  record.user_seconds = end.user_seconds;
  record.system_seconds = end.system_seconds;
  record.peak_memory_bytes = end.peak_memory_bytes;
  record.host = end.host;
  record.date = end.date;
  record.commit = build_commit();
  record.compiler = build_compiler();
  record.cause = cause_of(end, folder);
  record.log = kept_log(folder, record.cause);
  try {
    // Also what a point that is not done has written so far: its state says that it is a part.
    record.results = read_results(folder / kPointOutput);
  } catch (const SweepError& e) {
    // A run that did not get so far has said why.
    if (record.state == PointState::done) {
      record.state = PointState::failed;
      record.cause = e.what();
    }
  }
  if (record.results.version.empty()) record.results.version = kVersion;
  return record;
}

}  // namespace lacuna
