// Tests what the Linux kernel reports about threads: running, waiting for another thread, or sleeping on a timer.
#include "drivers/rocm/host_threads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "models/common/host/simulator_thread.h"

namespace lacuna::rocm {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The test's thread takes the role of the simulation thread.
class HostThreadsTest : public testing::Test {
 protected:
  HostThreads::Look look() { return threads_.look({}); }
  /// Repeats the check until the threads are quiet. Returns false if they are not quiet after a long time.
  bool gets_quiet() {
    for (int i = 0; i < 100'000; ++i) {
      if (look().quiet) return true;
      std::this_thread::yield();
    }
    return false;
  }

  const SimulatorThread self_;
  HostThreads threads_{hours(1)};
};

/// A thread that runs work(end), which must return when `end` becomes true.
class Worker {
 public:
  template <typename Work>
  explicit Worker(Work work)
      : thread_([this, work] {
          id_ = gettid();
          work(end_);
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Worker() {
    end_ = true;
    if (thread_.joinable()) thread_.join();
  }
  pid_t id() const { return id_; }
  pthread_t handle() { return thread_.native_handle(); }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> end_{false};
  std::thread thread_;
};

void compute(const std::atomic<bool>& end) {
  while (!end) {
  }
}

TEST_F(HostThreadsTest, AProcessWithoutOtherThreadsIsQuiet) {
  EXPECT_TRUE(HostThreads::all_wait(0));
  EXPECT_FALSE(HostThreads::all_wait(1));
  EXPECT_TRUE(look().quiet);
}

// Programs may close all files, before exec() or to become daemons, and then open others.
TEST_F(HostThreadsTest, TheProgramMayCloseAllFiles) {
  ASSERT_TRUE(HostThreads::all_wait(0));
  for (int file = 3; file < 64; ++file) close(file);
  EXPECT_TRUE(HostThreads::all_wait(0));
  for (int file = 3; file < 64; ++file) close(file);
  std::vector<int> others;
  for (int i = 0; i < 8; ++i) others.push_back(open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Worker worker(compute);
  EXPECT_FALSE(HostThreads::all_wait(0));
  EXPECT_TRUE(HostThreads::all_wait(1));
  EXPECT_FALSE(look().quiet);
  for (const int file : others) EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC) << "a file of the program's";
}

// The program closes the files of threads that are kept open between checks, and their descriptors are reused.
TEST_F(HostThreadsTest, TheProgramMayCloseFilesOfThreads) {
  std::atomic<bool> end{false};
  const Worker waits([&](const std::atomic<bool>&) { end.wait(false); });
  ASSERT_TRUE(gets_quiet());
  for (int file = 3; file < 64; ++file) close(file);
  std::vector<int> others;
  for (int i = 0; i < 16; ++i) others.push_back(open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(gets_quiet());
  {
    const Worker runs(compute);
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(look().quiet);
  }
  EXPECT_TRUE(gets_quiet());
  for (const int file : others) EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC) << "a file of the program's";
  end = true;
  end.notify_all();
}

// The child inherits the open folder in /proc, which lists the threads of its parent.
TEST_F(HostThreadsTest, AChildLooksAtItsOwnThreads) {
  const Worker worker(compute);
  ASSERT_TRUE(HostThreads::all_wait(1));
  const pid_t child = fork();
  if (child == 0) _exit(HostThreads::all_wait(0) && !HostThreads::all_wait(1) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(HostThreadsTest, AThreadThatComputesIsNotQuiet) {
  const Worker worker(compute);
  EXPECT_FALSE(HostThreads::all_wait(0));
  for (int i = 0; i < 200; ++i) ASSERT_FALSE(look().quiet);
}

// A thread that is about to wait may hold a lock that another thread waits for, so neither of them is quiet.
TEST_F(HostThreadsTest, AThreadThatIsAboutToWaitIsNotQuiet) {
  const Worker worker(compute);
  for (int i = 0; i < 200; ++i) ASSERT_FALSE(threads_.look(std::array{worker.id()}).quiet);
  EXPECT_TRUE(HostThreads::all_wait(1));
}

TEST_F(HostThreadsTest, AThreadThatIsKnownToWaitMaySleepByATimer) {
  std::mutex mutex;
  std::condition_variable condition;
  bool go = false;
  const Worker worker([&](const std::atomic<bool>&) {
    HostThreads::note_call();
    std::unique_lock lock(mutex);
    condition.wait_for(lock, hours(1), [&] { return go; });
  });
  while (!threads_.look(std::array{worker.id()}).quiet) std::this_thread::yield();
  EXPECT_FALSE(threads_.look(std::array{worker.id()}).disregarded);
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  condition.notify_one();
}

TEST_F(HostThreadsTest, AThreadThatWaitsForAnotherIsQuiet) {
  std::mutex mutex;
  std::condition_variable condition;
  bool go = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return go; });
  });
  EXPECT_TRUE(gets_quiet());
  EXPECT_FALSE(look().ran);
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  condition.notify_one();
  waiter.join();
  EXPECT_TRUE(look().quiet);
}

// Threads sleep uninterruptibly during disk accesses, or while they wait for the process's mmap lock. A thread that calls
// vfork() sleeps in this way until the child ends or becomes another program.
TEST_F(HostThreadsTest, UninterruptibleSleepIsNotQuiet) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  std::atomic<bool> begun{false};
  std::atomic<bool> woken{false};
  std::thread sleeper([&] {
    begun = true;
    const pid_t child = vfork();
    if (child == 0) {
      char byte = 0;
      (void)!read(pipe[0], &byte, 1);
      _exit(0);
    }
    woken = true;
    waitpid(child, nullptr, 0);
  });
  while (!begun) std::this_thread::yield();
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(look().quiet);
  EXPECT_FALSE(woken);
  EXPECT_EQ(write(pipe[1], "x", 1), 1);
  sleeper.join();
  for (const int file : pipe) close(file);
}

// Two threads that wake each other continuously: one of them always runs, though at any single moment both may be seen to wait.
TEST_F(HostThreadsTest, ThreadsThatWakeEachOtherAreNeverQuiet) {
  std::mutex mutex;
  std::condition_variable condition;
  unsigned turn = 0;
  std::atomic<bool> end{false};
  const auto play = [&](unsigned mine) {
    std::unique_lock lock(mutex);
    while (!end) {
      condition.wait(lock, [&] { return turn % 2 == mine || end; });
      ++turn;
      condition.notify_all();
    }
  };
  std::thread first(play, 0);
  std::thread second(play, 1);
  for (int i = 0; i < 2000; ++i) EXPECT_FALSE(look().quiet) << "look " << i;
  end = true;
  condition.notify_all();
  first.join();
  second.join();
}

TEST_F(HostThreadsTest, ASleeperThatNeverCallsTheRuntimeIsDisregarded) {
  std::mutex mutex;
  std::condition_variable condition;
  bool go = false;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    condition.wait_for(lock, hours(1), [&] { return go; });
  });
  EXPECT_TRUE(gets_quiet());
  EXPECT_FALSE(look().disregarded) << "it does not wait for a GPU";
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  condition.notify_one();
  sleeper.join();
}

TEST_F(HostThreadsTest, ASleeperThatCallsTheRuntimeIsNotQuiet) {
  std::mutex mutex;
  std::condition_variable condition;
  bool go = false;
  std::atomic<bool> called{false};
  std::thread sleeper([&] {
    HostThreads::note_call();
    called = true;
    std::unique_lock lock(mutex);
    condition.wait_for(lock, hours(1), [&] { return go; });
  });
  while (!called) std::this_thread::yield();
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(look().quiet);
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  condition.notify_one();
  sleeper.join();
}

TEST_F(HostThreadsTest, PatienceEndsAndACallRestoresIt) {
  HostThreads threads(milliseconds(20));
  std::atomic<unsigned> calls{0};
  std::atomic<unsigned> wanted{1};
  const Worker worker([&](const std::atomic<bool>& end) {
    while (!end) {
      if (calls == wanted) continue;
      HostThreads::note_call();
      ++calls;
    }
  });
  for (unsigned round = 1; round <= 2; ++round) {
    wanted = round;
    while (calls != round) std::this_thread::yield();
    HostThreads::Look look = threads.look({});
    EXPECT_FALSE(look.quiet) << "round " << round;
    while (!look.quiet) look = threads.look({});
    EXPECT_TRUE(look.disregarded);
    EXPECT_EQ(look.given_up, round == 1 ? worker.id() : 0) << "said once, round " << round;
  }
  threads.forgive();
  EXPECT_FALSE(threads.look({}).quiet);
}

// Whether a thread computes is determined by its processor time: the 20 ms do not include times in which the host does not run
// the thread.
TEST_F(HostThreadsTest, AThreadComputesWhenItHasRunForAMoment) {
  EXPECT_FALSE(look().computing) << "no thread runs";
  Worker worker(compute);
  clockid_t clock = 0;
  ASSERT_EQ(pthread_getcpuclockid(worker.handle(), &clock), 0);
  const auto used = [&] {
    timespec time{};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  for (int moment = 0; moment < 2; ++moment) {
    const auto before = used();
    while (!look().computing) {
    }
    EXPECT_GE(used() - before, HostThreads::kMoment - milliseconds(5));
    const HostThreads::Look again = look();
    EXPECT_TRUE(again.computing);
    EXPECT_FALSE(again.quiet);
    threads_.begin_moment();
    EXPECT_FALSE(look().computing);
  }
  // With a new thread, `computing` is false until this thread has also run for a moment.
  while (!look().computing) {
  }
  const Worker other(compute);
  EXPECT_FALSE(look().computing);
}

TEST_F(HostThreadsTest, PatienceShrinksToAnEighthEachTimeButNotBelow1Ms) {
  const auto left = [](milliseconds patience, unsigned times) { return HostThreads::patience_after(patience, times); };
  EXPECT_EQ(left(milliseconds(200), 0), milliseconds(200));
  EXPECT_EQ(left(milliseconds(200), 1), milliseconds(25));
  EXPECT_EQ(left(milliseconds(200), 2), microseconds(3125));
  for (const unsigned times : {3U, 20U, 21U, ~0U}) EXPECT_EQ(left(milliseconds(200), times), milliseconds(1));
  EXPECT_EQ(left(milliseconds(1), 0), milliseconds(1));
  EXPECT_EQ(left(milliseconds(1), 5), milliseconds(1));
}

// Which threads spin is unknown: all threads are considered waiting only if no more threads run than spin.
TEST_F(HostThreadsTest, ThreadsThatSpinForAGpuAreQuietWhenNoOtherRuns) {
  const Worker spinner(compute);
  EXPECT_TRUE(threads_.look({}, 1).quiet);
  {
    const Worker other(compute);
    for (int i = 0; i < 200; ++i) ASSERT_FALSE(threads_.look({}, 1).quiet);
    EXPECT_TRUE(threads_.look({}, 2).quiet);
  }
  EXPECT_TRUE(threads_.look({}, 1).quiet);
  EXPECT_FALSE(threads_.look({}, 1).disregarded);
  EXPECT_FALSE(look().quiet);
}

TEST_F(HostThreadsTest, TheSimulatorsOwnThreadsDoNotCount) {
  HostThreads threads(milliseconds(1));
  const Worker worker([](const std::atomic<bool>& end) {
    const SimulatorThread registered;
    compute(end);
  });
  while (!SimulatorThread::contains(worker.id())) std::this_thread::yield();
  EXPECT_TRUE(HostThreads::all_wait(0));
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(threads.look({}).disregarded) << "its work is waited for";
}

}  // namespace
}  // namespace lacuna::rocm
