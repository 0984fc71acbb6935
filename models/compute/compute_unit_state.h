// Private state of ComputeUnit: wavefront slots, SIMDs, resident workgroups. Included by compute_unit*.cpp only.
#pragma once

#include <algorithm>
#include <array>
#include <memory_resource>
#include <vector>

#include "models/compute/compute_unit.h"
#include "models/compute/kernel_activity.h"
#include "models/compute/range_allocator.h"
#include "models/isa/instruction.h"

namespace lacuna {

inline constexpr Cycles kNeverCycles{~std::uint64_t{0}};
inline constexpr std::uint64_t kInstructionLineBytes = 64;

struct ComputeUnit::Workgroup {
  Dispatch* dispatch = nullptr;  ///< null: free
  std::uint64_t linear_id = 0;
  std::array<std::uint32_t, 3> id{};
  unsigned lds_granule = 0;  ///< first one
  unsigned lds_granules = 0;
  std::array<Slot*, kMaxWavefrontsPerWorkgroup> slots{};  ///< of its wavefronts; of one that has ended, somebody else's by now
  unsigned wavefronts = 0;
  std::array<std::uint32_t, kMaxWavefrontsPerWorkgroup> scratch_slots{};
  unsigned scratch_count = 0;
  unsigned running = 0;     ///< wavefronts that have not ended
  unsigned at_barrier = 0;  ///< of these, how many wait
  Cycles latest_arrival{};
  Cycles end{};  ///< latest completion of ended wavefronts, their stores included
};

/// What the issue loop looks at, packed by slot number so that a SIMD's scan touches few cache lines.
struct IssueState {
  static constexpr unsigned kMaxSlots = 16;  // a power of two

  /// Earliest issue of each slot's next instruction; kNeverCycles when the slot is free, at a barrier or faulted.
  std::array<Cycles, kMaxSlots> ready;
  std::array<std::uint8_t, kMaxSlots> unit;    ///< isa::Unit of the next instruction
  std::array<std::uint8_t, kMaxSlots> by_age;  ///< resident slots, oldest first
  std::uint8_t last = kMaxSlots - 1;           ///< the slot that was served first in the last cycle in which one was
  unsigned resident = 0;

  IssueState() { ready.fill(kNeverCycles); }
  void add(unsigned slot) { by_age[resident++] = static_cast<std::uint8_t>(slot); }
  void remove(unsigned slot) {
    std::uint8_t* end = by_age.data() + resident;
    std::copy(std::find(by_age.data(), end, slot) + 1, end, std::find(by_age.data(), end, slot));
    --resident;
    ready[slot] = kNeverCycles;
  }
  /// Bit i: slot i may issue at `cycle`.
  unsigned ready_at(Cycles cycle) const {
    unsigned mask = 0;
    for (unsigned i = 0; i < kMaxSlots; ++i) mask |= static_cast<unsigned>(ready[i] <= cycle) << i;
    return mask;
  }
  Cycles earliest() const {
    Cycles first = kNeverCycles;
    for (const Cycles slot : ready) first = slot < first ? slot : first;
    return first;
  }
};

struct ComputeUnit::Slot {
  enum class State : std::uint8_t { free, running, at_barrier, at_wave_sync, faulted };

  Slot(Simd& owner, IssueState& issue, unsigned slot_number)
      : ready(issue.ready[slot_number]), unit(issue.unit[slot_number]), simd(&owner), number(slot_number) {}

  Cycles& ready;       ///< of this slot in its SIMD's IssueState
  std::uint8_t& unit;  ///< likewise
  State state = State::free;
  isa::Wavefront wave;
  Workgroup* group = nullptr;
  Simd* simd;
  unsigned number;  ///< slot of its SIMD
  unsigned wave_in_group = 0;
  unsigned vgpr_granule = 0;
  unsigned vgpr_granules = 0;
  unsigned sgprs = 0;  ///< taken of the SIMD's file

  const isa::Instruction* next = nullptr;  ///< null: fetch failed, reported when it would issue
  Cycles ready_at_barrier{};               ///< `ready` of the instruction after the barrier the slot waits at
  std::uint64_t line = 0;                  ///< instruction line in the buffer (address / line bytes)
  Cycles next_line_ready{};                ///< when the prefetched following line is there
  WaitCounter vmcnt;
  WaitCounter lgkmcnt;

  // Where the wavefront's cycles go, not in functional mode. Every cycle from `launched` on is given to a cause once, in order,
  // also ahead of time: `accounted` is the first that has none.
  WavefrontClass* activity = nullptr;
  Cycles launched{};
  Cycles accounted{};

  /// Without timing every cycle counts as accounted for.
  void start_account(WavefrontClass& c, Cycles start, bool timed) {
    activity = &c;
    launched = timed ? start : kNeverCycles;
    accounted = launched;
    ++c.wavefronts;
  }
  void account(WavefrontTime cause, Cycles until) {
    if (until <= accounted) return;
    activity->cycles[static_cast<std::size_t>(cause)] += until.n - accounted.n;
    accounted = until;
  }
  /// Gives the cycles that contention costs to its causes, no more than up to `until`; the rest is left.
  void account_delays(const OperationDelays& delays, Cycles until) {
    const auto give = [&](WavefrontTime cause, std::uint64_t cycles) {
      const Cycles end = accounted + Cycles{cycles};
      account(cause, end < until ? end : until);
    };
    give(WavefrontTime::tlb, delays.tlb);
    give(WavefrontTime::mshr_full, delays.mshr);
    give(WavefrontTime::queue_full, delays.queues);
    give(WavefrontTime::lds_conflict, delays.lds_conflict);
  }
  void end_account() { activity->resident += accounted.n - launched.n; }
};

struct ComputeUnit::Simd {
  Simd(unsigned n, const ComputeUnitParameters& p, unsigned granule, std::pmr::memory_resource& memory)
      : number(n),
        registers(std::size_t{p.vgprs_per_simd} * isa::kLanes, &memory),
        vgprs(p.vgprs_per_simd / granule),
        sgprs_free(p.sgprs_per_simd),
        slots(&memory) {
    slots.reserve(p.wavefronts_per_simd);
    for (unsigned i = 0; i < p.wavefronts_per_simd; ++i) slots.emplace_back(*this, issue, i);
  }
  Simd(const Simd&) = delete;  // slots point to their SIMD
  Simd& operator=(const Simd&) = delete;

  unsigned number;
  IssueState issue;
  Cycles valu_free{};
  Cycles valu_wanted{};                       ///< until then a wavefront waits for the vector unit
  Cycles earliest = kNeverCycles;             ///< no wavefront can issue before
  std::pmr::vector<std::uint32_t> registers;  ///< the vector register file: register r, lane l at r * 64 + l
  RangeAllocator vgprs;
  unsigned sgprs_free;
  std::pmr::vector<Slot> slots;

  /// From when on there is a wavefront to issue from, if the vector unit were free.
  Cycles claims(Cycles from) const { return from < valu_wanted && earliest <= valu_wanted ? from : later(from, earliest); }
  void wake(Cycles at) { earliest = at < earliest ? at : earliest; }
};

}  // namespace lacuna
