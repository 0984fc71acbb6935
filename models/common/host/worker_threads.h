// Threads of the host that share work now and then: short pieces, often, with one thread's work in between.
//
// The caller is one of them. A thread does its own items first, always the same ones, whose state is in its caches; then it
// helps the others. Those who have nothing to do spin for a short time, since more mostly comes soon, and after most of that
// time has passed give the processor to whoever else wants it; then they sleep. The threads take no signals: those are for the
// threads of the program that the model runs in.
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
  /// How many threads work: always as many as there are, or one while other processes keep the processors busy.
  enum class Sharing : std::uint8_t { always, unless_contended };

  /// `threads`: the caller included; at least 1.
  explicit WorkerThreads(unsigned threads, Sharing sharing = Sharing::always);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  /// Of them, those that sleep because there was nothing to do for a while.
  unsigned asleep() const { return asleep_; }

  /// Calls `work(item, thread)` once for each of `items`, on any of the threads; returns when all have returned. `range`: each
  /// thread has an equal part of the numbers below it for its own, and the items that have such a number as remainder. It takes
  /// its own in the order of `items`, and others' from the last one on: those that take long should come first. When `work`
  /// throws, the first exception is thrown again after all items, or without further ones when there is one thread.
  template <typename Work>
  void run(std::span<const unsigned> items, unsigned range, const Work& work) {
    if (alone(items.size())) {
      for (const unsigned item : items) work(item, 0U);
      return;
    }
    share(items, range,
          {[](const void* call, unsigned item, unsigned thread) { (*static_cast<const Work*>(call))(item, thread); }, &work});
  }

  /// The thread that an item belongs to.
  unsigned owner(unsigned item, unsigned range) const {
    unsigned thread = 0;
    while (item % range >= first_of(thread + 1, range)) ++thread;
    return thread;
  }

 private:
  /// Somebody's `work`.
  struct Call {
    void (*function)(const void* work, unsigned item, unsigned thread);
    const void* work;
  };
  /// Those of a thread's items that nobody has taken yet, as places in `items_`. Its own thread takes the first one, others the
  /// last: mostly it alone looks here.
  class alignas(64) Share {
   public:
    void set(unsigned begin, unsigned end) { left_.store(begin | std::uint64_t{end} << 32, std::memory_order_release); }
    /// False: there is none.
    bool take_first(unsigned& place) { return take<true>(place); }
    bool take_last(unsigned& place) { return take<false>(place); }

   private:
    template <bool kFirst>
    bool take(unsigned& place);

    std::atomic<std::uint64_t> left_{0};  // begin, and in the upper half end
  };

  std::uint64_t first_of(unsigned thread, unsigned range) const { return std::uint64_t{range} * thread / threads(); }
  bool alone(std::size_t items);
  void share(std::span<const unsigned> items, unsigned range, const Call& call);
  void end_workers();
  void wait_and_work(unsigned thread);
  void take_items(unsigned thread);

  // A round: from when its items are there until `remaining_` is 0. Whoever has taken one keeps the round from ending, so that
  // a worker may come too late for any; nobody waits for one that the host does not run.
  // In lines of the host's cache of their own: what workers wait for, what the caller waits for, what a round leaves as it is.
  alignas(64) std::atomic<std::uint64_t> round_{0};
  alignas(64) std::atomic<unsigned> remaining_{0};
  alignas(64) Call call_{};
  std::vector<unsigned> items_;  ///< by the thread whose they are
  std::vector<Share> shares_;    ///< by thread
  std::atomic<bool> stop_{false};
  Sharing sharing_;
  ThreadContention contention_;

  std::mutex mutex_;  // of those who sleep
  std::condition_variable begin_;
  std::condition_variable end_;
  std::exception_ptr failure_;  // of the round; written by one thread at a time
  std::atomic<unsigned> asleep_{0};
  std::atomic<bool> caller_asleep_{false};
  std::vector<std::thread> workers_;
};

/// Processors that the process may use.
unsigned usable_processors();

}  // namespace lacuna
