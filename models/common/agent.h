// An active component of a device: it fetches its work from memory or registers and runs without being called. Agents are the
// packet processor, the dispatcher with its compute units, and SDMA engines; memories, caches and networks only respond.
//
// A device registers each agent once (models/gpu/agent_registry.h) and queries the registry.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"

namespace lacuna {

class Agent {
 public:
  virtual ~Agent() = default;

  /// Whether it has no work. Suspended and failed work does not count.
  virtual bool idle() const = 0;
  /// Whether it has work other than polling memory that another agent must change.
  virtual bool busy() const = 0;
  /// Whether all its polls have read memory after `time`. True for an agent that polls nothing.
  virtual bool polled_after(Tick time) const = 0;
  /// A count that never decreases and increases while the agent makes progress. Waiting and polling do not count as progress.
  virtual std::uint64_t progress() const = 0;
  /// Writes its work and wait reasons, one per line, indented by two spaces.
  virtual void diagnose(std::ostream& out) const = 0;
  /// Adds the agent's groups to those of the device.
  virtual void describe_statistics(StatisticsGroup& device) const = 0;
  /// Drops bookings before `horizon`, which is not after the kernel's time. Does not affect results.
  virtual void retire(Tick horizon) = 0;
  /// Immediately returns to the state after construction: drops its work without finishing it, and accesses none of it
  /// afterwards. Connections and statistics stay. May interrupt a waiting process of the agent; must not be called by one.
  virtual void reset() = 0;
};

}  // namespace lacuna
