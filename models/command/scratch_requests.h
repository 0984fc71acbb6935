// Scratch memory that grows on demand: requests of a queue to the ROCm runtime through the queue's inactive signal.
//
//   settled --request()--> requested --signal is 0--> granted --dispatch starts--> settled (lent, if kUseScratchOnce is set)
//   lent --earlier packets are done, kScratchReclaim--> reclaimed --kUseScratchOnce is clear--> settled
//
// A queue in a state other than settled and granted starts no packet. Takes no simulated time.
#pragma once

#include <optional>

#include "models/command/host_notifier.h"
#include "models/command/packet_outcome.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/queue.h"
#include "models/command/signals.h"

namespace lacuna {

class ScratchRequests {
 public:
  /// `statistics`: its scratch_requests is incremented.
  ScratchRequests(const Signals& signals, HostNotifier& host, PacketProcessorStatistics& statistics)
      : signals_(signals), host_(host), statistics_(statistics) {}

  /// Advances the queue's state before its next packet. nullopt: the packet may start.
  std::optional<PacketOutcome> advance(QueueSlot& queue, hsa::Queue& aql);
  /// Requests memory for a dispatch that needs more than the queue has. nullopt: no runtime can provide it, or the runtime has
  /// responded and the memory is still insufficient.
  std::optional<PacketOutcome> request(QueueSlot& queue, const hsa::Queue& aql);

 private:
  const Signals& signals_;
  HostNotifier& host_;
  PacketProcessorStatistics& statistics_;
};

}  // namespace lacuna
