// The memory phase at the end of a window (models/compute/windows.h): sends the requests of first-level caches and TLBs through
// the network to L2, DRAM and host memory, and returns the answers. Stages, each in order of simulated time:
//
//   translations  L1 TLBs -> L2 TLB -> page walker, in order of the misses, on one thread; then each group's units learn theirs
//   requests      L1 -> network -> destination, in order of departure
//   service       requests of each destination in order of arrival; those of destinations that share a DRAM channel together
//   memory        DRAM channels decide what no later request can change
//   replies       destination -> network -> L1, in order of the answers
//
// A request that leaves after the window reaches a destination no earlier than the shortest path through the network after the
// window's end. Channels decide up to there; a request that waits for anything later is answered in a later phase, often
// several windows later. A window is short enough that the answer then still lies in the units' future
// (GpuDeviceParameters::window()).
//
// With requests sorted, each stage queries its calendars in time order and touches the same tags and banks together.
// Destinations (or pairs of them that share a channel) are independent of each other, and so are groups of first-level caches:
// their work is distributed over threads. So are the two ends of a packet's path, when packets meet nowhere but there
// (Fabric::ports()); otherwise one thread carries all packets.
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
#include "models/common/transport/deferred_memory.h"
#include "models/common/transport/timing_payload.h"
#include "models/compute/window_observer.h"
#include "models/compute/windows.h"
#include "models/noc/fabric.h"
#include "models/noc/node_ports.h"
#include "models/noc/stepped_network.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class MemoryPhase : public WindowBarrier {
 public:
  /// `threads`: null: everything runs on the caller's thread. `shortest_way`: minimum time of a packet through the fabric.
  MemoryPhase(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads = nullptr, Tick shortest_way = {});

  /// Adds a cache of the units of a group (models/compute/windows.h); its requests enter the network at `source`.
  void add(FirstLevelCache& cache, unsigned source, unsigned group = 0);
  void add(FirstLevelTlb& tlb, unsigned group = 0);
  /// Adds the cache at a destination and the memory behind it. Destinations without a cache are accessed by their sockets.
  /// `memory`: null: the cache accesses its socket, which answers within the call.
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
  /// Drops all requests in flight. Caches, TLBs and network are reset by the caller.
  void reset();

 private:
  /// Number of requests from which several threads are faster than one.
  static constexpr std::size_t kWorthSharing = 32;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Times of a request that has been served.
  struct RequestTiming {
    Tick at{};      ///< time of the answer at the current stage
    Cycles head{};  ///< when the reply's head reaches the receiver's port
    Tick noc_waiting{};
    Tick noc_passing{};
    Tick waiting{};  ///< queueing at the destination's cache
    Tick service{};
    Tick mshr{};
    std::uint32_t below = kNone;  ///< index of the breakdown of the levels below in Memory::below
    bool lost = false;            ///< no memory at the address
  };
  // Threads hand requests to each other: the thread that makes one writes the first line of the host's cache, the thread that
  // serves it only the second line.
  struct Request {
    alignas(64) LineAccess access;  ///< `made` is the time of departure
    Cycles head{};                  ///< when the head reaches the receiver's port
    std::uint32_t miss = 0;
    std::uint32_t cache = 0;
    std::uint16_t destination = 0;
    std::uint16_t request_flits = 0;
    std::uint16_t reply_flits = 0;
    std::uint16_t departure = 0;  ///< sequence number of the cache's requests, modulo 2^16; fewer than 2^15 are in flight
    alignas(64) RequestTiming timing;
  };
  static_assert(sizeof(Request) == 128);
  /// A request whose packets are in flight in a stepped network.
  struct Flight : Request {
    std::uint32_t number = 0;  ///< index in flights_
    bool served = false;       ///< the packet in flight is the reply
    LatencyBreakdown below;    ///< what `timing.below` stands for
  };
  /// A request with its time at a stage. Order: by time, then by cache, then by the cache's sequence number.
  struct TimedRequest {
    Tick at;
    Request* request;
    bool operator<(const TimedRequest& other) const {
      if (at != other.at) [[likely]]
        return at < other.at;
      if (request->cache != other.request->cache) return request->cache < other.request->cache;
      return static_cast<std::int16_t>(request->departure - other.request->departure) < 0;
    }
  };
  using TimedRequests = std::vector<TimedRequest>;
  struct L1Port {
    FirstLevelCache* cache;
    unsigned source;
    unsigned group;
    unsigned sender;                                     ///< index in Group::senders
    std::vector<FirstLevelCache::Departure> departures;  ///< of this phase
    StableRecords<Request> requests;                     ///< requests in flight
    std::uint16_t next_departure = 0;
    std::uint32_t answers = 0;  ///< in this phase
  };
  /// Caches of a group that share a node, with their requests and replies of a phase. Requests of a cache at a node of its own
  /// leave in nearly the order in which they were made.
  struct Sender {
    unsigned node;
    std::vector<std::uint32_t> caches;
    TimedRequests orders;
    TimedRequests replies;
  };
  /// A translation that has not been delivered to the units of a group yet.
  struct Translated {
    FirstLevelTlb* tlb;
    std::uint32_t miss;
    FirstLevelTlb::Answer answer;
  };
  struct Group {
    std::vector<Sender> senders;
    std::vector<TimedRequests> sent;  ///< requests that have left, by memory
    std::vector<FirstLevelTlb*> tlbs;
    std::vector<Translated> translated;
    std::vector<std::uint32_t> answered;  ///< caches that received replies in this phase
    Request* lost = nullptr;              ///< the first request without memory at its address
    bool left = false;                    ///< requests of this phase have left
    std::vector<FirstLevelCache*> early;  ///< caches with requests for far_ or later
    bool asks = false;                    ///< one of the TLBs has requests
    Tick next_departure = kNever;         ///< a lower bound of the caches' next departure
  };
  struct Destination {
    LastLevelCache* cache = nullptr;
    unsigned node = 0;
    unsigned memory = 0;  ///< index in memories_
  };
  /// Requests to a destination, and to those that share its memory.
  struct Memory {
    DeferredMemory* deferred = nullptr;
    std::vector<LastLevelCache*> caches;
    Tick way{};                          ///< minimum latency from the caches to `deferred`
    TimedRequests arrivals;              ///< in order of time; those that later requests may precede stay for the next phase
    TimedRequests replies;               ///< of this phase
    std::vector<TimedRequests> replied;  ///< replies of this phase by group
    std::vector<Request*> waiting;       ///< requests that wait for the caches' answers, by tag
    std::vector<std::uint32_t> free_tags;
    std::vector<LatencyBreakdown> below;  ///< of this phase's replies
    Request* lost = nullptr;              ///< the first request without memory at its address
    bool is_idle() const { return arrivals.empty() && waiting.size() == free_tags.size(); }
  };
  /// The result of looking up a request's line in the cache that serves it.
  struct LookupSlot {
    LastLevelCache* cache;
    std::uint64_t line;  ///< number of the line in this cache
    TagArray::Slot slot;
  };
  /// A request or reply of a group in this phase.
  struct GroupRequest {
    L1Port* origin;
    std::uint32_t cache;
    std::uint32_t miss;
    TimedRequests* orders;  ///< the sender's list that receives it, while it leaves
    Tick at;                ///< time of departure, while it leaves
    Request* request;       ///< null until it has left
    std::uint32_t number;   ///< among the cache's answers of this phase
    void prefetch_miss() const { origin->cache->prefetch_miss(miss); }
  };
  /// Per-thread scratch.
  struct ThreadScratch {
    TimedRequests space;
    TimedRequests fresh;
    std::vector<GroupRequest> requests;
    std::vector<LookupSlot> places;
    FabricTally tally;
  };

  /// The fabric's ports, when every port belongs to one group or one memory; otherwise null.
  NodePorts* private_ports() const;
  void exchange(Tick end, Tick now, bool again);
  /// Collects the memories that have requests to serve, and advances their caches to the kernel's time `now`. `only_fresh`:
  /// those alone to which requests have just left.
  void find_serving(Tick now, bool only_fresh);
  /// Updates Group::next_departure after requests have left.
  void find_next_departure(Group& group);
  /// The group of that number, created when it does not exist.
  Group& group_of(unsigned number);
  void translate();
  void learn_translations(Group& group);
  // Stages. Those with a scratch argument run on one of several threads.
  void leave(Group& group, Tick end, ThreadScratch& scratch);
  void make_request(std::uint32_t cache, const FirstLevelCache::Departure& departure, Request& request);
  void carry(VirtualNetwork network);
  /// Up to `horizon`.
  void serve(unsigned number, Tick horizon, ThreadScratch& scratch);
  void arrive(TimedRequests& arrivals);
  void serve_by_caches(Memory& memory, std::size_t count, std::vector<LookupSlot>& places);
  static void take(Request& request, const LastLevelCache::Served& served);
  void take_answers(Memory& memory);
  void serve_by_sockets(Memory& memory);
  void serve_by_socket(Memory& memory, const TimedRequest& arrival);
  void send_replies(Memory& memory, TimedRequests& space);
  /// Distributes replies to the groups that receive them.
  void sort_out(Memory& memory);
  void answer(unsigned number, ThreadScratch& scratch);
  void receive_replies(Sender& sender, ThreadScratch& scratch);
  void tell(const Request& request, const LatencyBreakdown* below, LatencyBreakdown& latency);
  void check_lost() const;
  [[noreturn]] void report_lost(const Request& request) const;
  // With a stepped network (memory_phase_stepped.cpp).
  void resolve_steps(Tick end);
  void launch_requests(Tick end);
  void launch(Flight& flight, VirtualNetwork network, unsigned flits, Tick at);
  void receive(Tick end);
  void serve_arrivals(Tick horizon);
  void tell_replies();
  /// Calls `work(item, scratch)` for each of `items`, which are below `range`, on several threads when there are enough
  /// requests.
  template <typename Work>
  void share(std::span<const unsigned> items, std::size_t range, const Work& work);

  Fabric& fabric_;
  SteppedNetwork* const stepped_;  ///< null: the network answers immediately
  NodePorts* ports_ = nullptr;     ///< private_ports()
  TranslationLevel* l2_tlb_;
  WorkerThreads* threads_;
  const Tick shortest_way_;
  Tick far_{kNever};  ///< WindowBarrier::begin()
  std::vector<L1Port> caches_;
  std::deque<Group> groups_;  ///< a deque, because caches and TLBs hold references into them
  std::vector<Destination> destinations_;
  std::vector<Memory> memories_;  ///< by destination
  struct Translator {
    FirstLevelTlb* tlb;
    unsigned group;
  };
  std::vector<Translator> tlbs_;
  std::vector<WindowObserver*> observers_;
  std::vector<ThreadScratch> scratch_;       ///< by thread
  std::vector<unsigned> leaving_;            ///< groups from which requests leave in this phase
  std::vector<unsigned> late_;               ///< groups with translations to deliver, or with requests that have not left yet
  std::vector<unsigned> serving_;            ///< memories that have requests to serve in this phase
  std::vector<unsigned> answering_;          ///< groups that receive replies in this phase
  bool ports_known_ = false;                 ///< all caches and destinations have been added
  std::size_t count_ = 0;                    ///< requests of this phase
  std::size_t in_flight_ = 0;                ///< requests that have not been answered yet
  TimedRequests order_;                      ///< all requests or replies, when one thread carries packets
  std::deque<Flight> flights_;               ///< records of requests in flight and free ones
  std::vector<std::uint32_t> free_flights_;  ///< free list of flights_
  std::vector<SteppedNetwork::Arrival> arrived_;
  std::vector<Flight*> replies_;  ///< replies that have arrived

  struct Translation {
    Tick at;
    std::uint32_t number;  ///< in the order of the TLBs
    std::uint32_t miss;
    Translator from;
    bool operator<(const Translation& other) const { return at != other.at ? at < other.at : number < other.number; }
  };
  std::vector<Translation> translations_;
  std::vector<Translation> sorted_;
  std::vector<FirstLevelTlb::Departure> tlb_departures_;
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
