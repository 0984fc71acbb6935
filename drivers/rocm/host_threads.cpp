#include "drivers/rocm/host_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "models/common/host/simulator_thread.h"

namespace lacuna::rocm {
namespace {

using HostClock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// Minimum processor time charged for each slice that a thread ran. A loop that yields the processor uses almost no processor
/// time while other processes compete for it; a thread that computes runs longer than this per slice.
constexpr std::chrono::microseconds kLeastSlice{200};

// -- calls to the runtime

/// Call counters by thread; never destroyed, because threads may end after static objects are destroyed.
struct Calls {
  std::mutex mutex;
  std::map<pid_t, const std::atomic<std::uint64_t>*> counts;
};
Calls& calls() {
  static auto* const instance = new Calls;
  return *instance;
}

class CallCount {
 public:
  CallCount() {
    const std::lock_guard lock(calls().mutex);
    calls().counts[gettid()] = &count_;
  }
  ~CallCount() {
    const std::lock_guard lock(calls().mutex);
    calls().counts.erase(gettid());
  }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;
  void add() { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

/// Number of calls that the thread has made to the runtime.
std::uint64_t calls_of(pid_t thread) {
  const std::lock_guard lock(calls().mutex);
  const auto found = calls().counts.find(thread);
  return found == calls().counts.end() ? 0 : found->second->load(std::memory_order_relaxed);
}

// -- state of a thread as reported by Linux

constexpr const char* kTasks = "/proc/self/task";

/// A file that the driver keeps open without the program's knowledge. A program may close descriptors that are not its own, and
/// the number may then belong to another file: device and inode are compared, so that such a file is neither read nor closed.
class HeldFile {
 public:
  HeldFile() = default;
  /// `descriptor`: an open file, or negative for none.
  explicit HeldFile(int descriptor) : descriptor_(descriptor) {
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) return;
    device_ = status.st_dev;
    number_ = status.st_ino;
  }

  /// The descriptor, with the result of fstat() in `status`; nullopt if the descriptor is negative, closed, or refers to
  /// another file.
  std::optional<int> descriptor(struct stat& status) const {
    const bool held =
        descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == number_;
    return held ? std::optional(descriptor_) : std::nullopt;
  }
  std::optional<int> descriptor() const {
    struct stat status {};
    return descriptor(status);
  }
  void close() {
    if (const std::optional<int> held = descriptor()) ::close(*held);
    descriptor_ = -1;
  }

 private:
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

/// The folder of the process's threads, held open: opening it by name for each look would cost more host time than the look
/// itself. For use by one thread at a time.
class TaskFolder {
 public:
  static TaskFolder& the() {
    static TaskFolder folder;
    return folder;
  }
  /// The folder's descriptor, with the result of fstat() in `status`; AT_FDCWD if it cannot be opened.
  int open(struct stat& status) {
    if (const std::optional<int> held = file_.descriptor(status)) return *held;
    file_ = HeldFile(::open(kTasks, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return file_.descriptor(status).value_or(AT_FDCWD);
  }

 private:
  TaskFolder() {
    pthread_atfork(nullptr, nullptr, [] { the().file_.close(); });  // a child inherits the folder of its parent's threads
  }

  HeldFile file_;
};

using ProcText = std::array<char, 512>;

/// Reads a file of /proc from its beginning; empty if it cannot be read, for example because its thread has ended.
ProcText read_from_start(int file) {
  ProcText text;
  const ssize_t length = pread(file, text.data(), text.size() - 1, 0);
  text[length > 0 ? static_cast<std::size_t>(length) : 0] = 0;
  return text;
}

int open_of_thread(pid_t thread, const char* name) {
  std::array<char, 64> path{};
  struct stat status {};
  const int folder = TaskFolder::the().open(status);
  const bool whole = folder == AT_FDCWD;
  std::snprintf(path.data(), path.size(), "%s%s%d/%s", whole ? kTasks : "", whole ? "/" : "", static_cast<int>(thread), name);
  return openat(folder, path.data(), O_RDONLY | O_CLOEXEC);
}

/// Reads a thread's file in /proc/self/task; empty if the thread has ended or the file cannot be read.
ProcText read_of_thread(pid_t thread, const char* name) {
  const int file = open_of_thread(thread, name);
  if (file < 0) return {};
  const ProcText text = read_from_start(file);
  close(file);
  return text;
}

/// Files of threads, kept open between looks because opening a file costs several times as much as reading it. The number of
/// files that a process may have open is limited, so only the first kMost are kept. For use by one thread at a time.
class ThreadFiles {
 public:
  static ThreadFiles& the() {
    static auto* const files = new ThreadFiles;
    return *files;
  }
  /// As read_of_thread(). `name` is compared by address: pass the same object in all calls for one kind of file.
  ProcText read(pid_t thread, const char* name) {
    const auto [found, is_new] = files_.try_emplace({thread, name});
    Entry& entry = found->second;
    entry.look = look_;
    if (is_new) entry.file = HeldFile(open_of_thread(thread, name));
    const std::optional<int> held = entry.file.descriptor();
    ProcText text = held ? read_from_start(*held) : ProcText{};
    const bool valid = text[0] != 0;
    // Since the file was opened, the thread ID may have been reused by a new thread, or the program may have closed the
    // descriptor.
    if (!valid && !is_new) text = read_of_thread(thread, name);
    if (!valid || files_.size() > kMost) {
      entry.file.close();
      files_.erase(found);
    }
    return text;
  }
  /// Begins a look; closes the files that the previous look did not read.
  void begin_look() {
    for (auto entry = files_.begin(); entry != files_.end();) {
      if (entry->second.look == look_) {
        ++entry;
        continue;
      }
      entry->second.file.close();
      entry = files_.erase(entry);
    }
    ++look_;
  }

 private:
  static constexpr std::size_t kMost = 96;
  struct Entry {
    HeldFile file;
    std::uint64_t look = 0;  ///< number of the last look that read the file
  };

  ThreadFiles() {
    pthread_atfork(nullptr, nullptr, [] { the().close_all(); });  // a child inherits files of its parent's threads
  }
  void close_all() {
    for (auto& [key, entry] : files_) entry.file.close();
    files_.clear();
  }

  std::map<std::pair<pid_t, const char*>, Entry> files_;
  std::uint64_t look_ = 0;
};

/// State as in /proc/PID/stat: R = running, S = interruptible sleep, D = uninterruptible sleep; 0 = the thread has ended.
char state_of(pid_t thread) {
  static constexpr const char* kStat = "stat";
  const ProcText stat = ThreadFiles::the().read(thread, kStat);
  const char* const end_of_name = std::strrchr(stat.data(), ')');
  return end_of_name == nullptr || end_of_name[1] == 0 ? 0 : end_of_name[2];
}

/// Uninterruptible sleep counts as running because it ends without any action of the program: a disk request completes, or
/// another thread releases the process's mmap lock.
bool is_runnable(char state) { return state == 'R' || state == 'D'; }

enum class Doing : std::uint8_t { gone, runs, waits, sleeps };

/// Activity of a thread, derived from /proc/PID/syscall: number and arguments of its system call, or "running".
Doing doing(pid_t thread) {
  static constexpr const char* kCall = "syscall";
  const ProcText call = ThreadFiles::the().read(thread, kCall);
  if (call[0] == 0) {
    // Either the thread has ended, or Linux does not provide this file.
    const char state = state_of(thread);
    return state == 0 ? Doing::gone : state == 'S' ? Doing::waits : Doing::runs;
  }
  if (std::strncmp(call.data(), "running", 7) == 0) return Doing::runs;
  std::array<unsigned long long, 6> arguments{};
  long number = -1;
  std::sscanf(call.data(), "%ld %llx %llx %llx %llx %llx %llx", &number, &arguments[0], &arguments[1], &arguments[2],
              &arguments[3], &arguments[4], &arguments[5]);
  switch (number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return Doing::sleeps;
    case SYS_futex: {
      const auto operation = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
      const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
      return waits && arguments[3] != 0 ? Doing::sleeps : Doing::waits;
    }
    case SYS_poll:
      return static_cast<int>(arguments[2]) > 0 ? Doing::sleeps : Doing::waits;
    case SYS_select:
    case SYS_pselect6:
      return arguments[4] != 0 ? Doing::sleeps : Doing::waits;
    case SYS_ppoll:
      return arguments[2] != 0 ? Doing::sleeps : Doing::waits;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return static_cast<int>(arguments[3]) > 0 ? Doing::sleeps : Doing::waits;
    case -1:  // blocked outside of a system call: a page fault, or stopped
      return Doing::runs;
    default:
      return is_runnable(state_of(thread)) ? Doing::runs : Doing::waits;
  }
}

struct Times {
  std::uint64_t run_ns = 0;
  std::uint64_t slices = 0;
};

/// Processor time and slices of a thread; nullopt if the thread has ended, zeros if Linux does not account for slices.
std::optional<Times> times(pid_t thread) {
  static constexpr const char* kTimes = "schedstat";
  const ProcText text = ThreadFiles::the().read(thread, kTimes);
  unsigned long long run = 0;
  unsigned long long waited = 0;
  unsigned long long slices = 0;
  if (std::sscanf(text.data(), "%llu %llu %llu", &run, &waited, &slices) != 3)
    return state_of(thread) == 0 ? std::nullopt : std::optional(Times{});
  return Times{run, slices};
}

/// Whether the process has exactly `count` threads, the calling one included.
bool has_threads(unsigned count) {
  struct stat status {};
  // Link count of a folder: one for ".", one for its entry in the parent, and one for each folder in it.
  const bool known = TaskFolder::the().open(status) != AT_FDCWD || stat(kTasks, &status) == 0;
  return known && status.st_nlink == 2 + count;
}

std::vector<pid_t> all_threads() {
  std::vector<pid_t> threads;
  DIR* const folder = opendir(kTasks);
  if (folder == nullptr) return threads;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') threads.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  closedir(folder);
  return threads;
}

}  // namespace

// Creates the list of calls here, on a known thread. If the first use created it, it would be on the heap of whichever thread
// the host schedules first.
HostThreads::HostThreads(nanoseconds patience) : patience_(patience) { calls(); }

void HostThreads::note_call() {
  thread_local CallCount count;
  count.add();
}

void HostThreads::begin_moment() {
  for (auto& [id, thread] : threads_) thread.moment = thread.spent;
}

void HostThreads::forgive() {
  for (auto& [id, thread] : threads_) {
    thread.waits = true;  // makes the next look restart the account of the thread's time
    thread.disregarded = false;
  }
}

nanoseconds HostThreads::patience_after(nanoseconds patience, unsigned times) {
  const nanoseconds least = std::min<nanoseconds>(patience, std::chrono::milliseconds(1));
  return times > 20 ? least : std::max(least, patience / (std::int64_t{1} << (3 * times)));
}

bool HostThreads::all_wait(unsigned waiting) { return has_threads(waiting + SimulatorThread::count()); }

// A thread counts as waiting only if both passes find it waiting and it has not run between them. All threads for which this
// holds were waiting at the same time, between the passes; since each of them can be woken only by another thread, they still
// wait. The number of threads is checked between the passes: the list may have been read before the newest thread was created,
// by a thread that has since begun to wait.
//
// The second pass reads a thread's state, not its system call: from the time a thread is woken until a processor runs it
// (TASK_WAKING, which may last long in a virtual machine), Linux still reports the call in which the thread slept.
HostThreads::Look HostThreads::look(std::span<const pid_t> waiting, unsigned spinning) {
  ++looks_;
  ThreadFiles::the().begin_look();
  struct Seen {
    pid_t id;
    bool expected;
    Doing doing;
    Times times;
  };
  std::vector<Seen> others;
  for (const pid_t id : all_threads()) {
    if (id == gettid()) continue;
    const bool expected = SimulatorThread::contains(id) || std::find(waiting.begin(), waiting.end(), id) != waiting.end();
    const std::optional<Times> before = times(id);
    others.push_back({id, expected, before ? doing(id) : Doing::gone, before.value_or(Times{})});
  }
  const auto present = std::count_if(others.begin(), others.end(), [](const Seen& seen) { return seen.doing != Doing::gone; });
  Look look{.quiet = has_threads(static_cast<unsigned>(present) + 1)};
  look.computing = look.quiet;
  unsigned running = 0;
  for (Seen& seen : others) {
    if (seen.doing != Doing::gone) {
      const char state = state_of(seen.id);
      const std::optional<Times> after = times(seen.id);  // read after the state: includes all runs before it
      if (state == 0 || !after) {
        seen.doing = Doing::gone;
      } else if (is_runnable(state) || after->slices != seen.times.slices ||
                 (after->slices == 0 && doing(seen.id) != seen.doing)) {
        seen.doing = Doing::runs;
      }
      seen.times = after.value_or(Times{});
    }
    if (!seen.expected) {
      running += seen.doing == Doing::runs ? 1 : 0;
    } else if (seen.doing == Doing::runs) {
      look.quiet = look.computing = false;  // the running thread may still hold a lock for which another thread waits
    }
  }
  for (Seen& seen : others) {
    if (seen.doing == Doing::gone || seen.expected) continue;
    if (seen.doing == Doing::runs && running <= spinning) seen.doing = Doing::waits;
    const Times& after = seen.times;
    const auto [found, is_new] = threads_.try_emplace(seen.id);
    Thread& thread = found->second;
    thread.seen = looks_;
    const std::uint64_t called = calls_of(seen.id);
    const bool ran = is_new || after.slices != thread.slices || seen.doing == Doing::runs;
    look.ran |= ran && seen.doing != Doing::sleeps;
    thread.slices = after.slices;
    if (seen.doing == Doing::waits) {
      thread.waits = true;
      thread.disregarded = false;
      continue;
    }
    if (thread.waits || called != thread.calls) {
      thread.waits = false;
      thread.disregarded = false;
      thread.calls = called;
      thread.run_ns = after.run_ns;
      thread.first_slice = after.slices;
      thread.since = HostClock::now();
      thread.spent = thread.moment = nanoseconds{};
    }
    if (!thread.disregarded) {
      const bool sleeps = seen.doing == Doing::sleeps;
      const bool by_clock = sleeps || thread.times_disregarded > 0;
      const nanoseconds used(static_cast<std::int64_t>(after.run_ns - thread.run_ns));
      thread.spent =
          by_clock ? HostClock::now() - thread.since
                   : std::max<nanoseconds>(used, static_cast<std::int64_t>(after.slices - thread.first_slice) * kLeastSlice);
      const bool exhausted = thread.spent > patience_after(patience_, thread.times_disregarded);
      // A thread that sleeps on a timer and has never called the runtime has nothing to do with the GPUs.
      thread.disregarded = exhausted || (sleeps && called == 0);
      if (exhausted && thread.times_disregarded++ == 0 && called != 0) look.given_up = seen.id;
    }
    look.quiet &= thread.disregarded;
    look.computing &= thread.disregarded || thread.spent - thread.moment >= kMoment;
    look.disregarded |= thread.disregarded && !(seen.doing == Doing::sleeps && called == 0);
  }
  std::erase_if(threads_, [this](const auto& entry) { return entry.second.seen != looks_; });
  look.computing &= !look.quiet;
  return look;
}

}  // namespace lacuna::rocm
