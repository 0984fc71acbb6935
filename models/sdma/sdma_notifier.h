// Notifications from an SDMA engine to its driver: traps and stopped queues. Without a listener, notifications are only logged.
#pragma once

#include <cstdint>
#include <string>

#include "models/common/time/units.h"
#include "models/sdma/sdma_parameters.h"
#include "models/sdma/sdma_queue.h"

namespace lacuna {

/// Reason why a queue has stopped.
struct SdmaFault {
  std::uint32_t queue = 0;    ///< SdmaQueue::id
  std::uint32_t code = 0;     ///< LACUNA_FAULT_* for an invalid address; LACUNA_FAULT_NONE for an invalid packet
  std::uint64_t address = 0;  ///< invalid GPU virtual address
  bool write = false;         ///< whether the access was a write
  std::string text;           ///< one line: engine, queue, position in the ring, problem
};

/// Receiver of traps and faults, called at the time of the event.
class SdmaListener {
 public:
  virtual ~SdmaListener() = default;
  /// A TRAP packet was executed. `context`: the packet's 28-bit context field, in which ROCm stores the id of the event.
  virtual void sdma_trap(std::uint32_t queue, std::uint32_t context, Tick at) = 0;
  virtual void sdma_fault(const SdmaFault& fault, Tick at) = 0;
};

class SdmaNotifier {
 public:
  /// `owner`: name in messages. The notifier increments traps and errors of `statistics`.
  SdmaNotifier(std::string owner, SdmaStatistics& statistics) : owner_(std::move(owner)), statistics_(statistics) {}

  void set_listener(SdmaListener& listener) { listener_ = &listener; }
  const std::string& owner() const { return owner_; }

  void trap(const SdmaQueue& queue, std::uint32_t context);
  /// Stops the queue and reports the fault. `fault.text` describes the problem; engine, queue and position are added.
  void stop(SdmaQueue& queue, SdmaFault fault);
  /// Stops the queue because of an invalid packet.
  void stop(SdmaQueue& queue, std::string why) { stop(queue, SdmaFault{.text = std::move(why)}); }

 private:
  const std::string owner_;
  SdmaStatistics& statistics_;
  SdmaListener* listener_ = nullptr;
};

}  // namespace lacuna
