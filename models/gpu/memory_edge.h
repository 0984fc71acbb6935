// The edge of a window (models/compute/windows.h): what the first-level caches and TLBs have asked for goes through the network
// to L2, DRAM and host memory, all requests in order of simulated time at each of these stages:
//
//   translations     L1 TLBs -> L2 TLB -> page walker, in order of the misses
//   requests         L1 -> network -> destination, in order of departure
//   service          each destination's requests in order of arrival; those of destinations with a DRAM channel in common
//   together replies          destination -> network -> L1, in order of the answers
//
// Sorted so, a stage's calendars are asked in time order, and the host meets the same tags and banks together. Destinations
// (or such pairs of them) know nothing of each other, nor do groups of first-level caches: service and what the answers lead to
// are shared among threads.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
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
    std::uint32_t origin = 0;  ///< of origins
    std::uint32_t miss = 0;
    unsigned destination = 0;
    Cache* cache = nullptr;  ///< at the destination
    std::uint64_t line = 0;  ///< its number there
    bool lost = false;       ///< no memory answers
    Tick at{};               ///< departure, then arrival, then the answer, at the stage that it is in
    LatencyBreakdown latency;
  };
  /// The order of a stage: by time, then in the order of departures.
  struct Order {
    Tick at;
    std::uint32_t request;
    bool operator<(const Order& other) const { return at != other.at ? at < other.at : request < other.request; }
  };

  void translate();
  void collect(Tick end);
  void send();
  void serve();
  void serve_by_socket(Request& request);
  /// Of line_.
  void serve_by_cache(std::size_t first, std::size_t end);
  void reply();
  void answer(std::size_t first_group, std::size_t end_group);
  [[noreturn]] void report_lost(const char* name, const Request& request) const;
  /// Calls `piece(first, end)` for ranges of all `items`, on several threads when that is worth it.
  template <typename Piece>
  void share(std::size_t items, const Piece& piece);
  /// Makes room in line_ for the requests of `items`, of which each has `size(i)`.
  template <typename Size>
  void line_up(std::size_t items, const Size& size);
  /// A hint for the host: a request's turn in order_ comes.
  void fetch_request(std::size_t i) const {
    if (i >= order_.size()) return;
    const auto* record = reinterpret_cast<const char*>(&requests_[order_[i].request]);
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

  std::vector<Request> requests_;  // of this edge, from 0 to count_
  std::size_t count_ = 0;
  std::vector<Order> order_;
  std::vector<Order> sorted_;  // room for sorting it
  std::vector<std::vector<Order>> arrivals_;  // by destination
  std::vector<Request*> line_;                // by destination or group, those of one from places_ on
  std::vector<std::size_t> places_;
  std::vector<FirstLevelCache::Departure> departures_;
  std::vector<FirstLevelTlb::Departure> tlb_departures_;
  std::vector<std::pair<FirstLevelTlb*, std::uint32_t>> translations_;
  TimingPayload payload_;
};

}  // namespace lacuna
