#include "models/compute/compute_unit.h"

#include <algorithm>
#include <utility>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/time/tlm_time.h"
#include "models/compute/initial_state.h"
#include "models/compute/windows.h"
#include "models/isa/vector/host_fp.h"

namespace lacuna {

ComputeUnit::ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, ComputeUnitPlace place,
                         const ComputeUnitContext& context)
    : sc_module(name),
      vector_port("vector_port"),
      scalar_port("scalar_port"),
      instruction_port("instruction_port"),
      parameters_(parameters),
      place_(place),
      mode_(context.mode),
      target_(context.target),
      clock_(context.clock),
      timestamp_(context.timestamp),
      fine_grained_float_atomics_(context.fine_grained_float_atomics),
      vmcnt_limit_((1u << isa::traits(context.target).vmcnt_bits) - 1),
      vm_(context.vm),
      listener_(context.listener),
      vector_socket_(vector_port),
      scalar_socket_(scalar_port),
      instruction_socket_(instruction_port),
      pool_(parameters_, context.target, context.memory),
      scheduler_(parameters_, pool_),
      costs_(parameters_),
      tokens_(clock_, *this),
      vector_memory_(parameters_, clock_, vm_, tokens_, vector_socket_, static_cast<std::uint16_t>(place.index),
                     context.vector_workspace),
      scalar_memory_(parameters_, clock_, vm_, tokens_, scalar_socket_, static_cast<std::uint16_t>(place.index)),
      fetch_(clock_, mode_ != TimingMode::functional, vm_, context.code, instruction_socket_,
             static_cast<std::uint16_t>(place.index)),
      lds_(parameters_, clock_, context.lds_banks),
      matrix_parameters_(context.matrix),
      matrix_(parameters.simds, parameters.mfma_pass_cycles, matrix_parameters_.pass_percent(),
              Cycles{matrix_parameters_.pass_percent() == 100 ? 0 : parameters.simds}) {
  if (mode_ != TimingMode::functional &&
      (matrix_parameters_.extensions != isa::MatrixExtensions::none || matrix_parameters_.interlock == MatrixInterlock::all)) {
    const Cycles pass{(parameters.mfma_pass_cycles.n * matrix_parameters_.pass_percent() + 99) / 100};
    matrix_results_ = std::make_unique<MatrixResults>(parameters_, pass, matrix_parameters_.result_passes);
  }
  if (mode_ == TimingMode::functional) return;
  const LoadStageContext stage_context{.place = place_,
                                       .parameters = parameters_,
                                       .clock = clock_,
                                       .vm = vm_,
                                       .tokens = tokens_,
                                       .memory = vector_memory_,
                                       .socket = vector_socket_};
  for (const LoadStageFactory& make : context.stages) {
    if (auto stage = make(stage_context)) stages_.push_back(std::move(stage));
  }
  for (std::size_t i = stages_.size(); i-- > 0;) {
    stages_[i]->enter_chain(static_cast<unsigned>(i), first_stage_);
    first_stage_ = stages_[i].get();
  }
}

ComputeUnit::~ComputeUnit() = default;

void ComputeUnit::attach_memory(LineMemory& vector, LineMemory& scalar, LineMemory& instruction) {
  vector_memory_.port().attach(vector);
  scalar_memory_.port().attach(scalar);
  fetch_.port().attach(instruction);
}

void ComputeUnit::attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction) {
  l1_vector_ = l1_vector;
  l1_scalar_ = l1_scalar;
  l1_instruction_ = l1_instruction;
}

void ComputeUnit::attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction) {
  vector_memory_.port().attach(vector);
  for (const auto& stage : stages_) stage->attach(vector);
  scalar_memory_.port().attach(scalar);
  fetch_.port().attach(instruction);
}

void ComputeUnit::attach(Windows& windows, unsigned group, isa::StoreBuffer* stores) {
  windows_ = &windows;
  group_ = group;
  stores_ = stores;
}

void ComputeUnit::set_apertures(std::uint64_t shared, std::uint64_t private_base) {
  shared_aperture_ = shared;
  private_aperture_ = private_base;
}

void ComputeUnit::describe(StatisticsGroup& g) const {
  const ComputeUnitStatistics& s = statistics_;
  g.add("wavefront_instructions", s.wavefront_instructions, "instructions issued", "wavefront instructions");
  g.add("thread_instructions", s.thread_instructions,
        "active lanes of vector instructions; scalar and control instructions count one", "thread instructions");
  g.add("wavefronts", s.wavefronts, "wavefronts run", "wavefronts");
  g.add("workgroups", s.workgroups, "workgroups run", "workgroups");
  for (std::size_t i = 0; i < isa::kUnits; ++i) {
    const isa::UnitText& unit = isa::kUnitTexts[i];
    g.add("issued_" + std::string(unit.name), s.issued[i], unit.instructions, "wavefront instructions");
  }
  g.add("vector_requests", vector_memory_.requests(), "line transactions of the vector memory unit", "requests");
  g.add("scalar_requests", scalar_memory_.requests(), "line transactions of the scalar memory unit", "requests");
  g.add("instruction_requests", fetch_.requests(), "instruction line fetches", "requests");
  g.add("valu_busy_cycles", s.valu_busy_cycles, "cycles in which SIMDs execute, summed over SIMDs", "cycles");
  g.add("matrix_busy_cycles", matrix_.busy_cycles(), "cycles in which matrix units execute, summed over SIMDs", "cycles");
  g.add("matrix_instructions", matrix_.instructions(), "instructions that matrix units took", "wavefront instructions");
  g.add("lds_conflict_cycles", lds_.conflict_cycles(), "cycles that the LDS is busy only because lanes meet in a bank",
        "cycles");
  if (target_ == isa::Target::gfx90a) {
    g.add("fine_grained_float_atomics", s.fine_grained_float_atomics,
          "float atomics on fine-grained memory, which MI200 does not perform (gpu.fine_grained_float_atomics)", "lanes");
  }
  if (matrix_parameters_.extensions != isa::MatrixExtensions::none) {
    StatisticsGroup& passes = g.group("matrix_passes");
    for (std::size_t i = 0; i < isa::kMatrixOperations; ++i)
      passes.add(isa::kMatrixOperationTexts[i].name, s.matrix_passes[i], isa::kMatrixOperationTexts[i].meaning, "passes");
  }
  for (const auto& stage : stages_) stage->describe(g);
}

void ComputeUnit::run(Cycles limit) {
  if (mode_ == TimingMode::functional) {
    run_functional(limit);
  } else {
    run_timed(limit);
  }
  isa::restore_host_fp();
}

void ComputeUnit::reset() {
  tokens_.reset();
  vector_memory_.reset();
  for (const auto& stage : stages_) stage->reset();
  scalar_memory_.reset();
  fetch_.reset();
  lds_.reset();
  matrix_.reset();
  if (matrix_results_) matrix_results_->reset();
  scheduler_.reset();
  works_ = false;
  windows_->reset();
}

void ComputeUnit::forget_bookings() {
  const Tick horizon = windows_->horizon();
  vector_memory_.retire(horizon);
  scalar_memory_.retire(horizon);
  lds_.retire(horizon);
  for (MemoryPort* port : {&vector_memory_.port(), &scalar_memory_.port(), &fetch_.port()}) {
    if (port->tlb() != nullptr) port->tlb()->retire(horizon);
  }
}

// -- wavefronts and workgroups

bool ComputeUnit::launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start,
                         std::span<const std::uint32_t> scratch_slots) {
  ResidentWorkgroup* group = pool_.place(dispatch, workgroup, scratch_slots);
  if (group == nullptr) return false;
  if (!std::exchange(works_, true)) forget_bookings();
  group->work = &dispatch.work_of(group_);
  ++statistics_.workgroups;
  statistics_.wavefronts += group->wavefronts;
  dispatch.wavefronts += group->wavefronts;
  const Cycles first = clock_.ceil(start) + (mode_ == TimingMode::functional ? Cycles{0} : parameters_.launch_latency);
  windows_->launched(group_, *this, *group, first);
  return true;
}

void ComputeUnit::start(ResidentWorkgroup& group, Cycles at) {
  for (unsigned i = 0; i < group.wavefronts; ++i)
    start_wavefront(*group.slots[i], group.scratch_count == 0 ? 0 : group.scratch_slots[i], at);
}

void ComputeUnit::start_wavefront(WavefrontSlot& slot, std::uint32_t scratch_slot, Cycles start) {
  ResidentWorkgroup& group = *slot.group;
  const Dispatch& dispatch = *group.dispatch;
  Simd& simd = *slot.simd;
  isa::Wavefront& wave = slot.wave;
  slot.vmcnt.clear();
  slot.lgkmcnt.clear();
  slot.stalls = 0;
  slot.ahead = 0;
  slot.open = 0;
  wave.target = target_;
  wave.memory = &vm_;
  wave.addresses = &vector_memory_.addresses();
  wave.stores = stores_;
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
  slot.start_account(group.work->activity.wavefront_class(slot.wave_in_group), start, mode_ != TimingMode::functional);
  fetch_.start(slot);
  fetch_.fetch(slot, start);
  simd.wake(slot.ready());
}

void ComputeUnit::end_wavefront(WavefrontSlot& slot, Cycles cycle) {
  ResidentWorkgroup& group = *slot.group;
  slot.end_account();
  // The last stores of a program need not be waited for by it, but the workgroup is done only when they are performed.
  group.end = later(group.end, later(slot.vmcnt.latest_known(cycle), slot.lgkmcnt.latest_known(cycle)));
  tokens_.leave(slot);
  forget(slot);
  --group.running;
  release_barrier(group);
  end_workgroup(group);
}

void ComputeUnit::end_workgroup(ResidentWorkgroup& group) {
  if (group.running > 0 || group.open > 0) return;
  Dispatch& dispatch = *group.dispatch;
  const Tick at = clock_.ticks(group.end + Cycles{1});
  pool_.release(group);
  ComputeUnitReport& done = report(ComputeUnitReport::Kind::workgroup_done, dispatch, at);
  done.scratch_slots.assign(group.scratch_slots.begin(), group.scratch_slots.begin() + group.scratch_count);
  reported();
}

void ComputeUnit::forget(WavefrontSlot& slot) {
  for (const auto& stage : stages_) stage->wavefront_ended(slot);
  if (matrix_results_) matrix_results_->depart(slot);
  ++slot.buffer.epoch;
  slot.stalls = 0;
  pool_.release(slot);
}

unsigned ComputeUnit::abort(const Dispatch& dispatch) {
  windows_->start_launched(group_);
  tokens_.drop(dispatch);
  for (ComputeUnitReport& report : reports_) {
    if (report.dispatch == &dispatch) report.dispatch = nullptr;
  }
  for (const auto& simd : pool_.simds()) {
    for (WavefrontSlot& slot : simd->slots) {
      if (!slot.resident || slot.group->dispatch != &dispatch) continue;
      slot.end_account();
      forget(slot);
    }
  }
  unsigned dropped = 0;
  for (const auto& group : pool_.workgroups()) {
    if (group->dispatch != &dispatch) continue;
    pool_.release(*group);
    ++dropped;
  }
  return dropped;
}

// -- barriers

void ComputeUnit::arrive_at_barrier(WavefrontSlot& slot, Cycles cycle) {
  ResidentWorkgroup& group = *slot.group;
  slot.hold(StallReason::barrier);
  ++group.at_barrier;
  group.latest_arrival = later(group.latest_arrival, cycle);
  fetch_.fetch(slot, cycle);
  release_barrier(group);
}

// Wavefronts that have ended no longer count (GCN3 ISA manual, s_barrier).
void ComputeUnit::release_barrier(ResidentWorkgroup& group) {
  if (group.at_barrier == 0 || group.at_barrier < group.running) return;
  const Cycles at = group.latest_arrival + (mode_ == TimingMode::functional ? Cycles{1} : parameters_.barrier_latency);
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

bool ComputeUnit::synchronise(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  Dispatch& dispatch = *slot.group->dispatch;
  if (!dispatch.may_sync_grid) {
    fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, "global wave sync, which the queue has not been given", cycle);
    return false;
  }
  // Held whatever the answer will be: the listener may release it.
  slot.hold(StallReason::sync);
  fetch_.fetch(slot, cycle);
  ComputeUnitReport& sync = report(ComputeUnitReport::Kind::wave_sync, dispatch, clock_.ticks(cycle));
  sync.sync = isa::wave_sync_request(slot.wave);
  sync.wavefront = {&dispatch, this, slot.simd->number, slot.number};
  reported();
  return false;
}

void ComputeUnit::release_from_sync(const WavefrontTicket& ticket, Tick at) {
  WavefrontSlot& slot = pool_.simds()[ticket.simd]->slots[ticket.slot];
  slot.when = later(slot.when, clock_.ceil(at) + (mode_ == TimingMode::functional ? Cycles{1} : parameters_.barrier_latency));
  slot.account(StallCause::barrier, slot.when);
  slot.release(StallReason::sync);
  windows_->wake(slot.when);
}

}  // namespace lacuna
