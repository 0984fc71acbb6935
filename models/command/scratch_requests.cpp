#include "models/command/scratch_requests.h"

#include <atomic>

namespace lacuna {

std::optional<PacketOutcome> ScratchRequests::advance(QueueSlot& queue, hsa::Queue& aql) {
  switch (queue.scratch) {
    case QueueSlot::Scratch::lent:
      if (!queue.in_flight.empty()) return PacketOutcome::idle("scratch memory that was lent for the dispatch before");
      ++statistics_.scratch_requests;
      queue.scratch =
          host_.store_inactive_signal(&aql, hsa::kScratchReclaim) ? QueueSlot::Scratch::reclaimed : QueueSlot::Scratch::settled;
      return PacketOutcome::progress();
    case QueueSlot::Scratch::requested:
      // The runtime sets the signal to 0 after it has written all fields of amd_queue_t; they are not valid before.
      if (signals_.valid(aql.queue_inactive_signal) && signals_.value(aql.queue_inactive_signal) != 0) {
        return PacketOutcome::poll("the runtime to provide scratch memory");
      }
      queue.scratch = QueueSlot::Scratch::granted;
      return PacketOutcome::progress();
    case QueueSlot::Scratch::reclaimed:
      if ((std::atomic_ref(aql.queue_properties).load(std::memory_order_acquire) & hsa::kUseScratchOnce) != 0) {
        return PacketOutcome::poll("the runtime to take back scratch memory");
      }
      queue.scratch = QueueSlot::Scratch::settled;
      return PacketOutcome::progress();
    default:
      return std::nullopt;
  }
}

// The runtime reads the packet at the read index, and moves the memory that earlier dispatches use: all of them must be done.
std::optional<PacketOutcome> ScratchRequests::request(QueueSlot& queue, const hsa::Queue& aql) {
  if (!signals_.valid(aql.queue_inactive_signal)) return std::nullopt;
  if (queue.scratch == QueueSlot::Scratch::granted) return std::nullopt;
  if (!queue.in_flight.empty()) return PacketOutcome::idle("earlier packets, to ask for scratch memory");
  ++statistics_.scratch_requests;
  queue.scratch = QueueSlot::Scratch::requested;
  host_.store_inactive_signal(&aql, hsa::kScratchRequest);
  return PacketOutcome::progress();
}

}  // namespace lacuna
