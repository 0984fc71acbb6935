// A unit at a node of the fabric, other than a first-level cache, that sends memory requests: a compute unit inside the
// network, a prefetcher next to a cache. Its requests may have their responses delivered to another such unit, at a third node.
//
// The memory phase (models/gpu/memory_phase.h) sends requests that are due and delivers the responses; between two phases a
// unit acts on the thread of its group. All units of a group act on one thread, together with the group's first-level caches.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/common/transport/memory_request.h"

namespace lacuna {

class NodeRequester {
 public:
  /// A request that enters the network at the node of its requester.
  struct Departure {
    Tick at{};
    MemoryRequest request;              ///< lies within one line of its destination
    NodeRequester* receiver = nullptr;  ///< receives the response; null: the requester itself
    std::uint32_t tag = 0;              ///< passed to the receiver's complete()
  };

  NodeRequester() = default;
  NodeRequester(const NodeRequester&) = delete;
  NodeRequester& operator=(const NodeRequester&) = delete;
  virtual ~NodeRequester() = default;

  /// Moves to `out` the requests that leave before `end`, in any order. Called in each phase in which next_departure() is
  /// earlier than `end`.
  virtual void departures(Tick end, std::vector<Departure>& out) = 0;
  /// When the first pending request leaves; kNever: there is none.
  virtual Tick next_departure() const = 0;
  /// A response with this tag has arrived at the node at `at`; `below`: where the time since the departure went. May add
  /// requests that leave at `at` or later.
  virtual void complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) = 0;
  /// Name for messages.
  virtual const char* name() const = 0;

 protected:
  /// Call for each request that is added, with the time at which it leaves.
  void announce(Tick at) {
    if (earliest_ != nullptr) *earliest_ = earlier(*earliest_, at);
  }

 private:
  friend class MemoryPhase;
  Tick* earliest_ = nullptr;  ///< of the group's next departure; null: not in a memory phase
  std::uint16_t port_ = 0;    ///< its number in the memory phase
};

}  // namespace lacuna
