// The one thread that touches SystemC, and how all others talk to it.
//
// Threads of the program hand it jobs: call() runs a job on the simulation thread and returns when it is done, either between
// two steps of the simulation or, while kernels run, inside one of its processes, so that nobody waits for a kernel.
//
// Simulated time stands still while a thread of the program runs (host_threads.h): the thread looks at the doorbells when all
// threads of the program wait, and simulates until something happens that one of them waits for, so that what the GPUs see of
// the program does not depend on how fast the host is. In between it looks at the program's threads ever less often, down to
// rocm.longest_sleep; every job and every wait wakes it.
//
// A GPU that gets nowhere is the program's affair, as on silicon, but it is reported once. sim.max_time ends the process.
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
  /// Where the program announces work to the GPUs.
  struct Doorbells {
    std::function<bool(ProcessPlatform&)> any;           ///< whether there is new work
    std::function<unsigned(ProcessPlatform&)> spinning;  ///< threads that spin until work that they have announced is done
    std::function<bool(ProcessPlatform&)> pass;          ///< passes it on to the GPUs; false when there is none
  };

  /// `line`: where the run's progress is shown on a terminal once it takes long.
  Simulation(const RunParameters& parameters, const Settings& settings, ProgressLine& line, HostWaits& waits);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Starts the thread. It builds the platform and runs `built` on it, while the caller goes on.
  void start(Job built, Doorbells doorbells);

  /// Runs `job` on the simulation thread, waits for it. False, without having run it, when the simulation has ended.
  bool call(const Job& job);
  /// Simulated time, which has advanced since the last call: the calling thread waits until it has. After the end: the last
  /// one that was told.
  Tick sample_time();
  /// Something has changed that the simulation thread should look at now.
  void kick();
  /// On the simulation thread: something has happened that threads of the program may wait for. The simulation stops at this
  /// time when one does.
  void wake_threads();

  /// The program uses the GPUs: from now on results are written.
  void open_results();
  /// GPUs have something to do, or have been given something; as it was when the simulation thread looked last. From any
  /// thread.
  bool has_work() const { return has_work_.load(std::memory_order_relaxed); }
  bool ended() const { return state_.load(std::memory_order_acquire) == State::ended; }

  /// Whether results were lost, so that the process must not end as if all were well. From any thread.
  bool results_failed() const { return results_.failed(); }
  /// In a child process: the output folder is the parent's.
  void leave_results_to_parent() { results_.leave_to_parent(); }
  /// Writes the results of the run so far; it may go on.
  void write_results();
  /// Ends the simulation and writes the results; returns when that is done, or when it takes longer than anybody would wait.
  void stop(RunEnd why);
  /// The same from a signal handler: nothing but atomic variables and sleeping. On the simulation thread it does nothing.
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
  /// That the simulation thread has used, ns; 0: not known. Also from a signal handler.
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
  Tick slice_{1'000'000};  // while a thread is disregarded
  bool was_busy_ = false;
  std::atomic<bool> has_work_{false};
  const Tick look_;                // in which a GPU polls memory at least once, but for the time of the poll itself
  Tick look_after_{};              // GPUs that poll memory do so once after this time
  bool progressed_ = false;        // GPUs have made progress since look_after_ was set
  unsigned spinning_ = 0;          // threads, when simulated time was let go on
  bool disregards_ = false;        // a thread that runs
  bool went_on_ = false;           // a thread has been released since all threads waited
  bool ran_ = false;               // a thread has run since the last slice
  std::uint64_t waits_begun_ = 0;  // at the last look
  unsigned idle_looks_ = 0;
  std::mutex sample_mutex_;
  Tick last_sample_{};
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
  std::atomic<unsigned> in_call_{0};  // threads in submit()
  std::atomic<bool> has_requests_{false};
  std::atomic<State> state_{State::building};
  std::atomic<int> stop_{-1};  // a RunEnd; -1 = go on
  std::atomic<int> ending_signal_{0};
  std::atomic<clockid_t> clock_{0};  ///< of the thread's processor time
};

}  // namespace lacuna::rocm
