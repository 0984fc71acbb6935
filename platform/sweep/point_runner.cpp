#include "platform/sweep/point_runner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>

#include "platform/sweep/build_origin.h"
#include "platform/sweep/sweep_error.h"
#include "platform/version.h"

extern "C" char** environ;

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// What is kept of a log: its end says why.
constexpr std::uintmax_t kMostLog = 16 * 1024;
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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

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

}  // namespace

fs::path PointRunner::folder(const PointTask& task) const { return setup_.folders / std::to_string(task.index); }

void PointRunner::start(const PointTask& task) {
  const fs::path place = folder(task);
  std::error_code status;
  fs::remove_all(place, status);
  fs::create_directories(place, status);
  std::vector<std::string> words{setup_.simulator.string()};
  words.insert(words.end(), task.words.begin(), task.words.end());
  // Behind the command, before what may be behind --.
  words.insert(words.begin() + 2, {"--quiet", "--out=" + (place / kPointOutput).string()});
  std::vector<std::string> variables = environment_of(task.environment);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const std::string log = place / kPointLog;
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
    const int input = open("/dev/null", O_RDONLY);
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    for (const int file : {input, output})
      if (file > STDERR_FILENO) close(file);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (chdir(setup_.run_in.c_str()) == 0) execve(arguments.front(), arguments.data(), environment.data());
    _exit(kPointNotStarted);
  }
  running_[child] = {&task, begin};
}

bool PointRunner::collect(const Observer& observer) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t child = wait4(-1, &status, WNOHANG, &usage);
    if (child <= 0) return true;
    const auto found = running_.find(child);
    if (found == running_.end()) continue;
    const Running ended = found->second;
    running_.erase(found);
    PointEnd end;
    end.seconds = std::chrono::duration<double>(Clock::now() - ended.begin).count();
    end.user_seconds = seconds(usage.ru_utime);
    end.system_seconds = seconds(usage.ru_stime);
    end.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end.state = ended.timed_out       ? PointState::timeout
                : WIFSIGNALED(status) ? PointState::killed
                : end.exit_code == 0  ? PointState::done
                                      : PointState::failed;
    end.host = host_name();
    end.date = date_now();
    // The next one works while this one is put away.
    if (const PointTask* next = observer.next()) start(*next);
    if (!observer.ended(*ended.task, end, folder(*ended.task))) return false;
  }
}

void PointRunner::enforce_timeout() {
  if (setup_.timeout_seconds == 0) return;
  for (auto& [child, running] : running_) {
    if (running.timed_out || std::chrono::duration<double>(Clock::now() - running.begin).count() < setup_.timeout_seconds)
      continue;
    running.timed_out = true;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
  }
}

void PointRunner::kill_all() {
  for (const auto& [child, running] : running_) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  running_.clear();
}

bool PointRunner::run(const Observer& observer) {
  const HeldSignals signals;
  while (running_.size() < setup_.jobs) {
    const PointTask* const next = observer.next();
    if (next == nullptr) break;
    start(*next);
  }
  try {
    while (!running_.empty()) {
      observer.progress(running_.size());
      const int number = signals.wait();
      if (number == SIGINT || number == SIGTERM || !collect(observer)) {
        kill_all();
        return false;
      }
      enforce_timeout();
    }
  } catch (...) {
    kill_all();
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
  std::ifstream log(folder / kPointLog, std::ios::binary);
  std::error_code status;
  const std::uintmax_t size = fs::file_size(folder / kPointLog, status);
  if (!status && size > kMostLog) log.seekg(static_cast<std::streamoff>(size - kMostLog));
  record.log.assign(std::istreambuf_iterator<char>(log), {});
  try {
    record.results = read_results(folder / kPointOutput);
  } catch (const SweepError& e) {
    // A run that did not get so far has said why by its exit code.
    if (record.state == PointState::done) {
      record.state = PointState::failed;
      record.log += std::string("lacuna: sweep: ") + e.what() + '\n';
    }
  }
  if (record.results.version.empty()) record.results.version = kVersion;
  return record;
}

}  // namespace lacuna
