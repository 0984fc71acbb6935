#include "models/compute/reports/unit_reports.h"

#include <utility>

namespace lacuna {

void UnitReports::workgroup_done(Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots, Tick at) {
  add({.kind = Kind::workgroup_done,
       .at = at,
       .dispatch = &dispatch,
       .scratch_slots = {scratch_slots.begin(), scratch_slots.end()}});
}

void UnitReports::fault(Dispatch& dispatch, std::unique_ptr<WavefrontFault> fault, Tick at) {
  add({.kind = Kind::fault, .at = at, .dispatch = &dispatch, .fault = std::move(fault)});
}

void UnitReports::warning(Dispatch& dispatch, std::unique_ptr<WavefrontFault> warning, Tick at) {
  add({.kind = Kind::warning, .at = at, .dispatch = &dispatch, .fault = std::move(warning)});
}

void UnitReports::message(Dispatch& dispatch, std::uint32_t m0, Tick at) {
  add({.kind = Kind::message, .at = at, .dispatch = &dispatch, .m0 = m0});
}

void UnitReports::wave_sync(WavefrontSlot& slot, WaveSyncUnit& unit, Tick at) {
  add({.kind = Kind::wave_sync,
       .at = at,
       .dispatch = slot.group->dispatch,
       .sync = isa::wave_sync_request(slot.wave),
       .sync_unit = &unit,
       .slot = &slot});
}

void UnitReports::code_changed(WavefrontSlot& slot, Tick at) {
  add({.kind = Kind::code_changed, .at = at, .dispatch = slot.group->dispatch, .slot = &slot});
}

void UnitReports::drop(const Dispatch& dispatch) {
  for (Report& report : pending_) {
    if (report.dispatch == &dispatch) report.dispatch = nullptr;
  }
}

void UnitReports::add(Report&& report) {
  if (immediate_) {
    deliver(report);
    return;
  }
  pending_.push_back(std::move(report));
  added();
}

void UnitReports::deliver(Report& report) {
  if (report.dispatch == nullptr) return;
  Dispatch& dispatch = *report.dispatch;
  switch (report.kind) {
    case Kind::workgroup_done:
      if (dispatch.failed) return;
      listener_.workgroup_done(place_, dispatch, report.scratch_slots, report.at);
      break;
    case Kind::fault:
      dispatch.failed = true;
      listener_.wavefront_fault(dispatch, *report.fault, report.at);
      break;
    case Kind::warning:
      listener_.wavefront_warning(dispatch, *report.fault, report.at);
      break;
    case Kind::message:
      listener_.interrupt_message(dispatch, report.m0, report.at);
      break;
    case Kind::wave_sync: {
      WavefrontSlot& slot = *report.slot;
      const WavefrontTicket ticket{&dispatch, report.sync_unit, slot.simd->number, slot.number};
      if (listener_.wave_sync(report.sync, ticket, report.at)) resume(slot);
      break;
    }
    case Kind::code_changed:
      fetch_.code().revalidate();
      fetch_.fetch(*report.slot, clock_.ceil(report.at));
      resume(*report.slot);
      break;
  }
}

void UnitReports::resume(WavefrontSlot& slot) {
  slot.release(StallReason::sync);
  if (!slot.held()) slot.account(StallCause::fetch, slot.when);
}

}  // namespace lacuna
