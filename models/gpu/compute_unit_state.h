// Private state of ComputeUnit: wavefront slots, SIMDs, resident workgroups. Included by compute_unit*.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "models/gpu/compute_unit.h"
#include "models/gpu/range_allocator.h"
#include "models/isa/instruction.h"

namespace lacuna {

inline constexpr Cycles kNeverCycles{~std::uint64_t{0}};
inline constexpr unsigned kMaxWavefrontsPerWorkgroup = 16;  // 1024 work-items
inline constexpr std::uint64_t kInstructionLineBytes = 64;

struct ComputeUnit::Workgroup {
  Dispatch* dispatch = nullptr;  ///< null: free
  std::uint64_t linear_id = 0;
  std::array<std::uint32_t, 3> id{};
  unsigned lds_granule = 0;  ///< first one
  unsigned lds_granules = 0;
  std::array<std::uint32_t, kMaxWavefrontsPerWorkgroup> scratch_slots{};
  unsigned scratch_count = 0;
  unsigned running = 0;     ///< wavefronts that have not ended
  unsigned at_barrier = 0;  ///< of these, how many wait
  Cycles latest_arrival{};
  Cycles end{};  ///< latest completion of ended wavefronts, their stores included
};

struct ComputeUnit::Slot {
  enum class State : std::uint8_t { free, running, at_barrier, faulted };

  State state = State::free;
  isa::Wavefront wave;
  Workgroup* group = nullptr;
  Simd* simd = nullptr;
  unsigned number = 0;  ///< slot of its SIMD
  unsigned wave_in_group = 0;
  unsigned vgpr_granule = 0;
  unsigned vgpr_granules = 0;
  unsigned sgprs = 0;  ///< taken of the SIMD's file

  const isa::Instruction* next = nullptr;  ///< null: fetch failed, reported when it would issue
  Cycles ready{};                          ///< earliest issue of `next`
  std::uint64_t line = 0;                  ///< instruction line in the buffer (address / line bytes)
  Cycles next_line_ready{};                ///< when the prefetched following line is there
  WaitCounter vmcnt;
  WaitCounter lgkmcnt;
};

struct ComputeUnit::Simd {
  Simd(unsigned n, const ComputeUnitParameters& p, unsigned granule)
      : number(n),
        registers(std::size_t{p.vgprs_per_simd} * isa::kLanes),
        vgprs(p.vgprs_per_simd / granule),
        sgprs_free(p.sgprs_per_simd) {
    for (unsigned i = 0; i < p.wavefronts_per_simd; ++i) {
      slots.push_back(std::make_unique<Slot>());
      slots.back()->simd = this;
      slots.back()->number = i;
    }
    by_age.reserve(p.wavefronts_per_simd);
  }

  unsigned number;
  std::vector<std::uint32_t> registers;  ///< the vector register file: register r, lane l at r * 64 + l
  RangeAllocator vgprs;
  unsigned sgprs_free;
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<Slot*> by_age;  ///< resident wavefronts, oldest first
  Cycles valu_free{};
  Cycles earliest = kNeverCycles;  ///< no wavefront can issue before

  void wake(Cycles at) { earliest = at < earliest ? at : earliest; }
};

}  // namespace lacuna
