#include "models/gpu/compute_unit.h"

#include <fmt/format.h>

#include <bit>
#include <ostream>

#include "models/common/tlm_time.h"
#include "models/gpu/compute_unit_state.h"
#include "models/gpu/gpu_registers.h"
#include "models/isa/decoder.h"
#include "models/isa/gpr_index.h"
#include "models/isa/host_fp.h"
#include "models/isa/register_use.h"
#include "models/isa/table.h"

namespace lacuna {

namespace {

/// The first cycle at or after `from` in which SIMD `simd` of `simds`, a power of two, is served.
Cycles next_turn(Cycles from, unsigned simd, unsigned simds) { return {from.n + ((simd - from.n) & (simds - 1))}; }

constexpr unsigned bit(isa::Unit unit) { return 1u << static_cast<unsigned>(unit); }

bool counts_lanes(isa::Unit unit) { return unit == isa::Unit::valu || unit == isa::Unit::vmem || unit == isa::Unit::lds; }

}  // namespace

void ComputeUnitStatistics::describe(StatisticsGroup& g) const {
  const auto unit = [this](isa::Unit u) -> const std::uint64_t& { return issued[static_cast<std::size_t>(u)]; };
  g.add("wavefront_instructions", wavefront_instructions, "instructions issued", "wavefront instructions");
  g.add("thread_instructions", thread_instructions,
        "active lanes of vector instructions; scalar and control instructions count one", "thread instructions");
  g.add("wavefronts", wavefronts, "wavefronts run", "wavefronts");
  g.add("workgroups", workgroups, "workgroups run", "workgroups");
  g.add("issued_valu", unit(isa::Unit::valu), "vector ALU instructions", "wavefront instructions");
  g.add("issued_salu", unit(isa::Unit::salu), "scalar ALU instructions", "wavefront instructions");
  g.add("issued_smem", unit(isa::Unit::smem), "scalar memory instructions", "wavefront instructions");
  g.add("issued_vmem", unit(isa::Unit::vmem), "vector memory instructions", "wavefront instructions");
  g.add("issued_lds", unit(isa::Unit::lds), "LDS instructions", "wavefront instructions");
  g.add("issued_branch", unit(isa::Unit::branch), "branches", "wavefront instructions");
  g.add("issued_special", unit(isa::Unit::special), "waits, barriers, ends and other control", "wavefront instructions");
  g.add("vector_requests", vector_requests, "line transactions of the vector memory unit", "requests");
  g.add("scalar_requests", scalar_requests, "line transactions of the scalar memory unit", "requests");
  g.add("instruction_requests", instruction_requests, "instruction line fetches", "requests");
  g.add("valu_busy_cycles", valu_busy_cycles, "cycles in which SIMDs execute, summed over SIMDs", "cycles");
  g.add("lds_conflict_cycles", lds_conflict_cycles, "cycles that the LDS is busy only because lanes meet in a bank", "cycles");
}

ComputeUnit::ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, TimingMode mode, Clock clock,
                         Clock timestamp, Cycles quantum, ComputeUnitPlace place, isa::Target target, GpuVm& vm,
                         isa::DecodedCode& code, ComputeUnitListener& listener)
    : sc_module(name),
      vector_port("vector_port"),
      scalar_port("scalar_port"),
      instruction_port("instruction_port"),
      parameters_(parameters),
      mode_(mode),
      clock_(clock),
      timestamp_(timestamp),
      quantum_(mode == TimingMode::reference ? Cycles{1} : quantum),
      place_(place),
      target_(target),
      vmcnt_limit_((1u << isa::traits(target).vmcnt_bits) - 1),
      vm_(vm),
      code_(code),
      listener_(listener),
      wake_("wake"),
      lds_(parameters.lds.n),
      lds_granules_(static_cast<unsigned>(parameters.lds.n / parameters.lds_granule.n)),
      coalescer_(parameters.transaction_bytes) {
  for (unsigned i = 0; i < parameters_.simds; ++i) {
    simds_.push_back(std::make_unique<Simd>(i, parameters_, isa::traits(target).vgpr_granule));
  }
  // A workgroup has at least one wavefront, so there can be no more workgroups than slots.
  for (unsigned i = 0; i < parameters_.simds * parameters_.wavefronts_per_simd; ++i) {
    workgroups_.push_back(std::make_unique<Workgroup>());
  }
  SC_HAS_PROCESS(ComputeUnit);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

ComputeUnit::~ComputeUnit() = default;

void ComputeUnit::attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction) {
  l1_vector_ = l1_vector;
  l1_scalar_ = l1_scalar;
  l1_instruction_ = l1_instruction;
}

void ComputeUnit::set_apertures(std::uint64_t shared, std::uint64_t private_base) {
  shared_aperture_ = shared;
  private_aperture_ = private_base;
}

// -- time

void ComputeUnit::run() {
  const Tick now = to_tick(sc_core::sc_time_stamp());
  vmem_port_.retire(now);
  lds_port_.retire(now);
  smem_port_.retire(now);
  const Cycles from = clock_.ceil(now);
  const Cycles limit = from + quantum_;
  if (mode_ == TimingMode::functional) {
    run_functional(from, limit);
  } else {
    run_timed(from, limit);
  }
  isa::restore_host_fp();
  if (active_wavefronts_ == 0) return;
  Cycles next = kNeverCycles;
  for (const auto& simd : simds_) next = simd->earliest < next ? simd->earliest : next;
  if (next == kNeverCycles) return;  // everyone waits for something that wakes us
  next = later(next, limit);
  wake_.notify(to_sc_time(clock_.ticks(next) - now));
}

void ComputeUnit::run_timed(Cycles now, Cycles limit) {
  const unsigned simds = parameters_.simds;
  for (Cycles cycle = now;;) {
    Cycles best = limit;
    Simd* chosen = nullptr;
    for (const auto& simd : simds_) {
      if (simd->earliest >= best) continue;
      const Cycles turn = next_turn(later(cycle, simd->earliest), simd->number, simds);
      if (turn < best) {
        best = turn;
        chosen = simd.get();
      }
    }
    if (chosen == nullptr) return;
    serve(*chosen, best);
    cycle = best + Cycles{1};
  }
}

// Wavefronts one after the other, each until it waits or the quantum is over: the fastest way to the same results.
void ComputeUnit::run_functional(Cycles now, Cycles limit) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& simd : simds_) {
      for (unsigned i = 0; i < simd->issue.resident;) {
        const unsigned number = simd->issue.by_age[i];
        Slot& slot = *simd->slots[number];
        Cycles cycle = later(now, slot.ready);
        while (cycle < limit) {
          issue(*simd, slot, cycle);
          progress = true;
          cycle = later(cycle + Cycles{1}, slot.ready);
        }
        if (i < simd->issue.resident && simd->issue.by_age[i] == number) ++i;
      }
    }
  }
  for (const auto& simd : simds_) simd->earliest = simd->issue.earliest();
}

// One cycle of one SIMD: each unit takes at most one instruction, each wavefront gives at most one, oldest first.
void ComputeUnit::serve(Simd& simd, Cycles cycle) {
  constexpr unsigned kCounted = bit(isa::Unit::vmem) | bit(isa::Unit::lds) | bit(isa::Unit::smem);
  IssueState& state = simd.issue;
  unsigned used = 0;
  for (unsigned i = 0; i < state.resident;) {
    const unsigned number = state.by_age[i];
    if (state.ready[number] <= cycle) {
      const unsigned unit = 1u << state.unit[number];
      if ((used & unit) == 0) {
        Slot& slot = *simd.slots[number];
        if (unit == bit(isa::Unit::valu) && simd.valu_free > cycle) {
          slot.ready = simd.valu_free;
        } else if ((unit & kCounted) == 0 || !counters_full(slot, cycle)) {
          used |= unit & ~bit(isa::Unit::special);
          issue(simd, slot, cycle);
          if (slot.state == Slot::State::free) continue;  // ended: the next one moved into its place
        }
      }
    }
    ++i;
  }
  // A wavefront that lost this cycle's port is ready in the past: it tries again at the SIMD's next turn.
  const Cycles earliest = state.earliest();
  simd.earliest = earliest == kNeverCycles ? earliest : later(earliest, cycle + Cycles{1});
}

// Completed operations are forgotten only when room is needed: they do not change when a wait is over.
bool ComputeUnit::counters_full(Slot& slot, Cycles cycle) const {
  const auto full = [&](WaitCounter& counter, unsigned limit) {
    if (!counter.full(limit)) return false;
    counter.prune(cycle);
    if (!counter.full(limit)) return false;
    slot.ready = counter.when_at_most(limit - 1, cycle);
    return true;
  };
  const bool vmem = slot.next->unit == isa::Unit::vmem;
  const bool lgkm = !vmem || slot.next->format == isa::Format::flat;
  return (vmem && full(slot.vmcnt, vmcnt_limit_)) || (lgkm && full(slot.lgkmcnt, kLgkmLimit));
}

// -- one instruction

void ComputeUnit::issue(Simd& simd, Slot& slot, Cycles cycle) {
  if (slot.next == nullptr) {
    fetch_fault(slot, cycle);
    return;
  }
  const isa::Instruction& instruction = *slot.next;
  isa::Wavefront& wave = slot.wave;
  Dispatch& dispatch = *slot.group->dispatch;
  if (isa::exceeds_allocation(instruction, wave.vgpr_count, wave.sgpr_count, wave.agpr_count)) [[unlikely]] {
    fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, wave.pc,
          fmt::format("instruction uses {} VGPRs, {} AGPRs and {} SGPRs, the kernel descriptor allocates {}, {} and {}",
                      instruction.max_vgpr, instruction.max_agpr, instruction.max_sgpr, wave.vgpr_count, wave.agpr_count,
                      wave.sgpr_count),
          cycle);
    return;
  }

  const std::uint64_t threads =
      counts_lanes(instruction.unit) ? static_cast<std::uint64_t>(std::popcount(wave.exec())) : std::uint64_t{1};
  ++statistics_.issued[static_cast<std::size_t>(instruction.unit)];
  ++statistics_.wavefront_instructions;
  statistics_.thread_instructions += threads;
  ++dispatch.wavefront_instructions;
  dispatch.thread_instructions += threads;

  const std::uint64_t here = wave.pc;
  wave.clock = cycle.n;
  if (instruction.unit == isa::Unit::smem) wave.real_time = timestamp_.floor(clock_.ticks(cycle)).n;
  wave.pc = here + instruction.size;
  wave.access.bytes_per_lane = 0;
  isa::execute_instruction(instruction, wave);

  slot.ready = after_issue(simd, instruction, cycle);
  if (wave.event != isa::Event::memory_fault) {
    switch (instruction.unit) {
      case isa::Unit::vmem:
        vector_memory(slot, instruction, cycle);
        break;
      case isa::Unit::smem:
        scalar_memory(slot, cycle);
        break;
      case isa::Unit::lds:
        slot.lgkmcnt.add_out_of_order(lds_access(wave.access, cycle));
        break;
      default:
        break;
    }
  }
  if (wave.event != isa::Event::none) {
    if (!handle_event(slot, instruction, here, cycle)) return;
  }
  fetch(slot, cycle);
}

Cycles ComputeUnit::after_issue(Simd& simd, const isa::Instruction& instruction, Cycles cycle) {
  using isa::LatencyClass;
  if (mode_ == TimingMode::functional) return cycle + Cycles{1};
  const std::uint64_t pass = isa::kLanes / parameters_.lanes_per_simd;
  const auto vector_busy = [&](std::uint64_t cycles) {
    simd.valu_free = cycle + Cycles{cycles};
    statistics_.valu_busy_cycles += cycles;
    return simd.valu_free;
  };
  switch (instruction.latency) {
    case LatencyClass::valu:
    case LatencyClass::valu_lane:
      return vector_busy(pass);
    case LatencyClass::valu_f64:
      return vector_busy(pass * parameters_.f64_rate_divisor);
    case LatencyClass::valu_mul32:
      return vector_busy(pass * parameters_.mul32_rate_divisor);
    case LatencyClass::valu_transcendental:
      return vector_busy(pass * parameters_.transcendental_rate_divisor);
    case LatencyClass::valu_transcendental_f64:
      return vector_busy(pass * parameters_.transcendental_rate_divisor * parameters_.f64_rate_divisor);
    // A pass of the matrix core is four cycles (CDNA2 ISA manual, MFMA instructions).
    case LatencyClass::mfma_2_pass:
      return vector_busy(8);
    case LatencyClass::mfma_4_pass:
      return vector_busy(16);
    case LatencyClass::mfma_8_pass:
      return vector_busy(32);
    case LatencyClass::mfma_16_pass:
      return vector_busy(64);
    case LatencyClass::branch:
      return cycle + parameters_.branch_cycles;
    default:
      return cycle + parameters_.salu_cycles;
  }
}

bool ComputeUnit::handle_event(Slot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  const isa::Event event = wave.event;
  wave.event = isa::Event::none;
  switch (event) {
    case isa::Event::none:
      return true;
    case isa::Event::end_program:
      end_wavefront(slot, cycle);
      return false;
    case isa::Event::barrier:
      arrive_at_barrier(slot, cycle);
      return false;
    case isa::Event::wait_count:
      wait_count(slot, wave.event_value, cycle);
      return true;
    case isa::Event::sleep:
      slot.ready = later(slot.ready, cycle + Cycles{wave.event_value});
      return true;
    case isa::Event::message:
      if ((wave.event_value & 0xf) == kMessageInterrupt) {
        listener_.interrupt_message(*slot.group->dispatch, wave.sgpr[isa::kM0], clock_.ticks(cycle));
      }
      if ((wave.event_value & isa::kMessageThenHalt) != 0) {
        fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sendmsghalt)", cycle);
        return false;
      }
      return true;
    case isa::Event::cache_invalidate:
      invalidate_caches(slot, instruction, cycle);
      return true;
    case isa::Event::memory_fault:
      memory_fault(slot, instruction, pc, cycle);
      return false;
    case isa::Event::halt:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sethalt 1)", cycle);
      return false;
    case isa::Event::trap:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, fmt::format("trap {}", wave.event_value), cycle);
      return false;
    case isa::Event::illegal_instruction:
      fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, "illegal instruction", cycle);
      return false;
    case isa::Event::arithmetic_exception:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "arithmetic exception", cycle);
      return false;
  }
  return true;
}

// SIMM16 of s_waitcnt (GCN3 ISA manual; gfx9 adds vmcnt bits 5:4 at 15:14). expcnt is always satisfied: stores read their data
// when they issue.
void ComputeUnit::wait_count(Slot& slot, std::uint32_t simm16, Cycles cycle) {
  const unsigned vm = (simm16 & 0xf) | ((simm16 >> 14 & 3) << 4 & vmcnt_limit_);
  const unsigned lgkm = simm16 >> 8 & 0xf;
  if (vm != vmcnt_limit_) slot.ready = later(slot.ready, slot.vmcnt.when_at_most(vm, cycle));
  if (lgkm != kLgkmLimit) slot.ready = later(slot.ready, slot.lgkmcnt.when_at_most(lgkm, cycle));
}

void ComputeUnit::arrive_at_barrier(Slot& slot, Cycles cycle) {
  Workgroup& group = *slot.group;
  slot.state = Slot::State::at_barrier;
  ++group.at_barrier;
  group.latest_arrival = later(group.latest_arrival, cycle);
  fetch(slot, cycle);
  slot.ready_at_barrier = slot.ready;
  slot.ready = kNeverCycles;
  release_barrier(group);
}

// Wavefronts that have ended no longer count (GCN3 ISA manual, s_barrier).
void ComputeUnit::release_barrier(Workgroup& group) {
  if (group.at_barrier == 0 || group.at_barrier < group.running) return;
  const Cycles at = group.latest_arrival + (mode_ == TimingMode::functional ? Cycles{1} : parameters_.barrier_latency);
  for (const auto& simd : simds_) {
    for (const auto& slot : simd->slots) {
      if (slot->group != &group || slot->state != Slot::State::at_barrier) continue;
      slot->state = Slot::State::running;
      slot->ready = later(slot->ready_at_barrier, at);
      simd->wake(slot->ready);
    }
  }
  group.at_barrier = 0;
  group.latest_arrival = Cycles{};
}

void ComputeUnit::end_wavefront(Slot& slot, Cycles cycle) {
  Workgroup& group = *slot.group;
  // The last stores of a program need not be waited for by it, but the workgroup is done only when they are performed.
  group.end = later(group.end, later(slot.vmcnt.when_at_most(0, cycle), slot.lgkmcnt.when_at_most(0, cycle)));
  release(slot);
  --group.running;
  release_barrier(group);
  if (group.running > 0) return;
  Dispatch& dispatch = *group.dispatch;
  const Tick at = clock_.ticks(group.end + Cycles{1});
  release(group);
  if (!dispatch.failed) listener_.workgroup_done(*this, dispatch, {group.scratch_slots.data(), group.scratch_count}, at);
}

// -- faults

void ComputeUnit::fault(Slot& slot, std::uint32_t code, std::uint64_t address, std::uint64_t pc, const std::string& what,
                        Cycles cycle) {
  slot.state = Slot::State::faulted;
  slot.ready = kNeverCycles;
  Dispatch& dispatch = *slot.group->dispatch;
  dispatch.failed = true;
  const auto& id = slot.group->id;
  WavefrontFault report;
  report.code = code;
  report.address = address;
  report.pc = pc;
  std::string text;
  if (slot.next != nullptr) text = fmt::format(" ({})", isa::disassemble(*slot.next, target_));
  report.text = fmt::format("{}: kernel {}, PC {:#x} (+{:#x}){}, workgroup ({}, {}, {}), wavefront {}, compute unit {} SIMD {}",
                            what, dispatch.kernel, pc, pc - dispatch.entry, text, id[0], id[1], id[2], slot.wave_in_group,
                            place_.index, slot.simd->number);
  listener_.wavefront_fault(dispatch, report, clock_.ticks(cycle));
}

void ComputeUnit::memory_fault(Slot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  const isa::MemoryFault& f = slot.wave.fault;
  const bool reading = f.wanted == isa::Access::read;
  std::uint32_t code = LACUNA_FAULT_NOT_MAPPED;
  std::string_view reason = "address not mapped";
  switch (f.reason) {
    case isa::MemoryFault::Reason::not_mapped:
      break;
    case isa::MemoryFault::Reason::not_permitted:
      code = LACUNA_FAULT_NOT_PERMITTED;
      reason = "access not permitted";
      break;
    case isa::MemoryFault::Reason::misaligned:
      code = LACUNA_FAULT_MISALIGNED;
      reason = "misaligned";
      break;
    case isa::MemoryFault::Reason::lds_out_of_range:
      code = LACUNA_FAULT_LDS_RANGE;
      reason = "outside the workgroup's LDS";
      break;
  }
  const std::string lane = instruction.unit == isa::Unit::smem ? std::string("scalar") : fmt::format("lane {}", f.lane);
  fault(slot, code, f.address, pc,
        fmt::format("memory fault: {} of {} bytes at {:#x}, {}, {}; {}", reading ? "load" : "store or atomic", f.bytes,
                    f.address, lane, reason, vm_.nearest(f.address)),
        cycle);
}

void ComputeUnit::fetch_fault(Slot& slot, Cycles cycle) {
  const std::uint64_t pc = slot.wave.pc;
  const isa::CodeError error = code_.explain(pc);
  const bool undecodable = error.kind == isa::CodeError::Kind::undecodable;
  fault(slot, undecodable ? LACUNA_FAULT_ILLEGAL_INSTRUCTION : LACUNA_FAULT_FETCH, pc, pc,
        undecodable ? error.text : fmt::format("instruction fetch: {}; {}", error.text, vm_.nearest(pc)), cycle);
}

void ComputeUnit::diagnose(std::ostream& out) const {
  for (const auto& simd : simds_) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      const Slot* slot = simd->slots[simd->issue.by_age[i]].get();
      const char* state = slot->state == Slot::State::at_barrier ? "waits at a barrier"
                          : slot->state == Slot::State::faulted  ? "faulted"
                                                                 : "runs";
      out << fmt::format("  compute unit {} SIMD {} slot {}: kernel {}, workgroup {}, wavefront {}, PC {:#x}, {}\n",
                         place_.index, simd->number, slot->number, slot->group->dispatch->kernel, slot->group->linear_id,
                         slot->wave_in_group, slot->wave.pc, state);
    }
  }
}

}  // namespace lacuna
