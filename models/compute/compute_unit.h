// A compute unit: SIMDs with their register files and wavefront slots, a scalar unit, the LDS, and three memory ports.
//
//   WavefrontPool       slots, registers, LDS bytes
//   WorkgroupLifecycle  workgroups from launch to completion, barriers
//   IssueScheduler      order in which wavefronts are offered cycles
//   InstructionFetch    instruction buffers of the wavefronts         instruction_port
//   InstructionExecution  functional execution
//   WavefrontEvents     barriers, messages, sleep, cache invalidation
//   MemoryPipe          memory and LDS instructions, wait counters    vector_port, scalar_port
//   MatrixPipe          matrix instructions
//   UnitReports         reports to the listener at the end of the window
//   FaultReports        errors and warnings of wavefronts
//   FunctionalIssue     issue without timing
//   WavefrontInspector  resident wavefronts, for reports on a run
//
// Sockets (initiators, timing-only transactions, one per line; data move through the GPUVM's windows) are for memories that
// respond immediately. Memories that may respond later are attached by attach_memory().
//
// Issue: with SimdPolicy::in_turn, SIMDs are served in turn, each every min(simds, 64 / lanes_per_simd) cycles (SimdTimes). A
// SIMD's wavefronts are considered in the order of the issue policy. In a cycle of a SIMD, each unit (VALU, SALU, SMEM, VMEM,
// LDS, branch) accepts at most one instruction, and each wavefront issues at most one. Special instructions, such as waits and
// barriers, need no unit. The instruction's latency determines when the wavefront may issue again; s_waitcnt determines when
// loaded data are available. A wavefront that waits for an event without a known time is held (StallReason).
//
// An instruction executes functionally when it issues or, in wavefronts that no load stage serves, earlier: straight-line
// instructions that access only registers and LDS (isa::Reach) execute together, up to the next barrier, branch or memory
// access. Only a data race in LDS could observe the difference.
//
// A unit has no SystemC process: Windows (models/compute/windows.h) runs all units of a GPU. Host performance:
// models/compute/detail/host_prefetch.h.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/compute/address_range.h"
#include "models/compute/compute_unit_context.h"
#include "models/compute/compute_unit_listener.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/execution_counts.h"
#include "models/compute/issue/functional_issue.h"
#include "models/compute/issue/instruction_execution.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/issue/issue_costs.h"
#include "models/compute/issue/issue_scheduler.h"
#include "models/compute/issue/issue_statistics.h"
#include "models/compute/matrix/matrix_pipe.h"
#include "models/compute/memory/memory_pipe.h"
#include "models/compute/memory/socket_memory.h"
#include "models/compute/reports/fault_reports.h"
#include "models/compute/reports/unit_reports.h"
#include "models/compute/wavefront_events.h"
#include "models/compute/wavefront_inspector.h"
#include "models/compute/wavefront_pool.h"
#include "models/compute/windowed_unit.h"
#include "models/compute/workgroup_lifecycle.h"

namespace lacuna {

class ComputeUnit final : public sc_core::sc_module, public WindowedUnit, public WaveSyncUnit {
 public:
  tlm_utils::simple_initiator_socket<ComputeUnit> vector_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> scalar_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> instruction_port;

  ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, ComputeUnitPlace place,
              const ComputeUnitContext& context);
  ~ComputeUnit() override;

  // -- wiring, before the first launch

  /// Attaches memories that may respond later, instead of those bound to the sockets.
  void attach_memory(MemoryTarget& vector, MemoryTarget& scalar, MemoryTarget& instruction);
  /// Attaches the caches that instructions of this unit can invalidate.
  void attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction) {
    events_.attach_caches(l1_vector, l1_scalar, l1_instruction);
  }
  /// Attaches the TLB of each port; null: translation takes no time.
  void attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction);
  void set_apertures(std::uint64_t shared, std::uint64_t private_base);
  /// Registers the energy of this unit's work, and enables the counters that only energy needs.
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy);
  /// Samples of the data of this unit's instructions; null: energy is not accounted for.
  ToggleSamples* toggles() { return executions_ ? &executions_->toggles() : nullptr; }
  /// Attaches the timeline that records the number of load requests over time.
  void count_requests(RequestTimeline& timeline) { memory_.count_requests(timeline); }

  // -- workgroups

  /// The reason why a workgroup does not fit into an empty unit; nullopt if it fits.
  std::optional<std::string> fit_error(const WorkgroupNeeds& needs) const { return pool_.fit_error(needs); }
  /// Name of a resource of which too little is free for a workgroup now, for reports, such as "wavefront slots"; empty if the
  /// workgroup fits.
  std::string lacks(const WorkgroupNeeds& needs) const { return pool_.lacks(needs); }
  /// Allocates the resources of a workgroup and starts its wavefronts at `start`; returns false if the resources are not free
  /// now. `scratch_slots`: a slot number for each wavefront, if the dispatch uses scratch.
  bool launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start, std::span<const std::uint32_t> scratch_slots);
  void release_from_sync(const WavefrontTicket& ticket, Tick at) override;
  /// Drops all wavefronts of a dispatch and frees their resources, without a call of workgroup_done(). Returns the number of
  /// workgroups dropped.
  unsigned abort(const Dispatch& dispatch);
  /// Returns the unit to its initial state, after all dispatches have been aborted. Registers and LDS keep their contents.
  void reset();

  // -- windows

  void attach(Windows& windows, const WindowGroup& group) override;
  void start(ResidentWorkgroup& workgroup, Cycles at) override { workgroups_.start(workgroup, at); }
  void run(Cycles limit) override;
  Cycles earliest() const override { return scheduler_.earliest(); }
  bool idle() const override { return pool_.resident() == 0; }
  void retire() override;
  DeferredWork& accesses() override { return memory_.deferred(); }
  DeferredWork& reports() override { return reports_; }

  // -- functional execution of a part of a kernel (models/sampling), between windows

  /// Takes the resident wavefronts, all of which belong to `dispatch`, out of simulated time and drops their memory operations
  /// in flight. The cycles of the untimed part count from `from`.
  void suspend_timing(const Dispatch& dispatch, Cycles from);
  /// Executes all cycles before `limit` functionally, one instruction per cycle and wavefront, including workgroups that have
  /// been launched but not started.
  void run_untimed(Cycles limit);
  /// For a unit without timing that a host thread may run concurrently with others (UntimedUnits): the unit counts the work of
  /// a dispatch under number `group` (Dispatch::work_of()); `stores` is used by set_buffered().
  void attach_untimed(unsigned group, isa::StoreBuffer& stores) { workgroups_.attach(group, &stores); }
  /// Launches a workgroup of a dispatch without scratch memory, whose wavefronts start at cycle `at`; false if it does not fit
  /// now. Its wavefronts are not counted in Dispatch::wavefronts.
  bool launch_untimed(Dispatch& dispatch, std::uint64_t workgroup, Cycles at);
  /// Sets whether stores are kept in the store buffer, and whether reports are kept until they are delivered. When buffering
  /// ends, the wavefronts that run_buffered() has held continue at cycle `at`.
  void set_buffered(bool buffered, Cycles at);
  /// As run_untimed(), with buffered stores. A wavefront is held before an atomic operation, or before an access that must
  /// follow an atomic operation.
  void run_buffered(Cycles limit);
  /// Number of wavefronts launched so far.
  std::uint64_t wavefronts() const { return workgroups_.wavefronts(); }
  /// Adds the addresses at which the resident wavefronts are to a range.
  void add_addresses(AddressRange& code) const;
  /// Records the wavefronts' instruction counts at the beginning (`part` = 0) or the middle (1) of a sample of their rates.
  void sample_wavefronts(unsigned part);
  /// Begins an untimed part at cycle `from` (suspend_timing()) and sets the rate of each workgroup in this part, in
  /// instructions of a wavefront per sample. `mean`: average rate of all workgroups. A workgroup that was faster than `mean` in
  /// both halves of the sample, or slower in both, keeps the smaller of its two deviations; all others have the rate `mean`.
  void begin_progress(double mean, Cycles from);
  /// Continues the untimed part: each wavefront that was resident at begin_progress() executes `progress` times the rate of its
  /// workgroup; `progress` = 1 corresponds to one sample. Wavefronts that have started since then run up to cycle `limit`.
  /// A wavefront stops for the rest of the part when it leaves `code`. Returns the number of wavefronts that have stopped.
  unsigned run_untimed(double progress, Cycles limit, const AddressRange& code);
  /// Ends the untimed part: wavefronts continue in simulated time at cycle `at`.
  void resume_timing(Cycles at);
  unsigned resident_wavefronts() const { return pool_.resident(); }

  // -- statistics and reports

  const ComputeUnitPlace& place() const { return place_; }
  const IssueStatistics& statistics() const { return statistics_; }
  /// Number of workgroups launched so far.
  const std::uint64_t& workgroups() const { return workgroups_.workgroups(); }
  const LocalDataShare& lds() const { return memory_.lds(); }
  const MatrixUnits& matrix_units() const { return matrix_.units(); }
  /// Cycles for which groups of lanes have occupied the address unit, with LaneGroups::quads.
  std::uint64_t vector_group_cycles() const { return memory_.vector_group_cycles(); }
  void describe(StatisticsGroup& group) const;
  /// Start of the oldest load with an outstanding response; kNever: there is none.
  Tick oldest_load() const { return memory_.oldest_load(); }
  /// Appends the resident wavefronts. Call it between windows.
  void take_snapshot(std::vector<WavefrontSnapshot>& wavefronts) const;
  /// See WavefrontInspector::add_resident().
  void add_resident(const Dispatch& dispatch, KernelActivity& activity) const { inspector_.add_resident(dispatch, activity); }

 private:
  void announce(Cycles limit) const override;
  void drop_bookings();
  void set_timed(bool timed);
  static double share_of(const ResidentWorkgroup& group, double mean);

  // compute_unit_issue.cpp
  /// Counts the instructions that execute_ahead() has executed, and moves the wavefront's PC past them.
  void skip_executed(WavefrontSlot& slot);
  void run_timed(Cycles limit);
  inline CycleUse offer_cycle(Simd& simd, WavefrontSlot& slot, unsigned unit, Cycles cycle);
  /// Issues the wavefront's next instruction. Returns whether the instruction has been committed without execution.
  inline bool issue(Simd& simd, WavefrontSlot& slot, Cycles cycle);
  inline void issue_wait(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  inline void issue_executed(Simd& simd, WavefrontSlot& slot, Cycles cycle);
  inline void count(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t threads,
                    std::uint64_t elsewhere = 0);
  void take_vector_unit(Simd& simd, WavefrontSlot& slot, const StageVerdict& verdict, Cycles cycle);
  inline Cycles after_issue(Simd& simd, WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void execute_ahead(WavefrontSlot& slot, const isa::DecodedInstruction& instruction);

  const ComputeUnitParameters parameters_;
  const ComputeUnitPlace place_;
  const TimingMode mode_;
  const isa::Target target_;
  const Clock clock_;
  Windows* windows_ = nullptr;
  unsigned group_ = 0;
  bool works_ = false;  ///< whether the unit has had wavefronts since the last retire(), so there are bookings to drop

  SocketMemory vector_socket_;
  SocketMemory scalar_socket_;
  SocketMemory instruction_socket_;
  WavefrontPool pool_;
  IssueScheduler scheduler_;
  const IssueCosts costs_;
  IssueStatistics statistics_;
  std::unique_ptr<ExecutionCounts> executions_;  ///< null: energy is not accounted for
  InstructionFetch fetch_;
  MatrixPipe matrix_;
  UnitReports reports_;
  FaultReports faults_;
  WorkgroupLifecycle workgroups_;
  MemoryPipe memory_;
  WavefrontEvents events_;
  InstructionExecution execution_;
  FunctionalIssue functional_issue_;
  WavefrontInspector inspector_;
};

}  // namespace lacuna
