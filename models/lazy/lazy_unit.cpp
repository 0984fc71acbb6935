#include "models/lazy/lazy_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/analysis/irrelevant_lanes.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

using isa::LatencyClass;
using isa::Unit;

constexpr std::uint64_t bit(LatencyClass latency) { return std::uint64_t{1} << static_cast<unsigned>(latency); }
constexpr bool is_in(LatencyClass latency, std::uint64_t set) { return (set >> static_cast<unsigned>(latency) & 1) != 0; }

constexpr std::uint64_t kMatrix = bit(LatencyClass::mfma_2_pass) | bit(LatencyClass::mfma_4_pass) |
                                  bit(LatencyClass::mfma_8_pass) | bit(LatencyClass::mfma_16_pass);

/// Whether an instruction reads registers of other lanes than those of EXEC, or writes a part of a register's lanes.
bool reads_all_lanes(const isa::Instruction& instruction) {
  constexpr std::uint64_t kAcrossLanes = kMatrix | bit(LatencyClass::valu_lane) | bit(LatencyClass::lds_permute);
  return instruction.vop.dpp || is_in(instruction.latency, kAcrossLanes);
}

std::uint64_t written_lanes(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  return is_in(instruction.latency, kMatrix) ? isa::kAllLanes : wave.exec();
}

bool is_vector(const isa::RegisterRange& range) {
  return range.file == isa::OperandKind::vgpr || range.file == isa::OperandKind::agpr;
}

}  // namespace

LazyUnit::LazyUnit(const LazyParameters& parameters, const LoadStageContext& unit, const ZeroPath& path)
    : LoadStage(unit.memory),
      parameters_(parameters),
      clock_(unit.clock),
      tokens_(unit.tokens),
      memory_(unit.memory),
      physical_(unit.vm),
      slots_(unit.parameters.wavefronts_per_simd),
      wavefronts_(std::size_t{unit.parameters.simds} * unit.parameters.wavefronts_per_simd),
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
  // Requests in registers; their data are written in addition.
  meter.add("lazy", "request_written", statistics_.encoded, energy.vgpr_write);
  meter.add("lazy", "request_read", statistics_.decoded, energy.vgpr_read);
  if (!zeros_) return;
  meter.add("vmem", "mask_read", zeros_->reads(), energy.vmem_request);
  meter.add("vmem", "mask_write", zeros_->writes(), energy.vmem_request);
}

void LazyUnit::reset() {
  if (zeros_) zeros_->reset();
  for (Wavefront& w : wavefronts_) {
    w.loads.clear();
    w.busy.clear();
    w.owner.fill(kNone);
    w.pending = 0;
  }
  loads_.clear();
  free_loads_.clear();
  racing_loads_.clear();
  free_racing_loads_.clear();
}

// -- before an instruction

bool LazyUnit::needs_everything(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  constexpr std::uint64_t kOrdering = bit(LatencyClass::barrier) | bit(LatencyClass::vmem_control) |
                                      bit(LatencyClass::smem_control) | bit(LatencyClass::smem_store) |
                                      bit(LatencyClass::vmem_atomic);
  if (is_in(instruction.latency, kOrdering)) return true;
  if (instruction.unit == Unit::vmem) return instruction.mem.glc || instruction.mem.slc;
  if (instruction.unit == Unit::lds) return instruction.mem.gds;
  return instruction.unit == Unit::valu && wave.mode.alters_vector();
}

template <typename Body>
void LazyUnit::for_busy(Wavefront& w, isa::RegisterRange range, Body&& body) {
  if (!is_vector(range)) return;
  const unsigned first = index_of(range);
  for (unsigned i = first; i < first + range.count; ++i) {
    if (w.owner[i] == kNone) continue;
    HeldLoad& load = *loads_[w.owner[i]];
    body(load, i - index_of(load.registers));
  }
}

bool LazyUnit::prepare_registers(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  const bool everything = needs_everything(instruction, slot.wave);
  touch(w, instruction, everything);
  if (!masks_known(slot, w, cycle)) return false;
  find_needs(w, instruction, slot.wave, everything);
  const auto is_needed = [this](std::uint16_t number) {
    const HeldLoad& load = *loads_[number];
    return load.slot != nullptr && std::any_of(load.need.begin(), load.need.end(), [](Lanes need) { return need != 0; });
  };
  if (std::any_of(touched_.begin(), touched_.end(), is_needed)) {
    if (parameters_.first_use == FirstUse::all) need_all(w, cycle);
    w.due = cycle + Cycles{1};
    w.delays = {};
    for (const std::uint16_t number : touched_) {
      if (!is_needed(number)) continue;
      if (parameters_.check) check_memory(*loads_[number]);
      issue(*loads_[number], cycle);
    }
    wait(slot, w, LazyCause::registers, cycle);
    return false;
  }
  suspend(slot, instruction);
  overwrite(w, instruction, slot.wave);
  return true;
}

// FirstUse::all: of other loads, what is not known to be zero and not suspended.
void LazyUnit::need_all(Wavefront& w, Cycles cycle) {
  const std::vector<std::uint16_t> touched = touched_;
  for (const std::uint16_t number : std::vector<std::uint16_t>(w.loads)) {
    HeldLoad& load = *loads_[number];
    if (load.masks_open > 0 || load.masks_at > cycle) continue;
    if (std::find(touched.begin(), touched.end(), number) != touched.end()) continue;
    apply_zeros(load);
    for (unsigned r = 0; r < load.registers.count; ++r) load.need[r] = load.busy[r] & ~load.suspended[r];
    touched_.push_back(number);
  }
}

// The loads that the instruction reads registers of, or whose address it overwrites.
void LazyUnit::touch(Wavefront& w, const isa::DecodedInstruction& instruction, bool everything) {
  touched_.clear();
  const auto add = [this](HeldLoad& load) {
    if (std::exchange(load.touched, true)) return;
    load.need = {};
    load.written = 0;
    touched_.push_back(load.number);
  };
  if (everything) {
    for (const std::uint16_t number : w.loads) add(*loads_[number]);
  } else {
    for (unsigned i = 0; i < instruction.registers.reads(); ++i)
      for_busy(w, instruction.registers.read(i), [&](HeldLoad& load, unsigned) { add(load); });
    for (unsigned i = 0; i < instruction.registers.writes(); ++i) {
      for_busy(w, instruction.registers.write(i), [&](HeldLoad& load, unsigned) {
        if (load.registers.count > 1) add(load);
      });
    }
  }
  for (const std::uint16_t number : touched_) loads_[number]->touched = false;
}

// Whether the zero masks of what is touched are known; what they say is put into the registers.
bool LazyUnit::masks_known(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (zeros_ == nullptr) return true;
  w.due = cycle + Cycles{1};
  w.delays = {};
  bool known = true;
  for (const std::uint16_t number : touched_) {
    HeldLoad& load = *loads_[number];
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
  for (const std::uint16_t number : touched_) apply_zeros(*loads_[number]);
  return true;
}

void LazyUnit::find_needs(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave,
                          bool everything) {
  spared_.clear();
  if (everything) {
    for (const std::uint16_t number : w.loads) loads_[number]->need = loads_[number]->busy;
    return;
  }
  const Lanes wanted = reads_all_lanes(instruction) ? isa::kAllLanes : wave.exec();
  for (unsigned i = 0; i < instruction.registers.reads(); ++i) {
    for_busy(w, instruction.registers.read(i), [wanted](HeldLoad& load, unsigned r) { load.need[r] |= load.busy[r] & wanted; });
  }
  keep_addresses(w, instruction, wave);
  if (has_otimes(parameters_.mode) && instruction.unit == Unit::valu && isa::has_irrelevant_sources(instruction))
    spare(w, instruction, wave);
}

// The first register of a load has its address, which must not be lost while other registers are busy.
void LazyUnit::keep_addresses(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave) {
  const auto for_written = [&](auto&& body) {
    for (unsigned i = 0; i < instruction.registers.writes(); ++i) for_busy(w, instruction.registers.write(i), body);
  };
  for_written([](HeldLoad& load, unsigned r) { load.written |= 1U << r; });
  for_written([&](HeldLoad& load, unsigned r) {
    if (r != 0) return;
    for (unsigned other = 1; other < load.registers.count; ++other) {
      if ((load.written >> other & 1) == 0) load.need[other] |= load.busy[other] & written_lanes(instruction, wave);
    }
  });
}

// Lanes in which an operand makes no difference are not needed.
void LazyUnit::spare(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave) {
  isa::SourceLanes busy{};
  const auto range_of = [](const isa::Operand& operand) {
    return isa::RegisterRange{operand.kind, operand.index, operand.words};
  };
  for (unsigned s = 0; s < instruction.sources; ++s) {
    for_busy(w, range_of(instruction.src[s]), [&busy, s](HeldLoad& load, unsigned r) { busy[s] |= load.busy[r]; });
  }
  unsigned sources = isa::irrelevant_sources(instruction, parameters_.otimes_ieee);
  for (; sources != 0; sources &= sources - 1) {
    const auto s = static_cast<unsigned>(std::countr_zero(sources));
    if ((busy[s] & wave.exec()) == 0) continue;
    const Lanes lanes = isa::irrelevant_lanes(instruction, wave, s, busy, parameters_.otimes_ieee) & busy[s];
    if (lanes == 0) continue;
    for_busy(w, range_of(instruction.src[s]), [&](HeldLoad& load, unsigned r) {
      load.need[r] &= ~lanes;
      spared_.push_back({load.number, static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s), lanes});
    });
  }
}

// The instruction executes without them.
void LazyUnit::suspend(WavefrontSlot& slot, const isa::DecodedInstruction& instruction) {
  unsigned source = isa::kMaxSources;
  for (const Spared& spared : spared_) {
    HeldLoad& load = *loads_[spared.load];
    if (load.slot == nullptr) continue;
    load.suspended[spared.reg] |= spared.lanes & load.busy[spared.reg];
    if (parameters_.otimes_ieee == isa::OtimesIeee::strict || spared.source == source) continue;
    source = spared.source;
    const Lanes differ = isa::differing_lanes(instruction, slot.wave, source, spared.lanes);
    if (differ != 0) count(slot, LazyCount::lanes_differ, static_cast<std::uint64_t>(std::popcount(differ)));
  }
}

void LazyUnit::overwrite(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave) {
  const Lanes written = written_lanes(instruction, wave);
  for (unsigned i = 0; i < instruction.registers.writes(); ++i) {
    for_busy(w, instruction.registers.write(i), [this, written](HeldLoad& load, unsigned r) { free_lanes(load, r, written); });
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
  if ((tag & kRacingLoad) != 0) {
    RacingLoad& race = racing_loads_[tag & ~kRacingLoad];
    race.masks_at = later(race.masks_at, at);
    if (--race.masks_open > 0) return;
    for (const VectorMemory::Race line : race.lines) memory_.stage_completed(line, race.masks_at);
    free_racing_loads_.push_back(tag & ~kRacingLoad);
    return;
  }
  HeldLoad& load = *loads_[tag];
  load.masks_at = later(load.masks_at, clock_.ceil(at));
  if (--load.masks_open > 0) return;
  if (load.slot == nullptr) {
    free_loads_.push_back(load.number);
    return;
  }
  if (!std::exchange(load.waited_for, false)) return;
  registers_filled(*load.slot, load.masks_at, {});
}

}  // namespace lacuna
