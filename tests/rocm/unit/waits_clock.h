// A thread that takes the role of the simulation thread: it resumes threads whose waits have ended, and advances simulated time
// by one microsecond at a time while threads wait and no wait has ended.
#pragma once

#include <atomic>
#include <thread>

#include "drivers/rocm/host_waits.h"

namespace lacuna::rocm {

class WaitsClock {
 public:
  explicit WaitsClock(HostWaits& waits) : waits_(waits) {}
  ~WaitsClock() {
    end_ = true;
    thread_.join();
  }
  WaitsClock(const WaitsClock&) = delete;
  WaitsClock& operator=(const WaitsClock&) = delete;

 private:
  void run() {
    for (Tick now{}; !end_; std::this_thread::yield()) {
      const HostWaits::Threads threads = waits_.advance(now);
      if (threads.over) {
        waits_.release();
      } else if (threads.blocked != 0) {
        now.ps += 1'000'000;
      }
    }
  }

  HostWaits& waits_;
  std::atomic<bool> end_{false};
  std::thread thread_{[this] { run(); }};
};

}  // namespace lacuna::rocm
