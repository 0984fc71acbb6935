#include "models/common/simulator_thread.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace lacuna {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<pid_t> ids;
};

// Never destroyed: threads of the simulator may outlive the destructors of static objects.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

}  // namespace

SimulatorThread::SimulatorThread() {
  const std::lock_guard lock(registry().mutex);
  registry().ids.push_back(gettid());
}

SimulatorThread::~SimulatorThread() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().ids, gettid());
}

unsigned SimulatorThread::count() {
  const std::lock_guard lock(registry().mutex);
  return static_cast<unsigned>(registry().ids.size());
}

bool SimulatorThread::contains(pid_t id) {
  const std::lock_guard lock(registry().mutex);
  return std::find(registry().ids.begin(), registry().ids.end(), id) != registry().ids.end();
}

}  // namespace lacuna
