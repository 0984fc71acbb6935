// The edge of a window (models/compute/windows.h): what the first-level caches and TLBs have asked for goes through the network
// to L2, DRAM and host memory, all requests in order of simulated time at each of these stages:
//
//   translations  L1 TLBs -> L2 TLB -> page walker, in order of the misses
//   requests      L1 -> network -> destination, in order of departure
//   service       each destination's requests in order of arrival; those of destinations with a DRAM channel in common together
//   replies       destination -> network -> L1, in order of the answers
//
// Sorted so, a stage's calendars are asked in time order, and the host meets the same tags and banks together. Destinations
// (or such pairs of them) know nothing of each other, nor do groups of first-level caches: what they do is shared among
// threads. So are the two ends of a packet's way, when packets meet nowhere else (Fabric::meets_at_ports_only()); else one
// thread carries them.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/common/host_prefetch.h"
#include "models/common/timing_payload.h"
#include "models/common/worker_threads.h"
#include "models/common/zero_masks.h"
#include "models/compute/windows.h"
#include "models/noc/fabric.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class MemoryEdge : public WindowEdge {
 public:
  /// `threads`: null: the caller's alone.
  MemoryEdge(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads = nullptr);

  /// A cache whose requests enter the network at `source`, of the units of a group (models/compute/windows.h).
  void add(FirstLevelCache& cache, unsigned source, unsigned group = 0);
  void add(FirstLevelTlb& tlb) { tlbs_.push_back(&tlb); }
  /// The cache at a destination; without one its socket is asked.
  void add_destination(unsigned destination, Cache& cache) { add_destination(destination, cache, destination); }
  /// A cache behind which is the memory of another destination, which has a cache as well.
  void add_destination(unsigned destination, Cache& cache, unsigned memory_of);
  /// What is known of zero masks: settled at each edge.
  void attach(ZeroMasks& masks) { masks_ = &masks; }

  void settle(Tick end) override;
  Tick next() const override;
  void retire(Tick horizon) override;

 private:
  struct Origin {
    FirstLevelCache* cache;
    unsigned source;
    std::size_t first = 0;  ///< of its requests,
    std::size_t end = 0;    ///< and one more than the last
  };
  struct Request {
    LineAccess access;
    std::uint64_t line = 0;    ///< its number at the destination
    Cache* cache = nullptr;    ///< there
    std::uint32_t origin = 0;  ///< of caches_
    std::uint32_t miss = 0;
    bool lost = false;  ///< no memory answers
    Tick at{};          ///< departure, then arrival, then the answer, at the stage that it is in
    Cycles head{};      ///< when the packet that is under way reaches its receiver
    LatencyBreakdown latency;
  };
  /// The order of a stage: by time, then in the order of departures.
  struct Order {
    Tick at;
    std::uint32_t request;
    bool operator<(const Order& other) const { return at != other.at ? at < other.at : request < other.request; }
  };
  /// Where a request goes, and how its two packets fared: what one thread needs of all of them.
  struct Passage {
    unsigned flits(VirtualNetwork network) const { return network == VirtualNetwork::request ? request_flits : reply_flits; }

    unsigned source;
    unsigned destination;
    unsigned request_flits;
    unsigned reply_flits;
    Tick departs;   ///< the request
    Tick answered;  ///< the reply departs
    Fabric::Traversal request;
    Fabric::Traversal reply;
  };

  bool has_private_ports() const;
  void translate();
  void collect(Tick end);
  void send();
  void carry(VirtualNetwork network);
  void leave(std::size_t first_group, std::size_t end_group);
  void serve();
  void serve_destinations(std::size_t first, std::size_t end);
  void serve_by_cache(std::size_t first, std::size_t end);
  void serve_by_socket(Request& request, unsigned destination);
  void send_replies(std::vector<Order>& arrivals);
  void reply();
  void answer(std::size_t first_group, std::size_t end_group);
  void count();
  void arrive(VirtualNetwork network, std::uint32_t number);
  /// What order_ has of a group, sorted.
  std::span<const Order> in_order(std::size_t group);
  [[noreturn]] void report_lost(const char* name, const Request& request) const;
  /// Calls `piece(first, end)` for ranges of all `items`, on several threads when that is worth it.
  template <typename Piece>
  void share(std::size_t items, const Piece& piece);
  /// A hint for the host: a request will be used.
  void fetch_request(std::uint32_t number) const {
    const auto* record = reinterpret_cast<const char*>(&requests_[number]);
    for (std::size_t byte = 0; byte < sizeof(Request); byte += 64) fetch_to_host(record + byte);
  }

  Fabric& fabric_;
  TranslationLevel* l2_tlb_;
  WorkerThreads* threads_;
  std::vector<Origin> caches_;
  std::vector<std::vector<std::uint32_t>> groups_;  ///< of caches_
  std::vector<FirstLevelTlb*> tlbs_;
  struct Destination {
    Cache* cache = nullptr;
    unsigned memory = 0;  ///< the destination whose arrivals its own are among
  };
  std::vector<Destination> destinations_;
  ZeroMasks* masks_ = nullptr;

  // Of this edge, in the order of caches_, from 0 to count_.
  std::vector<FirstLevelCache::Departure> departures_;
  std::vector<std::uint32_t> origins_;
  std::vector<Request> requests_;
  std::vector<Passage> passages_;
  std::size_t count_ = 0;
  std::vector<Order> order_;                  // of all, or of a group from group_places_ on
  std::vector<Order> sorted_;                 // room for sorting it
  std::vector<std::vector<Order>> arrivals_;  // by destination
  // Requests by group and by destination (of its memory), those of one from its place on.
  std::vector<std::uint32_t> group_line_;
  std::vector<std::size_t> group_places_;
  std::vector<std::uint32_t> line_;
  std::vector<std::size_t> places_;
  std::optional<bool> private_ports_;  ///< has_private_ports(), once all have been added
  std::atomic<bool> lost_{false};      ///< one of them is
  std::vector<FirstLevelTlb::Departure> tlb_departures_;
  std::vector<std::pair<FirstLevelTlb*, std::uint32_t>> translations_;
  TimingPayload payload_;
};

}  // namespace lacuna
