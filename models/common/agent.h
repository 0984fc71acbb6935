// Something in a device that works on its own: it takes work from memory or from registers and goes on without being called.
// Packet processor, dispatcher with its compute units, SDMA engines; memories, caches and networks only answer.
//
// A device registers each of them once (models/gpu/agent_registry.h) and asks the registry, not one kind after the other.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"

namespace lacuna {

class Agent {
 public:
  virtual ~Agent() = default;

  /// Nothing is asked of it. What is suspended or has failed asks for nothing.
  virtual bool idle() const = 0;
  /// Has something to do other than to look at memory until somebody else changes it.
  virtual bool busy() const = 0;
  /// Only grows, and grows while the agent gets on. Waiting and polling are no progress.
  virtual std::uint64_t progress() const = 0;
  /// What it does and waits for: a line for each thing, indented by two spaces.
  virtual void diagnose(std::ostream& out) const = 0;
  /// Adds groups of its own to those of the device.
  virtual void describe_statistics(StatisticsGroup& device) const = 0;
  /// Forgets what it has booked before `horizon`, which is not after the kernel's time. Changes no result.
  virtual void retire(Tick horizon) = 0;
  /// As after construction, at once: drops its work without finishing it, and touches nothing of it afterwards. How it is wired
  /// and its statistics stay. May interrupt a process of the agent that waits; must not be called by one.
  virtual void reset() = 0;
};

}  // namespace lacuna
