#include "drivers/rocm/simulation.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <memory_resource>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "models/common/host/blocked_signals.h"
#include "models/common/host/simulator_thread.h"
#include "models/common/time/tlm_time.h"
#include "platform/run/exit_codes.h"
#include "platform/run/run_failure.h"
#include "platform/run/text_table.h"

namespace lacuna::rocm {
namespace {

using HostClock = std::chrono::steady_clock;

/// Range of host time, in seconds, that a slice should take: short enough to detect doorbells soon, long compared with the
/// overhead of a slice.
constexpr double kShortSlice = 0.0003;
constexpr double kLongSlice = 0.0015;
constexpr Tick kSmallestSlice{100'000};
constexpr Tick kLargestSlice{1'000'000'000};
/// Simulated time that reading the clock takes when nothing else happens: a call of the driver is not faster on hardware.
constexpr Tick kClockRead{1'000'000};
/// Longest simulated time between two checks of conditions while all threads wait. It bounds the delay after which a GPU's
/// store to memory without a notification is seen.
constexpr Tick kStep{10'000'000};
/// Number of consecutive checks of the program without sleeping: enough for a program that waits for a kernel and launches the
/// next kernel.
constexpr unsigned kLooksAwake = 200;
constexpr std::chrono::microseconds kFirstSleep{20};
/// After a thread has been released, only every 16th check reads the state of all threads from /proc, which costs the host
/// about 100 times as much as counting the waits: usually the thread waits for the next kernel within microseconds.
constexpr unsigned kLooksPerFullLook = 16;
/// Host time without progress after which GPUs that have work but no pending events are reported.
constexpr std::chrono::seconds kStallReport{5};
/// Interval at which the program's exit checks whether the simulation thread still uses processor time. Exit waits while it
/// does, however slow a busy host makes the thread, because continuing would destroy objects that the thread still uses.
constexpr std::chrono::seconds kPatience{10};

thread_local bool is_simulation_thread = false;

/// Makes the simulation thread's heap usable in advance. The C library does this page by page as the heap of a thread other
/// than the first grows; each system call for this delays page faults of the program's threads. Memory stays usable once it has
/// been made so. The part that the models of the GPUs will fill is populated by one system call, which costs the host a tenth
/// of the page faults that it replaces.
void reserve_heap(const RocmParameters& rocm, const GpuParameters& gpu) {
  // Below the size from which an allocation becomes a separate mapping (host_heap.cpp).
  constexpr std::size_t kBlock = 256 * 1024;
  constexpr std::size_t kUnitBytes = 104 * 1024;        // measured: 104 KiB on r9nano, 136 KiB on mi210
  constexpr std::size_t kMost = std::size_t{24} << 20;  // the C library's heap of a thread other than the first has 64 MiB
  const std::size_t units = rocm.targets(gpu.target).size() * gpu.shader_arrays * gpu.cus_per_shader_array;
  const std::size_t filled = std::min(units * kUnitBytes, kMost);
  std::pmr::memory_resource& heap = *std::pmr::new_delete_resource();
  std::vector<void*> blocks(2 * filled / kBlock + 16);
  for (void*& block : blocks) block = heap.allocate(kBlock);
  for (void* const block : blocks) heap.deallocate(block, kBlock);
  // Populate after the blocks have been freed, because freeing returns their pages to the host. In the heap of a new thread the
  // blocks are contiguous.
  const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(blocks.front()) & ~(page - 1);
  madvise(reinterpret_cast<void*>(first), filled, MADV_POPULATE_WRITE);  // fails before Linux 5.14, which only costs time
}

/// Reserves the addresses that Linux would use for the next mappings, and releases them to the program when destroyed. The
/// mappings that the simulator makes while it is built differ with sim.threads; the reservation keeps them from moving the
/// program's libraries and buffers. Compilers in ROCm's libraries hash addresses of their own functions, so the layout of the
/// heap after a compilation depends on where these libraries are loaded.
class AddressHole {
 public:
  AddressHole() = default;
  ~AddressHole() {
    if (begin_ != MAP_FAILED) munmap(begin_, kSize);
  }
  AddressHole(const AddressHole&) = delete;
  AddressHole& operator=(const AddressHole&) = delete;

 private:
  static constexpr std::size_t kSize = std::size_t{64} << 30;
  /// Start of the reserved range; MAP_FAILED if the limit of the process's address space (RLIMIT_AS) is too low.
  void* const begin_ = mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
};

}  // namespace

struct Simulation::Request {
  const Job* job;
  bool done = false;
};

/// Serves requests inside a running simulation.
class Simulation::Gate : public sc_core::sc_module {
 public:
  Gate(sc_core::sc_module_name module_name, Simulation& simulation) : sc_module(module_name), simulation_(simulation) {
    SC_HAS_PROCESS(Gate);
    SC_METHOD(pass);
    sensitive << channel_.updated;
    dont_initialize();
  }

  /// Makes the simulation call serve(). May be called on any thread.
  void knock() { channel_.async_request_update(); }

 private:
  struct Channel : public sc_core::sc_prim_channel {
    Channel() : sc_prim_channel("requests") {}
    using sc_prim_channel::async_request_update;
    void update() override { updated.notify(sc_core::SC_ZERO_TIME); }
    sc_core::sc_event updated{"updated"};
  };

  void pass() { simulation_.serve(); }

  Simulation& simulation_;
  Channel channel_;
};

Simulation::Simulation(const RunParameters& parameters, const Settings& settings, ProgressLine& line, HostWaits& waits)
    : parameters_(parameters),
      results_(parameters, settings),
      notice_(settings.report ? static_cast<double>(parameters.values().rocm.notice_after.ps) * 1e-12 : 0,
              parameters.values().gpu.gpu.timing != TimingMode::functional, std::cerr),
      line_(line),
      waits_(waits),
      threads_(std::chrono::nanoseconds(parameters.values().rocm.host_patience.ps / 1000)),
      look_(later(parameters.values().gpu.cp.poll_interval, parameters.values().gpu.sdma.poll_interval) + Tick{1}) {
  requests_.reserve(kExpectedThreads);
  waits_.on_change([this] { kick(); });
}

Simulation::~Simulation() = default;

// -- the simulation thread

void Simulation::start(Job built, Doorbells doorbells) {
  built_ = std::move(built);
  doorbells_ = std::move(doorbells);
  // Signals to the process must be handled by the program's threads; this thread accepts only those that its own faults raise.
  sigset_t others;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&others, own);
  const BlockedSignals blocked(others);
  const AddressHole hole;
  std::thread thread = SimulatorThread::start([this] { run(); });
  pthread_setname_np(thread.native_handle(), "lacuna");
  thread.detach();
  // Wait until the platform is built: if both threads ran concurrently, the order in which they map memory would depend on the
  // host, and addresses of the program's memory would differ from run to run.
  call([](ProcessPlatform&) {});
}

void Simulation::run() {
  is_simulation_thread = true;
  clockid_t clock = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) == 0) clock_ = clock;
  RunEnd why = RunEnd::guest;
  try {
    reserve_heap(parameters_.values().rocm, parameters_.values().gpu.gpu);
    platform_ = std::make_unique<ProcessPlatform>("platform", parameters_.values());
    gate_ = std::make_unique<Gate>("gate", *this);
    results_.attach(*platform_);
    built_(*platform_);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    // SystemC's kernel stores update requests in two alternating lists. Grow both here: otherwise threads of the program would
    // allocate their memory.
    for (int list = 0; list < 2; ++list) {
      for (unsigned i = 0; i < kExpectedThreads; ++i) gate_->knock();
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    {
      const std::lock_guard lock(mutex_);
      state_ = State::running;
    }
    simulate();
    why = static_cast<RunEnd>(stop_.load());
  } catch (const std::exception& e) {
    const RunFailure failure = failure_of(e);
    spdlog::critical("{}", failure.text);
    // Otherwise the program would wait for its kernels forever.
    end_process(RunEnd::no_progress, failure.exit_code);
  }
  end(why);
}

// Does not run the program's exit handlers, because they wait for this thread.
void Simulation::end_process(RunEnd why, int exit_code) {
  try {
    line_.hide();
    results_.write(why, true);
  } catch (const std::exception&) {
    // Memory is exhausted: the results are lost, but the reason for the end has already been logged.
  }
  std::fflush(nullptr);
  _exit(results_.failed() && exit_code == kExitTimeLimit ? kExitOutput : exit_code);
}

std::string Simulation::state_text() const {
  std::ostringstream state;
  platform_->diagnose(state);
  return state.str();
}

void Simulation::report_stall(const char* what) {
  if (stall_reported_) return;
  stall_reported_ = true;
  spdlog::warn("{}\n{}", what, state_text());
}

void Simulation::watch() {
  const SimulationParameters& limits = parameters_.values().sim;
  const Tick now = kernel_time();
  if (limits.max_time != Tick{} && now >= limits.max_time) {
    spdlog::error("simulated time limit of {} reached (--max-time, sim.max_time): the process ends\n{}",
                  readable_time(limits.max_time), state_text());
    end_process(RunEnd::time_limit, kExitTimeLimit);
  }
  const std::uint64_t progress = platform_->progress();
  progressed_ |= progress != last_progress_;
  if (progress != last_progress_ || platform_->idle()) {
    last_progress_ = progress;
    last_progress_at_ = now;
    last_progress_seen_ = HostClock::now();
    stall_reported_ = false;
    return;
  }
  if (platform_->waits_for_memory()) return;
  if (now - last_progress_at_ > limits.max_idle) {
    report_stall("the GPUs have made no progress for sim.max_idle of simulated time");
  } else if (!sc_core::sc_pending_activity() && HostClock::now() - last_progress_seen_ > kStallReport) {
    report_stall("the GPUs have work, but there are no pending events");
  }
}

void Simulation::end(RunEnd why) {
  has_work_ = false;
  line_.hide();
  // If a signal ends the program, the state of the GPUs is of interest only while they have work.
  if (why == RunEnd::interrupted && platform_ != nullptr && !platform_->idle())
    spdlog::warn("the process ends by signal {} ({}) while its GPUs are at work\n{}", ending_signal_.load(),
                 strsignal(ending_signal_.load()), state_text());
  results_.write(why, true);
  {
    const std::lock_guard lock(mutex_);
    state_ = State::ended;
    requests_.clear();
    answered_.notify_all();
  }
  waits_.end();
}

void Simulation::simulate() {
  while (stop_.load(std::memory_order_relaxed) < 0) {
    if (serve()) idle_looks_ = 0;
    results_.watch();
    const HostWaits::Threads waits = waits_.advance(kernel_time());
    if (waits.begun != waits_begun_) {
      waits_begun_ = waits.begun;
      ran_ = true;
      idle_looks_ = 0;
    }
    if (!work_is_due(waits)) {
      watch();
      sleep();
    } else if (!host_is_quiet(waits)) {
      ran_ = true;
      sleep();
    } else if (waits.over) {
      waits_.release();
      went_on_ = true;
      idle_looks_ = 0;
    } else {
      // Ring doorbells after serve(): the program requests memory and queues before it rings the doorbell of a packet that
      // needs them.
      const bool active = doorbells_.pass(*platform_);
      watch();
      pass_time(waits, active);
    }
  }
}

/// Whether there is a reason to advance simulated time or to release a thread. Only then are the program's threads checked: a
/// thread that computes while no GPU has work delays nothing. The time after which a thread is disregarded starts when GPUs
/// receive work.
bool Simulation::work_is_due(const HostWaits::Threads& waits) {
  const bool pending = sc_core::sc_pending_activity();
  const bool given = doorbells_.any(*platform_);
  const bool announced = waits.ends_itself || given;
  const bool busy = announced || (pending && !platform_->waits_for_memory());
  if (busy && !was_busy_) threads_.forgive();
  was_busy_ = busy;
  has_work_.store(given || pending, std::memory_order_relaxed);
  return announced || pending || waits.over || waits.waking;
}

bool Simulation::host_is_quiet(const HostWaits::Threads& waits) {
  if (waits.waking || in_call_.load(std::memory_order_acquire) != 0) return false;
  if (HostThreads::all_wait(waits.blocked)) {
    disregards_ = false;
    went_on_ = false;
    spinning_ = 0;
    return true;
  }
  if (went_on_ && idle_looks_ < kLooksAwake && idle_looks_ % kLooksPerFullLook != kLooksPerFullLook - 1) return false;
  spinning_ = doorbells_.spinning(*platform_);
  const HostThreads::Look look = threads_.look(waits_.blocked_threads(), spinning_);
  ran_ |= look.ran;
  disregards_ = look.disregarded;
  if (look.given_up != 0 && sc_core::sc_pending_activity()) {
    spdlog::info(
        "thread {} of the program has run for {} without calling the runtime while a GPU has work (rocm.host_patience): "
        "simulated "
        "time goes on, and from here on simulated times may differ from run to run",
        look.given_up, readable_time(parameters_.values().rocm.host_patience));
  }
  // Check again: a thread that was seen to wait may have entered submit() or a wait of HostWaits during the look.
  const bool quiet = look.quiet && in_call_.load(std::memory_order_acquire) == 0 && waits_.begun() == waits.begun;
  if (quiet) went_on_ = false;
  if (look.computing && waits.brief) {
    threads_.begin_moment();
    waits_.release_brief();
    went_on_ = true;
  }
  return quiet;
}

/// Advances simulated time; called when all threads of the program wait. `active`: they have announced work to the GPUs.
void Simulation::pass_time(const HostWaits::Threads& waits, bool active) {
  const Tick now = kernel_time();
  const bool pending = sc_core::sc_pending_activity();
  // GPUs that only poll memory wait for the program. Each of them must poll once after a program thread has run, and once after
  // any part of a GPU has made progress, because either may have stored the value that another part waits for.
  const bool gpus_wait = !active && (!pending || platform_->waits_for_memory());
  const bool changed = std::exchange(progressed_, false);
  if (std::exchange(ran_, false) || changed || disregards_) look_after_ = now;
  if (!gpus_wait) {
    idle_looks_ = 0;
    const Tick step = disregards_ ? slice_ : Tick{kStep.ps - now.ps % kStep.ps};
    run_slice(earlier(now + step, waits.next));
    look_after_ = kernel_time();
  } else if (pending && !platform_->polled_after(look_after_)) {
    if (disregards_) sleep();
    slice_ = kSmallestSlice;
    run_slice(earlier(now + look_, waits.next));
  } else if (waits_.idle()) {
    // Waits with `only_while_active` have ended; simulate() releases their threads.
  } else if (waits.next < HostWaits::kForever) {
    run_slice(waits.next);
  } else {
    sleep();
  }
}

/// Simulates until `end`, or until the next event if that is later, or until wake_threads() pauses the simulation. If events
/// are pending but run out before `end`, time stops at the last event; if none is pending at the start, time advances to `end`.
void Simulation::run_slice(Tick end) {
  const HostClock::time_point begin = HostClock::now();
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  if (sc_core::sc_pending_activity()) {
    const Tick next_event = to_tick(now) + to_tick(sc_core::sc_time_to_pending_activity());
    sc_core::sc_start(to_sc_time(later(end, next_event)) - now, sc_core::SC_EXIT_ON_STARVATION);
  } else {
    sc_core::sc_start(to_sc_time(end) - now);
  }
  const double seconds = std::chrono::duration<double>(HostClock::now() - begin).count();
  if (seconds < kShortSlice) slice_ = earlier(slice_ * 2, kLargestSlice);
  if (seconds > kLongSlice) slice_ = later(Tick{slice_.ps / 2}, kSmallestSlice);
  show_progress(seconds);
}

void Simulation::wake_threads() {
  // Use the number of spinning threads at the last look, not the current number: a thread that has seen its packet done may
  // already have submitted the next packet.
  const bool woken = waits_.evaluate() || spinning_ != 0;
  if (woken && sc_core::sc_get_status() == sc_core::SC_RUNNING) sc_core::sc_pause();
}

void Simulation::show_progress(double seconds) {
  const bool first = notice_.due(seconds);
  if (!first && !(notice_.said() && line_.due())) return;
  const ProgressLine::Snapshot snapshot{kernel_time(), 0, platform_->wavefront_instructions(), results_.kernels().running()};
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

// A request is removed from the list before it runs and marked done afterwards, so that the list is not locked while the job
// runs.
bool Simulation::serve() {
  if (!has_requests_.load(std::memory_order_acquire)) return false;
  bool served = false;
  std::unique_lock lock(mutex_);
  while (!requests_.empty()) {
    Request& request = *requests_.front();
    requests_.erase(requests_.begin());
    lock.unlock();
    (*request.job)(*platform_);
    lock.lock();
    request.done = true;
    served = true;
  }
  has_requests_.store(false, std::memory_order_release);
  if (served) answered_.notify_all();
  return served;
}

// -- the program's threads

bool Simulation::submit(Request& request) {
  std::unique_lock lock(mutex_);
  if (state_ == State::ended) return false;
  requests_.push_back(&request);
  has_requests_.store(true, std::memory_order_release);
  ++in_call_;
  if (state_ == State::running) gate_->knock();
  wake_.notify_one();
  answered_.wait(lock, [&] { return request.done || state_ == State::ended; });
  --in_call_;
  return request.done;
}

bool Simulation::call(const Job& job) {
  Request request{.job = &job};
  return submit(request);
}

Tick Simulation::sample_time() {
  HostWaits::Limits limits;
  limits.simulated = kClockRead;
  for (;;) {
    {
      const std::lock_guard lock(sample_mutex_);
      const Tick now = waits_.now();
      if (now > last_sample_) return last_sample_ = now;
      if (ended()) return last_sample_;
    }
    waits_.wait([this] { return waits_.now() > last_sample_; }, limits);
  }
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
  for (std::uint64_t used = processor_time();
       !answered_.wait_for(lock, kPatience, [this] { return state_ == State::ended; });) {
    const std::uint64_t before = std::exchange(used, processor_time());
    if (used == before) break;
  }
}

std::uint64_t Simulation::processor_time() const {
  timespec used{};
  const clockid_t clock = clock_.load();
  if (clock == 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

bool Simulation::on_this_thread() { return is_simulation_thread; }

void Simulation::stop_from_signal_handler(int signal_number) {
  if (is_simulation_thread) return;
  ending_signal_ = signal_number;
  int running = -1;
  stop_.compare_exchange_strong(running, static_cast<int>(RunEnd::interrupted));
  const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  constexpr int kLooks = std::chrono::milliseconds(kPatience).count();
  std::uint64_t used = processor_time();
  for (int i = 1; state_.load() != State::ended; ++i) {
    nanosleep(&pause, nullptr);
    if (i % kLooks != 0) continue;
    const std::uint64_t before = std::exchange(used, processor_time());
    if (used == before) break;
  }
}

}  // namespace lacuna::rocm
