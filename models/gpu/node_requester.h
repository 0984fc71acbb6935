// A unit at a node of the fabric, other than a first-level cache, that sends memory requests: a compute unit inside the
// network, a prefetcher next to a cache. Its requests may have their responses delivered to another such unit, at a third node.
// A request to a destination at the unit's own node does not enter the network, nor does the response of a destination at the
// receiver's node.
//
// Units may also send each other messages: packets of the network that contain no memory request.
//
// The memory phase (models/gpu/memory_phase.h) sends requests and messages that are due and delivers responses and messages;
// between two phases a unit acts on the thread of its group. All units of a group act on one thread, together with the group's
// first-level caches. Messages are delivered while no group acts.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/common/transport/memory_request.h"
#include "models/noc/fabric.h"

namespace lacuna {

class NodeRequester {
 public:
  /// A request that leaves the node of its requester.
  struct Departure {
    Tick at{};
    MemoryRequest request;              ///< lies within one line of its destination
    NodeRequester* receiver = nullptr;  ///< receives the response; null: the requester itself
    std::uint32_t tag = 0;              ///< passed to the receiver's complete()
  };

  /// A packet to another unit.
  struct Message {
    Tick at{};
    NodeRequester* receiver = nullptr;
    VirtualNetwork network = VirtualNetwork::request;
    std::uint16_t flits = 1;
    std::uint32_t tag = 0;  ///< passed to the receiver's receive()
  };
  /// Times of a message's passage through the network.
  struct Passage {
    Tick at{};         ///< arrival of the last flit
    Tick waiting{};    ///< time from departure to `at` in which the message waited
    Tick passing{};    ///< time from departure to `at` in which the message did not wait
    Tick injection{};  ///< part of `waiting` in the injection queue of the sender's node
  };

  NodeRequester() = default;
  NodeRequester(const NodeRequester&) = delete;
  NodeRequester& operator=(const NodeRequester&) = delete;
  virtual ~NodeRequester() = default;

  /// Moves the requests that leave before `end` to `out`, in any order. Called in each phase in which next_departure() is
  /// earlier than `end`.
  virtual void departures(Tick end, std::vector<Departure>& out) = 0;
  /// Whether the unit ever sends messages.
  virtual bool sends_messages() const { return false; }
  /// Moves the messages that leave before `end` to `out`.
  virtual void messages(Tick end, std::vector<Message>& out) { static_cast<void>(end), static_cast<void>(out); }
  /// Departure time of the first pending request or message; kNever: there is none.
  virtual Tick next_departure() const = 0;
  /// Called when the response with this tag has arrived at the node at `at`. `below`: breakdown of the time since the request's
  /// departure. May add requests that leave at `at` or later.
  virtual void complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) = 0;
  /// Called when a message with this tag has arrived. May add requests and messages that leave at `passage.at` or later.
  virtual void receive(std::uint32_t tag, const Passage& passage) { static_cast<void>(tag), static_cast<void>(passage); }
  /// Name for error messages.
  virtual const char* name() const = 0;

 protected:
  /// Call it for each request or message that is added, with its departure time.
  void announce(Tick at) {
    if (earliest_ != nullptr) *earliest_ = earlier(*earliest_, at);
  }

 private:
  friend class MemoryPhase;
  Tick* earliest_ = nullptr;  ///< next departure of the unit's group; null: the unit is not in a memory phase
  std::uint16_t port_ = 0;    ///< number of the unit's port in the memory phase
};

}  // namespace lacuna
