// The cache in front of a memory. The memory phase at the end of a window (models/gpu/memory_phase.h) sends it requests: a hit
// responds within the call, a miss when the memory has decided it (DeferredMemory in models/common/transport/memory_request.h).
//
// Times are those of Cache. A fill passes these stages, each of which may have to wait:
//   MSHR        all are in use; they are given in the order of the misses
//   way         it is given with the MSHR, before it without `in_order`. A victim's dirty bytes are written back first, and the
//               memory's queue of writes may be full
//   memory      the fill has left; its response frees the MSHR
// A write that allocates passes the second one. With `in_order` a request that has not passed the stages before the memory
// keeps its bank from taking others; with a limit of `transactions` so does one that finds none free, in all banks.
//
// Requests of kind `direct` go to the memory as they are: in no time, without look-up, MSHR and way.
//
// Transactions of the socket `upstream` are served as by Cache: they return with times that are forecasts where fills are
// pending, and take none of these MSHRs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cache/cache.h"
#include "models/cache/split_requests.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/common/containers/waiter_lists.h"
#include "models/common/time/sorted_times.h"
#include "models/common/transport/memory_request.h"

namespace lacuna {

class LastLevelCache : public Cache, private MemoryClient {
 public:
  /// As Cache. std::invalid_argument unless its write policy is write_back.
  LastLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level,
                 unsigned upstream_ports = 1, const AddressSlice& slice = {});

  /// The memory of fills and write-backs. Without one they are transactions of the socket `downstream`.
  void attach(DeferredMemory& memory) { memory_ = &memory; }
  /// The client of all requests.
  void attach(MemoryClient& client) { client_ = &client; }
  /// From a request's arrival until the memory gets its own, at least.
  Tick way_to_memory() const { return tag_; }

  /// A request for the line with that number, which arrives at `at`, in absolute time: requests come in the order of their
  /// arrivals. `slot`: where the line may be, from detail::CachePrefetch::line(); kNone: anywhere. True: `response` has the
  /// response. False: the client receives it, within the call or later, with `tag`, which is less than 2^31. The
  /// caller knows `made`, `arrived` and `level`, which may not be set.
  bool request(const MemoryRequest& request, std::uint64_t local_line, Tick at, TagArray::Slot slot, std::uint32_t tag,
               MemoryResponse& response);
  /// Whether requests wait for their responses.
  bool busy() const { return waiting_ != 0; }

  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kSplit = 1U << 31;  ///< in a tag: the rest is a number in splits_

  /// A request that waits for the fill of another one.
  struct Waiter {
    Tick arrived{};
    Tick start{};
    std::uint32_t tag = 0;
    bool write = false;
  };
  struct Miss {
    SectorAccess access;
    Tick arrived{};
    Tick start{};  ///< when it was looked up
    Tick begin{};  ///< when it has its MSHR, or needs none
    Tick room{};   ///< when it has its way
    std::uint32_t tag = 0;
    std::uint32_t waiters = kNone;          ///< requests for the same sector, a list of waiters_
    TagArray::Slot slot = TagArray::kNone;  ///< where the sector goes; kNone: nowhere
    std::uint16_t writes = 0;  ///< that the memory has not accepted: write-backs of its victim, a write that has no way
    bool fill = false;
    bool has_mshr = false;
    bool has_way = false;
    bool failed = false;
    bool direct = false;  ///< a request of that kind, which is in none of these stages
  };
  struct HeldBack {
    SectorAccess access;
    Tick arrived;
    std::uint32_t tag;
  };
  struct BankQueue {
    std::uint32_t blocked_by = kNone;  ///< a miss
    Tick free{};                       ///< when the bank may take the next one
    Ring<HeldBack> held_back;
  };
  void on_response(std::uint32_t number, const MemoryResponse& response) override;
  /// A request of kind `direct`.
  bool pass_by(const MemoryRequest& request, Tick at, std::uint32_t tag, MemoryResponse& response);
  /// Its response, from the memory's.
  MemoryResponse end_direct(std::uint32_t number, const MemoryResponse& memory);
  bool request_sectors(const MemoryRequest& request, SectorAccess access, Tick at, std::uint32_t tag, MemoryResponse& response);
  bool may_pass(std::size_t bank) const {
    return queues_[bank].blocked_by == kNone && queues_[bank].held_back.empty() &&
           (parameters_.transactions == 0 || !free_transactions_.empty());
  }
  bool admit(const SectorAccess& access, Tick at, std::uint32_t tag, MemoryResponse& response);
  bool look_up(const SectorAccess& access, Tick arrived, std::uint32_t tag, MemoryResponse& response);
  bool read_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag, MemoryResponse& response);
  bool write_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag, MemoryResponse& response);
  std::uint32_t new_miss(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag);
  // Stages of a miss.
  void take_mshr(std::uint32_t number, Tick free);
  void take_way(std::uint32_t number, Tick at);
  void write_back_victim(std::uint32_t number, TagArray::Slot slot, Tick at);
  /// The miss leaves when it has all that it needs.
  void proceed(std::uint32_t number);
  void depart(std::uint32_t number);
  void end_fill(std::uint32_t number, Tick done, Tick waiting);
  void end_write(std::uint32_t number);
  bool holds_fill(const Miss& miss, std::uint32_t number) const;
  void free_bank(const Miss& miss, std::uint32_t number, Tick leaves);
  /// Requests a fill or a write-back from the memory, for a miss: as MemoryTarget::request().
  bool request_memory(const SectorAccess& access, Tick at, std::uint32_t number, MemoryResponse& response);
  /// After a response: requests that wait for an MSHR or for their bank go on.
  void resume();
  void respond(std::uint32_t tag, const MemoryResponse& response);

  const bool plain_;  ///< a read that hits waits for its bank and nothing else
  DeferredMemory* memory_ = nullptr;
  MemoryClient* client_ = nullptr;
  RecordPool<Miss> misses_;
  WaiterLists<Waiter> waiters_;
  SortedTimes free_mshrs_;          ///< when each of those became free that are
  Ring<std::uint32_t> mshr_queue_;  ///< misses without one
  SortedTimes free_transactions_;   ///< likewise, when transactions are limited
  std::vector<BankQueue> queues_;
  std::size_t held_back_ = 0;  ///< in all of them
  SplitRequests splits_;
  LatencyBreakdown memory_time_;  ///< of the response that is being given: level dram alone
  std::size_t waiting_ = 0;
};

}  // namespace lacuna
