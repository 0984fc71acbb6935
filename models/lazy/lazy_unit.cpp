#include "models/lazy/lazy_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/analysis/irrelevant_lanes.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {

LazyUnit::LazyUnit(const LazyParameters& parameters, const LoadStageContext& unit, const ZeroPath& path)
    : LoadStage(unit.memory),
      parameters_(parameters),
      clock_(unit.clock),
      tokens_(unit.tokens),
      memory_(unit.memory),
      physical_(unit.vm),
      slots_(unit.parameters.wavefronts_per_simd),
      wavefronts_(std::size_t{unit.parameters.simds} * unit.parameters.wavefronts_per_simd),
      needs_(loads_, parameters_),
      racing_loads_(unit.memory),
      lines_(unit.parameters.transaction_bytes) {
  if (holds_loads(parameters_.mode) && is_addressed_once()) memory_.share_line_port();
  if (!has_zero_caches(parameters_.mode)) return;
  zeros_ = std::make_unique<ZeroRequests>(clock_, unit.vm, tokens_, unit.socket, static_cast<std::uint16_t>(unit.place.index),
                                          parameters_.mask_bits);
  if (path.l1z != nullptr) zeros_->attach(path);
}

void LazyUnit::describe(StatisticsGroup& unit) const {
  StatisticsGroup& g = unit.group("lazy");
  for (std::size_t i = 0; i < kLazyCounts; ++i)
    g.add(std::string(kLazyCountTexts[i].name), statistics_.counts[i], kLazyCountTexts[i].meaning, kLazyCountTexts[i].unit);
  for (std::size_t i = 0; i < held_load::kRefusals; ++i)
    g.add("eager_" + std::string(held_load::kRefusalTexts[i].name), statistics_.refused[i], held_load::kRefusalTexts[i].meaning,
          "loads");
}

void LazyUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const {
  // Energy to write requests into registers and to read them, in addition to that of the data.
  meter.add("lazy", "request_written", statistics_.encoded, energy.vgpr_write);
  meter.add("lazy", "request_read", statistics_.decoded, energy.vgpr_read);
  if (!zeros_) return;
  meter.add("vmem", "mask_read", zeros_->reads(), energy.vmem_request);
  meter.add("vmem", "mask_write", zeros_->writes(), energy.vmem_request);
}

void LazyUnit::reset() {
  if (zeros_) zeros_->reset();
  for (Wavefront& w : wavefronts_) {
    w.clear();
    w.pending = 0;
  }
  loads_.clear();
  racing_loads_.reset();
}

// -- before an instruction

bool LazyUnit::prepare_registers(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  const bool everything = InstructionNeeds::needs_everything(instruction, slot.wave);
  needs_.touch(w, instruction, everything);
  if (!masks_known(slot, w, cycle)) return false;
  needs_.find(w, instruction, slot.wave, everything);
  const auto is_needed = [this](std::uint16_t number) {
    const HeldLoad& load = loads_[number];
    return load.slot != nullptr && load.is_needed();
  };
  if (std::any_of(needs_.touched().begin(), needs_.touched().end(), is_needed)) {
    if (parameters_.first_use == FirstUse::all) need_all(w, cycle);
    w.due = cycle + Cycles{1};
    w.delays = {};
    for (const std::uint16_t number : needs_.touched()) {
      if (!is_needed(number)) continue;
      if (parameters_.check) check_memory(loads_[number]);
      issue(loads_[number], cycle);
    }
    wait(slot, w, LazyCause::registers, cycle);
    return false;
  }
  suspend(slot, instruction);
  overwrite(w, instruction, slot.wave);
  return true;
}

// FirstUse::all: also marks as needed the lanes of the wavefront's other loads whose masks are known, except zero and suspended
// lanes.
void LazyUnit::need_all(Wavefront& w, Cycles cycle) {
  const std::vector<std::uint16_t> touched = needs_.touched();
  for (const std::uint16_t number : std::vector<std::uint16_t>(w.loads)) {
    HeldLoad& load = loads_[number];
    if (load.masks_open > 0 || load.masks_at > cycle) continue;
    if (std::find(touched.begin(), touched.end(), number) != touched.end()) continue;
    apply_zeros(load);
    for (unsigned r = 0; r < load.registers.count; ++r) load.need[r] = load.busy[r] & ~load.suspended[r];
    needs_.add_touched(number);
  }
}

// Whether the zero masks of all touched loads are known. If so, applies them; otherwise the wavefront waits for them.
bool LazyUnit::masks_known(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (zeros_ == nullptr) return true;
  w.due = cycle + Cycles{1};
  w.delays = {};
  bool known = true;
  for (const std::uint16_t number : needs_.touched()) {
    HeldLoad& load = loads_[number];
    if (load.masks_open > 0) {
      load.waited_for = true;
      ++w.pending;
      known = false;
    } else if (load.masks_at > cycle) {
      w.due = later(w.due, load.masks_at);
      known = false;
    }
  }
  if (!known) {
    wait(slot, w, LazyCause::zero_mask, cycle);
    return false;
  }
  for (const std::uint16_t number : needs_.touched()) apply_zeros(loads_[number]);
  return true;
}

// Marks the spared lanes as suspended: the instruction executes without them.
void LazyUnit::suspend(WavefrontSlot& slot, const isa::DecodedInstruction& instruction) {
  unsigned source = isa::kMaxSources;
  for (const InstructionNeeds::Spared& spared : needs_.spared()) {
    HeldLoad& load = loads_[spared.load];
    if (load.slot == nullptr) continue;
    load.suspended[spared.reg] |= spared.lanes & load.busy[spared.reg];
    if (parameters_.otimes_ieee == isa::OtimesIeee::strict || spared.source == source) continue;
    source = spared.source;
    const Lanes differ = isa::differing_lanes(instruction, slot.wave, source, spared.lanes);
    if (differ != 0) count(slot, LazyCount::lanes_differ, static_cast<std::uint64_t>(std::popcount(differ)));
  }
}

void LazyUnit::overwrite(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave) {
  const Lanes written = InstructionNeeds::written_lanes(instruction, wave);
  for (unsigned i = 0; i < instruction.registers.writes(); ++i) {
    loads_.for_busy(w, instruction.registers.write(i),
                    [this, written](HeldLoad& load, unsigned r) { free_lanes(load, r, written); });
  }
}

// -- waiting

void LazyUnit::wait(WavefrontSlot& slot, Wavefront& w, LazyCause cause, Cycles cycle) {
  slot.account(StallCause::unit_busy, cycle);
  w.cause = cause;
  if (w.pending > 0) {
    slot.hold(StallReason::registers);
  } else {
    end_wait(slot, w);
  }
  slot.publish();
}

void LazyUnit::end_wait(WavefrontSlot& slot, Wavefront& w) {
  slot.when = later(slot.when, w.due);
  slot.account_delays(w.delays, slot.when);
  slot.account(extension_stall(slots_of_texts_.first_cause + static_cast<std::size_t>(w.cause)), slot.when);
}

void LazyUnit::registers_filled(WavefrontSlot& slot, Cycles done, const OperationDelays& delays) {
  Wavefront& w = wavefront(slot);
  if (done > w.due) {
    w.due = done;
    w.delays = delays;
  }
  if (--w.pending > 0 || !slot.held_by(StallReason::registers)) return;
  end_wait(slot, w);
  slot.release(StallReason::registers);
}

void LazyUnit::zeros_known(std::uint32_t tag, Tick at) {
  HeldLoad& load = loads_[static_cast<std::uint16_t>(tag)];
  load.masks_at = later(load.masks_at, clock_.ceil(at));
  if (--load.masks_open > 0) return;
  if (load.slot == nullptr) {
    loads_.release(load);
    return;
  }
  if (!std::exchange(load.waited_for, false)) return;
  registers_filled(*load.slot, load.masks_at, {});
}

}  // namespace lacuna
