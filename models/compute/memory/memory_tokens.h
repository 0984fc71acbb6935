// Memory instructions in flight: a token represents an instruction from its issue until the last of its requests is complete.
//
// The first-level cache or the memory below it completes a request, within the call or later. The wait counters of the
// wavefront count tokens. A token outlives its wavefront, whose program may end without waiting for its stores; the workgroup
// is done only when they are performed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/compute/memory/memory_port.h"
#include "models/compute/memory/request_timeline.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

/// Wait counters that count an operation; both count a FLAT instruction. Neither counts operations of a load stage
/// (models/compute/load_stage.h): the stage itself waits for their registers.
enum class Counters : std::uint8_t { vmcnt, lgkmcnt, both, first_stage };
/// Counters for load stage `stage` of a compute unit, counted from 0.
constexpr Counters counters_of_stage(unsigned stage) {
  return static_cast<Counters>(static_cast<unsigned>(Counters::first_stage) + stage);
}

class MemoryTokens {
 public:
  using Token = std::uint32_t;

  class Listener {
   public:
    virtual ~Listener() = default;
    /// Called when an outstanding operation of a wavefront has completed: the time at which waits for it end may now be known.
    virtual void operation_closed(WavefrontSlot& slot) = 0;
    /// Called when an outstanding operation of an ended wavefront of `group` has completed at `done`.
    virtual void operation_closed(ResidentWorkgroup& group, Cycles done) = 0;
    /// Called when an operation of load stage `stage` completes at `done`, possibly from within issued().
    virtual void registers_filled(WavefrontSlot& slot, unsigned stage, Cycles done, const OperationDelays& delays) = 0;
  };

  /// Observes the completion of single operations, in the cycle in which the wait counters count an operation as completed.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    /// Called when it is known that the operation completes at `done`, even if its wavefront has ended. `tag`: as passed to
    /// watch().
    virtual void operation_done(std::uint32_t tag, Cycles done) = 0;
  };

  MemoryTokens(Clock clock, Listener& listener) : clock_(clock), listener_(listener) {}

  /// Begins an instruction of a wavefront; the instruction's requests follow. `port_wait`: time that the instruction waited for
  /// its unit; `return_latency`: cycles from the last response to the registers; `activity`: account to which the requests are
  /// added, as loads of kind `kind`; null: none.
  Token begin(WavefrontSlot& slot, Counters counters, Tick start, Tick port_wait, Cycles return_latency,
              KernelActivity* activity, LoadKind kind = LoadKind::vector);
  void expect(Token token, unsigned requests) { tokens_[token].remaining += requests; }
  /// Adds a part of the instruction that ends at `done`, such as the LDS lanes of a FLAT access.
  void include(Token token, Cycles done, OperationDelays delays);
  /// Accounts for a response that reaches the wavefront at `returned`. Fast path: most responses need only be counted.
  void add(Token token, const MemoryResponse& response, Tick returned) {
    State& state = tokens_[token];
    if (state.activity != nullptr) count(state, response);
    if (timeline_ == nullptr && returned < state.latest && state.remaining != 1) [[likely]] {
      --state.remaining;
    } else {
      add_latest(token, response, returned);
    }
  }
  /// Accounts for responses that reach the wavefront at their completion times.
  void add(Token token, std::span<const MemoryResponse> responses) {
    for (const MemoryResponse& response : responses) add(token, response, response.done);
  }
  /// account() and arrive() are the two halves of add(), for responses whose time of return is known later.
  void account(Token token, const MemoryResponse& response);
  void arrive(Token token, const MemoryResponse& response, Tick returned);
  /// Removes one expected completion that represents no request and does not extend the operation.
  void release(Token token) {
    if (--tokens_[token].remaining == 0 && tokens_[token].issued) close(token);
  }
  /// Notifies `watcher` when the operation completes, possibly from within issued(). An operation has at most one watcher.
  void watch(Token token, Watcher& watcher, std::uint32_t tag) {
    tokens_[token].watcher = &watcher;
    tokens_[token].watch_tag = tag;
  }
  /// Call it when all requests have been made: from then on the wait counters count the operation, as completed or as open.
  void issued(Token token);

  /// Called when the wavefront has ended: its open operations pass to its workgroup.
  void wavefront_ended(WavefrontSlot& slot);
  /// Detaches the operations of a dispatch from their wavefronts.
  void drop(const Dispatch& dispatch);
  /// Drops all operations. Requires that no wavefront is resident and that no response will arrive.
  void reset() {
    tokens_.clear();
    owners_.clear();
    free_.clear();
  }
  /// Attaches the timeline that records the number of load requests over time; null: none.
  void attach(RequestTimeline* timeline) { timeline_ = timeline; }
  /// Start of the oldest load with an outstanding response; kNever: there is none.
  Tick oldest_load() const;
  /// Number of tokens in use.
  std::size_t open() const { return tokens_.size() - free_.size(); }

 private:
  struct State {
    ResidentWorkgroup* group = nullptr;  ///< workgroup of the wavefront; null: the dispatch has been dropped
    KernelActivity* activity = nullptr;
    Tick start{};
    Tick port_wait{};
    Cycles return_latency{};
    Cycles included{};  ///< end of the part passed to include()
    OperationDelays included_delays;
    // Time of the latest response so far, and the delays of its request by cause.
    Tick latest{};
    Tick tlb{};
    Tick mshr{};
    Tick queues{};
    unsigned remaining = 0;
    WaitCounter::Sequence sequence = 0;
    Watcher* watcher = nullptr;
    std::uint32_t watch_tag = 0;
    Counters counters = Counters::vmcnt;
    LoadKind kind = LoadKind::vector;
    bool issued = false;
    bool open = false;  ///< whether the wait counters count the operation as open
  };
  static void count(const State& state, const MemoryResponse& response) {
    KernelActivity& activity = *state.activity;
    LoadSources& sources = activity.loads[static_cast<std::size_t>(state.kind)];
    ++activity.requests;
    ++sources.requests;
    activity.request_time += response.done - response.made;
    LatencyBreakdown& latency = activity.latency;
    latency.add(MemoryLevel::tlb, {}, response.arrived - response.made);
    latency.add(response.level, response.queueing, response.service);
    latency.mshr += response.mshr;
    if (response.below == nullptr) return;
    latency += *response.below;
    constexpr auto kDram = static_cast<std::size_t>(MemoryLevel::dram);
    constexpr auto kHost = static_cast<std::size_t>(MemoryLevel::host_memory);
    const bool from_memory = response.below->service[kDram] + response.below->service[kHost] != Tick{};
    sources.from_memory += from_memory ? 1 : 0;
    sources.from_l2 += from_memory ? 0 : 1;
  }
  /// Slow path of add(): for the latest response so far, the final response, and all responses if a timeline is attached.
  void add_latest(Token token, const MemoryResponse& response, Tick returned);
  void count_by_time(Token token, const MemoryResponse& response) {
    if (timeline_ != nullptr && tokens_[token].activity != nullptr) timeline_->add(response.made, response.done);
  }
  void close(Token token);

  Clock clock_;
  Listener& listener_;
  RequestTimeline* timeline_ = nullptr;
  std::vector<State> tokens_;
  std::vector<WavefrontSlot*> owners_;  ///< wavefront of each token; null: none, or it has ended
  std::vector<Token> free_;
};

}  // namespace lacuna
