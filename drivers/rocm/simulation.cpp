#include "drivers/rocm/simulation.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <thread>

#include "models/common/tlm_time.h"
#include "platform/run/exit_codes.h"
#include "platform/run/text_table.h"

namespace lacuna::rocm {
namespace {

using HostClock = std::chrono::steady_clock;

/// Host time that a slice should take: short, so that doorbells are seen soon, and long against its own cost.
constexpr double kShortSlice = 0.0003;
constexpr double kLongSlice = 0.0015;
constexpr Tick kSmallestSlice{100'000};
constexpr Tick kLargestSlice{1'000'000'000};
/// Simulated time of a look at the clock when nothing else happens: a call of the driver is not faster on silicon.
constexpr Tick kClockRead{1'000'000};
/// Looks at the doorbells without sleeping: a program that waits for one kernel and launches the next is back by then.
constexpr unsigned kLooksAwake = 200;
constexpr std::chrono::microseconds kFirstSleep{20};
/// Host time without progress after which GPUs that have something to do, but nothing that could happen, are reported.
constexpr std::chrono::seconds kStallReport{5};
/// How long the program's exit waits for the simulation thread; a slice is a thousandth of it.
constexpr std::chrono::seconds kPatience{10};

thread_local bool is_simulation_thread = false;

}  // namespace

struct Simulation::Request {
  const Job* job;
  bool between_steps;
  bool done = false;
};

/// Brings requests into a running simulation.
class Simulation::Gate : public sc_core::sc_module {
 public:
  Gate(sc_core::sc_module_name module_name, Simulation& simulation) : sc_module(module_name), simulation_(simulation) {
    SC_HAS_PROCESS(Gate);
    SC_METHOD(pass);
    sensitive << channel_.updated;
    dont_initialize();
  }

  /// From any thread.
  void knock() { channel_.async_request_update(); }

 private:
  struct Channel : public sc_core::sc_prim_channel {
    Channel() : sc_prim_channel("requests") {}
    using sc_prim_channel::async_request_update;
    void update() override { updated.notify(sc_core::SC_ZERO_TIME); }
    sc_core::sc_event updated{"updated"};
  };

  void pass() { simulation_.serve(false); }

  Simulation& simulation_;
  Channel channel_;
};

Simulation::Simulation(const RunParameters& parameters, const Settings& settings, ProgressLine& line)
    : parameters_(parameters),
      results_(parameters, settings),
      notice_(settings.report ? static_cast<double>(parameters.values().rocm.notice_after.ps) * 1e-12 : 0,
              parameters.values().gpu.gpu.timing != TimingMode::functional, std::cerr),
      line_(line) {}

Simulation::~Simulation() = default;

// -- the simulation thread

void Simulation::start(Job built, Doorbells doorbells) {
  built_ = std::move(built);
  doorbells_ = std::move(doorbells);
  // The program's signals are for the program's threads; what this thread does wrong itself is its own.
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  std::thread thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), "lacuna");
  thread.detach();
}

void Simulation::run() {
  is_simulation_thread = true;
  RunEnd why = RunEnd::guest;
  try {
    platform_ = std::make_unique<ProcessPlatform>("platform", parameters_.values());
    gate_ = std::make_unique<Gate>("gate", *this);
    results_.attach(*platform_);
    built_(*platform_);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    {
      const std::lock_guard lock(mutex_);
      state_ = State::running;
    }
    simulate();
    why = static_cast<RunEnd>(stop_.load());
  } catch (const std::exception& e) {
    spdlog::critical("a model found itself in an impossible state: {}", e.what());
    // The program would wait for its kernels for ever.
    end_process(RunEnd::no_progress, kExitModelError);
  }
  end(why);
}

// Without the program's exit handlers: those wait for this thread.
void Simulation::end_process(RunEnd why, int exit_code) {
  line_.hide();
  results_.write(why, true);
  std::fflush(nullptr);
  _exit(results_.failed() && exit_code != kExitModelError ? kExitOutput : exit_code);
}

void Simulation::report_stall(const char* what) {
  if (stall_reported_) return;
  stall_reported_ = true;
  std::ostringstream state;
  platform_->diagnose(state);
  spdlog::warn("{}\n{}", what, state.str());
}

void Simulation::watch() {
  const SimulationParameters& limits = parameters_.values().sim;
  const Tick now = to_tick(sc_core::sc_time_stamp());
  if (limits.max_time != Tick{} && now >= limits.max_time) {
    spdlog::error("simulated time limit of {} reached (--max-time, sim.max_time): the process ends",
                  readable_time(limits.max_time));
    end_process(RunEnd::time_limit, kExitTimeLimit);
  }
  const std::uint64_t progress = platform_->progress();
  if (progress != last_progress_ || platform_->idle()) {
    last_progress_ = progress;
    last_progress_at_ = now;
    last_progress_seen_ = HostClock::now();
    stall_reported_ = false;
    return;
  }
  if (platform_->waits_for_memory()) return;
  if (now - last_progress_at_ > limits.max_idle) {
    report_stall("the GPUs have got nowhere for sim.max_idle of simulated time");
  } else if (!sc_core::sc_pending_activity() && HostClock::now() - last_progress_seen_ > kStallReport) {
    report_stall("the GPUs have something to do, but nothing is left that could happen");
  }
}

void Simulation::end(RunEnd why) {
  line_.hide();
  results_.write(why, true);
  const std::lock_guard lock(mutex_);
  state_ = State::ended;
  requests_.clear();
  answered_.notify_all();
}

void Simulation::simulate() {
  while (stop_.load(std::memory_order_relaxed) < 0) {
    // In this order: what a packet needs has been asked for before its doorbell.
    bool active = doorbells_(*platform_);
    active |= serve(true);
    if (active) idle_looks_ = 0;
    watch();
    results_.watch();
    if (!sc_core::sc_pending_activity()) {
      if (!active) sleep();
      continue;
    }
    // What only looks at memory again and again waits for the program, and so do we.
    if (!active && platform_->waits_for_memory()) {
      slice_ = kSmallestSlice;
      sleep();
    } else {
      idle_looks_ = 0;
    }
    run_slice();
  }
}

void Simulation::run_slice() {
  const Tick now = to_tick(sc_core::sc_time_stamp());
  // A slice reaches to the next event at least: time stops at the last event before the end of a slice.
  const Tick next_event = now + to_tick(sc_core::sc_time_to_pending_activity());
  const HostClock::time_point begin = HostClock::now();
  sc_core::sc_start(to_sc_time(later(now + slice_, next_event)) - sc_core::sc_time_stamp(), sc_core::SC_EXIT_ON_STARVATION);
  const double seconds = std::chrono::duration<double>(HostClock::now() - begin).count();
  if (seconds < kShortSlice) slice_ = earlier(slice_ * 2, kLargestSlice);
  if (seconds > kLongSlice) slice_ = later(Tick{slice_.ps / 2}, kSmallestSlice);
  show_progress(seconds);
}

void Simulation::show_progress(double seconds) {
  const bool first = notice_.due(seconds);
  if (!first && !(notice_.said() && line_.due())) return;
  const ProgressLine::Snapshot snapshot{to_tick(sc_core::sc_time_stamp()), 0, platform_->wavefront_instructions(),
                                        results_.kernels().running()};
  if (first) {
    notice_.say(snapshot);
  } else {
    line_.show(snapshot);
  }
}

void Simulation::sleep() {
  line_.hide();
  if (++idle_looks_ < kLooksAwake) {
    std::this_thread::yield();
    return;
  }
  const auto longest = std::chrono::microseconds(parameters_.values().rocm.longest_sleep.ps / 1'000'000);
  const unsigned doublings = std::min(idle_looks_ - kLooksAwake, 16U);
  const auto duration = std::min<std::chrono::microseconds>(kFirstSleep * (1U << doublings), longest);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, duration, [this] { return kicked_ || !requests_.empty(); });
  if (kicked_) idle_looks_ = 0;
  kicked_ = false;
}

// Requests are taken out of the list before they run and answered afterwards: the list is not locked while they run.
bool Simulation::serve(bool between_steps) {
  if (!has_requests_.load(std::memory_order_acquire)) return false;
  bool served = false;
  std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < requests_.size();) {
    Request& request = *requests_[i];
    if (request.between_steps && !between_steps) {
      ++i;
      continue;
    }
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(i));
    lock.unlock();
    (*request.job)(*platform_);
    lock.lock();
    request.done = true;
    served = true;
    i = 0;
  }
  has_requests_.store(!requests_.empty(), std::memory_order_release);
  if (served) answered_.notify_all();
  return served;
}

// -- the program's threads

bool Simulation::submit(Request& request) {
  std::unique_lock lock(mutex_);
  if (state_ == State::ended) return false;
  requests_.push_back(&request);
  has_requests_.store(true, std::memory_order_release);
  if (state_ == State::running && !request.between_steps) gate_->knock();
  wake_.notify_one();
  answered_.wait(lock, [&] { return request.done || state_ == State::ended; });
  return request.done;
}

bool Simulation::call(const Job& job) {
  Request request{.job = &job, .between_steps = false};
  return submit(request);
}

Tick Simulation::sample_time() {
  Tick now{};
  const Job job = [&](ProcessPlatform&) {
    if (to_tick(sc_core::sc_time_stamp()) <= last_sample_) sc_core::sc_start(to_sc_time(kClockRead));
    last_sample_ = now = to_tick(sc_core::sc_time_stamp());
  };
  Request request{.job = &job, .between_steps = true};
  return submit(request) ? now : last_sample_;
}

void Simulation::kick() {
  const std::lock_guard lock(mutex_);
  kicked_ = true;
  wake_.notify_one();
}

void Simulation::open_results() {
  call([this](ProcessPlatform&) { results_.open(); });
}

void Simulation::write_results() {
  call([this](ProcessPlatform&) { results_.write(RunEnd::guest, false); });
}

void Simulation::stop(RunEnd why) {
  int running = -1;
  stop_.compare_exchange_strong(running, static_cast<int>(why));
  kick();
  std::unique_lock lock(mutex_);
  answered_.wait_for(lock, kPatience, [this] { return state_ == State::ended; });
}

bool Simulation::on_this_thread() { return is_simulation_thread; }

void Simulation::stop_from_signal_handler() {
  if (is_simulation_thread) return;
  int running = -1;
  stop_.compare_exchange_strong(running, static_cast<int>(RunEnd::interrupted));
  const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int i = 0; i < 5000 && state_.load() != State::ended; ++i) nanosleep(&pause, nullptr);
}

}  // namespace lacuna::rocm
