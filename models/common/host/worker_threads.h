// Host threads that repeatedly share short pieces of work; between these rounds, a single thread works.
//
// The caller is one of the threads. A thread first processes the items that it owns, which are the same in each round, so that
// their state is in its caches; then it takes items of other threads. Idle threads spin for a short time, since the next work
// usually follows soon; after a part of that time they yield the processor between checks, and finally they sleep. The threads
// that this class starts receive no signals, which are left to the threads of the program that contains the model.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "models/common/host/thread_contention.h"

namespace lacuna {

class WorkerThreads {
 public:
  /// Number of threads that work: all, or only one while other processes keep the processors busy.
  enum class Sharing : std::uint8_t { always, unless_contended };

  /// `threads`: number of threads including the caller; at least 1.
  explicit WorkerThreads(unsigned threads, Sharing sharing = Sharing::always);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  /// Number of threads that sleep because they had no work for a while.
  unsigned asleep() const { return asleep_; }

  /// Calls `work(item, thread)` once for each of `items`, on any of the threads; returns when all calls have returned. Each
  /// thread owns an equal part of the numbers below `range`, and the items that equal these numbers modulo `range`. It takes
  /// its own items in the order of `items`, and those of other threads in reverse order. Long items should therefore be first.
  /// If `work` throws, the first exception is rethrown after all items are done; if one thread works alone, immediately.
  template <typename Work>
  void run(std::span<const unsigned> items, unsigned range, const Work& work) {
    if (alone(items.size())) {
      for (const unsigned item : items) work(item, 0U);
      return;
    }
    share(items, range,
          {[](const void* call, unsigned item, unsigned thread) { (*static_cast<const Work*>(call))(item, thread); }, &work});
  }

  /// The thread that owns an item.
  unsigned owner(unsigned item, unsigned range) const {
    unsigned thread = 0;
    while (item % range >= first_of(thread + 1, range)) ++thread;
    return thread;
  }

 private:
  /// The `work` argument of run(), type-erased.
  struct Call {
    void (*function)(const void* work, unsigned item, unsigned thread);
    const void* work;
  };
  /// The items of a thread that have not been taken yet, as indices in `items_`. The owner takes the first item, other threads
  /// take the last; usually only the owner accesses the share.
  class alignas(64) Share {
   public:
    void set(unsigned begin, unsigned end) { left_.store(begin | std::uint64_t{end} << 32, std::memory_order_release); }
    /// Takes the first item and stores its index in `place`; returns false if none is left.
    bool take_first(unsigned& place) { return take<true>(place); }
    /// Takes the last item and stores its index in `place`; returns false if none is left.
    bool take_last(unsigned& place) { return take<false>(place); }

   private:
    template <bool kFirst>
    bool take(unsigned& place);

    std::atomic<std::uint64_t> left_{0};  // lower half: begin; upper half: end
  };

  std::uint64_t first_of(unsigned thread, unsigned range) const { return std::uint64_t{range} * thread / threads(); }
  bool alone(std::size_t items);
  void share(std::span<const unsigned> items, unsigned range, const Call& call);
  void end_workers();
  void wait_and_work(unsigned thread);
  void take_items(unsigned thread);

  // A round lasts from the publication of its items until `remaining_` is 0. A round cannot end while a thread works on an
  // item. A worker that starts too late finds no item, so no thread waits for a worker that is not scheduled on the host. The
  // state that workers wait for, the state that the caller waits for, and the constants of a round are in separate cache lines.
  alignas(64) std::atomic<std::uint64_t> round_{0};
  alignas(64) std::atomic<unsigned> remaining_{0};
  alignas(64) Call call_{};
  std::vector<unsigned> items_;  ///< items in the order of their owners
  std::vector<Share> shares_;    ///< untaken items of each thread
  std::atomic<bool> stop_{false};
  Sharing sharing_;
  ThreadContention contention_;

  std::mutex mutex_;  // held while a thread goes to sleep or is woken, and while failure_ is written
  std::condition_variable begin_;
  std::condition_variable end_;
  std::exception_ptr failure_;  // first exception of the round; written by one thread at a time
  std::atomic<unsigned> asleep_{0};
  std::atomic<bool> caller_asleep_{false};
  std::vector<std::thread> workers_;
};

/// Number of processors that the process may use.
unsigned usable_processors();

}  // namespace lacuna
