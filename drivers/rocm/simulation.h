// The simulation thread, which is the only one that uses SystemC, and its interface for all other threads.
//
// Threads of the program submit jobs to it: call() runs a job on the simulation thread and returns when it is done. The job
// runs between two steps of the simulation or, while kernels run, inside a SystemC process, so that no caller waits for a
// kernel.
//
// Simulated time stands still while a thread of the program runs (host_threads.h). When all threads of the program wait, the
// simulation thread polls the doorbells and simulates until a condition holds that one of them waits for. So the GPUs see the
// program's actions at the same simulated times regardless of the speed of the host. While the program runs, the simulation
// thread checks the program's threads at growing intervals of up to rocm.longest_sleep; every job and every wait wakes it.
//
// As on hardware, a GPU that makes no progress does not end the process, but the stall is reported once. sim.max_time ends the
// process.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/rocm/host_threads.h"
#include "drivers/rocm/host_waits.h"
#include "drivers/rocm/results.h"
#include "drivers/rocm/settings.h"
#include "models/common/time/units.h"
#include "platform/process_platform.h"
#include "platform/run/long_run_notice.h"
#include "platform/run/run_parameters.h"

namespace lacuna::rocm {

class Simulation {
 public:
  using Job = std::function<void(ProcessPlatform&)>;
  /// Functions that access the doorbells with which the program announces work to the GPUs.
  struct Doorbells {
    std::function<bool(ProcessPlatform&)> any;           ///< whether there is new work
    std::function<unsigned(ProcessPlatform&)> spinning;  ///< number of threads that spin until their announced work is done
    std::function<bool(ProcessPlatform&)> pass;          ///< passes new work on to the GPUs; false if there is none
  };

  /// `line` shows the progress of a long run on a terminal.
  Simulation(const RunParameters& parameters, const Settings& settings, ProgressLine& line, HostWaits& waits);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Starts the thread, which builds the platform and runs `built` on it; returns when that is done.
  void start(Job built, Doorbells doorbells);

  /// Runs `job` on the simulation thread and waits for it. If the simulation has ended, returns false without running it.
  bool call(const Job& job);
  /// Simulated time. Waits until it has advanced since the last call, so that no two calls return the same time; after the end
  /// of the simulation, returns the last sample.
  Tick sample_time();
  /// Wakes the simulation thread after a change that it must react to.
  void kick();
  /// Called on the simulation thread after a change that threads of the program may wait for. If the change ends a wait, or if
  /// threads spin until their packets are done, the simulation pauses at the present time.
  void wake_threads();

  /// Creates the output folder when the program begins to use the GPUs.
  void open_results();
  /// Whether GPUs have work or the program has announced work to them, as of the last check by the simulation thread. From any
  /// thread.
  bool has_work() const { return has_work_.load(std::memory_order_relaxed); }
  bool ended() const { return state_.load(std::memory_order_acquire) == State::ended; }

  /// Whether results were lost; the process must then not end with success. From any thread.
  bool results_failed() const { return results_.failed(); }
  /// Called in a forked child: leaves the output folder to the parent.
  void leave_results_to_parent() { results_.leave_to_parent(); }
  /// Writes the results so far; the run may continue.
  void write_results();
  /// Ends the simulation and writes the results. Returns when that is done, or when the simulation thread has used no processor
  /// time for kPatience.
  void stop(RunEnd why);
  /// As stop(), for a signal handler: it uses only atomic variables and sleeps. On the simulation thread it does nothing.
  void stop_from_signal_handler(int signal_number);
  /// Whether the caller is the simulation thread.
  static bool on_this_thread();

 private:
  struct Request;
  class Gate;
  enum class State : int { building, running, ended };

  void run();
  void simulate();
  bool serve();
  bool work_is_due(const HostWaits::Threads& waits);
  bool host_is_quiet(const HostWaits::Threads& waits);
  void pass_time(const HostWaits::Threads& waits, bool active);
  void run_slice(Tick end);
  void sleep();
  bool submit(Request& request);
  void end(RunEnd why);
  [[noreturn]] void end_process(RunEnd why, int exit_code);
  void watch();
  void report_stall(const char* what);
  std::string state_text() const;
  /// Processor time that the simulation thread has used, in ns; 0 = unknown. May be called in a signal handler.
  std::uint64_t processor_time() const;
  void show_progress(double seconds);

  const RunParameters& parameters_;
  Results results_;
  LongRunNotice notice_;
  ProgressLine& line_;
  Job built_;
  Doorbells doorbells_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<ProcessPlatform> platform_;
  HostWaits& waits_;
  HostThreads threads_;
  Tick slice_{1'000'000};  // length of a slice while a thread is disregarded
  bool was_busy_ = false;
  std::atomic<bool> has_work_{false};
  const Tick look_;                // longest interval between two polls of memory by a GPU, without the duration of a poll
  Tick look_after_{};              // GPUs that only poll memory count as idle once each of them has polled after this time
  bool progressed_ = false;        // GPUs have made progress since pass_time() last ran
  unsigned spinning_ = 0;          // number of spinning threads at the last full check
  bool disregards_ = false;        // HostThreads::Look::disregarded at the last full check
  bool went_on_ = false;           // a thread has been released since all threads last waited
  bool ran_ = false;               // a thread may have run since pass_time() last ran
  std::uint64_t waits_begun_ = 0;  // HostWaits::begun() at the last check
  unsigned idle_looks_ = 0;        // consecutive checks that found nothing to do
  std::mutex sample_mutex_;
  Tick last_sample_{};
  // Last progress of the GPUs as seen by watch().
  std::uint64_t last_progress_ = 0;
  Tick last_progress_at_{};
  std::chrono::steady_clock::time_point last_progress_seen_{};
  bool stall_reported_ = false;

  std::mutex mutex_;  // guards `requests_` and the state that the condition variables wait for
  std::condition_variable wake_;
  std::condition_variable answered_;
  std::vector<Request*> requests_;
  bool kicked_ = false;
  std::atomic<unsigned> in_call_{0};  // number of threads in submit()
  std::atomic<bool> has_requests_{false};
  std::atomic<State> state_{State::building};
  std::atomic<int> stop_{-1};  // the RunEnd with which to stop; -1 = continue
  std::atomic<int> ending_signal_{0};
  std::atomic<clockid_t> clock_{0};  ///< processor-time clock of the simulation thread
};

}  // namespace lacuna::rocm
