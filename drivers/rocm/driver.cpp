#include "drivers/rocm/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>

#include "drivers/rocm/missing_code.h"
#include "drivers/rocm/preload/threads.h"
#include "drivers/rocm/process_end.h"
#include "drivers/rocm/thunk_variables.h"
#include "models/common/host/simulator_thread.h"
#include "models/neardata/near_data.h"
#include "platform/run/log.h"
#include "platform/run/terminal.h"

namespace lacuna::rocm {
namespace {

// Never destroyed; see Driver.
std::mutex& open_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
std::atomic<Driver*> the_driver{nullptr};
std::atomic<int> times_open{0};
/// A child process has the parent's memory but not its simulation thread.
std::atomic<bool> forked{false};

/// The progress line below the log's lines on a terminal; it is never destroyed, like the driver.
ProgressLine& progress_line(bool enabled) {
  static auto* const line = new ProgressLine(enabled);
  return *line;
}

/// Hook for a program thread that yields the processor. Returns false if no GPU has work, so that the thread yields as usual.
bool yield_of_thread() {
  Driver* const driver = Driver::get();
  if (driver == nullptr || !driver->simulation().has_work() || SimulatorThread::is_current()) return false;
  driver->waits().yield();
  return true;
}

/// Blocks the calling program thread until the thread that it has created or woken waits; only briefly while other threads
/// compute (HostWaits::give_way_briefly()).
void let_go_first() {
  Driver* const driver = Driver::get();
  if (driver != nullptr && !SimulatorThread::is_current()) driver->waits().give_way_briefly();
}

/// Address range of the runtime's code in this process.
dl_find_object runtime_code{};

/// Hook for a thread that has released a mutex for which another thread waits. Acts only if the runtime's code has released the
/// mutex: the runtime wakes its own threads while it holds a mutex that they need next (Events::set). For mutexes of a program,
/// the hook would serialise threads that compute and share a mutex.
void mutex_handed_over(const void* caller) {
  if (caller < runtime_code.dlfo_map_start || caller >= runtime_code.dlfo_map_end) return;
  let_go_first();
}

constexpr ThreadHooks kThreadHooks{.yield = yield_of_thread, .created = let_go_first, .handed_over = mutex_handed_over};

/// Installs the hooks. Returns false if liblacuna_threads.so is not loaded: threads then yield as usual, and run concurrently
/// with those that they create or wake.
bool hook_threads() {
  if (void* const runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
    if (_dl_find_object(dlsym(runtime, "hsa_init"), &runtime_code) != 0) runtime_code = {};
    dlclose(runtime);
  }
  void* const set = dlsym(RTLD_DEFAULT, kSetThreadHooks);
  if (set != nullptr) reinterpret_cast<SetThreadHooks*>(set)(&kThreadHooks);
  return set != nullptr;
}

}  // namespace

Driver::Driver(Settings settings, ProgressLine& line)
    : settings_(std::move(settings)),
      parameters_(settings_.configuration, Machine::process),
      topology_(parameters_.values()),
      events_(waits_),
      simulation_(parameters_, settings_, line, waits_),
      memory_(simulation_, topology_.nodes() - 1, parameters_.values().gpu.vram.size.n,
              parameters_.values().rocm.fine_grained_host_memory),
      queues_(simulation_, memory_, topology_.targets(), parameters_.values().rocm.sdma) {
  for (HSAuint32 node = 1; node < topology_.nodes(); ++node)
    gpu_events_.push_back(std::make_unique<GpuEvents>(node, events_, symbols_, [this] { simulation_.wake_threads(); }));
}

void Driver::start() {
  simulation_.start(
      [this](ProcessPlatform& platform) {
        for (unsigned i = 0; i < platform.gpus(); ++i) {
          GpuDevice& gpu = platform.gpu(i);
          const Apertures windows = apertures(topology_.targets()[i]);
          gpu.command_processor().set_apertures(windows.shared, windows.private_base);
          gpu.packet_processor().set_driver_events(*gpu_events_[i]);
          gpu.packet_processor().set_source_lines(symbols_);
          if (auto* const near_data = gpu.extension<NearData>()) near_data->set_tag_source(tags_);
          gpu.packet_processor().set_blit_recogniser(blits_);
          for (const auto& engine : gpu.sdma_engines()) engine->set_listener(*gpu_events_[i]);
        }
      },
      {.any = [this](ProcessPlatform& platform) { return queues_.has_doorbells(platform); },
       .spinning = [this](ProcessPlatform& platform) { return queues_.spinning_threads(platform, runtime_packets_); },
       .pass = [this](ProcessPlatform& platform) { return queues_.poll_doorbells(platform); }});
  const auto mailboxes = events_.mailboxes();
  memory_.map_own(mailboxes.data(), mailboxes.size_bytes());
}

HSAKMT_STATUS Driver::open() {
  const std::lock_guard lock(open_mutex());
  if (forked) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  if (the_driver.load() == nullptr) {
    try {
      Settings settings = Settings::from_environment();
      ProgressLine& line = progress_line(settings.report);
      open_log(line);
      auto made = std::unique_ptr<Driver>(new Driver(std::move(settings), line));
      route_systemc_reports();
      made->start();
      for (const std::string& warning : made->parameters_.warnings()) spdlog::warn("{}", warning);
      for (const std::string& ignored : ignored_thunk_variables()) spdlog::warn("{}", ignored);
      const std::vector<isa::Target>& targets = made->topology_.targets();
      if (targets.size() == 1 || !runtime_hides_gpus()) expect_code_for(targets, made->parameters().rocm.target_parameter());
      the_driver = made.release();
      watch_process_end();
      if (hook_threads()) the_driver.load()->runtime_packets_.yields_are_waits();
      pthread_atfork(nullptr, nullptr, [] {
        forked = the_driver.load() != nullptr;
        if (forked) the_driver.load()->simulation_.leave_results_to_parent();
      });
    } catch (const std::exception& e) {
      std::cerr << "lacuna: " << e.what() << std::endl;
      return HSAKMT_STATUS_ERROR;
    }
  }
  ++times_open;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::close() {
  const std::lock_guard lock(open_mutex());
  Driver* driver = get();
  if (driver == nullptr) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  if (--times_open != 0) return HSAKMT_STATUS_SUCCESS;
  driver->queues_.destroy_all();
  driver->simulation_.write_results();
  return HSAKMT_STATUS_SUCCESS;
}

Driver* Driver::get() { return times_open.load() > 0 && !forked ? the_driver.load() : nullptr; }

Driver* Driver::opened_once() { return forked ? nullptr : the_driver.load(); }

}  // namespace lacuna::rocm
