#include "models/compute/workgroup_lifecycle.h"

#include "models/compute/initial_state.h"

namespace lacuna {

WorkgroupLifecycle::WorkgroupLifecycle(const ComputeUnitParameters& parameters, ComputeUnitPlace place,
                                       const ComputeUnitContext& context, WavefrontPool& pool, InstructionFetch& fetch,
                                       MemoryPipe& memory, MatrixPipe& matrix, UnitReports& reports)
    : place_(place),
      timed_(context.timed()),
      buffers_stores_(context.timed()),
      target_(context.target),
      clock_(context.clock),
      fine_grained_float_atomics_(context.fine_grained_float_atomics),
      launch_latency_(parameters.launch_latency),
      barrier_latency_(parameters.barrier_latency),
      vm_(context.vm),
      pool_(pool),
      fetch_(fetch),
      memory_(memory),
      matrix_(matrix),
      reports_(reports) {}

ResidentWorkgroup* WorkgroupLifecycle::launch(Dispatch& dispatch, std::uint64_t workgroup,
                                              std::span<const std::uint32_t> scratch_slots) {
  ResidentWorkgroup* const group = pool_.place(dispatch, workgroup, scratch_slots);
  if (group == nullptr) return nullptr;
  group->work = &dispatch.work_of(group_);
  ++workgroups_;
  wavefronts_ += group->wavefronts;
  return group;
}

void WorkgroupLifecycle::start(ResidentWorkgroup& group, Cycles at) {
  for (unsigned i = 0; i < group.wavefronts; ++i)
    start_wavefront(*group.slots[i], group.scratch_count == 0 ? 0 : group.scratch_slots[i], at);
}

void WorkgroupLifecycle::start_wavefront(WavefrontSlot& slot, std::uint32_t scratch_slot, Cycles start) {
  ResidentWorkgroup& group = *slot.group;
  const Dispatch& dispatch = *group.dispatch;
  Simd& simd = *slot.simd;
  isa::Wavefront& wave = slot.wave;
  slot.vmcnt.clear();
  slot.lgkmcnt.clear();
  slot.stalls = 0;
  slot.ahead = 0;
  slot.staged = memory_.serves(dispatch);
  slot.untimed_limit = 0;
  slot.open = 0;
  wave.target = target_;
  wave.memory = &vm_;
  wave.addresses = &memory_.addresses();
  wave.stores = buffers_stores_ ? stores_ : nullptr;
  wave.vgpr = simd.registers.data() + std::size_t{slot.vgpr_granule} * isa::traits(target_).vgpr_granule * isa::kLanes;
  wave.vgpr_count = dispatch.needs.vgprs;
  wave.agpr = dispatch.needs.agprs > 0 ? wave.v(dispatch.needs.vgprs) : nullptr;
  wave.agpr_count = dispatch.needs.agprs;
  wave.sgpr_count = dispatch.needs.sgprs;
  slot.allocation = isa::Allocation(wave.vgpr_count, wave.sgpr_count, wave.agpr_count);
  wave.lds = pool_.lds(group);
  wave.lds_bytes = pool_.lds_bytes(group);
  wave.fine_grained_float_atomics = fine_grained_float_atomics_;
  wave.shared_aperture = shared_aperture_;
  wave.private_aperture = private_aperture_;
  // HW_ID (GCN3 ISA manual): WAVE_ID 3:0, SIMD_ID 5:4, CU_ID 11:8, SH_ID 12, SE_ID 14:13; 15:13 on gfx90a, which has eight
  // shader engines (HIP, amd_device_functions.h, HW_ID_SE_ID_SIZE).
  const unsigned engines = target_ == isa::Target::gfx90a ? 8 : 4;
  wave.hw_id = slot.number | simd.number << 4 | (place_.in_array & 0xf) << 8 | place_.shader_array % engines << 13;
  set_initial_state(wave, dispatch, {.workgroup = group.id, .wave_in_group = slot.wave_in_group, .scratch_slot = scratch_slot});

  slot.when = start;
  slot.start_account(group.work->activity.wavefront_class(slot.wave_in_group), start, timed_);
  fetch_.start(slot);
  fetch_.fetch(slot, start);
  simd.wake(slot.ready());
}

void WorkgroupLifecycle::arrive_at_barrier(WavefrontSlot& slot, Cycles cycle) {
  ResidentWorkgroup& group = *slot.group;
  slot.hold(StallReason::barrier);
  ++group.at_barrier;
  group.latest_arrival = later(group.latest_arrival, cycle);
  fetch_.fetch(slot, cycle);
  release_barrier(group);
}

// A barrier does not wait for wavefronts that have ended (GCN3 ISA manual, s_barrier).
void WorkgroupLifecycle::release_barrier(ResidentWorkgroup& group) {
  if (group.at_barrier == 0 || group.at_barrier < group.running) return;
  const Cycles at = group.latest_arrival + (timed_ ? barrier_latency_ : Cycles{1});
  for (unsigned i = 0; i < group.wavefronts; ++i) {
    WavefrontSlot& slot = *group.slots[i];
    if (slot.group != &group || !slot.held_by(StallReason::barrier)) continue;
    slot.when = later(slot.when, at);
    slot.account(StallCause::barrier, slot.when);
    slot.release(StallReason::barrier);
  }
  group.at_barrier = 0;
  group.latest_arrival = Cycles{};
}

void WorkgroupLifecycle::end_wavefront(WavefrontSlot& slot, Cycles cycle) {
  ResidentWorkgroup& group = *slot.group;
  slot.end_account();
  memory_.end_wavefront(slot, cycle);
  free(slot);
  --group.running;
  release_barrier(group);
  end_workgroup(group);
}

void WorkgroupLifecycle::end_workgroup(ResidentWorkgroup& group) {
  if (group.running > 0 || group.open > 0) return;
  Dispatch& dispatch = *group.dispatch;
  const Tick at = clock_.ticks(group.end + Cycles{1});
  pool_.release(group);
  reports_.workgroup_done(dispatch, {group.scratch_slots.data(), group.scratch_count}, at);
}

void WorkgroupLifecycle::free(WavefrontSlot& slot) {
  matrix_.depart(slot);
  ++slot.buffer.epoch;
  slot.stalls = 0;
  pool_.release(slot);
}

// -- changes between simulated time and functional execution

void WorkgroupLifecycle::set_buffered(bool buffered, Cycles at) {
  buffers_stores_ = buffered;
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      WavefrontSlot& slot = *simd->issue.slots[i];
      slot.wave.stores = buffered ? stores_ : nullptr;
      if (buffered || !slot.held_by(StallReason::order)) continue;
      slot.when = later(slot.when, at);
      slot.release(StallReason::order);
    }
  }
}

void WorkgroupLifecycle::suspend(WavefrontSlot& slot) {
  matrix_.depart(slot);
  memory_.drop_wavefront(slot);
  slot.vmcnt.clear();
  slot.lgkmcnt.clear();
  slot.open = 0;
  slot.wave.stores = nullptr;
  slot.end_account();
  slot.launched = slot.accounted = kNeverCycles;
  constexpr unsigned kKept = static_cast<unsigned>(StallReason::barrier) | static_cast<unsigned>(StallReason::sync) |
                             static_cast<unsigned>(StallReason::fault);
  slot.stalls = static_cast<std::uint16_t>(slot.stalls & kKept);
}

void WorkgroupLifecycle::end_dropped() {
  for (ResidentWorkgroup& group : pool_.workgroups()) {
    if (group.dispatch == nullptr) continue;
    group.open = 0;
    if (group.running == 0) end_workgroup(group);
  }
}

void WorkgroupLifecycle::resume_workgroups(Cycles at) {
  for (ResidentWorkgroup& group : pool_.workgroups()) {
    group.latest_arrival = earlier(group.latest_arrival, at);
    group.end = earlier(group.end, at);
  }
}

void WorkgroupLifecycle::resume(WavefrontSlot& slot, Cycles at) {
  slot.wave.stores = stores_;
  slot.launched = slot.accounted = slot.when = at;
  fetch_.start(slot);
  fetch_.fetch(slot, at);
}

unsigned WorkgroupLifecycle::abort(const Dispatch& dispatch) {
  memory_.drop(dispatch);
  for (const auto& simd : pool_.simds()) {
    for (WavefrontSlot& slot : simd->slots) {
      if (!slot.resident || slot.group->dispatch != &dispatch) continue;
      slot.end_account();
      memory_.drop_wavefront(slot);
      free(slot);
    }
  }
  unsigned dropped = 0;
  for (ResidentWorkgroup& group : pool_.workgroups()) {
    if (group.dispatch != &dispatch) continue;
    pool_.release(group);
    ++dropped;
  }
  return dropped;
}

}  // namespace lacuna
