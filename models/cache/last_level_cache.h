// The cache in front of a memory, asked at the edges of windows (models/gpu/memory_phase.h): a hit is answered with the call, a
// miss when the memory has decided it (models/common/transport/deferred_memory.h).
//
// Times are those of Cache. A fill passes these stages, each of which may have to wait:
//   MSHR        all are in use; they are given in the order of the misses
//   way         it is given with the MSHR, before it without `in_order`. A victim's dirty bytes are written back first, and the
//               memory's queue of writes may be full
//   memory      the fill has left; its answer frees the MSHR
// A write that allocates passes the second one. With `in_order` a request that has not passed the stages before the memory
// keeps its bank from taking others; with a limit of `transactions` so does one that finds none free, in all banks.
//
// Transactions of the socket `upstream` are served as by Cache: they return with times that are forecasts where fills are
// pending, and take none of these MSHRs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cache/cache.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/common/time/sorted_times.h"
#include "models/common/transport/deferred_memory.h"
#include "models/common/transport/line_memory.h"

namespace lacuna {

class LastLevelCache : public Cache, private DeferredMemory::Client {
 public:
  /// How a request fared: when it is answered, and the time that it waited and was worked on here; `mshr` is a part of the
  /// waiting.
  struct Served {
    Tick done{};
    Tick queueing{};
    Tick service{};
    Tick mshr{};
    bool failed = false;  ///< no memory answers
  };
  /// Of a request that was not answered with the call.
  struct Answer {
    std::uint32_t tag = 0;
    Served served{};
    bool from_memory = false;  ///< the memory has taken a part of its time: this
    Tick memory_waiting{};
    Tick memory_service{};
  };

  /// As Cache. std::invalid_argument unless its write policy is write_back.
  LastLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level,
                 unsigned upstream_ports = 1, const AddressSlice& slice = {});

  /// What fills and write-backs are asked of. Without, they are transactions of the socket `downstream`.
  void attach(DeferredMemory& memory) { memory_ = &memory; }
  /// From a request's arrival until the memory gets its own, at least.
  Tick way_to_memory() const { return tag_; }

  /// A request for the line with that number, which arrives at `at`, in absolute time: requests come in the order of their
  /// arrivals. `slot`: where the line may be, from prefetch_line(); kNone: anywhere. True: `served` has the answer. False:
  /// answers() will have it, under `tag`, which is less than 2^31.
  bool serve(const LineAccess& request, std::uint64_t local_line, Tick at, TagArray::Slot slot, std::uint32_t tag,
             Served& served);
  /// Answers that have become known since the last forget_answers(), in the order in which they have.
  const std::vector<Answer>& answers() const { return answers_; }
  void forget_answers() { answers_.clear(); }
  /// Whether requests wait for their answers.
  bool busy() const { return waiting_ != 0; }

  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kJoins = 1U << 31;  ///< a tag of joins_

  /// A request that waits for another one's fill.
  struct Waiter {
    Tick arrived{};
    Tick start{};
    std::uint32_t tag = 0;
    std::uint32_t next = kNone;
    bool write = false;
  };
  struct Miss {
    SectorAccess access;
    Tick arrived{};
    Tick start{};  ///< when it was looked up
    Tick begin{};  ///< when it has its MSHR, or needs none
    Tick room{};   ///< when it has its way
    std::uint32_t tag = 0;
    std::uint32_t waiters = kNone;          ///< the last one: behind it comes the first
    TagArray::Slot slot = TagArray::kNone;  ///< where the sector goes; kNone: nowhere
    std::uint16_t writes = 0;  ///< that the memory has not accepted: write-backs of its victim, a write that has no way
    bool fill = false;
    bool has_mshr = false;
    bool has_way = false;
    bool failed = false;
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
  /// A request of several sectors: its answer is that of the sector that comes last.
  struct Join {
    unsigned remaining = 0;
    Answer last{};
  };

  void answered(std::uint32_t number, Tick done, Tick waiting) override;
  bool serve_sectors(const LineAccess& request, SectorAccess access, Tick at, std::uint32_t tag, Served& served);
  bool may_pass(std::size_t bank) const {
    return queues_[bank].blocked_by == kNone && queues_[bank].held_back.empty() &&
           (parameters_.transactions == 0 || !free_transactions_.empty());
  }
  bool admit(const SectorAccess& access, Tick at, std::uint32_t tag, Served& served);
  bool look_up(const SectorAccess& access, Tick arrived, std::uint32_t tag, Served& served);
  bool read_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag, Served& served);
  bool write_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag, Served& served);
  std::uint32_t new_miss(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag);
  void wait(std::uint32_t miss, const Waiter& waiter);
  // Stages of a miss.
  void take_mshr(std::uint32_t number, Tick free);
  void take_way(std::uint32_t number, Tick at);
  void write_back_victim(std::uint32_t number, TagArray::Slot slot, Tick at);
  /// The miss leaves when it has all that it needs.
  void proceed(std::uint32_t number);
  void leave_for_memory(std::uint32_t number);
  void end_fill(std::uint32_t number, Tick done, Tick waiting);
  void end_write(std::uint32_t number);
  bool holds_fill(const Miss& miss, std::uint32_t number) const;
  void free_bank(const Miss& miss, std::uint32_t number, Tick leaves);
  DeferredMemory::Reply ask(const SectorAccess& access, Tick at, std::uint32_t number);
  /// After an answer: what waits for an MSHR or for its bank goes on.
  void resume();
  void tell(Answer answer);

  const bool plain_;  ///< a read that hits waits for its bank and nothing else
  DeferredMemory* memory_ = nullptr;
  RecordPool<Miss> misses_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  SortedTimes free_mshrs_;          ///< when each of those became free that are
  Ring<std::uint32_t> mshr_queue_;  ///< misses without one
  SortedTimes free_transactions_;   ///< likewise, when transactions are limited
  std::vector<BankQueue> queues_;
  std::size_t held_back_ = 0;  ///< in all of them
  std::vector<Join> joins_;
  std::vector<std::uint32_t> free_joins_;
  std::vector<Answer> answers_;
  std::size_t waiting_ = 0;
};

}  // namespace lacuna
