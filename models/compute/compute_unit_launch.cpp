// Resources of a compute unit: which workgroups fit, how they start, and how what they held becomes free.

#include <fmt/format.h>

#include <algorithm>

#include "models/common/tlm_time.h"
#include "models/compute/compute_unit.h"
#include "models/compute/compute_unit_state.h"
#include "models/compute/initial_state.h"

namespace lacuna {

namespace {
unsigned divide_up(std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>((a + b - 1) / b); }
}  // namespace

unsigned ComputeUnit::vgpr_granules(const WorkgroupNeeds& needs) const {
  return divide_up(std::uint64_t{needs.vgprs} + needs.agprs, isa::traits(target_).vgpr_granule);
}

std::optional<std::string> ComputeUnit::never_fits(const WorkgroupNeeds& needs) const {
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

bool ComputeUnit::launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start,
                         std::span<const std::uint32_t> scratch_slots) {
  const WorkgroupNeeds& needs = dispatch.needs;
  if (active_wavefronts_ == 0) next_simd_ = 0;  // an idle unit forgets its history
  const auto free_group =
      std::find_if(workgroups_.begin(), workgroups_.end(), [](const auto& g) { return g->dispatch == nullptr; });
  if (free_group == workgroups_.end()) return false;
  const unsigned granules = divide_up(needs.lds_bytes, parameters_.lds_granule.n);
  const auto lds = lds_granules_.allocate(granules);
  if (!lds) return false;
  if (!place(needs)) {
    lds_granules_.release(*lds, granules);
    return false;
  }
  Workgroup& group = **free_group;
  group = Workgroup{};
  group.dispatch = &dispatch;
  group.linear_id = workgroup;
  group.id = {static_cast<std::uint32_t>(workgroup % dispatch.workgroups[0]),
              static_cast<std::uint32_t>(workgroup / dispatch.workgroups[0] % dispatch.workgroups[1]),
              static_cast<std::uint32_t>(workgroup / dispatch.workgroups[0] / dispatch.workgroups[1])};
  group.lds_granule = *lds;
  group.lds_granules = granules;
  std::copy(scratch_slots.begin(), scratch_slots.end(), group.scratch_slots.begin());
  group.scratch_count = static_cast<unsigned>(scratch_slots.size());
  // A grid's edge may leave a workgroup with fewer wavefronts than it reserved places for.
  const auto extent = workgroup_extent(dispatch, group.id);
  const unsigned wavefronts = divide_up(std::uint64_t{extent[0]} * extent[1] * extent[2], isa::kLanes);
  group.running = wavefronts;
  group.wavefronts = wavefronts;
  ++statistics_.workgroups;
  const Cycles first = clock_.ceil(start) + (mode_ == TimingMode::functional ? Cycles{0} : parameters_.launch_latency);
  for (unsigned i = 0; i < wavefronts; ++i) {
    group.slots[i] = placement_[i];
    start_wavefront(*placement_[i], group, i, scratch_slots.empty() ? 0 : scratch_slots[i], first);
  }
  for (std::size_t i = wavefronts; i < placement_.size(); ++i) unplace(*placement_[i]);
  const Tick now = to_tick(sc_core::sc_time_stamp());
  wake_.notify(to_sc_time(later(clock_.ticks(first), now) - now));
  return true;
}

// Finds a slot, vector and scalar registers for every wavefront, going round the SIMDs; gives all back when one finds none.
bool ComputeUnit::place(const WorkgroupNeeds& needs) {
  placement_.clear();
  const unsigned granules = vgpr_granules(needs);
  const unsigned first_simd = next_simd_;
  for (unsigned i = 0; i < needs.wavefronts; ++i) {
    Slot* found = nullptr;
    for (unsigned tried = 0; tried < parameters_.simds && found == nullptr; ++tried) {
      Simd& simd = *simds_[(next_simd_ + tried) % parameters_.simds];
      if (simd.sgprs_free < needs.sgprs || simd.vgprs.free() < granules) continue;
      const auto slot =
          std::find_if(simd.slots.begin(), simd.slots.end(), [](const Slot& s) { return s.state == Slot::State::free; });
      if (slot == simd.slots.end()) continue;
      const auto registers = simd.vgprs.allocate(granules);
      if (!registers) continue;  // enough in all, but not next to each other
      found = &*slot;
      found->vgpr_granule = *registers;
      found->vgpr_granules = granules;
      found->sgprs = needs.sgprs;
      simd.sgprs_free -= needs.sgprs;
    }
    if (found == nullptr) {
      for (Slot* slot : placement_) unplace(*slot);
      next_simd_ = first_simd;
      return false;
    }
    found->state = Slot::State::running;
    placement_.push_back(found);
    next_simd_ = (found->simd->number + 1) % parameters_.simds;
  }
  return true;
}

void ComputeUnit::unplace(Slot& slot) {
  slot.simd->vgprs.release(slot.vgpr_granule, slot.vgpr_granules);
  slot.simd->sgprs_free += slot.sgprs;
  slot.state = Slot::State::free;
}

void ComputeUnit::start_wavefront(Slot& slot, Workgroup& group, unsigned wave_in_group, std::uint32_t scratch_slot,
                                  Cycles start) {
  const Dispatch& dispatch = *group.dispatch;
  Simd& simd = *slot.simd;
  isa::Wavefront& wave = slot.wave;
  slot.group = &group;
  slot.wave_in_group = wave_in_group;
  slot.vmcnt.clear();
  slot.lgkmcnt.clear();
  wave.target = target_;
  wave.memory = &vm_;
  wave.addresses = &addresses_;
  wave.vgpr = simd.registers.data() + std::size_t{slot.vgpr_granule} * isa::traits(target_).vgpr_granule * isa::kLanes;
  wave.vgpr_count = dispatch.needs.vgprs;
  wave.agpr = dispatch.needs.agprs > 0 ? wave.v(dispatch.needs.vgprs) : nullptr;
  wave.agpr_count = dispatch.needs.agprs;
  wave.sgpr_count = dispatch.needs.sgprs;
  wave.lds = lds_.data() + group.lds_granule * parameters_.lds_granule.n;
  wave.lds_bytes = static_cast<std::uint32_t>(group.lds_granules * parameters_.lds_granule.n);
  wave.shared_aperture = shared_aperture_;
  wave.private_aperture = private_aperture_;
  // HW_ID (GCN3 ISA manual): WAVE_ID 3:0, SIMD_ID 5:4, CU_ID 11:8, SH_ID 12, SE_ID 14:13; 15:13 on gfx90a, which has eight
  // shader engines (HIP, amd_device_functions.h, HW_ID_SE_ID_SIZE).
  const unsigned engines = target_ == isa::Target::gfx90a ? 8 : 4;
  wave.hw_id = slot.number | simd.number << 4 | (place_.in_array & 0xf) << 8 | place_.shader_array % engines << 13;
  set_initial_state(wave, dispatch, {.workgroup = group.id, .wave_in_group = wave_in_group, .scratch_slot = scratch_slot});

  slot.line = ~std::uint64_t{0} - 1;  // nothing buffered
  slot.ready = start;
  slot.start_account(group.dispatch->activity.classes[wave_in_group], start, mode_ != TimingMode::functional);
  fetch(slot, start);
  simd.issue.add(slot.number);
  simd.wake(slot.ready);
  ++active_wavefronts_;
  ++statistics_.wavefronts;
  ++group.dispatch->wavefronts;
}

void ComputeUnit::release(Slot& slot) {
  Simd& simd = *slot.simd;
  simd.issue.remove(slot.number);
  unplace(slot);
  slot.group = nullptr;
  --active_wavefronts_;
}

void ComputeUnit::release(Workgroup& group) {
  lds_granules_.release(group.lds_granule, group.lds_granules);
  group.dispatch = nullptr;
}

unsigned ComputeUnit::abort(const Dispatch& dispatch) {
  for (const auto& simd : simds_) {
    for (Slot& slot : simd->slots) {
      if (slot.state == Slot::State::free || slot.group->dispatch != &dispatch) continue;
      slot.end_account();
      release(slot);
    }
  }
  unsigned dropped = 0;
  for (const auto& group : workgroups_) {
    if (group->dispatch != &dispatch) continue;
    release(*group);
    ++dropped;
  }
  return dropped;
}

}  // namespace lacuna
