// Resident wavefronts of a compute unit: their slots, registers and workgroups, and the LDS that they share.
//
// A workgroup is placed as a whole: a slot, vector and scalar registers for each of its wavefronts, on the SIMDs in rotation,
// and its part of the LDS. Resources are free again after release().
//
// Most of a large GPU may never be used, so a pool that has held no wavefront costs the host almost nothing: memory of
// registers and LDS is not touched, and slots and workgroups are constructed when they are first placed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/common/host/zeroed_block.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/dispatch.h"
#include "models/compute/issue/issue_state.h"
#include "models/compute/issue/wait_counter.h"
#include "models/compute/kernel_activity.h"
#include "models/compute/memory/lds_banks.h"
#include "models/compute/range_allocator.h"
#include "models/isa/analysis/register_masks.h"
#include "models/isa/analysis/register_use.h"
#include "models/isa/wavefront.h"

namespace lacuna {

/// A resident workgroup.
struct ResidentWorkgroup {
  Dispatch* dispatch = nullptr;  ///< null: free
  DispatchWork* work = nullptr;  ///< counters of the dispatch to which the workgroup's wavefronts add
  std::uint64_t linear_id = 0;
  std::array<std::uint32_t, 3> id{};
  unsigned lds_granule = 0;  ///< first granule of the workgroup's LDS
  unsigned lds_granules = 0;
  /// Slots of the wavefronts, by number in the workgroup. The slot of an ended wavefront may have been reused.
  std::array<WavefrontSlot*, kMaxWavefrontsPerWorkgroup> slots{};
  unsigned wavefronts = 0;
  std::array<std::uint32_t, kMaxWavefrontsPerWorkgroup> scratch_slots{};
  unsigned scratch_count = 0;
  unsigned running = 0;     ///< wavefronts that have not ended
  unsigned at_barrier = 0;  ///< wavefronts held at s_barrier
  unsigned open = 0;        ///< memory operations of ended wavefronts whose completion is not known yet
  Cycles latest_arrival{};
  Cycles end{};  ///< latest completion of ended wavefronts, including their stores
};

/// Reasons why a wavefront may not issue until an event whose time is not known yet. A wavefront may have several reasons at a
/// time, one bit each. Waits that end in a known cycle have no reason here: they delay WavefrontSlot::when. The cycles of both
/// kinds of wait are charged to a StallCause (kernel_activity.h).
enum class StallReason : std::uint16_t {
  fetch = 1,        ///< the line of the wavefront's next instruction has not arrived
  vmcnt = 2,        ///< s_waitcnt vmcnt
  lgkmcnt = 4,      ///< s_waitcnt lgkmcnt
  vm_limit = 8,     ///< vmcnt is at its limit: the next instruction cannot be counted
  lgkm_limit = 16,  ///< lgkmcnt is at its limit
  barrier = 32,     ///< s_barrier
  sync = 64,        ///< global wave sync, or a change of code that takes effect at the end of the window
  fault = 128,      ///< the wavefront has faulted and never issues again
  registers = 256,  ///< a load stage has to fill registers of the next instruction first (load_stage.h)
  order = 512,      ///< without timing: an access that must follow others waits until stores are no longer buffered
};

struct Simd;

/// A slot of a SIMD and the wavefront in it. The members that every issue reads are first.
struct alignas(64) WavefrontSlot {
  WavefrontSlot(Simd& owner, unsigned slot_number) : simd(&owner), number(static_cast<std::uint8_t>(slot_number)) {}

  const isa::DecodedInstruction* next = nullptr;  ///< next instruction; null: fetch failure, reported at issue time
  Cycles when{};                                  ///< earliest issue of the next instruction, as far as known
  ResidentWorkgroup* group = nullptr;
  Simd* simd;
  // Account of the wavefront's cycles; not used in functional mode. Every cycle from `launched` on is charged to one cause, in
  // order, possibly ahead of time: `accounted` is the first cycle that has not been charged.
  WavefrontClass* activity = nullptr;
  Cycles accounted{};
  std::uint8_t number;           ///< index in Simd::slots
  std::uint8_t ahead = 0;        ///< number of instructions from `next` on that have executed but not issued
  std::uint8_t ahead_lds = 0;    ///< index in ahead_lds_cycles of the next LDS instruction that has executed but not issued
  std::uint8_t ahead_lanes = 0;  ///< number of active lanes of each instruction that has executed ahead: none writes EXEC
  std::uint16_t stalls = 0;      ///< bits of StallReason; 0: the wavefront may issue from `when` on
  bool staged = false;           ///< whether a load stage serves the wavefront (load_stage.h)
  std::uint32_t issued = 0;      ///< instructions issued, modulo 2^32
  isa::Allocation allocation;    ///< registers of `wave`
  /// The instruction buffer: one line and the next (models/compute/issue/instruction_fetch.h).
  struct Fetch {
    std::uint64_t line = 0;   ///< number of the line that holds the PC: address / line bytes
    Cycles next_ready{};      ///< arrival of the next line, unless next_open
    std::uint32_t epoch = 0;  ///< changes when the wavefront starts, branches or ends: older responses are dropped
    bool line_open = false;   ///< whether the arrival of the line is not known yet
    bool next_open = false;   ///< whether the arrival of the next line is not known yet
  } buffer;

  bool resident = false;
  unsigned wait_vm = 0;    ///< argument of s_waitcnt: largest vmcnt at which StallReason::vmcnt ends
  unsigned wait_lgkm = 0;  ///< argument of s_waitcnt: largest lgkmcnt at which StallReason::lgkmcnt ends
  Cycles waits_from{};     ///< cycle in which the s_waitcnt issued or a counter was found at its limit
  unsigned open = 0;       ///< number of memory operations whose completion is not known yet
  unsigned wave_in_group = 0;
  unsigned vgpr_granule = 0;
  unsigned vgpr_granules = 0;
  unsigned sgprs = 0;  ///< SGPRs allocated in the SIMD's file
  Cycles launched{};
  isa::Wavefront wave;
  WaitCounter vmcnt;
  WaitCounter lgkmcnt;
  std::array<std::uint32_t, 2> sampled{};  ///< `issued` at the beginning and the middle of a sample of rates (models/sampling)
  double untimed_limit = 0;                ///< cycle up to which the wavefront runs in an untimed part; 0: the wavefront has
                                           ///< started in this part
  double untimed_share = 0;                ///< rate in an untimed part, in instructions per sample (begin_progress())
  static constexpr unsigned kMostAheadLds = 24;
  std::array<LdsCycles, kMostAheadLds> ahead_lds_cycles;  ///< LDS cycles of the LDS instructions executed ahead

  /// Cycle from which the issue loop may offer cycles to the slot; kNeverCycles: it is held or free.
  inline Cycles ready() const;
  bool held() const { return stalls != 0; }
  bool held_by(StallReason reason) const { return (stalls & static_cast<unsigned>(reason)) != 0; }
  /// Whether the wavefront is held for any reason other than `reason`.
  bool held_by_other_than(StallReason reason) const { return (stalls & ~static_cast<unsigned>(reason)) != 0; }
  /// Adds a reason; takes effect with the next publish().
  void hold(StallReason reason) { stalls = static_cast<std::uint16_t>(stalls | static_cast<unsigned>(reason)); }
  /// Removes a reason and publishes the slot; wakes its SIMD if no reason is left.
  inline void release(StallReason reason);
  /// Makes `when` and `stalls` visible to the issue loop.
  inline void publish();
  /// Like publish(), and sets the unit of the next instruction.
  inline void publish(isa::Unit unit);

  /// Starts the account. Without timing, no cycle is charged.
  void start_account(WavefrontClass& c, Cycles start, bool timed) {
    activity = &c;
    launched = timed ? start : kNeverCycles;
    accounted = launched;
    ++c.wavefronts;
  }
  /// Charges the cycles up to `until` to a cause.
  void account(StallCause cause, Cycles until) {
    if (until <= accounted) return;
    activity->cycles[static_cast<std::size_t>(cause)] += until.n - accounted.n;
    accounted = until;
  }
  /// Charges `cycle` to StallCause::issue, and the cycles before it to StallCause::unit_busy.
  void account_issue(Cycles cycle) {
    if (accounted > cycle) return;
    activity->cycles[static_cast<std::size_t>(StallCause::unit_busy)] += cycle.n - accounted.n;
    ++activity->cycles[static_cast<std::size_t>(StallCause::issue)];
    accounted = cycle + Cycles{1};
  }
  /// Charges `cycle` to StallCause::issue, the cycles before it to StallCause::unit_busy, and the cycles after it, before
  /// `until`, to StallCause::dependency.
  void account_issue(Cycles cycle, Cycles until) {
    if (accounted > cycle || until <= cycle) [[unlikely]] {
      account_issue(cycle);
      account(StallCause::dependency, until);
      return;
    }
    std::array<std::uint64_t, kStallCauses>& cycles = activity->cycles;
    cycles[static_cast<std::size_t>(StallCause::unit_busy)] += cycle.n - accounted.n;
    ++cycles[static_cast<std::size_t>(StallCause::issue)];
    cycles[static_cast<std::size_t>(StallCause::dependency)] += until.n - cycle.n - 1;
    accounted = until;
  }
  /// Charges delays due to contention to their causes, at most up to `until`. The caller charges the remaining cycles by
  /// account().
  void account_delays(const OperationDelays& delays, Cycles until) {
    const auto give = [&](StallCause cause, std::uint64_t cycles) {
      if (cycles == 0) return;
      const Cycles end = accounted + Cycles{cycles};
      account(cause, end < until ? end : until);
    };
    give(StallCause::tlb, delays.tlb);
    give(StallCause::mshr_full, delays.mshr);
    give(StallCause::queue_full, delays.queues);
    give(StallCause::lds_conflict, delays.lds_conflict);
  }
  void end_account() { activity->resident += accounted.n - launched.n; }
};
static_assert(sizeof(WavefrontSlot) / 64 % 2 == 1, "see detail/host_prefetch.h");

struct Simd {
  Simd(unsigned n, SimdTimes& unit_times, const ComputeUnitParameters& p, unsigned granule, std::pmr::memory_resource& memory)
      : number(n),
        times(unit_times),
        registers(std::size_t{p.vgprs_per_simd} * isa::kLanes, memory),
        vgprs(p.vgprs_per_simd / granule),
        sgprs_free(p.sgprs_per_simd),
        free_slots((std::uint32_t{1} << p.wavefronts_per_simd) - 1),
        slots(&memory) {
    slots.reserve(p.wavefronts_per_simd);
  }
  Simd(const Simd&) = delete;  // slots point to their SIMD
  Simd& operator=(const Simd&) = delete;

  unsigned number;
  SimdTimes& times;  ///< issue times of the unit's SIMDs
  Cycles valu_free{};
  Cycles logic_free{};   ///< time at which the port of LatencyClass::valu_logic is free, if that class has a separate rate
  Cycles valu_wanted{};  ///< cycle until which a wavefront waits for the vector unit
  IssueState issue;
  ZeroedBlock<std::uint32_t> registers;  ///< the vector register file: register r, lane l at r * 64 + l
  RangeAllocator vgprs;
  unsigned sgprs_free;
  std::uint32_t free_slots;               ///< bit i: slot i is free
  std::pmr::vector<WavefrontSlot> slots;  ///< slots that have held a wavefront

  /// The free slot with the lowest number. Requires a free slot.
  WavefrontSlot& free_slot() {
    const auto slot_number = static_cast<unsigned>(std::countr_zero(free_slots));
    return slot_number == slots.size() ? slots.emplace_back(*this, slot_number) : slots[slot_number];
  }
  /// First cycle, not before `from`, in which a wavefront could issue if the vector unit were free.
  Cycles claims(Cycles from) const {
    const Cycles earliest = times.earliest(number);
    return from < valu_wanted && earliest <= valu_wanted ? from : later(from, earliest);
  }
  void wake(Cycles at) { times.wake(number, at); }
};

inline Cycles WavefrontSlot::ready() const { return simd->issue.ready[simd->issue.rank[number]]; }
inline void WavefrontSlot::publish() { simd->issue.ready[simd->issue.rank[number]] = stalls == 0 ? when : kNeverCycles; }
inline void WavefrontSlot::publish(isa::Unit unit) {
  IssueState& issue = simd->issue;
  const unsigned rank = issue.rank[number];
  issue.unit[rank] = unit;
  issue.ready[rank] = stalls == 0 ? when : kNeverCycles;
}
inline void WavefrontSlot::release(StallReason reason) {
  stalls = static_cast<std::uint16_t>(stalls & ~static_cast<unsigned>(reason));
  publish();
  if (!held()) simd->wake(when);
}

class WavefrontPool {
 public:
  /// Allocates registers, LDS, wavefronts and workgroups from `memory`, which returns zeroed memory.
  WavefrontPool(const ComputeUnitParameters& parameters, isa::Target target, std::pmr::memory_resource& memory);

  /// The reason why a workgroup does not fit into an empty unit; nullopt if it fits.
  std::optional<std::string> fit_error(const WorkgroupNeeds& needs) const;
  /// Allocates the resources of a workgroup; returns null if they are not free now. At the ends of a grid a workgroup may have
  /// fewer wavefronts than Dispatch::needs: the resources of the missing wavefronts are not kept.
  ResidentWorkgroup* place(Dispatch& dispatch, std::uint64_t workgroup, std::span<const std::uint32_t> scratch_slots);
  /// Name of the resource of which place() finds too little, for reports; empty if the workgroup fits.
  std::string lacks(const WorkgroupNeeds& needs) const;
  /// Frees slot and registers of an ended wavefront.
  void release(WavefrontSlot& slot);
  /// Frees the LDS of a workgroup.
  void release(ResidentWorkgroup& group);

  std::vector<std::unique_ptr<Simd>>& simds() { return simds_; }
  const std::vector<std::unique_ptr<Simd>>& simds() const { return simds_; }
  SimdTimes& times() { return times_; }
  const SimdTimes& times() const { return times_; }
  /// Records of all workgroups that have been resident, including free records.
  std::pmr::vector<ResidentWorkgroup>& workgroups() { return workgroups_; }
  std::byte* lds(const ResidentWorkgroup& group) { return lds_.data() + group.lds_granule * parameters_.lds_granule.n; }
  std::uint32_t lds_bytes(const ResidentWorkgroup& group) const {
    return static_cast<std::uint32_t>(group.lds_granules * parameters_.lds_granule.n);
  }
  unsigned resident() const { return resident_; }

 private:
  unsigned vgpr_granules(const WorkgroupNeeds& needs) const;
  bool holds_most_workgroups() const { return free_workgroups_.empty() && workgroups_.size() == most_workgroups_; }
  ResidentWorkgroup& free_workgroup();
  bool take_slots(const WorkgroupNeeds& needs);
  void release_resources(WavefrontSlot& slot);

  const ComputeUnitParameters& parameters_;
  isa::Target target_;
  SimdTimes times_;
  std::vector<std::unique_ptr<Simd>> simds_;
  std::size_t most_workgroups_;  // the number of slots: a workgroup has at least one wavefront
  std::pmr::vector<ResidentWorkgroup> workgroups_;
  std::vector<ResidentWorkgroup*> free_workgroups_;  // last in, first out
  ZeroedBlock<std::byte> lds_;
  RangeAllocator lds_granules_;
  std::vector<WavefrontSlot*> placement_;  // working storage of place()
  unsigned resident_ = 0;
  unsigned next_simd_ = 0;
};

}  // namespace lacuna
