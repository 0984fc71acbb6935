// A first-level cache of compute units that advance in windows (models/compute/windows.h): a hit completes within the call, a
// miss when the memory phase (models/gpu/memory_phase.h) delivers the response of the levels below.
//
// Times are those of Cache. A miss passes these stages, each of which may have to wait for another miss:
//   way      the way chosen for it is still being filled by an earlier miss
//   MSHR     all are in use; they are allocated in the order in which misses get their ways
//   departs  its departure time is known: the memory phase takes it from departures() and calls complete()
// Writes, atomics and bypasses are forwarded and need neither way nor MSHR. With `in_order` or a limit of `transactions` a
// request that cannot proceed blocks all later requests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/cache/cache.h"
#include "models/cache/split_requests.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/common/containers/waiter_lists.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/time/sorted_times.h"
#include "models/common/transport/memory_request.h"

namespace lacuna {

class FirstLevelCache : public Cache, public MemoryTarget {
 public:
  /// A request to the next level.
  struct Departure {
    Tick at;
    std::uint32_t miss;
  };

  /// Arguments are those of Cache. Throws std::invalid_argument unless the write policy is write_around and a line has at most
  /// 256 sectors.
  FirstLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, unsigned upstream_ports = 1);

  bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
               MemoryResponse& response) override;
  std::size_t request_all(std::span<const MemoryRequest> requests, const Tick* at, MemoryClient& client, std::uint32_t tag,
                          MemoryResponse* responses) override;

  /// State of the sector of an address.
  enum class Presence : std::uint8_t { absent, filling, present };
  /// State that a request at `at` would find. No side effects.
  Presence presence(std::uint64_t address, Tick at) const;
  /// Books one access of an address's bank, from `at` on, for a lookup that allocates nothing. Returns the time of the access.
  Tick occupy(std::uint64_t address, Tick at);

  /// Moves the requests that leave before `end` to `out`.
  void departures(Tick end, std::vector<Departure>& out);
  /// Earliest known departure; kNever: none is known.
  Tick next_departure() const { return next_departure_; }
  /// Registers a variable, which several caches may share, that each new departure lowers to the time of the departure.
  void announce_departures(Tick& earliest) { announced_ = &earliest; }
  /// With `in_order` or a limit of `transactions`, a request must not take a resource that a request for an earlier time needs.
  /// Therefore two kinds of requests wait for admit_early(): those for `far` or later, for example after a long page walk, and
  /// those whose transaction becomes free only at `far` or later, because another transaction may still end earlier. The cache
  /// adds itself to `early` when it has requests of these kinds.
  void keep_early_requests(const Tick& far, std::vector<FirstLevelCache*>& early) {
    far_ = &far;
    early_caches_ = &early;
  }
  /// Admits the requests kept by keep_early_requests() whose time is before the current `far`, in order of time. If requests
  /// are left, the cache adds itself to the list of caches again.
  void admit_early();
  /// Earliest time for which admit_early() has work; kNever: none before further requests or responses arrive.
  Tick next_early() const {
    const Tick first = early_.empty() ? kNever : early_.front().request.arrived;
    return waits_for_transaction() ? earlier(first, free_transactions_[0]) : first;
  }
  /// Request of a miss to the next level.
  MemoryRequest downstream_request(std::uint32_t miss) const;
  /// Called when the next level has completed a miss's request, at `at`. `below`: breakdown of the time since the request's
  /// departure.
  void complete(std::uint32_t miss, Tick at, const LatencyBreakdown& below);
  /// Resumes requests that waited for an MSHR or were blocked. Call it after all calls of complete() in a memory phase.
  void resume() {
    if (!mshr_queue_.empty() || !held_back_.empty()) resume_waiting();
  }
  /// Declares that no request arrives for a time before `horizon`.
  void retire(Tick horizon);
  /// Whether requests wait for a response or for their lookup.
  bool busy() const { return misses_.taken() != 0 || !held_back_.empty() || !early_.empty(); }

  Tick invalidate(Tick at) override;
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override;
  void reset();

 private:
  friend struct detail::CachePrefetch;

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using ClientNumber = std::uint16_t;  ///< index in clients_
  enum class Kind : std::uint8_t { fill, write, atomic, bypass };

  /// A request that waits for the fill of a miss.
  struct Waiter {
    Tick made{};
    Tick arrived{};
    Tick start{};
    std::uint32_t tag = 0;
    ClientNumber client = 0;
  };
  /// Time spent by a request, for reports only. Saturates at 4 ms.
  class Elapsed {
   public:
    Elapsed() = default;
    Elapsed(Tick from, Tick to)
        : ps_(to.ps - from.ps < kMost ? static_cast<std::uint32_t>(to.ps - from.ps) : std::uint32_t{kMost}) {}
    Tick time() const { return Tick{ps_}; }

   private:
    static constexpr std::uint64_t kMost = ~std::uint32_t{0};
    std::uint32_t ps_;
  };
  struct Fill {
    TagArray::Slot slot;      ///< slot of the sector; kNone: the line has been dropped or replaced
    std::uint32_t successor;  ///< miss that waits for the way of this miss
    Elapsed for_mshr;         ///< time from Miss::room to the departure of the fill request
    std::uint32_t waiters;    ///< requests for the same sector: a list in waiters_
  };
  // One cache line of the host: see detail/host_prefetch.h.
  struct alignas(64) Miss {
    Tick start;  ///< time of the lookup
    Tick room;   ///< time from which the miss has its way
    std::uint64_t address;
    union {
      Fill fill;           ///< used if `kind` is Kind::fill
      ByteMask byte_mask;  ///< used for all other kinds
    };
    Elapsed on_its_way;  ///< time from `made` of the request to `start`
    Elapsed at_bank;     ///< time from the arrival of the request to `start`
    std::uint32_t tag;   ///< tag of the request
    ClientNumber client;
    std::uint16_t waits_for;  ///< number of pending fills of the way allocated to this miss
    std::uint16_t bytes;
    std::uint16_t requester;
    std::uint8_t sector;  ///< index in the line
    RequestKind request;
    Kind kind;
    bool write : 1;
    bool bypass : 1;
  };
  static_assert(sizeof(Miss) == 64);
  /// A request whose lookup waits until earlier requests have proceeded.
  struct HeldBack {
    SectorAccess access;
    ClientNumber client;
    std::uint32_t tag;
    Tick arrived;
  };
  /// A request for `far` or later, in a heap ordered by time and then by the order of the calls.
  struct Early {
    HeldBack request;
    std::uint64_t number;
    bool operator>(const Early& other) const {
      return request.arrived != other.request.arrived ? request.arrived > other.request.arrived : number > other.number;
    }
  };
  /// Client of the sectors of a split request. The tag of a sector is the index of its request in splits_.
  class SectorClient : public MemoryClient {
   public:
    explicit SectorClient(FirstLevelCache& cache) : cache_(cache) {}
    void on_response(std::uint32_t split, const MemoryResponse& response) override;

   private:
    FirstLevelCache& cache_;
  };

  void resume_waiting();
  void look_up_held_back();
  ClientNumber number_of(MemoryClient& client) {
    const ClientNumber number = client.number_in_target;
    return number < clients_.size() && clients_[number] == &client ? number : find_client(client);
  }
  ClientNumber find_client(MemoryClient& client);
  bool request_sectors(const Span& span, SectorAccess& access, Tick at, MemoryClient& client, std::uint32_t tag,
                       MemoryResponse& response);
  bool admit_sector(const SectorAccess& access, Tick at, ClientNumber client, std::uint32_t tag, MemoryResponse& response);
  /// `kAllPass`: value of all_pass_. If true, the code for requests that block others is left out.
  template <bool kAllPass>
  bool look_up(const SectorAccess& access, Tick at, ClientNumber client, std::uint32_t tag, MemoryResponse& response);
  template <bool kAllPass>
  bool read_sector(const SectorAccess& access, const Waiter& waiter, MemoryResponse& response);
  template <bool kAllPass>
  void read_complete(std::size_t bank, const TagArray::Sector& sector, Tick made, Tick arrived, Tick start,
                     MemoryResponse& response);
  bool read_hit(const MemoryRequest& request, Tick at, MemoryResponse& response);
  bool request_otherwise(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                         MemoryResponse& response);
  Tick take_bank(std::size_t bank, Tick at);
  /// Drops bookings before the horizon.
  void drop_bookings();
  void forward_sector(SectorAccess access, Waiter waiter);
  /// Whether a request may be looked up now.
  bool may_pass() const;
  /// Whether requests are held back, and the first of them gets a transaction that ends at `far` or later.
  bool waits_for_transaction() const {
    return !held_back_.empty() && blocks_ == kNone && parameters_.transactions != 0 && !free_transactions_.empty();
  }
  void enter_early() {
    if (far_ != nullptr && !std::exchange(entered_, true)) early_caches_->push_back(this);
  }
  template <bool kAllPass>
  void miss_sector(const SectorAccess& access, TagArray::Slot slot, const Waiter& waiter);
  std::uint32_t new_miss(const Waiter& own);
  TagArray::Slot take_way(const SectorAccess& access, std::uint32_t number, Miss& miss);
  TagArray::Slot choose_way(std::uint32_t set, Tick at, Tick& from);
  TagArray::Slot choose_other_way(std::uint32_t set, TagArray::Slot chosen, Tick at, Tick& from);
  Tick free_from(TagArray::Slot slot, Tick at) const;
  bool is_filling(TagArray::Slot slot) const {
    for (unsigned i = 0; i < tags_.sectors(); ++i) {
      if (tags_.sector(slot, i).pending != TagArray::kNoFill) return true;
    }
    return false;
  }
  /// Assigns a miss the MSHR that is free from `free` on. Returns the miss's departure, which the caller adds to departures_.
  Departure depart(std::uint32_t miss, Tick free);
  void add_departure(const Departure& departure) {
    departures_.push_back(departure);
    expect_departure(departure.at);
  }
  void expect_departure(Tick at) {
    next_departure_ = earlier(next_departure_, at);
    if (announced_ != nullptr) *announced_ = earlier(*announced_, at);
  }
  void drop_line(TagArray::Slot slot);
  /// Completes the requests of the list in waiters_ that ends with `last`: the sector that they wait for arrives at `at`.
  void complete_waiters(std::uint32_t last, Tick at, bool counted);
  void respond(const Waiter& waiter, const MemoryResponse& response, bool counted) {
    if (counted) statistics_.read_latency += response.done - waiter.arrived;
    if (parameters_.transactions != 0) free_transactions_.insert(response.done);
    clients_[waiter.client]->on_response(waiter.tag, response);
  }

  const bool all_pass_;  ///< whether no request blocks others
  std::vector<MemoryClient*> clients_{&sector_client_};
  RecordPool<Miss> misses_;
  WaiterLists<Waiter> waiters_;
  std::vector<Departure> departures_;
  Tick next_departure_ = kNever;
  Tick* announced_ = nullptr;
  std::vector<std::uint16_t> filling_;  ///< number of ways with a pending fill, by set
  SortedTimes free_mshrs_;              ///< times at which the free MSHRs became free
  Ring<std::uint32_t> mshr_queue_;      ///< misses that wait for an MSHR
  SortedTimes free_transactions_;       ///< times at which the free transactions became free, if they are limited
  Ring<HeldBack> held_back_;
  std::vector<Early> early_;
  std::uint64_t early_count_ = 0;
  const Tick* far_ = nullptr;  ///< null: all requests are admitted immediately
  std::vector<FirstLevelCache*>* early_caches_ = nullptr;
  bool entered_ = false;          ///< whether this cache is in early_caches_
  std::uint32_t blocks_ = kNone;  ///< miss that blocks other requests, with in_order; kNone: none
  std::uint16_t blocked_bank_ = 0;
  Tick blocks_from_{};  ///< time from which the blocking miss has occupied its bank
  Tick horizon_{};      ///< argument of retire(), or an earlier time while requests are blocked
  Tick forgotten_{};    ///< bookings before this time have been dropped; the next request advances it to the horizon
  SplitRequests splits_;
  SectorClient sector_client_{*this};
};

}  // namespace lacuna
