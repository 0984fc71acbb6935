// The edge of a window (models/compute/windows.h): what the first-level caches and TLBs have asked for goes through the network
// to L2, DRAM and host memory, all requests in order of simulated time at each of these stages:
//
//   translations  L1 TLBs -> L2 TLB -> page walker, in order of the misses, by one thread; then each group's units learn theirs
//   requests      L1 -> network -> destination, in order of departure
//   service       each destination's requests in order of arrival; those of destinations with a DRAM channel in common together
//   replies       destination -> network -> L1, in order of the answers
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
#include <atomic>
#include <deque>
#include <span>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/common/timing_payload.h"
#include "models/common/worker_threads.h"
#include "models/common/zero_masks.h"
#include "models/compute/windows.h"
#include "models/noc/fabric.h"
#include "models/noc/node_ports.h"
#include "models/noc/stepped_network.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class MemoryEdge : public WindowEdge {
 public:
  /// `threads`: null: the caller's alone.
  MemoryEdge(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads = nullptr);

  /// A cache whose requests enter the network at `source`, of the units of a group (models/compute/windows.h).
  void add(FirstLevelCache& cache, unsigned source, unsigned group = 0);
  void add(FirstLevelTlb& tlb, unsigned group = 0);
  /// The cache at a destination; without one its socket is asked.
  void add_destination(unsigned destination, Cache& cache) { add_destination(destination, cache, destination); }
  /// A cache behind which is the memory of another destination, which has a cache as well.
  void add_destination(unsigned destination, Cache& cache, unsigned memory_of);
  /// What is known of zero masks: settled at each edge.
  void attach(ZeroMasks& masks) { masks_ = &masks; }

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
      return request->cache != other.request->cache ? request->cache < other.request->cache : request < other.request;
    }
  };
  using Orders = std::vector<Order>;
  struct Origin {
    FirstLevelCache* cache;
    unsigned source;
    std::vector<FirstLevelCache::Departure> departures;  ///< at this edge,
    std::vector<Request> requests;                       ///< and what they ask for; this may be longer
  };
  /// Caches of a group that share a node, and their requests: at a node of its own a cache's leave in nearly the order in which
  /// they have been made.
  struct Sender {
    unsigned node;
    std::vector<std::uint32_t> caches;
    Orders orders;
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
    bool left = false;             ///< requests of this edge have left
    bool asks = false;             ///< one of the TLBs has something to ask for
    Tick next_departure = kNever;  ///< from the caches; not after the first one
  };
  struct Destination {
    Cache* cache = nullptr;
    unsigned node = 0;
    unsigned memory = 0;  ///< the destination whose arrivals its own are among
  };
  /// What comes to a destination, and to those that have its memory in common.
  struct Memory {
    Orders arrivals;
    std::vector<LatencyBreakdown> below;
  };
  /// Where a request is in the cache that serves it.
  struct Place {
    Cache* cache;
    std::uint64_t line;  ///< its number there
    TagArray::Slot slot;
  };
  /// A request of a group at this edge.
  struct GroupRequest {
    Origin* origin;
    Orders* orders;  ///< its sender's, while it leaves
    std::uint32_t cache;
    std::uint32_t number;  ///< of the origin's
    const FirstLevelCache::Departure& departure() const { return origin->departures[number]; }
    Request& request() const { return origin->requests[number]; }
    void prefetch_miss() const { origin->cache->prefetch_miss(departure().miss); }
  };
  /// What a thread has for itself.
  struct Workplace {
    Orders space;
    std::vector<GroupRequest> requests;
    std::vector<Place> places;
    FabricTally tally;
  };

  /// The fabric's ports, when no group and no memory uses one of another's; otherwise null.
  NodePorts* private_ports() const;
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
  void serve(unsigned number, Workplace& workplace);
  void arrive(Orders& arrivals);
  void serve_by_caches(Memory& memory, std::vector<Place>& places);
  void serve_by_socket(Order& arrival);
  void send_replies(Orders& arrivals, Orders& space);
  void answer(Group& group, Workplace& workplace);
  void receive_replies(Sender& sender, Workplace& workplace);
  void tell(const Request& request, const LatencyBreakdown* below, LatencyBreakdown& latency);
  [[noreturn]] void report_lost() const;
  [[noreturn]] void report_lost(const Request& request) const;
  // With a stepped network (memory_edge_stepped.cpp).
  void settle_steps(Tick end);
  void launch_requests(Tick end);
  void launch(Flight& flight, VirtualNetwork network, unsigned flits, Tick at);
  void receive(Tick end);
  void serve_arrivals();
  void tell_replies();
  /// Calls `work(item, workplace)` for each of `items`, which are below `range`, on several threads when that is worth it.
  template <typename Work>
  void share(std::span<const unsigned> items, std::size_t range, const Work& work);

  Fabric& fabric_;
  SteppedNetwork* const stepped_;  ///< null: the network tells at once
  NodePorts* ports_ = nullptr;     ///< private_ports()
  TranslationLevel* l2_tlb_;
  WorkerThreads* threads_;
  std::vector<Origin> caches_;
  std::deque<Group> groups_;  ///< caches and TLBs write to them
  std::vector<Destination> destinations_;
  std::vector<Memory> memories_;  ///< by destination
  struct Translator {
    FirstLevelTlb* tlb;
    unsigned group;
  };
  std::vector<Translator> tlbs_;
  ZeroMasks* masks_ = nullptr;
  std::vector<Workplace> workplaces_;  ///< by thread
  std::vector<unsigned> leaving_;      ///< groups from which something leaves at this edge
  std::vector<unsigned> late_;         ///< groups with translations to learn, or with requests that have not left yet
  std::vector<unsigned> all_memories_;
  bool ports_known_ = false;       ///< all have been added
  std::size_t count_ = 0;          ///< requests of this edge
  std::atomic<bool> lost_{false};  ///< one of them is
  Orders order_;                   ///< of all of them, where one thread carries packets
  std::deque<Flight> flights_;     ///< and those that are not, whose numbers are free
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
