// Reports of a compute unit to its listener: delivered at the end of the window in order of simulated time, in functional mode
// immediately.
//
//   workgroup_done, fault, warning, message   passed to the listener
//   wave_sync      the wavefront is held (StallReason::sync); it resumes if the listener agrees, otherwise at a later release
//   code_changed   s_icache_inv: the wavefront is held; decoded code is revalidated and the wavefront fetches again
//
// If the delivery of a report resumes a wavefront, the wavefront continues in the cycle in which it would have issued without
// the report. Reports of an aborted dispatch are dropped; a failed dispatch reports no more finished workgroups.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/compute/compute_unit_listener.h"
#include "models/compute/deferred_work.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/memory/wave_sync.h"

namespace lacuna {

class UnitReports final : public DeferredWork {
 public:
  /// `immediate`: whether reports are delivered by the call that makes them. The referenced objects must outlive this object.
  UnitReports(ComputeUnitPlace place, Clock clock, bool immediate, ComputeUnitListener& listener, InstructionFetch& fetch)
      : place_(place), clock_(clock), immediate_(immediate), listener_(listener), fetch_(fetch) {}

  bool immediate() const { return immediate_; }
  /// Changes `immediate`. Requires that all reports have been delivered.
  void set_immediate(bool immediate) { immediate_ = immediate; }

  void workgroup_done(Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots, Tick at);
  void fault(Dispatch& dispatch, std::unique_ptr<WavefrontFault> fault, Tick at);
  void warning(Dispatch& dispatch, std::unique_ptr<WavefrontFault> warning, Tick at);
  void message(Dispatch& dispatch, std::uint32_t m0, Tick at);
  /// Reports a request for global wave sync. `slot` is held by StallReason::sync; `unit` is called if a later request, such as
  /// the last arrival at a barrier, releases it.
  void wave_sync(WavefrontSlot& slot, WaveSyncUnit& unit, Tick at);
  /// Reports s_icache_inv. `slot` is held by StallReason::sync. Not called in immediate mode.
  void code_changed(WavefrontSlot& slot, Tick at);
  /// Drops the pending reports of an aborted dispatch.
  void drop(const Dispatch& dispatch);

  unsigned count() const override { return static_cast<unsigned>(pending_.size()); }
  Tick at(unsigned number) const override { return pending_[number].at; }
  void perform(unsigned number) override { deliver(pending_[number]); }
  void clear() override { pending_.clear(); }

 private:
  enum class Kind : std::uint8_t { workgroup_done, fault, warning, message, wave_sync, code_changed };
  /// Kept small: there is one report per completed workgroup.
  struct Report {
    Kind kind = Kind::workgroup_done;
    Tick at{};
    Dispatch* dispatch = nullptr;  ///< null: the dispatch has been aborted
    std::vector<std::uint32_t> scratch_slots{};
    std::unique_ptr<WavefrontFault> fault{};  ///< set in reports of kinds fault and warning
    std::uint32_t m0 = 0;
    isa::WaveSyncRequest sync{};
    WaveSyncUnit* sync_unit = nullptr;
    WavefrontSlot* slot = nullptr;  ///< set in reports of kinds wave_sync and code_changed
  };

  void add(Report&& report);
  void deliver(Report& report);
  static void resume(WavefrontSlot& slot);

  const ComputeUnitPlace place_;
  const Clock clock_;
  bool immediate_;
  ComputeUnitListener& listener_;
  InstructionFetch& fetch_;
  std::vector<Report> pending_;
};

}  // namespace lacuna
