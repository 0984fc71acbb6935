// The edge of a window (models/compute/windows.h): what the first-level caches and TLBs have asked for goes through the network
// to L2, DRAM and host memory, all requests in order of simulated time at each of these stages:
//
//   translations  L1 TLBs -> L2 TLB -> page walker, in order of the misses, by one thread; then each group's units learn theirs
//   requests      L1 -> network -> destination, in order of departure
//   service       each destination's requests in order of arrival; those of destinations with a DRAM channel in common together
//   memory        DRAM channels decide what no later request can change
//   replies       destination -> network -> L1, in order of the answers
//
// A request that has left after the window reaches a destination no earlier than the shortest way through the network after the
// window's end: channels decide up to there, and a request that waits for what they have not decided is answered at a later
// edge, often several windows later. A window is short enough that its answer then still lies ahead of the units
// (GpuDeviceParameters::window()).
//
// Sorted so, a stage's calendars are asked in time order, and the host meets the same tags and banks together. Destinations
// (or such pairs of them) know nothing of each other, nor do groups of first-level caches: what they do is shared among
// threads. So are the two ends of a packet's way, when packets meet nowhere but there (Fabric::ports()); else one thread
// carries them.
//
// A network that is stepped (Fabric::stepped()) goes on to the end of the window at each edge. Requests that have arrived are
// served, their replies are launched, and replies that have arrived are told: a request is under way for many windows, which
// are no longer than the network's lookahead.
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

class MemoryEdge : public WindowEdge {
 public:
  /// `threads`: null: the caller's alone. `shortest_way`: no packet takes less time through the fabric.
  MemoryEdge(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads = nullptr, Tick shortest_way = {});

  /// A cache whose requests enter the network at `source`, of the units of a group (models/compute/windows.h).
  void add(FirstLevelCache& cache, unsigned source, unsigned group = 0);
  void add(FirstLevelTlb& tlb, unsigned group = 0);
  /// The cache at a destination, and what it asks; without a cache the destination's socket is asked. `memory`: null: the cache
  /// asks its socket, which answers with the call.
  void add_destination(unsigned destination, LastLevelCache& cache, DeferredMemory* memory) {
    add_destination(destination, cache, memory, destination);
  }
  /// A cache behind which is the memory of another destination, which has a cache as well.
  void add_destination(unsigned destination, LastLevelCache& cache, DeferredMemory* memory, unsigned memory_of);
  /// Notified at each edge, before requests leave.
  void attach(WindowObserver& observer) { observers_.push_back(&observer); }

  void worked(unsigned group, unsigned thread, Tick end) override;
  void settle(Tick end) override;
  Tick next() const override;
  void retire(Tick horizon) override;
  /// Drops what is under way, when caches, TLBs and network do.
  void reset();

 private:
  /// Requests from which on several threads are faster than one.
  static constexpr std::size_t kWorthSharing = 32;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// How a request fared.
  struct Fare {
    Tick at{};      ///< of the answer, at the stage that it is in
    Cycles head{};  ///< when the reply reaches its receiver
    Tick noc_waiting{};
    Tick noc_passing{};
    Tick waiting{};  ///< at the destination's cache
    Tick service{};
    Tick mshr{};
    std::uint32_t below = kNone;  ///< of its Memory's breakdowns, the levels behind
    bool lost = false;            ///< no memory answers
  };
  // Threads hand requests to each other: the thread that has made one writes the first line of the host's cache, the one that
  // serves it only the second.
  struct Request {
    alignas(64) LineAccess access;  ///< `made`: its departure
    Cycles head{};                  ///< when it reaches its receiver
    std::uint32_t miss = 0;
    std::uint32_t cache = 0;
    std::uint16_t destination = 0;
    std::uint16_t request_flits = 0;
    std::uint16_t reply_flits = 0;
    std::uint16_t departure = 0;  ///< number of its cache's, modulo 2^16: fewer than half of that are in flight
    alignas(64) Fare fare;
  };
  static_assert(sizeof(Request) == 128);
  /// A request whose packets are under way in a stepped network.
  struct Flight : Request {
    std::uint32_t number = 0;  ///< of flights_
    bool served = false;       ///< what is under way is the reply
    LatencyBreakdown below;    ///< what `fare.below` stands for
  };
  /// A request in the order of a stage: by time, then by cache, then in the order of its cache's departures.
  struct Order {
    Tick at;
    Request* request;
    bool operator<(const Order& other) const {
      if (at != other.at) [[likely]]
        return at < other.at;
      if (request->cache != other.request->cache) return request->cache < other.request->cache;
      return static_cast<std::int16_t>(request->departure - other.request->departure) < 0;
    }
  };
  using Orders = std::vector<Order>;
  struct Origin {
    FirstLevelCache* cache;
    unsigned source;
    unsigned group;
    unsigned sender;                                     ///< of the group's
    std::vector<FirstLevelCache::Departure> departures;  ///< at this edge
    StableRecords<Request> requests;                     ///< in flight
    std::uint16_t next_departure = 0;
    std::uint32_t answers = 0;  ///< at this edge
  };
  /// Caches of a group that share a node, their requests at an edge, and the replies to them: at a node of its own a cache's
  /// leave in nearly the order in which they have been made.
  struct Sender {
    unsigned node;
    std::vector<std::uint32_t> caches;
    Orders orders;
    Orders replies;
  };
  /// A translation that the units of a group have not learned yet.
  struct Translated {
    FirstLevelTlb* tlb;
    std::uint32_t miss;
    FirstLevelTlb::Answer answer;
  };
  struct Group {
    std::vector<Sender> senders;
    std::vector<Orders> sent;  ///< by destination of the memory, what has left
    std::vector<FirstLevelTlb*> tlbs;
    std::vector<Translated> translated;
    std::vector<std::uint32_t> answered;  ///< caches, at this edge
    Request* lost = nullptr;              ///< the first one that no memory answers
    bool left = false;                    ///< requests of this edge have left
    bool asks = false;                    ///< one of the TLBs has something to ask for
    Tick next_departure = kNever;         ///< from the caches; not after the first one
  };
  struct Destination {
    LastLevelCache* cache = nullptr;
    unsigned node = 0;
    unsigned memory = 0;  ///< the destination whose arrivals its own are among
  };
  /// What comes to a destination, and to those that have its memory in common.
  struct Memory {
    DeferredMemory* deferred = nullptr;
    std::vector<LastLevelCache*> caches;
    Tick way{};                     ///< from the caches to it, at least
    Orders arrivals;                ///< in order; those that later requests might come before are kept for the next edge
    Orders replies;                 ///< that have become known at this edge
    std::vector<Orders> replied;    ///< the same, by group
    std::vector<Request*> waiting;  ///< for answers of the caches, by their tags
    std::vector<std::uint32_t> free_tags;
    std::vector<LatencyBreakdown> below;  ///< of this edge's replies
    Request* lost = nullptr;              ///< the first one that no memory answers
    bool is_idle() const { return arrivals.empty() && waiting.size() == free_tags.size(); }
  };
  /// Where a request is in the cache that serves it.
  struct Place {
    LastLevelCache* cache;
    std::uint64_t line;  ///< its number there
    TagArray::Slot slot;
  };
  /// A request of a group at this edge.
  struct GroupRequest {
    Origin* origin;
    std::uint32_t cache;
    std::uint32_t miss;
    Orders* orders;        ///< its sender's, while it leaves
    Tick at;               ///< likewise, when
    Request* request;      ///< once it has left
    std::uint32_t number;  ///< of the cache's answers at this edge
    void prefetch_miss() const { origin->cache->prefetch_miss(miss); }
  };
  /// What a thread has for itself.
  struct Workplace {
    Orders space;
    Orders fresh;
    std::vector<GroupRequest> requests;
    std::vector<Place> places;
    FabricTally tally;
  };

  /// The fabric's ports, when no group and no memory uses one of another's; otherwise null.
  NodePorts* private_ports() const;
  /// Which memories have something to serve; their caches learn that the kernel's time is `now`.
  void find_serving(Tick now);
  /// After requests have left: when the next one leaves the group's caches; kNever: there is none.
  void find_next_departure(Group& group);
  /// The group of that number, which there may not have been.
  Group& group_of(unsigned number);
  void translate();
  void learn_translations(Group& group);
  // Stages; those with a workplace are one thread's of several.
  void leave(Group& group, Tick end, Workplace& workplace);
  void make_request(std::uint32_t cache, const FirstLevelCache::Departure& departure, Request& request);
  void carry(VirtualNetwork network);
  /// Up to `horizon`.
  void serve(unsigned number, Tick horizon, Workplace& workplace);
  void arrive(Orders& arrivals);
  void serve_by_caches(Memory& memory, std::size_t count, std::vector<Place>& places);
  static void take(Request& request, const LastLevelCache::Served& served);
  void take_answers(Memory& memory);
  void serve_by_sockets(Memory& memory);
  void serve_by_socket(Memory& memory, const Order& arrival);
  void send_replies(Memory& memory, Orders& space);
  /// Replies that have been carried, or will be by their receivers, to where these find them.
  void sort_out(Memory& memory);
  void answer(unsigned number, Workplace& workplace);
  void receive_replies(Sender& sender, Workplace& workplace);
  void tell(const Request& request, const LatencyBreakdown* below, LatencyBreakdown& latency);
  void check_lost() const;
  [[noreturn]] void report_lost(const Request& request) const;
  // With a stepped network (memory_edge_stepped.cpp).
  void settle_steps(Tick end);
  void launch_requests(Tick end);
  void launch(Flight& flight, VirtualNetwork network, unsigned flits, Tick at);
  void receive(Tick end);
  void serve_arrivals(Tick horizon);
  void tell_replies();
  /// Calls `work(item, workplace)` for each of `items`, which are below `range`, on several threads when that is worth it.
  template <typename Work>
  void share(std::span<const unsigned> items, std::size_t range, const Work& work);

  Fabric& fabric_;
  SteppedNetwork* const stepped_;  ///< null: the network tells at once
  NodePorts* ports_ = nullptr;     ///< private_ports()
  TranslationLevel* l2_tlb_;
  WorkerThreads* threads_;
  const Tick shortest_way_;
  std::vector<Origin> caches_;
  std::deque<Group> groups_;  ///< caches and TLBs write to them
  std::vector<Destination> destinations_;
  std::vector<Memory> memories_;  ///< by destination
  struct Translator {
    FirstLevelTlb* tlb;
    unsigned group;
  };
  std::vector<Translator> tlbs_;
  std::vector<WindowObserver*> observers_;
  std::vector<Workplace> workplaces_;  ///< by thread
  std::vector<unsigned> leaving_;      ///< groups from which something leaves at this edge
  std::vector<unsigned> late_;         ///< groups with translations to learn, or with requests that have not left yet
  std::vector<unsigned> serving_;      ///< memories that have something to serve at this edge
  std::vector<unsigned> answering_;    ///< groups that get replies at this edge
  bool ports_known_ = false;           ///< all have been added
  std::size_t count_ = 0;              ///< requests of this edge
  std::size_t in_flight_ = 0;          ///< and those that have not been answered before
  Orders order_;                       ///< of all of them, where one thread carries packets
  std::deque<Flight> flights_;         ///< and those that are not, whose numbers are free
  std::vector<std::uint32_t> free_flights_;
  std::vector<SteppedNetwork::Arrival> arrived_;
  std::vector<Flight*> replies_;  ///< that have arrived

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
void MemoryEdge::share(std::span<const unsigned> items, std::size_t range, const Work& work) {
  if (threads_ == nullptr || count_ < kWorthSharing) {
    for (const unsigned item : items) work(item, workplaces_.front());
    return;
  }
  threads_->run(items, static_cast<unsigned>(range), [&](unsigned item, unsigned thread) { work(item, workplaces_[thread]); });
}

}  // namespace lacuna
