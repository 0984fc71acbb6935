// Memory accesses of a unit that are performed at the end of the window, after the stores of all units: atomic operations, and
// accesses that have to follow them (models/isa/memory/deferred_access.h).
//
// A deferred access keeps its MemoryToken open until clear(): the program cannot see the results earlier. Records are reused;
// nothing is allocated in steady state.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "models/compute/deferred_work.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/isa/memory/deferred_access.h"

namespace lacuna {

class DeferredAccesses final : public DeferredWork {
 public:
  /// `tokens` outlives this object.
  DeferredAccesses(Clock clock, MemoryTokens& tokens) : clock_(clock), tokens_(tokens) {}

  /// Attaches the performer of the accesses. Required before perform().
  void attach(isa::DeferredAccessPerformer& performer) { performer_ = &performer; }
  using DeferredWork::attach;

  /// Defers the access of an instruction that the wavefront has just executed in `cycle`.
  void defer(WavefrontSlot& slot, const isa::Instruction& instruction, MemoryTokens::Token token, Cycles cycle) {
    if (count_ == accesses_.size()) accesses_.push_back(std::make_unique<Access>());
    Access& access = *accesses_[count_++];
    access.at = cycle;
    access.token = token;
    access.access.capture(instruction, slot.wave);
    tokens_.expect(token, 1);
    added();
  }

  unsigned count() const override { return static_cast<unsigned>(count_); }
  Tick at(unsigned number) const override { return clock_.ticks(accesses_[number]->at); }
  void perform(unsigned number) override { performer_->perform(accesses_[number]->access); }
  /// Completes the tokens of the deferred accesses.
  void clear() override {
    for (std::size_t i = 0; i < count_; ++i) tokens_.release(accesses_[i]->token);
    count_ = 0;
  }

 private:
  struct Access {
    Cycles at{};
    MemoryTokens::Token token = 0;
    isa::DeferredAccess access;
  };

  const Clock clock_;
  MemoryTokens& tokens_;
  isa::DeferredAccessPerformer* performer_ = nullptr;
  std::vector<std::unique_ptr<Access>> accesses_;  ///< records; the first count_ are accesses of this window
  std::size_t count_ = 0;
};

}  // namespace lacuna
