// The one thread that touches SystemC, and how all others talk to it.
//
// Threads of the program hand it jobs: call() runs a job on the simulation thread and returns when it is done, either between
// two steps of the simulation or, while kernels run, inside one of its processes, so that nobody waits for a kernel.
//
// While the GPUs have something to do the thread simulates, in slices of about a millisecond of host time, between which it
// looks at the doorbells. When they have nothing to do it looks at the doorbells ever less often, down to
// rocm.longest_sleep; every job wakes it.
//
// A GPU that gets nowhere is the program's affair, as on silicon, but it is reported once. sim.max_time ends the process.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/rocm/results.h"
#include "drivers/rocm/settings.h"
#include "models/common/units.h"
#include "platform/process_platform.h"
#include "platform/run/long_run_notice.h"
#include "platform/run/run_parameters.h"

namespace lacuna::rocm {

class Simulation {
 public:
  using Job = std::function<void(ProcessPlatform&)>;
  /// Asked between slices: has the program announced new work to the GPUs? It is the looker's to pass it on.
  using Doorbells = std::function<bool(ProcessPlatform&)>;

  /// `line`: where the run's progress is shown on a terminal once it takes long.
  Simulation(const RunParameters& parameters, const Settings& settings, ProgressLine& line);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Starts the thread. It builds the platform and runs `built` on it, while the caller goes on.
  void start(Job built, Doorbells doorbells);

  /// Runs `job` on the simulation thread, waits for it. False, without having run it, when the simulation has ended.
  bool call(const Job& job);
  /// Simulated time, which has advanced since the last call. When nothing runs it is made to advance. After the end: the last
  /// one that was told.
  Tick sample_time();
  /// The program is about to wait for the GPUs: they are looked at now.
  void kick();

  /// The program uses the GPUs: from now on results are written.
  void open_results();
  bool ended() const { return state_.load(std::memory_order_acquire) == State::ended; }

  /// Whether results were lost, so that the process must not end as if all were well. From any thread.
  bool results_failed() const { return results_.failed(); }
  /// Writes the results of the run so far; it may go on.
  void write_results();
  /// Ends the simulation and writes the results; returns when that is done, or when it takes longer than anybody would wait.
  void stop(RunEnd why);
  /// The same from a signal handler: nothing but atomic variables and sleeping. On the simulation thread it does nothing.
  void stop_from_signal_handler();
  /// Whether the caller is the simulation thread.
  static bool on_this_thread();

 private:
  struct Request;
  class Gate;
  enum class State : int { building, running, ended };

  void run();
  void simulate();
  bool serve(bool between_steps);
  void run_slice();
  void sleep();
  bool submit(Request& request);
  void end(RunEnd why);
  [[noreturn]] void end_process(RunEnd why, int exit_code);
  void watch();
  void report_stall(const char* what);
  void show_progress(double seconds);

  const RunParameters& parameters_;
  Results results_;
  LongRunNotice notice_;
  ProgressLine& line_;
  Job built_;
  Doorbells doorbells_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<ProcessPlatform> platform_;
  Tick slice_{1'000'000};
  Tick last_sample_{};  // the simulation thread's, before the end
  unsigned idle_looks_ = 0;
  // What watch() knows of the last progress.
  std::uint64_t last_progress_ = 0;
  Tick last_progress_at_{};
  std::chrono::steady_clock::time_point last_progress_seen_{};
  bool stall_reported_ = false;

  std::mutex mutex_;  // guards requests_ and what the conditions wait for
  std::condition_variable wake_;
  std::condition_variable answered_;
  std::vector<Request*> requests_;
  bool kicked_ = false;
  std::atomic<bool> has_requests_{false};
  std::atomic<State> state_{State::building};
  std::atomic<int> stop_{-1};  // a RunEnd; -1 = go on
};

}  // namespace lacuna::rocm
