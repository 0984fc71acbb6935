// A compute unit: SIMDs with their register files and wavefront slots, a scalar unit, the LDS, and three memory ports.
//
//   WavefrontPool     slots, registers, workgroups
//   IssueScheduler    which wavefront is offered which cycle
//   InstructionFetch  each wavefront's instruction buffer     instruction_port
//   ScalarMemory      scalar loads and stores                 scalar_port
//   VectorMemory      coalesced lines of vector instructions  vector_port
//   LocalDataShare    banks of the LDS
//   MemoryTokens      memory instructions under way
//   LoadStage         stages of research machines before VectorMemory (models/compute/load_stage.h)
//
// Sockets (initiators, timing-only transactions, one per line; data move through the GPUVM's windows) are for memories that
// answer at once. A memory that answers later is attached beside its socket (attach_memory()).
//
// Issue: in cycle c SIMD c mod n is served. Its wavefronts are looked at in the order of the issue policy; each unit (VALU,
// SALU, SMEM, VMEM, LDS, branch, special) takes at most one instruction in that cycle, each wavefront gives at most one. An
// instruction's latency decides when the wavefront may issue again, and s_waitcnt when data count as there. A wavefront that
// waits for something whose time is not known yet is held, and wakes up when it is.
//
// An instruction executes functionally when it issues, or earlier: what follows in straight line and concerns registers and LDS
// alone (isa::Reach) executes together, up to the next barrier, branch or access to memory. Only wavefronts that race for LDS
// without a barrier could tell.
//
// A unit has no process of its own: Windows (models/compute/windows.h) runs all units of a GPU.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/execution_counts.h"
#include "models/compute/global_wave_sync.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/issue/issue_costs.h"
#include "models/compute/issue/issue_scheduler.h"
#include "models/compute/load_stage.h"
#include "models/compute/matrix/matrix_parameters.h"
#include "models/compute/matrix/matrix_results.h"
#include "models/compute/matrix/matrix_unit.h"
#include "models/compute/memory/local_data_share.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/scalar_memory.h"
#include "models/compute/memory/socket_memory.h"
#include "models/compute/memory/vector_memory.h"
#include "models/compute/wavefront_pool.h"
#include "models/compute/wavefront_snapshot.h"
#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/decoded_code.h"
#include "models/isa/memory/deferred_access.h"
#include "models/isa/scalar/gpr_index.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

class ComputeUnit;
class Windows;

/// A guest mistake of a wavefront, with everything that a report needs.
struct WavefrontFault {
  std::uint32_t code = 0;  ///< LACUNA_FAULT_*
  std::uint64_t address = 0;
  std::uint64_t pc = 0;
  std::string what;   ///< for a report: what, lane, address, nearest mapping
  std::string where;  ///< what follows kernel and PC in the report: instruction, workgroup, wavefront, compute unit
};

/// Receives events of compute units: at the ends of windows in order of time (models/compute/windows.h), at times ahead of the
/// SystemC kernel's; in functional mode immediately.
class ComputeUnitListener {
 public:
  virtual ~ComputeUnitListener() = default;
  /// All wavefronts of a workgroup have ended and its stores are performed at `at`; its resources are free from then on.
  /// `scratch_slots` are those that launch() was given.
  virtual void workgroup_done(ComputeUnit& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots, Tick at) = 0;
  /// A wavefront cannot go on. The listener is expected to abort the dispatch on all units.
  virtual void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// A wavefront went on after something that silicon does not do; once for each unit, kernel and instruction.
  virtual void wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// s_sendmsg MSG_INTERRUPT.
  virtual void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) = 0;
  /// ds_gws_*. False: the wavefront waits until release_from_sync() is called for its ticket.
  virtual bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) = 0;
};

struct ComputeUnitStatistics {
  std::array<std::uint64_t, isa::kUnits> issued{};
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t workgroups = 0;
  std::uint64_t valu_busy_cycles = 0;
  std::array<std::uint64_t, isa::kMatrixOperations> matrix_passes{};
  std::uint64_t fine_grained_float_atomics = 0;  ///< lanes
};

/// A pending report of a compute unit to its listener, delivered at the end of the window. Small: every workgroup ends with
/// one.
struct ComputeUnitReport {
  enum class Kind : std::uint8_t {
    workgroup_done,
    fault,
    warning,
    message,
    wave_sync,
    code_changed,  ///< s_icache_inv: stores to code take effect from the end of the window on
  };
  Kind kind = Kind::workgroup_done;
  Tick at{};
  Dispatch* dispatch = nullptr;  ///< null: it has been aborted
  std::vector<std::uint32_t> scratch_slots;
  std::unique_ptr<WavefrontFault> fault;  ///< of a fault or a warning
  std::uint32_t m0 = 0;
  isa::WaveSyncRequest sync{};
  WavefrontTicket wavefront;  ///< of wave_sync and code_changed: it is held until then
};

/// What the units of a GPU share. All of it outlives them.
struct ComputeUnitContext {
  TimingMode mode;
  isa::Target target;
  Clock clock;
  Clock timestamp;
  GpuVm& vm;
  isa::DecodedCode& code;
  LdsBanks& lds_banks;                          ///< shared by the units of a group
  VectorWorkspace* vector_workspace = nullptr;  ///< shared by the units of a group; null: each unit has its own
  ComputeUnitListener& listener;
  MatrixParameters matrix{};
  std::span<const LoadStageFactory> stages{};  ///< in the order in which an instruction passes them; not used without timing
  isa::FineGrainedFloatAtomics fine_grained_float_atomics = isa::FineGrainedFloatAtomics::apply;
  /// Allocates registers, LDS and wavefronts.
  std::pmr::memory_resource& memory = *std::pmr::get_default_resource();
};

class ComputeUnit : public sc_core::sc_module, private MemoryTokens::Listener {
 public:
  tlm_utils::simple_initiator_socket<ComputeUnit> vector_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> scalar_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> instruction_port;

  ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, ComputeUnitPlace place,
              const ComputeUnitContext& context);
  ~ComputeUnit() override;

  /// Makes the unit one of a group of `windows`, which run it. `stores` keeps its stores until the end of the window; null:
  /// they are performed immediately.
  void attach(Windows& windows, unsigned group, isa::StoreBuffer* stores);
  /// Memories that may answer later, in place of those that the sockets are bound to.
  void attach_memory(LineMemory& vector, LineMemory& scalar, LineMemory& instruction);
  /// The caches that instructions of this unit can invalidate.
  void attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction);
  /// The TLB of each port; null: translation takes no time.
  void attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction);
  void set_apertures(std::uint64_t shared, std::uint64_t private_base);

  /// Whether a workgroup would ever fit into an empty unit; the reason when not.
  std::optional<std::string> fit_error(const WorkgroupNeeds& needs) const { return pool_.fit_error(needs); }
  /// Allocates the resources of one workgroup and starts its wavefronts at `start`; false when they are not free now.
  /// `scratch_slots` holds one slot number for each wavefront when the dispatch uses scratch.
  bool launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start, std::span<const std::uint32_t> scratch_slots);
  /// Gives the wavefronts of a launched workgroup their initial state.
  void start(ResidentWorkgroup& group, Cycles at);
  /// Resumes a wavefront that waits for global wave sync, at `at` or slightly later.
  void release_from_sync(const WavefrontTicket& ticket, Tick at);
  /// Drops all wavefronts of a dispatch and frees their resources, without workgroup_done. Returns workgroups dropped.
  unsigned abort(const Dispatch& dispatch);

  /// Runs all cycles before `limit`, as far as their inputs are known.
  void run(Cycles limit);
  /// No wavefront can issue before this cycle; kNeverCycles: none can until an external event.
  Cycles earliest() const { return scheduler_.earliest(); }
  /// Prefetches the state of a unit that will run until `limit`.
  void prefetch(Cycles limit) const { scheduler_.prefetch(limit); }
  /// Returns to the initial state. All dispatches have been aborted; registers and LDS keep their contents.
  void reset();
  /// Drops bookings before Windows::horizon().
  void retire() {
    if (!works_) return;
    forget_bookings();
    works_ = !idle();
  }

  // At the end of a window, in this order; see Windows.

  /// Number of deferred memory accesses, in order of issue.
  unsigned deferred() const { return deferred_count_; }
  Cycles deferred_at(unsigned number) const { return deferred_[number]->at; }
  void perform_deferred(unsigned number, isa::DeferredAccessPerformer& performer) {
    performer.perform(deferred_[number]->access);
  }
  /// Called when all deferred accesses have been performed.
  void end_deferred();
  /// Number of pending reports, in order of occurrence.
  unsigned reports() const { return static_cast<unsigned>(reports_.size()); }
  Tick report_at(unsigned number) const { return reports_[number].at; }
  void deliver(unsigned number);
  /// Called when all reports have been delivered.
  void end_reports() { reports_.clear(); }

  bool idle() const { return pool_.resident() == 0; }
  const ComputeUnitPlace& place() const { return place_; }
  const ComputeUnitStatistics& statistics() const { return statistics_; }
  const LocalDataShare& lds() const { return lds_; }
  const MatrixUnits& matrix_units() const { return matrix_; }
  void describe(StatisticsGroup& group) const;
  /// Registers the energy of this unit's work, and enables the counters that only energy needs. Before the first launch.
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy);
  /// Requests of loads are also counted there, by time. Before the first launch.
  void count_requests(RequestTimeline& timeline) { tokens_.attach(&timeline); }
  /// Start of the oldest load with an outstanding answer; kNever: there is none.
  Tick oldest_load() const { return tokens_.oldest_load(); }
  unsigned resident_wavefronts() const { return pool_.resident(); }

  // For reports, between windows (compute_unit_snapshot.cpp).

  /// Adds the resident wavefronts.
  void take_snapshot(std::vector<WavefrontSnapshot>& wavefronts) const;
  /// Fills in `observation` of one that goes on: no more than `limit` instructions.
  void observe(WavefrontSnapshot& wavefront, unsigned limit) const;
  /// "s_cbranch_execnz 65530"; what is wrong when there is no instruction.
  std::string instruction_text(std::uint64_t pc) const;
  /// Why a workgroup that would fit into an empty unit does not fit now: "wavefront slots"; empty when it fits.
  std::string lacks(const WorkgroupNeeds& needs) const { return pool_.lacks(needs); }
  /// Adds the cycles of wavefronts that have not ended to those that ended wavefronts have been resident.
  void add_resident(const Dispatch& dispatch, KernelActivity& activity) const;

 private:
  static constexpr unsigned kLgkmLimit = 15;  // 4 bits on both targets
  static constexpr std::uint32_t kMessageInterrupt = 1;

  // compute_unit.cpp
  void start_wavefront(WavefrontSlot& slot, std::uint32_t scratch_slot, Cycles start);
  void end_wavefront(WavefrontSlot& slot, Cycles cycle);
  void end_workgroup(ResidentWorkgroup& group);
  void forget(WavefrontSlot& slot);
  void arrive_at_barrier(WavefrontSlot& slot, Cycles cycle);
  void release_barrier(ResidentWorkgroup& group);
  bool synchronise(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  // compute_unit_edge.cpp
  void defer(WavefrontSlot& slot, const isa::Instruction& instruction, MemoryTokens::Token token, Cycles cycle);
  ComputeUnitReport& report(ComputeUnitReport::Kind kind, Dispatch& dispatch, Tick at);
  void tell(ComputeUnitReport& report);
  void reported();
  void resume(const WavefrontTicket& wavefront);
  // compute_unit_functional.cpp
  void run_functional(Cycles limit);
  void run_wavefront(WavefrontSlot& slot, Cycles limit);
  // compute_unit_issue.cpp
  void run_timed(Cycles limit);
  bool prepare_stages(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  inline bool offer_cycle(Simd& simd, WavefrontSlot& slot, unsigned unit, Cycles cycle);
  bool counters_full(WavefrontSlot& slot, Cycles cycle);
  bool counter_full(WavefrontSlot& slot, WaitCounter& counter, unsigned limit, StallReason reason, Cycles cycle);
  static bool may_execute(const WavefrontSlot& slot) { return slot.next != nullptr && slot.allocation.holds(*slot.next); }
  void refuse(WavefrontSlot& slot, Cycles cycle);
  static constexpr bool executes_lanes(isa::Unit unit) {
    constexpr unsigned kOfLanes =
        1U << unsigned(isa::Unit::valu) | 1U << unsigned(isa::Unit::vmem) | 1U << unsigned(isa::Unit::lds);
    return (kOfLanes >> unsigned(unit) & 1) != 0;
  }
  static inline std::uint64_t threads_of(const isa::Instruction& instruction, const isa::Wavefront& wave);
  inline void execute(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void execute_ahead(WavefrontSlot& slot, const isa::DecodedInstruction& instruction);
  inline void issue(Simd& simd, WavefrontSlot& slot, Cycles cycle);
  inline void issue_wait(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  inline void issue_executed(Simd& simd, WavefrontSlot& slot, Cycles cycle);
  inline void count(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t threads);
  inline void go_on(WavefrontSlot& slot, const isa::DecodedInstruction& executed, Cycles cycle);
  inline Cycles after_issue(Simd& simd, WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void access_memory(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void access_lds(WavefrontSlot& slot, LdsCycles taken, Cycles cycle);
  bool invalidate_caches(WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle);
  /// False when the wavefront does not go on to its next instruction: it ended, faulted, or waits at a barrier.
  bool handle_event(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  // compute_unit_matrix.cpp
  bool waits_for_matrix(WavefrontSlot& slot, Cycles cycle);
  std::uint64_t issue_matrix(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  // compute_unit_waits.cpp
  void wait_count(WavefrontSlot& slot, std::uint32_t simm16, Cycles cycle);
  void operation_closed(WavefrontSlot& slot) override;
  void operation_closed(ResidentWorkgroup& group, Cycles done) override;
  void registers_filled(WavefrontSlot& slot, unsigned stage, Cycles done, const OperationDelays& delays) override {
    stages_[stage]->registers_filled(slot, done, delays);
  }
  void end_wait(WavefrontSlot& slot, WaitCounter& counter, unsigned n, StallCause cause, Cycles from);
  // compute_unit_faults.cpp
  void fault(WavefrontSlot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc, const std::string& what,
             Cycles cycle, const std::string& remark = {});
  void trap(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  /// Before the horizon.
  void forget_bookings();
  void memory_fault(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  void private_fault(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  std::string nearest(std::uint64_t address) const;
  void fetch_fault(WavefrontSlot& slot, Cycles cycle);
  std::unique_ptr<WavefrontFault> fault_report(const WavefrontSlot& slot, std::uint32_t code, std::uint64_t address,
                                               std::uint64_t pc, const std::string& what, const std::string& remark = {}) const;
  // compute_unit_warnings.cpp
  void warn_of_fine_grained_atomic(const WavefrontSlot& slot, std::uint64_t pc, Cycles cycle);
  // compute_unit_snapshot.cpp
  const isa::DecodedInstruction* previous_instruction(const WavefrontSlot& slot) const;
  WavefrontWait wait_of(const WavefrontSlot& slot) const;

  const ComputeUnitParameters parameters_;
  const ComputeUnitPlace place_;
  const TimingMode mode_;
  const isa::Target target_;
  const Clock clock_;
  const Clock timestamp_;
  const isa::FineGrainedFloatAtomics fine_grained_float_atomics_;
  const unsigned vmcnt_limit_;  ///< largest value of the target's counter: also the s_waitcnt field that waits for nothing
  GpuVm& vm_;
  ComputeUnitListener& listener_;
  Windows* windows_ = nullptr;
  unsigned group_ = 0;
  isa::StoreBuffer* stores_ = nullptr;
  CacheMaintenance* l1_vector_ = nullptr;
  CacheMaintenance* l1_scalar_ = nullptr;
  CacheMaintenance* l1_instruction_ = nullptr;
  bool works_ = false;  ///< has had wavefronts since the last retire(): there are bookings to drop
  std::uint64_t shared_aperture_ = 0;
  std::uint64_t private_aperture_ = 0;

  SocketMemory vector_socket_;
  SocketMemory scalar_socket_;
  SocketMemory instruction_socket_;
  WavefrontPool pool_;
  IssueScheduler scheduler_;
  const IssueCosts costs_;
  MemoryTokens tokens_;
  VectorMemory vector_memory_;
  ScalarMemory scalar_memory_;
  InstructionFetch fetch_;
  LocalDataShare lds_;
  const MatrixParameters matrix_parameters_;
  MatrixUnits matrix_;
  std::unique_ptr<MatrixResults> matrix_results_;  ///< null: programs wait for all of them
  std::vector<std::unique_ptr<LoadStage>> stages_;
  LoadStage* first_stage_ = nullptr;  ///< null: there is none
  ComputeUnitStatistics statistics_;
  std::unique_ptr<ExecutionCounts> executions_;  ///< null: energy is not accounted for

  /// A memory access that a wavefront has issued and that is performed at the end of the window.
  struct Deferred {
    Cycles at;
    MemoryTokens::Token token = 0;
    isa::DeferredAccess access;
  };
  std::vector<std::unique_ptr<Deferred>> deferred_;  // of this window the first deferred_count_
  unsigned deferred_count_ = 0;
  std::vector<ComputeUnitReport> reports_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> warned_;  ///< kernel's entry point and PC of warnings
};

/// What an instruction adds to thread_instructions.
inline std::uint64_t ComputeUnit::threads_of(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  // No branch: the host cannot foresee the unit.
  const std::uint64_t of_lanes = executes_lanes(instruction.unit) ? 1 : 0;
  return (static_cast<std::uint64_t>(std::popcount(wave.exec())) & (0 - of_lanes)) | (of_lanes ^ 1);
}

inline void ComputeUnit::execute(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  if (instruction.unit == isa::Unit::smem) {  // s_memtime, s_memrealtime
    wave.clock = cycle.n;
    wave.real_time = timestamp_.floor(clock_.ticks(cycle)).n;
  }
  wave.pc = instruction.end;
  isa::execute_instruction(instruction, wave);
}

// What the last instruction asked for happens, and the next one is fetched.
inline void ComputeUnit::go_on(WavefrontSlot& slot, const isa::DecodedInstruction& executed, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  if (wave.event != isa::Event::none) {
    if (wave.event == isa::Event::end_program) {
      wave.event = isa::Event::none;
      end_wavefront(slot, cycle);
      return;
    }
    slot.account(StallCause::dependency, slot.when);
    if (!handle_event(slot, executed, executed.end - executed.size, cycle)) return;
  } else {
    slot.account(StallCause::dependency, slot.when);
  }
  fetch_.fetch(slot, cycle);
}

}  // namespace lacuna
