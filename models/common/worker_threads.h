// Threads of the host that share a piece of work now and then: short pieces, often, with one thread's work in between.
//
// The caller is one of them. Those who have nothing to do spin for a short time, since the next piece mostly comes soon, then
// sleep until it does; spinning gives the processor to whoever else wants it. The threads take no signals: those are for the
// threads of the program that the model runs in.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "models/common/thread_contention.h"

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

  /// Calls `piece(i)` once for each i below `pieces`, on any of the threads and in any order; returns when all have returned.
  /// Pieces must not throw. A thread gets the same pieces from call to call when all take their time.
  void run(unsigned pieces, const std::function<void(unsigned)>& piece);

 private:
  bool alone(unsigned pieces);
  void work(unsigned thread);
  void take_pieces(unsigned thread);

  // A round: `round_` changes when its pieces are there, until `remaining_` is 0. A worker may come too late for any, so that
  // nobody waits for one that the host does not run; what it looks at stays as it is while it is inside.
  std::atomic<std::uint64_t> round_{0};
  std::atomic<bool> open_{false};
  std::atomic<unsigned> inside_{0};
  std::atomic<unsigned> remaining_{0};
  std::atomic<bool> stop_{false};
  const std::function<void(unsigned)>* piece_ = nullptr;
  unsigned pieces_ = 0;
  unsigned taken_size_ = 0;
  std::unique_ptr<std::atomic<bool>[]> taken_;  ///< by piece

  Sharing sharing_;
  ThreadContention contention_;

  std::mutex mutex_;  // of those who sleep
  std::condition_variable begin_;
  std::condition_variable end_;
  std::atomic<unsigned> asleep_{0};
  std::atomic<bool> caller_asleep_{false};
  std::vector<std::thread> workers_;
};

/// Processors that the process may use.
unsigned usable_processors();

}  // namespace lacuna
