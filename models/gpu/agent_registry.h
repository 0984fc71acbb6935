// The agents of a device. Each function visits all of them in the order in which they were added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "models/common/agent.h"

namespace lacuna {

class AgentRegistry {
 public:
  /// Adds an agent, which must exist as long as the registry is used.
  void add(Agent& agent) { agents_.push_back(&agent); }

  bool idle() const {
    return std::all_of(agents_.begin(), agents_.end(), [](const Agent* a) { return a->idle(); });
  }
  bool busy() const {
    return std::any_of(agents_.begin(), agents_.end(), [](const Agent* a) { return a->busy(); });
  }
  bool polled_after(Tick time) const {
    return std::all_of(agents_.begin(), agents_.end(), [time](const Agent* a) { return a->polled_after(time); });
  }
  std::uint64_t progress() const {
    std::uint64_t sum = 0;
    for (const Agent* agent : agents_) sum += agent->progress();
    return sum;
  }
  void diagnose(std::ostream& out) const {
    for (const Agent* agent : agents_) agent->diagnose(out);
  }
  void describe_statistics(StatisticsGroup& device) const {
    for (const Agent* agent : agents_) agent->describe_statistics(device);
  }
  void retire(Tick horizon) {
    for (Agent* agent : agents_) agent->retire(horizon);
  }
  void reset() {
    for (Agent* agent : agents_) agent->reset();
  }

 private:
  std::vector<Agent*> agents_;
};

}  // namespace lacuna
