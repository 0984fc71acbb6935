// Scratch memory that grows on demand: requests of a queue to the ROCm runtime through the queue's inactive signal.
//
//   settled --request()--> requested --signal is 0--> granted --dispatch starts--> settled, or lent when the runtime has set
//   lent --earlier packets are done, kScratchReclaim--> reclaimed --kUseScratchOnce is clear--> settled        kUseScratchOnce
//
// A queue in one of the other states than settled and granted starts no packet. Takes no simulated time.
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
  /// `statistics`: scratch_requests.
  ScratchRequests(const Signals& signals, HostNotifier& host, PacketProcessorStatistics& statistics)
      : signals_(signals), host_(host), statistics_(statistics) {}

  /// Before the queue's next packet: nothing when the packet may start.
  std::optional<PacketOutcome> advance(QueueSlot& queue, hsa::Queue& aql);
  /// For a dispatch that needs more than the queue has: nothing when no runtime can be asked, or when the runtime has answered
  /// and it is still too little.
  std::optional<PacketOutcome> request(QueueSlot& queue, const hsa::Queue& aql);

 private:
  const Signals& signals_;
  HostNotifier& host_;
  PacketProcessorStatistics& statistics_;
};

}  // namespace lacuna
