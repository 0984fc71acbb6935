// The memory phase at the end of a window (models/compute/windows.h): sends the requests of first-level caches and TLBs through
// the network to L2, DRAM and host memory, and returns the responses. Stages, each in order of simulated time:
//
//   translations  L1 TLBs -> L2 TLB -> page walker, in order of the misses, on one thread; then delivered to each group's units
//   requests      L1 -> network -> destination, in order of departure
//   service       requests of each destination in order of arrival; those of destinations that share a DRAM channel together
//   memory        DRAM channels decide the commands that no later request can change
//   replies       destination -> network -> L1, in order of the responses
//
// A request that leaves after the window's end arrives at its destination no earlier than the minimum packet time after that
// end. Channels decide up to this earliest arrival; a request that waits for a later event is completed in a later phase, often
// several windows later. A window is short enough that the response still lies in the units' future when it is delivered
// (GpuDeviceParameters::window()).
//
// With requests sorted, each stage queries its calendars in time order and touches the same tags and banks together.
// Destinations (or pairs of them that share a channel) are independent of each other, and so are groups of first-level caches:
// their work is distributed over threads. The two ends of a packet's path are also independent if packets contend only there
// (Fabric::ports()); otherwise one thread carries all packets.
//
// In addition to first-level caches, other units at nodes of the network may send requests (models/gpu/node_requester.h), whose
// responses may go to a unit at a third node, and messages to each other. A unit that acts only in memory phases (not in
// windows) runs ahead of the window's end as destinations do, so its messages arrive in the compute units' future.
//
// A stepped network (Fabric::stepped()) advances to the end of the window in each phase. Requests that have arrived are served,
// their replies are launched, and replies that have arrived are delivered. A request is in flight for many windows, which are
// no longer than the network's lookahead.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <deque>
#include <span>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/cache/last_level_cache.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/host/worker_threads.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/timing_payload.h"
#include "models/compute/window_observer.h"
#include "models/compute/windows.h"
#include "models/gpu/node_requester.h"
#include "models/gpu/translation_phase.h"
#include "models/noc/fabric.h"
#include "models/noc/node_ports.h"
#include "models/noc/stepped_network.h"

namespace lacuna {

class MemoryPhase : public WindowBarrier {
 public:
  /// `threads`: null: all work runs on the caller's thread. `min_packet_time`: minimum time of a packet through the fabric.
  MemoryPhase(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads = nullptr, Tick min_packet_time = {});

  /// Adds a cache of the units of a group (models/compute/windows.h); its requests enter the network at `source`.
  void add(FirstLevelCache& cache, unsigned source, unsigned group = 0);
  /// Adds another unit, at a node of the network. `ahead`: all units of its group act only in memory phases.
  void add(NodeRequester& requester, unsigned node, unsigned group = 0, bool ahead = false);
  void add(FirstLevelTlb& tlb, unsigned group = 0) {
    group_of(group);
    translations_.add(tlb, group);
  }
  /// Adds the cache at a destination and the memory below it. Destinations without a cache are accessed through their sockets.
  /// If `memory` is null, the cache accesses the memory through its socket and receives the response within the call.
  void add_destination(unsigned destination, LastLevelCache& cache, DeferredMemory* memory) {
    add_destination(destination, cache, memory, destination);
  }
  /// Adds a cache that shares the memory of destination `memory_of`, which has a cache as well.
  void add_destination(unsigned destination, LastLevelCache& cache, DeferredMemory* memory, unsigned memory_of);
  /// Adds an observer that is notified in each phase, before requests leave.
  void attach(WindowObserver& observer) { observers_.push_back(&observer); }

  void begin(Tick far) override;
  void group_finished(unsigned group, unsigned thread, Tick end) override;
  void resolve(Tick end) override;
  Tick next() const override;
  void retire(Tick horizon) override;
  /// Drops all requests and messages in flight. The caller resets network, caches, TLBs and other units first.
  void reset();

 private:
  /// Minimum number of requests for which several threads are faster than a single thread.
  static constexpr std::size_t kWorthSharing = 32;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using NodeDepartures = std::vector<NodeRequester::Departure>;

  /// Times of a request that has been served.
  struct RequestTiming {
    Tick at{};  ///< time of the response at the current stage
    Tick noc_waiting{};
    Tick injection{};  ///< part of `noc_waiting` that the reply spent in the injection queue of the destination's node
    Tick noc_passing{};
    Tick waiting{};  ///< queueing at the destination's cache
    Tick service{};
    Tick mshr{};
    std::uint32_t below = kNone;  ///< index of the breakdown of the levels below in Memory::below
    bool lost = false;            ///< whether there is no memory at the address
  };
  /// A request in flight from the port where it enters the network to its destination, and from there to the port that receives
  /// the response. For caches both ports are the same. Flights pass between threads: the thread that serves a request writes
  /// only the second of the flight's two cache lines.
  struct Flight {
    alignas(64) MemoryRequest request;  ///< `made`: time of departure
    Cycles head{};                      ///< time at which the packet's head reaches the destination's port
    std::uint32_t tag = 0;              ///< meaning depends on the receiver; for a cache, the number of the miss
    std::uint16_t sender = 0;           ///< index in ports_
    std::uint16_t receiver = 0;         ///< index in ports_
    std::uint16_t destination = 0;
    std::uint16_t request_flits = 0;
    std::uint16_t reply_flits = 0;
    std::uint16_t departure = 0;  ///< sequence number of the sender's requests, modulo 2^16; fewer than 2^15 are in flight
    alignas(64) RequestTiming timing;
  };
  static_assert(sizeof(Flight) == 128);
  /// A request whose packets are in flight in a stepped network.
  struct SteppedFlight : Flight {
    std::uint32_t number = 0;  ///< index in flights_
    bool served = false;       ///< whether the packet in flight is the reply, or a message in the network of replies
    bool message = false;      ///< whether the packet is a message; uses sender, receiver, tag, reply_flits and served
    LatencyBreakdown below;    ///< the breakdown that `timing.below` refers to
    VirtualNetwork network() const { return served ? VirtualNetwork::reply : VirtualNetwork::request; }
    unsigned flits() const { return served ? reply_flits : request_flits; }
  };
  /// A request with its time at a stage. Order: by time, then by sender, then by the sender's sequence number.
  struct TimedFlight {
    Tick at;
    Flight* flight;
    bool operator<(const TimedFlight& other) const {
      if (at != other.at) [[likely]]
        return at < other.at;
      if (flight->sender != other.flight->sender) return flight->sender < other.flight->sender;
      return static_cast<std::int16_t>(flight->departure - other.flight->departure) < 0;
    }
  };
  using TimedFlights = std::vector<TimedFlight>;
  /// The port at which requests of a cache or of another unit enter the network and responses leave it.
  struct Port {
    FirstLevelCache* cache = nullptr;    ///< null: the port belongs to `requester`
    NodeRequester* requester = nullptr;  ///< null: the port belongs to `cache`
    unsigned source = Fabric::kNone;     ///< source number of a cache
    unsigned network_node = 0;
    unsigned group = 0;
    unsigned node = 0;                                   ///< index in Group::nodes
    std::vector<FirstLevelCache::Departure> departures;  ///< departures of this phase
    StableRecords<Flight> flights;
    std::uint16_t next_departure = 0;
    std::uint32_t responses = 0;  ///< number of responses of this phase
  };
  /// Ports of a group that share a node, with their requests and replies in a phase. A node with a single cache needs little
  /// sorting, because its requests leave in nearly the order in which they were made.
  struct GroupNode {
    unsigned number;
    std::vector<std::uint16_t> caches;
    std::vector<std::uint16_t> requesters;
    TimedFlights orders;
    TimedFlights replies;
  };
  /// A message that has left, with its sender and its arrival time.
  struct SentMessage {
    NodeRequester::Message message;
    std::uint16_t sender = 0;  ///< index in ports_
    NodeRequester::Passage passage{};
  };
  /// A reply to a NodeRequester. The sender of the request may belong to another group and therefore to another thread, so
  /// collect_received() releases the record.
  struct NodeReply {
    Flight* flight;
    Tick request_waiting;  ///< queueing of the request packet in the network
    Tick request_passing;
  };
  struct Group {
    std::vector<GroupNode> nodes;
    std::vector<TimedFlights> sent;        ///< requests that have left, by memory
    std::vector<SentMessage> messages;     ///< messages that have left in this phase
    std::vector<std::uint16_t> receivers;  ///< ports of caches that received replies in this phase
    std::vector<NodeReply> node_replies;   ///< replies of this phase
    Flight* lost = nullptr;                ///< the first request without memory at its address
    bool left = false;                     ///< whether requests of this phase have left
    std::vector<FirstLevelCache*> early;   ///< caches with requests that wait for admit_early()
    Tick next_departure = kNever;          ///< lower bound of the next departure of the group's units
    Tick ahead{};                          ///< time by which the group's units run ahead of a window's end
    /// Whether requests or messages leave in the phase of a window that ends at `end`.
    bool departs(Tick end) const { return next_departure < end + ahead; }
  };
  struct Destination {
    LastLevelCache* cache = nullptr;
    unsigned node = 0;
    unsigned memory = 0;  ///< index in memories_
  };
  /// Requests to a destination and to the destinations that share its memory.
  struct Memory : MemoryClient {
    DeferredMemory* deferred = nullptr;
    std::vector<LastLevelCache*> caches;
    Tick way{};             ///< minimum latency from the caches to `deferred`
    TimedFlights arrivals;  ///< requests in order of time; those that later requests may precede stay for the next phase
    TimedFlights replies;   ///< replies of this phase
    std::vector<TimedFlights> replied;  ///< replies of this phase by group
    std::vector<Flight*> waiting;       ///< requests that wait for the caches' responses, by tag
    std::vector<std::uint32_t> free_tags;
    std::vector<LatencyBreakdown> below;  ///< breakdowns of this phase's replies
    Flight* lost = nullptr;               ///< the first request without memory at its address
    bool is_idle() const { return arrivals.empty() && waiting.size() == free_tags.size(); }
    /// Called when one of the caches has completed the request of waiting[tag].
    void on_response(std::uint32_t tag, const MemoryResponse& response) override;
    /// Adds a completed request to the replies.
    void complete(Flight& flight, const MemoryResponse& response);
  };
  /// Line of a request in the cache that serves the request, and the probable slot of the line.
  struct LookupSlot {
    LastLevelCache* cache;
    std::uint64_t line;  ///< number of the line in this cache
    TagArray::Slot slot;
  };
  /// A departing request or a received reply of a group in this phase.
  struct GroupRequest {
    Port* origin;
    std::uint16_t port;
    std::uint32_t miss;
    TimedFlights* orders;  ///< list of the departing request's node, to which the request is added
    Tick at;               ///< departure time of a departing request
    Flight* flight;        ///< null: the request has not departed yet
    std::uint32_t number;  ///< index of a reply among the cache's responses of this phase
  };
  /// Per-thread scratch.
  struct ThreadScratch {
    TimedFlights space;
    TimedFlights fresh;
    std::vector<GroupRequest> requests;
    std::vector<LookupSlot> places;
    NodeDepartures departures;
    std::vector<NodeRequester::Message> messages;
    FabricTally tally;
  };

  /// The fabric's ports, if every port belongs to one group, to one memory, or to one of each, and no unit sends messages;
  /// otherwise null. A group and a memory use a port that they share in different stages of a phase.
  NodePorts* find_private_ports() const;
  void exchange(Tick end, Tick now, bool again);
  /// Collects the memories that have requests to serve, and advances their caches to the SystemC time `now`. `only_fresh`: with
  /// private ports, only memories to which requests have just been sent.
  void find_serving(Tick now, bool only_fresh);
  /// Updates Group::next_departure after requests have left.
  void find_next_departure(Group& group);
  Port& add_port(unsigned node, unsigned group);
  /// Whether a port and a destination share a node. Packets between them then do not enter the network.
  bool is_local(std::uint16_t port, unsigned destination) const {
    return has_shared_nodes_ && ports_[port].requester != nullptr &&
           ports_[port].network_node == destinations_[destination].node;
  }
  /// The path of a request packet, or of its reply.
  Fabric::Ends ends(const Flight& flight, VirtualNetwork network) const {
    const Port& port = ports_[network == VirtualNetwork::request ? flight.sender : flight.receiver];
    if (port.source != Fabric::kNone) return fabric_.ends(network, port.source, flight.destination);
    const unsigned memory = destinations_[flight.destination].node;
    return network == VirtualNetwork::request ? Fabric::Ends{port.network_node, memory, Fabric::kNone, flight.destination}
                                              : Fabric::Ends{memory, port.network_node, Fabric::kNone, flight.destination};
  }
  Fabric::Ends ends(const SentMessage& sent) const {
    return {ports_[sent.sender].network_node, ports_[sent.message.receiver->port_].network_node};
  }
  /// Group `number`; creates it if it does not exist.
  Group& group_of(unsigned number);
  // Stages. Those with a scratch argument may run on several threads, one per group or memory.
  void send_requests(Group& group, Tick end, ThreadScratch& scratch);
  /// Requests of a unit other than a cache that leave before `end`, stored in `space`.
  static const NodeDepartures& departures(NodeRequester& requester, Tick end, NodeDepartures& space);
  /// Sets the other members of a flight whose `request` has been set, and request.made.
  void prepare(std::uint16_t sender, std::uint16_t receiver, std::uint32_t tag, Tick at, Flight& flight);
  void prepare(std::uint16_t port, const FirstLevelCache::Departure& departure, Flight& flight);
  void prepare(std::uint16_t port, const NodeRequester::Departure& departure, Flight& flight);
  void carry(VirtualNetwork network);
  void carry(VirtualNetwork network, const TimedFlight& next);
  /// Sends messages of a virtual network through the fabric: those from messages_[next] on that leave before `end`. Returns the
  /// index of the first message that leaves at `end` or later.
  std::size_t carry_messages(VirtualNetwork network, std::size_t next, Tick end);
  void deliver_messages();
  /// Serves the requests of a memory that arrive before `horizon`.
  void serve(unsigned number, Tick horizon, ThreadScratch& scratch);
  void arrive(TimedFlights& arrivals);
  void serve_by_caches(Memory& memory, std::size_t count, std::vector<LookupSlot>& places);
  void serve_by_sockets(Memory& memory);
  void serve_by_socket(Memory& memory, const TimedFlight& arrival);
  void send_replies(Memory& memory, TimedFlights& space);
  /// Distributes replies to the groups that receive them.
  void sort_out(Memory& memory);
  void receive_group(unsigned number, ThreadScratch& scratch);
  void receive_replies(GroupNode& node, ThreadScratch& scratch);
  /// Fills Group::node_replies from a node's replies, which have not passed the node's port yet.
  void list_node_replies(Group& group, const GroupNode& node) const;
  /// Releases the records of replies to NodeRequesters and counts their request packets.
  void collect_received();
  /// Completes a request. `below`: time in the levels below the destination; null: none. `latency`: scratch that the caller
  /// reuses for consecutive requests, most of whose fields stay the same.
  void complete(const Flight& flight, const LatencyBreakdown* below, LatencyBreakdown& latency);
  void complete(const Flight& flight, const LatencyBreakdown& latency);
  void check_lost() const;
  [[noreturn]] void report_lost(const Flight& flight) const;
  // Functions for a stepped network (memory_phase_stepped.cpp).
  void resolve_steps(Tick end);
  void launch_requests(Tick end);
  SteppedFlight& new_flight();
  template <typename Departure>
  void launch_request(std::uint16_t port, const Departure& departure);
  void launch_message(std::uint16_t port, const NodeRequester::Message& message);
  void receive(Tick end);
  void serve_arrivals(Tick horizon);
  void complete_replies();
  /// Calls `work(item, scratch)` for each of `items`, which are below `range`, on several threads when there are enough
  /// requests.
  template <typename Work>
  void share(std::span<const unsigned> items, std::size_t range, const Work& work);

  Fabric& fabric_;
  SteppedNetwork* const stepped_;       ///< null: the network returns arrival times immediately
  NodePorts* private_ports_ = nullptr;  ///< result of find_private_ports()
  TranslationLevel* l2_tlb_;
  WorkerThreads* threads_;
  const Tick min_packet_time_;
  Tick far_{kNever};  ///< set by WindowBarrier::begin()
  std::vector<Port> ports_;
  std::deque<Group> groups_;  ///< stable addresses: caches and other units hold references into its elements
  std::vector<Destination> destinations_;
  std::vector<Memory> memories_;  ///< indexed by destination
  TranslationPhase translations_;
  std::vector<WindowObserver*> observers_;
  std::vector<ThreadScratch> scratch_;       ///< one per thread
  std::vector<unsigned> leaving_;            ///< groups from which requests leave in this phase
  std::vector<unsigned> late_;               ///< groups with translations to deliver, or with requests that have not left yet
  std::vector<unsigned> serving_;            ///< memories that have requests to serve in this phase
  std::vector<unsigned> receiving_;          ///< groups that receive replies in this phase
  bool ports_known_ = false;                 ///< whether all ports and destinations have been added
  std::size_t count_ = 0;                    ///< number of requests of this phase
  std::size_t in_flight_ = 0;                ///< number of requests that are not complete yet
  TimedFlights order_;                       ///< all requests or replies, if one thread carries packets
  std::vector<SentMessage> messages_;        ///< messages of this exchange, in order of time
  bool has_messages_ = false;                ///< whether any unit may send messages
  bool has_shared_nodes_ = false;            ///< whether any unit other than a cache is at a destination's node
  Tick stepped_to_{};                        ///< end of the last phase with a stepped network
  std::deque<SteppedFlight> flights_;        ///< records of a stepped network's flights, including free records
  std::vector<std::uint32_t> free_flights_;  ///< free list of flights_
  std::vector<SteppedNetwork::Arrival> arrived_;
  std::vector<SteppedFlight*> replies_;  ///< replies that have arrived
  TimingPayload payload_;
};

template <typename Work>
void MemoryPhase::share(std::span<const unsigned> items, std::size_t range, const Work& work) {
  if (threads_ == nullptr || count_ < kWorthSharing) {
    for (const unsigned item : items) work(item, scratch_.front());
    return;
  }
  threads_->run(items, static_cast<unsigned>(range), [&](unsigned item, unsigned thread) { work(item, scratch_[thread]); });
}

}  // namespace lacuna
