#include "models/compute/compute_unit.h"

#include <algorithm>
#include <utility>

#include "models/compute/detail/host_prefetch.h"
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
      vector_socket_(vector_port),
      scalar_socket_(scalar_port),
      instruction_socket_(instruction_port),
      pool_(parameters_, context.target, context.memory),
      scheduler_(parameters_, pool_),
      costs_(parameters_),
      fetch_(clock_, context.timed(), context.vm, context.code, instruction_socket_, static_cast<std::uint16_t>(place.index)),
      matrix_(parameters_, context.matrix, mode_),
      reports_(place_, clock_, !context.timed(), context.listener, fetch_),
      faults_(place_, context, reports_),
      workgroups_(parameters_, place_, context, pool_, fetch_, memory_, matrix_, reports_),
      memory_(parameters_, place_, context, vector_socket_, scalar_socket_, workgroups_),
      events_(parameters_, context, fetch_, workgroups_, reports_, faults_, *this),
      execution_(context, fetch_, events_, faults_),
      functional_issue_(pool_, fetch_, execution_, statistics_, context.timed()),
      inspector_(place_, target_, pool_, context.code) {}

ComputeUnit::~ComputeUnit() = default;

// -- wiring

void ComputeUnit::attach_memory(MemoryTarget& vector, MemoryTarget& scalar, MemoryTarget& instruction) {
  memory_.attach(vector, scalar);
  fetch_.port().attach(instruction);
}

void ComputeUnit::attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction) {
  memory_.attach_tlbs(vector, scalar);
  fetch_.port().attach(instruction);
}

void ComputeUnit::set_apertures(std::uint64_t shared, std::uint64_t private_base) {
  workgroups_.set_apertures(shared, private_base);
  faults_.set_apertures(shared, private_base);
}

void ComputeUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) {
  if (!executions_) executions_ = std::make_unique<ExecutionCounts>(fetch_.code().profiles());
  executions_->describe_energy(meter, energy, matrix_.parameters());
  meter.add("lds", "conflict_cycle", memory_.lds().conflict_cycles(), energy.lds_conflict);
  meter.add("decode", "instruction", statistics_.wavefront_instructions, energy.decode);
  meter.add("scheduler", "instruction", statistics_.wavefront_instructions, energy.schedule);
  meter.add("vmem", "request", memory_.vector_requests(), energy.vmem_request);
  meter.add("clock", "simd_cycle", statistics_.valu_busy_cycles, energy.simd_cycle);
  meter.add("clock", "matrix_cycle", matrix_.units().busy_cycles(), energy.matrix_cycle);
  for (const auto& stage : memory_.stages()) stage->describe_energy(meter, energy);
  meter.add_static("clock", energy.cu_clock, StaticPower::clock);
  meter.add_static("cu_leakage", energy.cu_static + energy.vgpr_static * parameters_.simds + energy.lds_static,
                   StaticPower::leakage);
}

// -- workgroups

bool ComputeUnit::launch(Dispatch& dispatch, std::uint64_t workgroup, Tick start,
                         std::span<const std::uint32_t> scratch_slots) {
  ResidentWorkgroup* const group = workgroups_.launch(dispatch, workgroup, scratch_slots);
  if (group == nullptr) return false;
  dispatch.wavefronts += group->wavefronts;
  if (!std::exchange(works_, true)) drop_bookings();
  windows_->launched(group_, *this, *group, workgroups_.first_cycle(start));
  return true;
}

void ComputeUnit::release_from_sync(const WavefrontTicket& ticket, Tick at) {
  WavefrontSlot& slot = pool_.simds()[ticket.simd]->slots[ticket.slot];
  events_.release_from_sync(slot, at);
  windows_->wake(slot.when);
}

unsigned ComputeUnit::abort(const Dispatch& dispatch) {
  windows_->start_launched(group_);
  reports_.drop(dispatch);
  return workgroups_.abort(dispatch);
}

void ComputeUnit::reset() {
  memory_.reset();
  fetch_.reset();
  matrix_.reset();
  scheduler_.reset();
  works_ = false;
  windows_->reset();
}

// -- windows

void ComputeUnit::attach(Windows& windows, const WindowGroup& group) {
  windows_ = &windows;
  group_ = group.number;
  workgroups_.attach(group.number, group.stores);
  memory_.deferred().attach(*group.performer);
}

void ComputeUnit::announce(Cycles limit) const { detail::prefetch_ready(pool_, limit); }

void ComputeUnit::run(Cycles limit) {
  if (mode_ == TimingMode::functional) {
    functional_issue_.run(limit);
  } else {
    run_timed(limit);
  }
  isa::restore_host_fp();
}

void ComputeUnit::retire() {
  if (!works_) return;
  drop_bookings();
  works_ = !idle();
}

void ComputeUnit::drop_bookings() {
  const Tick horizon = windows_->horizon();
  memory_.retire(horizon);
  if (TranslationLevel* const tlb = fetch_.port().tlb()) tlb->retire(horizon);
}

// -- functional execution of a part of a kernel

void ComputeUnit::set_timed(bool timed) {
  fetch_.set_timed(timed);
  events_.set_timed(timed);
  workgroups_.set_timed(timed);
}

void ComputeUnit::suspend_timing(const Dispatch& dispatch, Cycles from) {
  windows_->start_launched(group_);
  memory_.drop(dispatch);
  set_timed(false);
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      WavefrontSlot& slot = *simd->issue.slots[i];
      skip_executed(slot);
      workgroups_.suspend(slot);
      slot.when = from;
      fetch_.start(slot);
      fetch_.fetch(slot, from);
    }
  }
  workgroups_.end_dropped();
}

void ComputeUnit::run_untimed(Cycles limit) {
  windows_->start_launched(group_);
  functional_issue_.run(limit);
  isa::restore_host_fp();
}

bool ComputeUnit::launch_untimed(Dispatch& dispatch, std::uint64_t workgroup, Cycles at) {
  ResidentWorkgroup* const group = workgroups_.launch(dispatch, workgroup, {});
  if (group == nullptr) return false;
  workgroups_.start(*group, at);
  return true;
}

void ComputeUnit::run_buffered(Cycles limit) {
  functional_issue_.run_buffered(limit);
  isa::restore_host_fp();
}

void ComputeUnit::set_buffered(bool buffered, Cycles at) {
  reports_.set_immediate(!buffered);
  workgroups_.set_buffered(buffered, at);
}

void ComputeUnit::add_addresses(AddressRange& code) const {
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) code.include(simd->issue.slots[i]->wave.pc);
  }
}

void ComputeUnit::sample_wavefronts(unsigned part) {
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) simd->issue.slots[i]->sampled[part] = simd->issue.slots[i]->issued;
  }
}

// Returns the common rate of a workgroup's wavefronts, which meet at barriers and have the same age; see begin_progress().
double ComputeUnit::share_of(const ResidentWorkgroup& group, double mean) {
  double first = 0;
  double second = 0;
  unsigned wavefronts = 0;
  for (unsigned i = 0; i < group.wavefronts; ++i) {
    const WavefrontSlot& slot = *group.slots[i];
    if (slot.group != &group) continue;
    first += slot.sampled[1] - slot.sampled[0];
    second += slot.issued - slot.sampled[1];
    ++wavefronts;
  }
  if (wavefronts == 0) return mean;
  const double more = 2 * first / wavefronts - mean;
  const double more_later = 2 * second / wavefronts - mean;
  if ((more < 0) != (more_later < 0)) return mean;
  return mean + (more < 0 ? std::max(more, more_later) : std::min(more, more_later));
}

void ComputeUnit::begin_progress(double mean, Cycles from) {
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      WavefrontSlot& slot = *simd->issue.slots[i];
      slot.untimed_limit = static_cast<double>(from.n);
      slot.untimed_share = share_of(*slot.group, mean);
    }
  }
}

unsigned ComputeUnit::run_untimed(double progress, Cycles limit, const AddressRange& code) {
  windows_->start_launched(group_);
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      WavefrontSlot& slot = *simd->issue.slots[i];
      if (slot.untimed_limit != 0) slot.untimed_limit += progress * slot.untimed_share;
    }
  }
  const unsigned stopped = functional_issue_.run_to_limits(limit, code);
  isa::restore_host_fp();
  return stopped;
}

void ComputeUnit::resume_timing(Cycles at) {
  windows_->start_launched(group_);
  set_timed(true);
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) workgroups_.resume(*simd->issue.slots[i], at);
    pool_.times().set(simd->number, simd->issue.earliest());
  }
  workgroups_.resume_workgroups(at);
}

// -- statistics and reports

void ComputeUnit::describe(StatisticsGroup& g) const {
  const IssueStatistics& s = statistics_;
  g.add("wavefront_instructions", s.wavefront_instructions, "instructions issued", "wavefront instructions");
  g.add("thread_instructions", s.thread_instructions,
        "active lanes of vector instructions; scalar and control instructions count one", "thread instructions");
  g.add("wavefronts", workgroups_.wavefronts(), "wavefronts run", "wavefronts");
  g.add("workgroups", workgroups_.workgroups(), "workgroups run", "workgroups");
  for (std::size_t i = 0; i < isa::kUnits; ++i) {
    const isa::UnitText& unit = isa::kUnitTexts[i];
    g.add("issued_" + std::string(unit.name), s.issued[i], unit.instructions, "wavefront instructions");
  }
  g.add("vector_requests", memory_.vector_requests(), "line transactions of the vector memory unit", "requests");
  g.add("scalar_requests", memory_.scalar_requests(), "line transactions of the scalar memory unit", "requests");
  g.add("instruction_requests", fetch_.requests(), "instruction line fetches", "requests");
  g.add("valu_busy_cycles", s.valu_busy_cycles, "cycles in which SIMDs execute, summed over SIMDs", "cycles");
  g.add("matrix_busy_cycles", matrix_.units().busy_cycles(), "cycles in which matrix units execute, summed over SIMDs",
        "cycles");
  g.add("matrix_instructions", matrix_.units().instructions(), "instructions that matrix units took", "wavefront instructions");
  g.add("lds_conflict_cycles", memory_.lds().conflict_cycles(), "cycles that the LDS is busy only because lanes meet in a bank",
        "cycles");
  if (target_ == isa::Target::gfx90a) {
    g.add("fine_grained_float_atomics", faults_.fine_grained_float_atomics(),
          "float atomics on fine-grained memory, which MI200 does not perform (gpu.fine_grained_float_atomics)", "lanes");
  }
  if (matrix_.parameters().extensions != isa::MatrixExtensions::none) {
    StatisticsGroup& passes = g.group("matrix_passes");
    for (std::size_t i = 0; i < isa::kMatrixOperations; ++i)
      passes.add(isa::kMatrixOperationTexts[i].name, matrix_.passes()[i], isa::kMatrixOperationTexts[i].meaning, "passes");
  }
  for (const auto& stage : memory_.stages()) stage->describe(g);
}

void ComputeUnit::take_snapshot(std::vector<WavefrontSnapshot>& wavefronts) const {
  windows_->start_launched(group_);
  inspector_.take_snapshot(windows_->end(), wavefronts);
}

}  // namespace lacuna
