// Events that instructions raise in their wavefronts (isa::Event): barriers, messages, sleep, cache invalidation, faults, the
// end of the program.
//
// An event may hold its wavefront: barriers (WorkgroupLifecycle), global wave sync and s_icache_inv (StallReason::sync, until a
// report is delivered), faults (permanently).
#pragma once

#include <cstdint>

#include "models/common/transport/cache_maintenance.h"
#include "models/compute/compute_unit_context.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/global_wave_sync.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/reports/fault_reports.h"
#include "models/compute/reports/unit_reports.h"
#include "models/compute/wavefront_pool.h"
#include "models/compute/workgroup_lifecycle.h"

namespace lacuna {

class WavefrontEvents {
 public:
  /// `unit`: releases wavefronts from global wave sync. The referenced objects must outlive this object.
  WavefrontEvents(const ComputeUnitParameters& parameters, const ComputeUnitContext& context, InstructionFetch& fetch,
                  WorkgroupLifecycle& workgroups, UnitReports& reports, FaultReports& faults, WaveSyncUnit& unit);

  /// Attaches the caches that instructions can invalidate; null: invalidation takes no time.
  void attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction) {
    l1_vector_ = l1_vector;
    l1_scalar_ = l1_scalar;
    l1_instruction_ = l1_instruction;
  }

  /// Sets whether events take time from now on.
  void set_timed(bool timed) { timed_ = timed; }
  /// Handles and clears the event that the instruction executed in `cycle` has raised. Returns false if the wavefront does not
  /// continue with its next instruction: it has ended, has faulted, or is held; if it is held at a barrier or for global wave
  /// sync, the next instruction has been fetched.
  bool handle(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  /// Resumes a wavefront that is held for global wave sync, at `at` or slightly later.
  void release_from_sync(WavefrontSlot& slot, Tick at);

 private:
  void send_message(const WavefrontSlot& slot, Cycles cycle);
  bool synchronise(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  bool invalidate_caches(WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle);

  bool timed_;
  const Clock clock_;
  const Cycles wait_state_cycles_;
  const Cycles sync_latency_;
  InstructionFetch& fetch_;
  WorkgroupLifecycle& workgroups_;
  UnitReports& reports_;
  FaultReports& faults_;
  WaveSyncUnit& unit_;
  CacheMaintenance* l1_vector_ = nullptr;
  CacheMaintenance* l1_scalar_ = nullptr;
  CacheMaintenance* l1_instruction_ = nullptr;
};

}  // namespace lacuna
