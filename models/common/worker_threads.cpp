#include "models/common/worker_threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace lacuna {
namespace {

// Longer than the work of one thread between two pieces in a busy simulation; a wake-up costs the host as much.
constexpr std::chrono::microseconds kSpin{50};

/// Whether `done()` within the time that spinning is worth.
template <typename Done>
bool spin_until(Done&& done) {
  constexpr unsigned kChecks = 64;  // between two looks at the clock
  for (unsigned i = 0; i < kChecks; ++i) {
    if (done()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (const auto end = std::chrono::steady_clock::now() + kSpin; std::chrono::steady_clock::now() < end;) {
    if (done()) return true;
    sched_yield();
  }
  return done();
}

}  // namespace

WorkerThreads::WorkerThreads(unsigned threads, Sharing sharing) : sharing_(sharing) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    ++round_;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerThreads::run(unsigned pieces, const std::function<void(unsigned)>& piece) {
  if (alone(pieces)) {
    for (unsigned i = 0; i < pieces; ++i) piece(i);
    return;
  }
  if (taken_size_ < pieces) {
    taken_ = std::make_unique<std::atomic<bool>[]>(pieces);
    taken_size_ = pieces;
  }
  for (unsigned i = 0; i < pieces; ++i) taken_[i].store(false, std::memory_order_relaxed);
  piece_ = &piece;
  pieces_ = pieces;
  remaining_ = pieces;
  open_ = true;
  ++round_;
  if (asleep_ != 0) {
    { const std::lock_guard lock(mutex_); }  // whoever is about to sleep has seen the round or sleeps
    begin_.notify_all();
  }
  take_pieces(0);
  const auto done = [this] { return remaining_ == 0; };
  if (!spin_until(done)) {
    std::unique_lock lock(mutex_);
    caller_asleep_ = true;
    end_.wait(lock, done);
    caller_asleep_ = false;
  }
  open_ = false;
  while (inside_ != 0) sched_yield();
}

bool WorkerThreads::alone(unsigned pieces) {
  if (workers_.empty() || pieces < 2) return true;
  return sharing_ == Sharing::unless_contended && !contention_.share(std::chrono::steady_clock::now(), involuntary_switches);
}

void WorkerThreads::take_pieces(unsigned thread) {
  const unsigned first = pieces_ * thread / threads();
  for (unsigned i = 0; i < pieces_; ++i) {
    const unsigned piece = (first + i) % pieces_;
    if (taken_[piece].load(std::memory_order_relaxed) || taken_[piece].exchange(true, std::memory_order_relaxed)) continue;
    (*piece_)(piece);
    if (--remaining_ != 0 || !caller_asleep_) continue;
    { const std::lock_guard lock(mutex_); }
    end_.notify_one();
  }
}

void WorkerThreads::work(unsigned thread) {
  pthread_setname_np(pthread_self(), "lacuna-worker");
  for (std::uint64_t seen = 0;;) {
    const auto begun = [&] { return round_ != seen; };
    if (!spin_until(begun)) {
      std::unique_lock lock(mutex_);
      ++asleep_;
      begin_.wait(lock, begun);
      --asleep_;
    }
    seen = round_;
    if (stop_) return;
    ++inside_;
    if (open_) take_pieces(thread);
    --inside_;
  }
}

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace lacuna
