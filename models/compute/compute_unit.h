// A compute unit: SIMDs with their register files and wavefront slots, a scalar unit, the LDS, and three memory ports.
//
// Sockets (initiators, timing-only transactions; data move through the GPUVM's windows):
//   vector_port       loads, stores and atomics of the vector memory unit, one per coalesced line
//   scalar_port       scalar loads and stores, one per 64-byte line
//   instruction_port  instruction fetch, one per 64-byte line
//
// Issue: in cycle c SIMD c mod n is served. Its wavefronts are looked at in the order of the issue policy; each unit (VALU,
// SALU, SMEM, VMEM, LDS, branch, special) takes at most one instruction in that cycle, each wavefront gives at most one. An
// instruction executes functionally when it issues; its latency decides when the wavefront may issue again, and s_waitcnt when
// data count as there.
//
// Temporal decoupling: run() works off all cycles up to the quantum, then gives control back to the kernel.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <array>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/common/cache_maintenance.h"
#include "models/common/calendar.h"
#include "models/common/host_prefetch.h"
#include "models/common/statistics.h"
#include "models/common/timing_payload.h"
#include "models/common/translation_level.h"
#include "models/common/units.h"
#include "models/compute/coalescer.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/global_wave_sync.h"
#include "models/compute/lds_banks.h"
#include "models/compute/range_allocator.h"
#include "models/compute/reorder_buffer.h"
#include "models/compute/wait_counter.h"
#include "models/isa/decoded_code.h"
#include "models/isa/wavefront.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

class ComputeUnit;

/// What a wavefront did wrong, with all that a report needs.
struct WavefrontFault {
  std::uint32_t code = 0;  ///< LACUNA_FAULT_*
  std::uint64_t address = 0;
  std::uint64_t pc = 0;
  std::string what;   ///< for a report: what, lane, address, nearest mapping
  std::string where;  ///< what follows kernel and PC in the report: instruction, workgroup, wavefront, compute unit
};

/// Receives what happens in compute units. Called from within their processes, at local times ahead of the kernel's.
class ComputeUnitListener {
 public:
  virtual ~ComputeUnitListener() = default;
  /// All wavefronts of a workgroup have ended and its stores are performed at `at`; its resources are free from then on.
  /// `scratch_slots` are those that launch() was given.
  virtual void workgroup_done(ComputeUnit& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots, Tick at) = 0;
  /// A wavefront cannot go on. The listener is expected to abort the dispatch on all units.
  virtual void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// s_sendmsg MSG_INTERRUPT.
  virtual void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) = 0;
  /// ds_gws_*. False: the wavefront waits until release_from_sync() is called for its ticket.
  virtual bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) = 0;
};

struct ComputeUnitStatistics {
  std::array<std::uint64_t, static_cast<std::size_t>(isa::Unit::count)> issued{};
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t workgroups = 0;
  std::uint64_t vector_requests = 0;
  std::uint64_t scalar_requests = 0;
  std::uint64_t instruction_requests = 0;
  std::uint64_t valu_busy_cycles = 0;
  std::uint64_t lds_conflict_cycles = 0;
  void describe(StatisticsGroup& g) const;
};

/// Placement of a compute unit in the GPU, for HW_ID and statistics.
struct ComputeUnitPlace {
  unsigned index = 0;  ///< over the whole GPU
  unsigned shader_array = 0;
  unsigned in_array = 0;
};

class ComputeUnit : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<ComputeUnit> vector_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> scalar_port;
  tlm_utils::simple_initiator_socket<ComputeUnit> instruction_port;

  /// `vm`, `code` and `lds_banks` are shared by all units of a GPU and outlive it, as does `memory`, which registers, LDS and
  /// wavefronts come from. Quantum in core clock cycles, at least 1.
  ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, TimingMode mode, Clock clock,
              Clock timestamp, Cycles quantum, ComputeUnitPlace place, isa::Target target, GpuVm& vm, isa::DecodedCode& code,
              LdsBanks& lds_banks, ComputeUnitListener& listener,
              std::pmr::memory_resource& memory = *std::pmr::get_default_resource());
  ~ComputeUnit() override;

  /// The caches that instructions of this unit can invalidate.
  void attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction);
  /// What to tell of the vector port's next requests; null: nothing.
  void attach_prefetch(const HostPrefetch* vector) { prefetch_ = vector; }
  /// What translates the addresses of each port; null: translation takes no time.
  void attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction);
  void set_apertures(std::uint64_t shared, std::uint64_t private_base);

  /// Whether a workgroup would ever fit into an empty unit; the reason when not.
  std::optional<std::string> never_fits(const WorkgroupNeeds& needs) const;
  /// Takes the resources of one workgroup and starts its wavefronts at `start`; false when they are not free now.
  /// `scratch_slots` holds one slot number for each wavefront when the dispatch uses scratch.
  bool launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start, std::span<const std::uint32_t> scratch_slots);
  /// A wavefront that waits for global wave sync goes on, at `at` or a little later.
  void release_from_sync(const WavefrontTicket& ticket, Tick at);
  /// Drops all wavefronts of a dispatch and frees their resources, without workgroup_done. Returns workgroups dropped.
  unsigned abort(const Dispatch& dispatch);

  bool idle() const { return active_wavefronts_ == 0; }
  const ComputeUnitPlace& place() const { return place_; }
  const ComputeUnitStatistics& statistics() const { return statistics_; }
  unsigned resident_wavefronts() const { return active_wavefronts_; }
  /// One line per resident wavefront: where it is and what it waits for.
  void diagnose(std::ostream& out) const;

 private:
  struct Workgroup;
  struct Slot;
  struct Simd;
  /// One transaction to a memory port.
  struct Request {
    RequestKind kind = RequestKind::vector;
    std::uint64_t address = 0;  ///< bus address
    unsigned bytes = 0;
    bool write = false;
    bool atomic = false;
    bool bypass_l1 = false;
    std::uint64_t byte_mask = ~std::uint64_t{0};
  };
  struct MemoryResult {
    Cycles done{};
    OperationDelays delays;
  };
  /// The request of an instruction whose answer comes last, and the time that it waited.
  struct LatestAnswer {
    Tick at{};
    Tick tlb{};
    Tick mshr{};
    Tick queues{};  ///< MSHRs included
  };
  class RequestAccount;
  static constexpr unsigned kNobody = ~0U;
  static constexpr std::uint64_t kUnmapped = ~std::uint64_t{0};
  static constexpr unsigned kLgkmLimit = 15;  // 4 bits on both targets
  static constexpr std::uint32_t kMessageInterrupt = 1;
  static constexpr unsigned kScalarLineBytes = 64;
  static constexpr std::uint64_t kScalarIssueCycles = 4;

  // compute_unit.cpp
  void run();
  // compute_unit_issue.cpp
  void run_timed(Cycles now, Cycles limit);
  void run_functional(Cycles now, Cycles limit);
  void run_in_turn(Cycles now, Cycles limit);
  void run_last_served(Cycles now, Cycles limit);
  void serve(Simd& simd, Cycles cycle);
  bool offer_cycle(Simd& simd, unsigned number, Cycles cycle, unsigned& used);
  bool counters_full(Slot& slot, Cycles cycle);
  template <bool kTimed>
  void issue(Simd& simd, Slot& slot, Cycles cycle);
  Cycles after_issue(Simd& simd, const isa::Instruction& instruction, Cycles cycle);
  /// False when the wavefront does not go on to its next instruction: it ended, faulted, or waits at a barrier.
  bool handle_event(Slot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  void wait_count(Slot& slot, std::uint32_t simm16, Cycles cycle);
  void arrive_at_barrier(Slot& slot, Cycles cycle);
  void release_barrier(Workgroup& group);
  void end_wavefront(Slot& slot, Cycles cycle);
  // compute_unit_sync.cpp
  bool synchronise(Slot& slot, std::uint64_t pc, Cycles cycle);
  // compute_unit_faults.cpp
  void fault(Slot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc, const std::string& what, Cycles cycle);
  void memory_fault(Slot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle);
  void fetch_fault(Slot& slot, Cycles cycle);
  // compute_unit_memory.cpp
  void fetch(Slot& slot, Cycles cycle);
  Cycles fetch_line(const Dispatch& dispatch, std::uint64_t line, Cycles cycle);
  std::optional<std::uint64_t> physical(std::uint64_t address);
  /// When a translation is known that is asked for at `at`.
  Tick translate(TranslationLevel* tlb, std::uint64_t address, Tick at);
  /// The request leaves for the port at `at`. Returns when the answer is here; where the time went is added up in payload_.
  Tick transport(tlm_utils::simple_initiator_socket<ComputeUnit>& port, const Request& request, Tick at);
  void vector_memory(Slot& slot, const isa::Instruction& instruction, Cycles cycle);
  /// When data of an access are there, and what made them late.
  MemoryResult global_access(const isa::MemoryAccess& access, Cycles cycle, KernelActivity& activity);
  void scalar_memory(Slot& slot, Cycles cycle);
  void lds_memory(Slot& slot, Cycles cycle);
  MemoryResult lds_access(const Slot& slot, Cycles cycle);
  void invalidate_caches(Slot& slot, const isa::Instruction& instruction, Cycles cycle);
  // compute_unit_launch.cpp
  unsigned vgpr_granules(const WorkgroupNeeds& needs) const;
  bool place(const WorkgroupNeeds& needs);
  void unplace(Slot& slot);
  void start_wavefront(Slot& slot, Workgroup& group, unsigned wave_in_group, std::uint32_t scratch_slot, Cycles start);
  void release(Slot& slot);
  void release(Workgroup& group);

  ComputeUnitParameters parameters_;
  TimingMode mode_;
  Clock clock_;
  Clock timestamp_;
  Cycles quantum_;
  ComputeUnitPlace place_;
  isa::Target target_;
  unsigned vmcnt_limit_;  ///< largest value of the target's counter: also the s_waitcnt field that waits for nothing
  GpuVm& vm_;
  isa::DecodedCode& code_;
  LdsBanks& lds_banks_;
  ComputeUnitListener& listener_;
  CacheMaintenance* l1_vector_ = nullptr;
  CacheMaintenance* l1_scalar_ = nullptr;
  CacheMaintenance* l1_instruction_ = nullptr;
  const HostPrefetch* prefetch_ = nullptr;
  TranslationLevel* vector_tlb_ = nullptr;
  TranslationLevel* scalar_tlb_ = nullptr;
  TranslationLevel* instruction_tlb_ = nullptr;
  std::uint64_t shared_aperture_ = 0;
  std::uint64_t private_aperture_ = 0;

  sc_core::sc_event wake_;
  std::pmr::memory_resource& memory_;
  std::vector<std::unique_ptr<Simd>> simds_;
  unsigned last_served_ = 0;
  std::vector<std::unique_ptr<Workgroup>> workgroups_;
  std::pmr::vector<std::byte> lds_;
  RangeAllocator lds_granules_;
  std::vector<Slot*> placement_;  // scratch of place(), kept to avoid allocation
  unsigned active_wavefronts_ = 0;
  unsigned next_simd_ = 0;

  // Resources
  Calendar vmem_port_;
  Calendar lds_port_;
  Calendar smem_port_;
  ReorderBuffer reorder_;
  Coalescer coalescer_;
  isa::LaneAddresses addresses_;  ///< of the instruction that executed last
  /// Bus addresses of an instruction's lines, kUnmapped for lines that are not mapped.
  std::array<std::uint64_t, 2 * isa::kLanes> line_addresses_;
  TimingPayload payload_;  ///< of the request that is under way
  isa::MemoryWindow window_;
  std::uint64_t window_epoch_ = ~std::uint64_t{0};

  ComputeUnitStatistics statistics_;
};

}  // namespace lacuna
