#include "models/compute/memory/memory_tokens.h"

#include <utility>

namespace lacuna {
namespace {

constexpr bool counts_vm(Counters counters) { return counters == Counters::vmcnt || counters == Counters::both; }
constexpr bool counts_lgkm(Counters counters) { return counters == Counters::lgkmcnt || counters == Counters::both; }

}  // namespace

MemoryTokens::Token MemoryTokens::begin(WavefrontSlot& slot, Counters counters, Tick start, Tick port_wait,
                                        Cycles return_latency, KernelActivity* activity, LoadKind kind) {
  if (free_.empty()) {
    free_.push_back(static_cast<Token>(tokens_.size()));
    tokens_.emplace_back();
    owners_.push_back(nullptr);
  }
  const Token token = free_.back();
  free_.pop_back();
  State& state = tokens_[token];
  owners_[token] = &slot;
  state.group = slot.group;
  state.activity = activity;
  state.kind = kind;
  state.start = start;
  state.port_wait = port_wait;
  state.return_latency = return_latency;
  state.included = Cycles{};
  state.latest = start;
  state.tlb = state.mshr = state.queues = Tick{};
  state.remaining = 0;
  state.counters = counters;
  state.issued = state.open = false;
  return token;
}

void MemoryTokens::include(Token token, Cycles done, OperationDelays delays) {
  tokens_[token].included = done;
  tokens_[token].included_delays = delays;
}

void MemoryTokens::account(Token token, const MemoryResponse& response) {
  if (tokens_[token].activity != nullptr) count(tokens_[token], response);
  count_by_time(token, response);
}

void MemoryTokens::add_latest(Token token, const MemoryResponse& response, Tick returned) {
  count_by_time(token, response);
  arrive(token, response, returned);
}

void MemoryTokens::arrive(Token token, const MemoryResponse& response, Tick returned) {
  State& state = tokens_[token];
  if (returned >= state.latest) {
    Tick queues = response.queueing + (returned - response.done);
    Tick mshr = response.mshr;
    if (response.below != nullptr) {
      for (const Tick waited : response.below->queueing) queues += waited;
      mshr += response.below->mshr;
    }
    state.latest = returned;
    state.tlb = response.arrived - response.made;
    state.mshr = mshr;
    state.queues = queues;
  }
  if (--state.remaining == 0 && state.issued) close(token);
}

void MemoryTokens::issued(Token token) {
  State& state = tokens_[token];
  state.issued = true;
  if (state.remaining == 0) {
    close(token);
    return;
  }
  WavefrontSlot& slot = *owners_[token];
  state.open = true;
  ++slot.open;
  if (counts_vm(state.counters)) state.sequence = slot.vmcnt.open_in_order();
  if (counts_lgkm(state.counters)) slot.lgkmcnt.open_out_of_order();
}

void MemoryTokens::close(Token token) {
  State& closed = tokens_[token];
  // Most waits are zero and need no conversion.
  const auto saturated = [this](Tick time) {
    return time == Tick{} ? std::uint16_t{0} : OperationDelays::saturated(clock_.ceil(time).n);
  };
  Cycles done = clock_.ceil(closed.latest) + closed.return_latency;
  OperationDelays delays{
      .tlb = saturated(closed.tlb),
      .mshr = saturated(closed.mshr),
      .queues = OperationDelays::saturated(std::uint64_t{saturated(closed.queues - closed.mshr)} +
                                           (closed.port_wait == Tick{} ? 0 : clock_.ceil(closed.port_wait).n))};
  if (closed.included > done) {
    done = closed.included;
    delays = closed.included_delays;
  }
  // Release the token first: the listener may begin another operation, which may reuse it.
  WavefrontSlot* const owner = std::exchange(owners_[token], nullptr);
  ResidentWorkgroup* const group = std::exchange(closed.group, nullptr);
  const bool open = std::exchange(closed.open, false);
  const WaitCounter::Sequence sequence = closed.sequence;
  const Counters counters = closed.counters;
  const bool vm = counts_vm(counters);
  const bool lgkm = counts_lgkm(counters);
  Watcher* const watcher = std::exchange(closed.watcher, nullptr);
  const std::uint32_t watch_tag = closed.watch_tag;
  free_.push_back(token);
  if (watcher != nullptr) [[unlikely]]
    watcher->operation_done(watch_tag, done);
  if (owner == nullptr) {
    if (group == nullptr) return;
    --group->open;
    listener_.operation_closed(*group, done);
    return;
  }
  WavefrontSlot& slot = *owner;
  if (!vm && !lgkm) {
    if (open) --slot.open;
    const unsigned stage = static_cast<unsigned>(counters) - static_cast<unsigned>(Counters::first_stage);
    listener_.registers_filled(slot, stage, done, delays);
    return;
  }
  if (!open) {
    if (vm) slot.vmcnt.add_in_order(done, delays);
    if (lgkm) slot.lgkmcnt.add_out_of_order(done, delays);
    return;
  }
  --slot.open;
  if (vm) slot.vmcnt.close_in_order(sequence, done, delays);
  if (lgkm) slot.lgkmcnt.close_out_of_order(done, delays);
  listener_.operation_closed(slot);
}

Tick MemoryTokens::oldest_load() const {
  Tick oldest = kNever;
  for (const State& state : tokens_) {
    const bool closed = state.issued && state.remaining == 0;
    if (!closed && state.activity != nullptr) oldest = earlier(oldest, state.start);
  }
  return oldest;
}

void MemoryTokens::wavefront_ended(WavefrontSlot& slot) {
  // Many programs end with stores in flight. Owners are stored contiguously, so that the search touches few cache lines of the
  // host.
  for (Token token = 0; slot.open != 0; ++token) {
    if (owners_[token] != &slot || !tokens_[token].open) continue;
    owners_[token] = nullptr;
    ++tokens_[token].group->open;
    --slot.open;
  }
}

void MemoryTokens::drop(const Dispatch& dispatch) {
  for (std::size_t token = 0; token < tokens_.size(); ++token) {
    State& state = tokens_[token];
    if (state.group == nullptr || state.group->dispatch != &dispatch) continue;
    owners_[token] = nullptr;
    state.group = nullptr;
    state.activity = nullptr;
  }
}

}  // namespace lacuna
