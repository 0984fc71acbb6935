// The cache in front of a memory. The memory phase at the end of a window (models/gpu/memory_phase.h) sends requests to the
// cache: a hit responds within the call, a miss when the memory has scheduled its fill (DeferredMemory in
// models/common/transport/memory_request.h).
//
// Times are those of Cache. A fill passes these stages, each of which may have to wait:
//   MSHR        all are in use; they are allocated in the order of the misses
//   way         allocated with the MSHR, or before it without `in_order`. A victim's dirty bytes are written back first, and
//               the memory's write queue may be full
//   memory      the fill has left; its response frees the MSHR
// A write that allocates passes only the second stage. With `in_order`, a request that has not passed the first two stages
// blocks its bank. With a limit of `transactions`, a request that finds no free transaction blocks all banks.
//
// Requests of kind `direct` are passed to the memory unchanged: they take no time here and need no lookup, MSHR or way.
//
// Transactions of the socket `upstream` are served as by Cache: their times are forecasts where fills are pending, and they
// take none of the MSHRs above.
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
  /// Arguments are those of Cache. Throws std::invalid_argument unless the write policy is write_back.
  LastLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level,
                 unsigned upstream_ports = 1, const AddressSlice& slice = {});

  /// Attaches the memory that receives fills and write-backs. Without it, they are transactions of the socket `downstream`.
  void attach(DeferredMemory& memory) { memory_ = &memory; }
  /// Attaches the client of all requests.
  void attach(MemoryClient& client) { client_ = &client; }
  /// Minimum time from a request's arrival to the departure of the resulting request to the memory. Requests of kind `direct`
  /// depart immediately.
  Tick way_to_memory() const { return tag_; }

  /// Requests line `local_line` at the absolute time `at`; call it in the order of arrivals. `slot`: probable slot of the line,
  /// from detail::CachePrefetch::line(); kNone: unknown. Returns true if `response` is valid. Otherwise the client receives the
  /// response, within the call or later, with `tag`, which is less than 2^31. `made`, `arrived` and `level` of the response may
  /// be left unset: the caller has them.
  bool request(const MemoryRequest& request, std::uint64_t local_line, Tick at, TagArray::Slot slot, std::uint32_t tag,
               MemoryResponse& response);
  /// Whether requests wait for their responses.
  bool busy() const { return waiting_ != 0; }

  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kSplit = 1U << 31;  ///< flag in a tag whose other bits are an index in splits_

  /// A request that waits for the fill of another request.
  struct Waiter {
    Tick arrived{};
    Tick start{};
    std::uint32_t tag = 0;
    bool write = false;
  };
  struct Miss {
    SectorAccess access;
    Tick arrived{};
    Tick start{};  ///< time of the lookup
    Tick begin{};  ///< time from which the miss has its MSHR; for a write without a way, the time of its acceptance by the
                   ///< memory
    Tick room{};   ///< time from which the miss has its way
    std::uint32_t tag = 0;
    std::uint32_t waiters = kNone;          ///< requests for the same sector: a list in waiters_
    TagArray::Slot slot = TagArray::kNone;  ///< slot of the sector; kNone: the sector is not kept
    std::uint16_t writes = 0;  ///< number of writes that the memory has not accepted: write-backs of the victim, or a write
                               ///< without a way
    bool fill = false;
    bool has_mshr = false;
    bool has_way = false;
    bool failed = false;
    bool direct = false;  ///< whether this is a request of kind `direct`, which passes no stage
  };
  struct HeldBack {
    SectorAccess access;
    Tick arrived;
    std::uint32_t tag;
  };
  struct BankQueue {
    std::uint32_t blocked_by = kNone;  ///< the miss that blocks the bank
    Tick free{};                       ///< time from which the bank accepts the next request
    Ring<HeldBack> held_back;
  };
  void on_response(std::uint32_t number, const MemoryResponse& response) override;
  /// Passes a request of kind `direct` to the memory.
  bool pass_by(const MemoryRequest& request, Tick at, std::uint32_t tag, MemoryResponse& response);
  /// Ends a request of kind `direct`: converts the memory's response to the response to the request.
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
  // Stages of a miss
  void take_mshr(std::uint32_t number, Tick free);
  void take_way(std::uint32_t number, Tick at);
  void write_back_victim(std::uint32_t number, TagArray::Slot slot, Tick at);
  /// If a miss has passed all preceding stages, sends its fill to the memory or, if it is a write, completes it.
  void proceed(std::uint32_t number);
  void depart(std::uint32_t number);
  void end_fill(std::uint32_t number, Tick done, Tick waiting);
  void end_write(std::uint32_t number);
  bool holds_fill(const Miss& miss, std::uint32_t number) const;
  void free_bank(const Miss& miss, std::uint32_t number, Tick leaves);
  /// Sends the fill or a write of a miss to the memory. Returns the same as MemoryTarget::request().
  bool request_memory(const SectorAccess& access, Tick at, std::uint32_t number, MemoryResponse& response);
  /// Resumes requests that wait for an MSHR, their bank or a transaction. Called after a response.
  void resume();
  void respond(std::uint32_t tag, const MemoryResponse& response);

  const bool plain_;  ///< whether a read hit waits only for its bank
  DeferredMemory* memory_ = nullptr;
  MemoryClient* client_ = nullptr;
  RecordPool<Miss> misses_;
  WaiterLists<Waiter> waiters_;
  SortedTimes free_mshrs_;          ///< times at which the free MSHRs became free
  Ring<std::uint32_t> mshr_queue_;  ///< misses that wait for an MSHR
  SortedTimes free_transactions_;   ///< times at which the free transactions became free, if they are limited
  std::vector<BankQueue> queues_;
  std::size_t held_back_ = 0;  ///< number of held-back requests in all queues
  SplitRequests splits_;
  LatencyBreakdown memory_time_;  ///< breakdown of the response being delivered; contains only the level dram
  std::size_t waiting_ = 0;
};

}  // namespace lacuna
