#include "drivers/rocm/host_waits.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace lacuna::rocm {

using std::chrono::nanoseconds;

namespace {

/// Simulated time between two checks of a thread that yields. Chosen equal to the simulated time of a clock read (kClockRead in
/// simulation.cpp).
constexpr Tick kYield{1'000'000};
/// Host time that a wait sleeps after the end of the simulation before it checks its condition again.
constexpr nanoseconds kLookAfterTheEnd{1'000'000};

}  // namespace

void HostWaits::finish(Wait& wait, bool holds) {
  wait.over = true;
  wait.holds = holds;
}

void HostWaits::release(Wait& wait) {
  wait.released = true;
  wait.wake.notify_one();
}

bool HostWaits::evaluate_locked() {
  bool ended = false;
  for (Wait* wait : waits_) {
    if (wait->over || !wait->condition()) continue;
    finish(*wait, true);
    ended = true;
  }
  return ended;
}

void HostWaits::enter(Wait& wait, std::unique_lock<std::mutex>& lock) {
  waits_.push_back(&wait);
  ++begun_;
  lock.unlock();
  if (on_change_) on_change_();
  lock.lock();
}

bool HostWaits::await_release(Wait& wait, std::unique_lock<std::mutex>& lock, HostClock::time_point begin,
                              nanoseconds longest) {
  const auto released = [&] { return wait.released; };
  if (longest != nanoseconds::max()) return wait.wake.wait_until(lock, begin + longest, released);
  wait.wake.wait(lock, released);
  return true;
}

bool HostWaits::wait(const Condition& over, const Limits& limits) { return wait_for(over, limits).holds; }

HostWaits::End HostWaits::wait_for(const Condition& over, const Limits& limits) {
  const HostClock::time_point begin = HostClock::now();
  std::unique_lock lock(mutex_);
  if (over()) return {.holds = true};
  if (ended_) {
    lock.unlock();
    std::this_thread::sleep_for(kLookAfterTheEnd);
    lock.lock();
    return {.holds = over()};
  }
  const std::uint64_t now = now_.load(std::memory_order_relaxed);
  Wait wait{.condition = over,
            .deadline = Tick{limits.simulated.ps < kForever.ps - now ? now + limits.simulated.ps : kForever.ps},
            .only_while_active = limits.only_while_active,
            .brief = limits.brief,
            .thread = gettid(),
            .wake = {}};
  enter(wait, lock);
  if (!await_release(wait, lock, begin, limits.host) && !wait.over && over()) finish(wait, true);
  std::erase(waits_, &wait);
  return {wait.holds, wait.beside_others};
}

bool HostWaits::evaluate() {
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = evaluate_locked();
  }
  if (ended && on_change_) on_change_();
  return ended;
}

HostWaits::End HostWaits::give_way(bool briefly) {
  const Condition now = [] { return true; };
  std::unique_lock lock(mutex_);
  if (ended_) return {.holds = true};
  evaluate_locked();
  Wait wait{
      .condition = now, .deadline = kForever, .only_while_active = false, .brief = briefly, .thread = gettid(), .wake = {}};
  finish(wait, true);
  enter(wait, lock);
  await_release(wait, lock, {}, nanoseconds::max());
  std::erase(waits_, &wait);
  return {wait.holds, wait.beside_others};
}

// Time passes only after this thread has checked its condition while all other threads waited. So the simulated time is the
// same whether another thread acts before the first check, while this thread gives way, or later (on a busy host).
void HostWaits::yield() {
  thread_local Tick looked_at{kForever};
  const Tick time = now();
  const End end = time != looked_at
                      ? give_way(true)
                      : wait_for([] { return false; }, {.simulated = kYield, .only_while_active = true, .brief = true});
  looked_at = end.beside_others ? Tick{kForever} : time;
}

bool HostWaits::idle() {
  const std::lock_guard lock(mutex_);
  bool ended = false;
  for (Wait* wait : waits_) {
    if (wait->over || !wait->only_while_active) continue;
    finish(*wait, false);
    ended = true;
  }
  return ended;
}

HostWaits::Threads HostWaits::advance(Tick now) {
  const std::lock_guard lock(mutex_);
  now_.store(now.ps, std::memory_order_release);
  evaluate_locked();
  Threads threads{.begun = begun_};
  for (Wait* wait : waits_) {
    if (!wait->over && now >= wait->deadline) finish(*wait, false);
    threads.waking |= wait->released;
    threads.blocked += wait->released ? 0 : 1;
    threads.over |= wait->over && !wait->released;
    threads.brief |= wait->brief && !wait->released;
    if (wait->over) continue;
    threads.next = earlier(threads.next, wait->deadline);
    threads.ends_itself |= wait->only_while_active || wait->deadline < kForever;
  }
  return threads;
}

void HostWaits::release() {
  const std::lock_guard lock(mutex_);
  for (Wait* wait : waits_) {
    if (!wait->over || wait->released) continue;
    release(*wait);
    return;
  }
}

void HostWaits::release_brief() {
  const std::lock_guard lock(mutex_);
  for (Wait* wait : waits_) {
    if (!wait->brief || wait->released) continue;
    if (!wait->over) finish(*wait, false);
    wait->beside_others = true;
    release(*wait);
    return;
  }
}

std::vector<pid_t> HostWaits::blocked_threads() {
  const std::lock_guard lock(mutex_);
  std::vector<pid_t> threads;
  for (const Wait* wait : waits_)
    if (!wait->released) threads.push_back(wait->thread);
  return threads;
}

void HostWaits::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (Wait* wait : waits_) {
    if (!wait->over) finish(*wait, false);
    release(*wait);
  }
}

}  // namespace lacuna::rocm
