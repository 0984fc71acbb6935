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

  /// Whether the agent has no work other than suspended and failed work.
  virtual bool idle() const = 0;
  /// Whether the agent has work other than polling memory that another agent must change.
  virtual bool busy() const = 0;
  /// Whether each location that the agent polls has been read after `time`. True for an agent that polls nothing.
  virtual bool polled_after(Tick time) const = 0;
  /// A count that increases while the agent makes progress, and never decreases. Waiting and polling do not count as progress.
  virtual std::uint64_t progress() const = 0;
  /// Writes the agent's work and wait reasons, one per line, indented by two spaces.
  virtual void diagnose(std::ostream& out) const = 0;
  /// Adds the agent's statistics groups to `device`.
  virtual void describe_statistics(StatisticsGroup& device) const = 0;
  /// Drops bookings before `horizon`, which is not after the time of the SystemC kernel. Does not affect results.
  virtual void retire(Tick horizon) = 0;
  /// Immediately returns the agent to its state after construction. All work is dropped, without finishing it or accessing
  /// memory. Connections and statistics are kept. May interrupt a waiting process of the agent; must not be called from such a
  /// process.
  virtual void reset() = 0;
};

}  // namespace lacuna
