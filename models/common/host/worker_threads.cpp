#include "models/common/host/worker_threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "models/common/host/blocked_signals.h"
#include "models/common/host/simulator_thread.h"

namespace lacuna {
namespace {

// Maximum spin time: longer than the single-threaded work between two rounds of a busy simulation, and about as long as a
// wake-up takes.
constexpr std::chrono::microseconds kSpin{50};
// Time until the thread yields the processor: the awaited event usually happens earlier, and yielding and regaining the
// processor takes as long as a short piece of work.
constexpr std::chrono::microseconds kKeep{10};

/// Spins until `done()`, but at most for kSpin. Returns whether done() has become true.
template <typename Done>
bool spin_until(Done&& done) {
  constexpr unsigned kChecks = 16;  // checks between two reads of the clock
  if (done()) return true;
  for (const auto begin = std::chrono::steady_clock::now();;) {
    for (unsigned i = 0; i < kChecks; ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (done()) return true;
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kSpin) return false;
    if (waited > kKeep) sched_yield();
  }
}

}  // namespace

WorkerThreads::WorkerThreads(unsigned threads, Sharing sharing) : shares_(threads), sharing_(sharing) {
  const BlockedSignals blocked;
  try {
    for (unsigned i = 1; i < threads; ++i) workers_.push_back(SimulatorThread::start([this, i] { wait_and_work(i); }));
  } catch (...) {
    end_workers();
    throw;
  }
}

WorkerThreads::~WorkerThreads() { end_workers(); }

void WorkerThreads::end_workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    ++round_;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerThreads::share(std::span<const unsigned> items, unsigned range, const Call& call) {
  call_ = call;
  remaining_ = static_cast<unsigned>(items.size());
  items_.resize(items.size());
  unsigned end = 0;
  for (unsigned i = 0; i < threads(); ++i) {
    const std::uint64_t first = first_of(i, range);
    const std::uint64_t last = first_of(i + 1, range);
    const unsigned begin = end;
    for (const unsigned item : items) {
      if (const unsigned number = item % range; number >= first && number < last) items_[end++] = item;
    }
    shares_[i].set(begin, end);
  }
  ++round_;
  if (asleep_ != 0) {
    { const std::lock_guard lock(mutex_); }  // afterwards, each thread has either seen the round or sleeps
    begin_.notify_all();
  }
  take_items(0);
  const auto done = [this] { return remaining_ == 0; };
  if (!spin_until(done)) {
    std::unique_lock lock(mutex_);
    caller_asleep_ = true;
    end_.wait(lock, done);
    caller_asleep_ = false;
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

template <bool kFirst>
bool WorkerThreads::Share::take(unsigned& place) {
  for (std::uint64_t left = left_.load(std::memory_order_acquire);;) {
    const auto begin = static_cast<unsigned>(left);
    const auto end = static_cast<unsigned>(left >> 32);
    if (begin == end) return false;
    place = kFirst ? begin : end - 1;
    const std::uint64_t rest = kFirst ? left + 1 : left - (std::uint64_t{1} << 32);
    if (left_.compare_exchange_weak(left, rest, std::memory_order_acquire)) return true;
  }
}

bool WorkerThreads::alone(std::size_t items) {
  if (workers_.empty() || items < 2) return true;
  return sharing_ == Sharing::unless_contended && !contention_.share(std::chrono::steady_clock::now(), involuntary_switches);
}

void WorkerThreads::take_items(unsigned thread) {
  unsigned taken = 0;
  unsigned place = 0;
  // An item whose work throws is counted as done, since the caller waits for all items.
  const auto work = [&] {
    try {
      call_.function(call_.work, items_[place], thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  };
  for (; shares_[thread].take_first(place); ++taken) work();
  for (unsigned i = 1; i < threads(); ++i) {
    for (; shares_[(thread + i) % threads()].take_last(place); ++taken) work();
  }
  if (taken == 0 || (remaining_ -= taken) != 0 || !caller_asleep_) return;
  { const std::lock_guard lock(mutex_); }
  end_.notify_one();
}

void WorkerThreads::wait_and_work(unsigned thread) {
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
    take_items(thread);
  }
}

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace lacuna
