// A first-level cache of compute units that advance in windows (models/compute/windows.h): a hit is answered at once, a miss
// when the window's edge has brought the answer of the levels behind.
//
// Times are those of Cache. A miss passes these stages, each of which may have to wait for another miss:
//   way      the way that it shall have is being filled for somebody else, who comes first
//   MSHR     all are in use; they are given in the order of the misses
//   departs  it has left, or will leave at a time that is known: departures() are the edge's to serve, answer() brings the
//   reply
// Writes, atomics and bypasses are forwarded and need neither way nor MSHR. With `in_order` or a limit of `transactions` a
// request that cannot go on lets no other one pass.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/cache/cache.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/time/sorted_times.h"
#include "models/common/transport/line_memory.h"

namespace lacuna {

class FirstLevelCache : public Cache, public LineMemory {
 public:
  /// A request to the level behind.
  struct Departure {
    Tick at;
    std::uint32_t miss;
  };

  /// As Cache. std::invalid_argument unless its write policy is write_around and a line has at most 256 sectors.
  FirstLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, unsigned upstream_ports = 1);

  bool access(const LineAccess& request, Tick at, LineClient& client, std::uint32_t tag, LineAnswer& answer) override;
  std::size_t access_lines(const LineAccess& common, std::span<const InstructionLine> lines, LineClient& client,
                           std::uint32_t tag, LineAnswer* answers) override;

  /// Moves to `out` what leaves before `end`.
  void departures(Tick end, std::vector<Departure>& out);
  /// When the first one leaves that is known to; kNever: there is none.
  Tick next_departure() const { return next_departure_; }
  /// From now on `earliest`, which several caches may share, is brought down to the time of what is to leave.
  void announce_departures(Tick& earliest) { announced_ = &earliest; }
  /// With `in_order` or a limit of `transactions` a request must not take what an earlier one needs: one for `far` or later,
  /// such as one whose page walk takes long, waits for admit_early(), and so does one for which a transaction ends only then,
  /// because others may turn out to end before. The cache enters itself in `early` when it has such requests.
  void keep_early_requests(const Tick& far, std::vector<FirstLevelCache*>& early) {
    far_ = &far;
    early_caches_ = &early;
  }
  /// Admits requests for times before `far`, in order of time. The cache enters itself again if others are left.
  void admit_early();
  /// When admit_early() has something to do; kNever: not before further requests or answers.
  Tick next_early() const {
    const Tick first = early_.empty() ? kNever : early_.front().request.arrived;
    return waits_for_transaction() ? earlier(first, free_transactions_[0]) : first;
  }
  /// Hints for the host: request() or answer() comes for a miss; later, when the first has come: answer().
  void prefetch_miss(std::uint32_t miss) const { fetch_to_host(&misses_[miss]); }
  void prefetch_fill(std::uint32_t miss) const {
    const Miss& filled = misses_[miss];
    if (filled.kind != Kind::fill) return;
    if (filled.way.slot != TagArray::kNone) fetch_to_host(&tags_.sector(filled.way.slot, filled.sector));
    if (filled.way.successor != kNone) fetch_to_host(&misses_[filled.way.successor]);
  }
  /// resume() comes, too: the `number`-th that it resumes.
  void prefetch_waiting(std::size_t number) const {
    if (number < mshr_queue_.size()) fetch_to_host(&misses_[mshr_queue_[number]]);
  }
  /// What is asked of the level behind.
  LineAccess request(std::uint32_t miss) const;
  /// The level behind has answered at `at`; `below` says where the time since the departure went.
  void answer(std::uint32_t miss, Tick at, const LatencyBreakdown& below);
  /// After the answers of an edge: requests that were kept from passing go on.
  void resume() {
    if (!mshr_queue_.empty() || !held_back_.empty()) resume_waiting();
  }
  /// No request comes for a time before `horizon`.
  void retire(Tick horizon);
  /// Requests that wait for an answer or to be looked at.
  bool busy() const { return misses_.taken() != 0 || !held_back_.empty() || !early_.empty(); }

  Tick invalidate(Tick at) override;
  void forget(std::uint64_t address, std::uint64_t bytes) override;
  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using ClientNumber = std::uint16_t;  ///< in clients_
  enum class Kind : std::uint8_t { fill, write, atomic, bypass };

  /// A request that waits for a miss.
  struct Waiter {
    Tick made{};
    Tick arrived{};
    Tick start{};
    std::uint32_t tag = 0;
    std::uint32_t next = kNone;  ///< of those who ask for the same; behind the last one comes the first
    ClientNumber client = 0;
  };
  /// Time that a request has spent on something, which only reports ask for. Saturates, at 4 ms.
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
  struct WayOfFill {
    TagArray::Slot slot;      ///< where the sector goes; kNone: nowhere, the line has been dropped
    std::uint32_t successor;  ///< the miss that waits for this one's way
  };
  // Of many misses at once, most wait for an MSHR, and their records are too many for the host's nearest caches: each is one of
  // its lines.
  struct alignas(64) Miss {
    Tick start;  ///< when it has been looked up,
    Tick room;   ///< and when it has its way
    std::uint64_t address;
    union {
      WayOfFill way;            ///< of a fill
      std::uint64_t byte_mask;  ///< of all others
    };
    Elapsed on_its_way;     ///< from `made` of its request to `start`,
    Elapsed at_bank;        ///< and from its arrival;
    Elapsed for_mshr;       ///< from `room` to its departure
    std::uint32_t tag;      ///< of its request
    std::uint32_t waiters;  ///< the last one who asks for the same; kNone: there are none
    ClientNumber client;
    std::uint16_t waits_for;  ///< fills of the way that it shall have
    std::uint16_t bytes;
    std::uint16_t requester;
    std::uint8_t sector;  ///< of the line
    RequestKind request;
    Kind kind;
    bool write : 1;
    bool bypass : 1;
  };
  static_assert(sizeof(Miss) == 64);
  /// A request that is not looked at before those before it have gone on.
  struct HeldBack {
    SectorAccess access;
    ClientNumber client;
    std::uint32_t tag;
    Tick arrived;
  };
  /// A request for a later time, of a heap by time and then in the order of the calls.
  struct Early {
    HeldBack request;
    std::uint64_t number;
    bool operator>(const Early& other) const {
      return request.arrived != other.request.arrived ? request.arrived > other.request.arrived : number > other.number;
    }
  };
  /// A request of several sectors: its answer is that of the sector that comes last.
  struct Join {
    LineClient* client = nullptr;
    std::uint32_t tag = 0;
    unsigned remaining = 0;
    LineAnswer last;
    LatencyBreakdown below;
  };
  class Joiner : public LineClient {
   public:
    explicit Joiner(FirstLevelCache& cache) : cache_(cache) {}
    void answered(std::uint32_t join, const LineAnswer& answer) override;

   private:
    FirstLevelCache& cache_;
  };

  /// A hint for the host: a line that is not there is asked for, and the set perhaps full of fills.
  [[gnu::always_inline]] void prefetch_victim(std::uint32_t set) {
    const TagArray::Slot slot = tags_.cheap_victim(set);
    if (slot == TagArray::kNone) return;
    const std::uint32_t pending = tags_.sector(slot, 0).pending;
    if (pending != TagArray::kNoFill) fetch_to_host(&misses_[pending]);
  }
  void resume_waiting();
  void look_up_held_back();
  ClientNumber number_of(LineClient& client) {
    const ClientNumber number = client.number_in_memory;
    return number < clients_.size() && clients_[number] == &client ? number : find_client(client);
  }
  ClientNumber find_client(LineClient& client);
  bool access_sectors(const Span& span, SectorAccess& access, Tick at, LineClient& client, std::uint32_t tag,
                      LineAnswer& answer);
  bool admit_sector(const SectorAccess& access, Tick at, ClientNumber client, std::uint32_t tag, LineAnswer& answer);
  /// kAllPass: what all_pass_ says, of which most of the work is none.
  template <bool kAllPass>
  bool look_up(const SectorAccess& access, Tick at, ClientNumber client, std::uint32_t tag, LineAnswer& answer);
  template <bool kAllPass>
  bool read_sector(const SectorAccess& access, const Waiter& waiter, LineAnswer& answer);
  template <bool kAllPass>
  void read_complete(std::size_t bank, const TagArray::Sector& sector, Tick made, Tick arrived, Tick start, LineAnswer& answer);
  bool read_hit(const LineAccess& request, Tick at, LineAnswer& answer);
  bool access_otherwise(const LineAccess& request, Tick at, LineClient& client, std::uint32_t tag, LineAnswer& answer);
  Tick take_bank(std::size_t bank, Tick at);
  /// Before the horizon.
  void forget_bookings();
  void forward_sector(SectorAccess access, Waiter waiter);
  /// Whether a request may be looked at now.
  bool may_pass() const;
  /// Requests are held back, and the transaction that the first one takes ends at `far` or later.
  bool waits_for_transaction() const {
    return !held_back_.empty() && blocks_ == kNone && parameters_.transactions != 0 && !free_transactions_.empty();
  }
  void enter_early() {
    if (far_ != nullptr && !std::exchange(entered_, true)) early_caches_->push_back(this);
  }
  template <bool kAllPass>
  void miss_sector(const SectorAccess& access, TagArray::Slot slot, const Waiter& waiter);
  std::uint32_t new_miss(const Waiter& own);
  void wait(std::uint32_t miss, Waiter waiter);
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
  /// A miss has an MSHR from `free` on. Where its departure goes is the caller's.
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
  /// Tells those who wait for another one's miss, up to `last`.
  void answer_others(std::uint32_t last, Tick at, bool counted);
  void tell(const Waiter& waiter, const LineAnswer& answer, bool counted) {
    if (counted) statistics_.read_latency += answer.done - waiter.arrived;
    if (parameters_.transactions != 0) free_transactions_.insert(answer.done);
    clients_[waiter.client]->answered(waiter.tag, answer);
  }

  const bool all_pass_;  ///< no request keeps others from passing
  std::vector<LineClient*> clients_{&joiner_};
  RecordPool<Miss> misses_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  std::vector<Departure> departures_;
  Tick next_departure_ = kNever;
  Tick* announced_ = nullptr;
  std::vector<std::uint16_t> filling_;  ///< ways of each set into which a fill is under way
  SortedTimes free_mshrs_;              ///< when each of those became free that are
  Ring<std::uint32_t> mshr_queue_;      ///< misses without one
  SortedTimes free_transactions_;       ///< likewise, when transactions are limited
  Ring<HeldBack> held_back_;
  std::vector<Early> early_;
  std::uint64_t early_count_ = 0;
  const Tick* far_ = nullptr;  ///< null: all requests are admitted immediately
  std::vector<FirstLevelCache*>* early_caches_ = nullptr;
  bool entered_ = false;          ///< in early_caches_
  std::uint32_t blocks_ = kNone;  ///< in_order: the miss that keeps others from passing
  std::uint16_t blocked_bank_ = 0;
  Tick blocks_from_{};  ///< since when it has its bank
  Tick horizon_{};      ///< of retire()
  Tick forgotten_{};    ///< bookings before it; brought up to the horizon by the next request
  std::vector<Join> joins_;
  std::vector<std::uint32_t> free_joins_;
  Joiner joiner_{*this};
};

}  // namespace lacuna
