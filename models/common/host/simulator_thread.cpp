#include "models/common/host/simulator_thread.h"

#include <unistd.h>

#include <algorithm>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<pid_t> ids;
};

// Never destroyed: simulator threads may outlive the destructors of static objects.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

thread_local bool is_simulator_thread = false;

}  // namespace

SimulatorThread::SimulatorThread() {
  is_simulator_thread = true;
  const std::lock_guard lock(registry().mutex);
  registry().ids.push_back(gettid());
}

SimulatorThread::~SimulatorThread() {
  is_simulator_thread = false;
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().ids, gettid());
}

std::thread SimulatorThread::start(std::function<void()> work) {
  auto ready = std::make_unique<std::promise<void>>();
  const std::future<void> is_ready = ready->get_future();
  std::thread thread([work = std::move(work), ready = std::move(ready)]() mutable {
    const SimulatorThread registered;
    ready->set_value();
    work();
  });
  is_ready.wait();
  return thread;
}

bool SimulatorThread::is_current() { return is_simulator_thread; }

unsigned SimulatorThread::count() {
  const std::lock_guard lock(registry().mutex);
  return static_cast<unsigned>(registry().ids.size());
}

bool SimulatorThread::contains(pid_t id) {
  const std::lock_guard lock(registry().mutex);
  return std::find(registry().ids.begin(), registry().ids.end(), id) != registry().ids.end();
}

}  // namespace lacuna
