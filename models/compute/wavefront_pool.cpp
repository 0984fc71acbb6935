#include "models/compute/wavefront_pool.h"

#include <fmt/format.h>

#include <bit>

#include "models/compute/initial_state.h"

namespace lacuna {
namespace {

unsigned divide_up(std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>((a + b - 1) / b); }

}  // namespace

WavefrontPool::WavefrontPool(const ComputeUnitParameters& parameters, isa::Target target, std::pmr::memory_resource& memory)
    : parameters_(parameters),
      target_(target),
      times_(parameters.simds, parameters.turn_period()),
      most_workgroups_(std::size_t{parameters.simds} * parameters.wavefronts_per_simd),
      workgroups_(&memory),
      lds_(parameters.lds.n, memory),
      lds_granules_(static_cast<unsigned>(parameters.lds.n / parameters.lds_granule.n)) {
  for (unsigned i = 0; i < parameters_.simds; ++i) {
    simds_.push_back(std::make_unique<Simd>(i, times_, parameters_, isa::traits(target).vgpr_granule, memory));
  }
  workgroups_.reserve(most_workgroups_);
  free_workgroups_.reserve(most_workgroups_);
}

ResidentWorkgroup& WavefrontPool::free_workgroup() {
  if (free_workgroups_.empty()) return workgroups_.emplace_back();
  ResidentWorkgroup& group = *free_workgroups_.back();
  free_workgroups_.pop_back();
  return group;
}

unsigned WavefrontPool::vgpr_granules(const WorkgroupNeeds& needs) const {
  return divide_up(std::uint64_t{needs.vgprs} + needs.agprs, isa::traits(target_).vgpr_granule);
}

std::optional<std::string> WavefrontPool::fit_error(const WorkgroupNeeds& needs) const {
  if (needs.lds_bytes > parameters_.lds.n) {
    return fmt::format("workgroup needs {} bytes of LDS, a compute unit has {}", needs.lds_bytes, parameters_.lds.n);
  }
  if (needs.vgprs + needs.agprs > parameters_.vgprs_per_simd) {
    return fmt::format("wavefront needs {} VGPRs, a SIMD has {}", needs.vgprs + needs.agprs, parameters_.vgprs_per_simd);
  }
  if (needs.sgprs > parameters_.sgprs_per_simd) {
    return fmt::format("wavefront needs {} SGPRs, a SIMD has {}", needs.sgprs, parameters_.sgprs_per_simd);
  }
  const unsigned by_vgprs = simds_[0]->vgprs.size() / std::max(1u, vgpr_granules(needs));
  const unsigned by_sgprs = parameters_.sgprs_per_simd / std::max(1u, needs.sgprs);
  const unsigned per_simd = std::min({parameters_.wavefronts_per_simd, by_vgprs, by_sgprs});
  if (needs.wavefronts > per_simd * parameters_.simds) {
    return fmt::format("workgroup has {} wavefronts, its registers let a compute unit hold {}", needs.wavefronts,
                       per_simd * parameters_.simds);
  }
  return std::nullopt;
}

ResidentWorkgroup* WavefrontPool::place(Dispatch& dispatch, std::uint64_t workgroup,
                                        std::span<const std::uint32_t> scratch_slots) {
  const WorkgroupNeeds& needs = dispatch.needs;
  if (resident_ == 0) next_simd_ = 0;  // the placement of an idle unit does not depend on its past
  if (holds_most_workgroups()) return nullptr;
  const unsigned granules = divide_up(needs.lds_bytes, parameters_.lds_granule.n);
  const auto lds = lds_granules_.allocate(granules);
  if (!lds) return nullptr;
  if (!take_slots(needs)) {
    lds_granules_.release(*lds, granules);
    return nullptr;
  }
  ResidentWorkgroup& group = free_workgroup();
  group = ResidentWorkgroup{};
  group.dispatch = &dispatch;
  group.linear_id = workgroup;
  group.id = {static_cast<std::uint32_t>(workgroup % dispatch.workgroups[0]),
              static_cast<std::uint32_t>(workgroup / dispatch.workgroups[0] % dispatch.workgroups[1]),
              static_cast<std::uint32_t>(workgroup / dispatch.workgroups[0] / dispatch.workgroups[1])};
  group.lds_granule = *lds;
  group.lds_granules = granules;
  std::copy(scratch_slots.begin(), scratch_slots.end(), group.scratch_slots.begin());
  group.scratch_count = static_cast<unsigned>(scratch_slots.size());
  const auto extent = workgroup_extent(dispatch, group.id);
  group.wavefronts = divide_up(std::uint64_t{extent[0]} * extent[1] * extent[2], isa::kLanes);
  group.running = group.wavefronts;
  for (unsigned i = 0; i < placement_.size(); ++i) {
    WavefrontSlot& slot = *placement_[i];
    if (i >= group.wavefronts) {
      release_resources(slot);
      continue;
    }
    group.slots[i] = &slot;
    slot.group = &group;
    slot.wave_in_group = i;
    slot.simd->issue.add(slot, slot.number);
    ++resident_;
  }
  return &group;
}

// Checks resources in the order of place().
std::string WavefrontPool::lacks(const WorkgroupNeeds& needs) const {
  RangeAllocator lds = lds_granules_;
  if (holds_most_workgroups()) return "wavefront slots";
  if (!lds.allocate(divide_up(needs.lds_bytes, parameters_.lds_granule.n))) return "LDS";
  const unsigned granules = std::max(1U, vgpr_granules(needs));
  unsigned slots = 0;
  unsigned with_vgprs = 0;
  unsigned with_sgprs = 0;
  for (const auto& simd : simds_) {
    const auto free = static_cast<unsigned>(std::popcount(simd->free_slots));
    RangeAllocator vgprs = simd->vgprs;
    unsigned fit = 0;
    while (fit < free && vgprs.allocate(granules)) ++fit;
    slots += free;
    with_vgprs += fit;
    with_sgprs += std::min(fit, simd->sgprs_free / std::max(1U, needs.sgprs));
  }
  if (slots < needs.wavefronts) return "wavefront slots";
  if (with_vgprs < needs.wavefronts) return "VGPRs";
  if (with_sgprs < needs.wavefronts) return "SGPRs";
  return {};
}

// Allocates a slot, vector and scalar registers for every wavefront, on the SIMDs in rotation. If resources for a wavefront are
// missing, releases all allocated resources and returns false.
bool WavefrontPool::take_slots(const WorkgroupNeeds& needs) {
  placement_.clear();
  const unsigned granules = vgpr_granules(needs);
  const unsigned first_simd = next_simd_;
  for (unsigned i = 0; i < needs.wavefronts; ++i) {
    WavefrontSlot* found = nullptr;
    for (unsigned tried = 0; tried < parameters_.simds && found == nullptr; ++tried) {
      Simd& simd = *simds_[(next_simd_ + tried) % parameters_.simds];
      if (simd.free_slots == 0 || simd.sgprs_free < needs.sgprs || simd.vgprs.free() < granules) continue;
      const auto registers = simd.vgprs.allocate(granules);
      if (!registers) continue;  // enough registers are free, but they are not contiguous
      found = &simd.free_slot();
      found->vgpr_granule = *registers;
      found->vgpr_granules = granules;
      found->sgprs = needs.sgprs;
      simd.sgprs_free -= needs.sgprs;
    }
    if (found == nullptr) {
      for (WavefrontSlot* slot : placement_) release_resources(*slot);
      next_simd_ = first_simd;
      return false;
    }
    found->simd->free_slots &= ~(std::uint32_t{1} << found->number);
    found->resident = true;
    placement_.push_back(found);
    next_simd_ = (found->simd->number + 1) % parameters_.simds;
  }
  return true;
}

void WavefrontPool::release_resources(WavefrontSlot& slot) {
  slot.simd->vgprs.release(slot.vgpr_granule, slot.vgpr_granules);
  slot.simd->sgprs_free += slot.sgprs;
  slot.simd->free_slots |= std::uint32_t{1} << slot.number;
  slot.resident = false;
}

void WavefrontPool::release(WavefrontSlot& slot) {
  slot.simd->issue.remove(slot.number);
  release_resources(slot);
  slot.group = nullptr;
  --resident_;
}

void WavefrontPool::release(ResidentWorkgroup& group) {
  lds_granules_.release(group.lds_granule, group.lds_granules);
  group.dispatch = nullptr;
  free_workgroups_.push_back(&group);
}

}  // namespace lacuna
