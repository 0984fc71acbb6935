// What a compute unit leaves to the window's edge: memory accesses that have to come after those of others, and what it tells
// its listener.

#include "models/compute/compute_unit.h"
#include "models/compute/windows.h"

namespace lacuna {

// The token stays open until then: the program does not look at results before.
void ComputeUnit::defer(WavefrontSlot& slot, const isa::Instruction& instruction, MemoryTokens::Token token, Cycles cycle) {
  if (deferred_count_ == deferred_.size()) deferred_.push_back(std::make_unique<Deferred>());
  Deferred& deferred = *deferred_[deferred_count_++];
  deferred.at = cycle;
  deferred.token = token;
  deferred.access.capture(instruction, slot.wave);
  tokens_.expect(token, 1);
}

void ComputeUnit::end_deferred() {
  for (unsigned i = 0; i < deferred_count_; ++i) tokens_.release(deferred_[i]->token);
  deferred_count_ = 0;
}

/// A new report, for the caller to fill in before it calls reported().
ComputeUnitReport& ComputeUnit::report(ComputeUnitReport::Kind kind, Dispatch& dispatch, Tick at) {
  windows_->reported(group_);
  ComputeUnitReport& made = reports_.emplace_back();
  made.kind = kind;
  made.at = at;
  made.dispatch = &dispatch;
  return made;
}

void ComputeUnit::reported() {
  if (mode_ != TimingMode::functional) return;
  ComputeUnitReport last = std::move(reports_.back());
  reports_.pop_back();
  tell(last);
}

void ComputeUnit::deliver(unsigned number) { tell(reports_[number]); }

void ComputeUnit::tell(ComputeUnitReport& report) {
  if (report.dispatch == nullptr) return;
  Dispatch& dispatch = *report.dispatch;
  switch (report.kind) {
    case ComputeUnitReport::Kind::workgroup_done:
      if (dispatch.failed) return;
      listener_.workgroup_done(*this, dispatch, report.scratch_slots, report.at);
      break;
    case ComputeUnitReport::Kind::fault:
      dispatch.failed = true;
      listener_.wavefront_fault(dispatch, *report.fault, report.at);
      break;
    case ComputeUnitReport::Kind::warning:
      listener_.wavefront_warning(dispatch, *report.fault, report.at);
      break;
    case ComputeUnitReport::Kind::message:
      listener_.interrupt_message(dispatch, report.m0, report.at);
      break;
    case ComputeUnitReport::Kind::wave_sync:
      if (listener_.wave_sync(report.sync, report.wavefront, report.at)) resume(report.wavefront);
      break;
    case ComputeUnitReport::Kind::code_changed: {
      fetch_.code().revalidate();
      WavefrontSlot& slot = pool_.simds()[report.wavefront.simd]->slots[report.wavefront.slot];
      fetch_.fetch(slot, clock_.ceil(report.at));
      resume(report.wavefront);
      break;
    }
  }
}

// The wavefront goes on as if it had never been held.
void ComputeUnit::resume(const WavefrontTicket& wavefront) {
  WavefrontSlot& slot = pool_.simds()[wavefront.simd]->slots[wavefront.slot];
  slot.release(StallReason::sync);
  if (!slot.held()) slot.account(StallCause::fetch, slot.when);
}

}  // namespace lacuna
