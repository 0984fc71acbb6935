#include "models/neardata/offload_unit.h"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

// A core's use of its ALUs is measured over at least this time.
constexpr std::uint64_t kAluCycles = 64;

}  // namespace

OffloadUnit::OffloadUnit(NearDataNetwork& network, const LoadStageContext& unit)
    : LoadStage(unit.memory),
      network_(network),
      parameters_(network.parameters),
      unit_(unit.parameters),
      core_(unit.place.index),
      clock_(unit.clock),
      tokens_(unit.tokens),
      memory_(unit.memory),
      physical_(unit.vm),
      slots_(unit.parameters.wavefronts_per_simd),
      line_mask_(unit.parameters.transaction_bytes - 1),
      wavefronts_(std::size_t{unit.parameters.simds} * unit.parameters.wavefronts_per_simd),
      builders_(network.parameters.builders) {
  memory_.share_line_port();
}

void OffloadUnit::describe(StatisticsGroup& unit) const {
  StatisticsGroup& g = unit.group("ndc");
  for (std::size_t i = 0; i < kNearDataCounts; ++i) {
    const ExtensionCountText& text = kNearDataCountTexts[i];
    g.add(std::string(text.name), statistics_.counts[i], text.meaning, text.unit);
  }
  g.add("look_ups", statistics_.look_ups, "look-ups of the L1 cache's tags for loads that are offloaded", "look-ups");
  g.add("most_entries", statistics_.most_entries, "highest number of entries of the offload queue in use", "entries");
}

void OffloadUnit::count(const WavefrontSlot* slot, NearDataCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  if (slot == nullptr) return;
  slot->group->work->activity.extension[texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

void OffloadUnit::reset() {
  for (Wavefront& w : wavefronts_) w = {};
  chains_.clear();
  free_chains_.clear();
  parts_.clear();
  free_parts_.clear();
  used_ = 0;
  builders_ = parameters_.builders;
  waiting_.clear();
  requests_.clear();
  free_requests_.clear();
  messages_.clear();
  next_message_ = kNever;
  alu_busy_ = 0;
  alu_use_ = 0;
  alu_since_ = {};
}

// -- before instructions

void OffloadUnit::begin_kernel(Wavefront& w, const WavefrontSlot& slot) {
  w.dispatch = slot.group->dispatch;
  w.kernel = network_.kernels.find(w.dispatch->entry);
  // As many workgroups as wavefront slots allow keep their LDS (section 4.5).
  const WorkgroupNeeds& needs = w.dispatch->needs;
  const std::uint64_t workgroups = std::max(1U, unit_.simds * unit_.wavefronts_per_simd / std::max(1U, needs.wavefronts));
  const std::uint64_t operands = std::uint64_t{parameters_.sq_entries} * 2 * (line_mask_ + 1);
  w.caches_only = needs.lds_bytes != 0 && std::min(workgroups * needs.lds_bytes, unit_.lds.n) + operands > unit_.lds.n;
}

bool OffloadUnit::prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (slot.group->dispatch != w.dispatch) [[unlikely]]
    begin_kernel(w, slot);
  if (w.kernel != nullptr && !prepare_tagged(slot, w, instruction, cycle)) return false;
  if (instruction.unit == isa::Unit::valu) alu_busy_ += isa::kLanes / unit_.lanes_per_simd;
  return true;
}

bool OffloadUnit::prepare_tagged(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction, Cycles cycle) {
  if (w.accessing != kNone) [[unlikely]]
    leave_global_memory(slot, w, cycle);
  if (w.closing != kNone) {
    hold(slot, cycle);
    return false;
  }
  if (w.not_before > cycle) {
    resume(slot, NearDataCause::chain, w.not_before);
    return false;
  }
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  if (place.chain == nullptr || place.role == ChainRole::wait) {
    // The first load of a chain may have had no lane in global memory.
    if (w.builds && w.open.empty()) release_builder(w, cycle);
    return true;
  }
  if (place.tag == ChainTag::first) return slot.wave.exec() == 0 || take_builder(slot, w, cycle);
  const std::uint16_t open = find_open(w, place.chain);
  if (open == kNone) return true;
  OpenChain& chain = chains_[open];
  if (!loads(place.role)) {
    if (chain.fills > 0) {
      release_builder(w, cycle);  // it builds nothing meanwhile
      w.filling = open;
      hold(slot, cycle);
      return false;
    }
    if (chain.filled > cycle) {
      resume(slot, NearDataCause::chain, chain.filled);
      return false;
    }
    if (chain.parts.empty()) {  // all of its lanes have stayed
      std::erase(w.open, open);
      if (w.open.empty()) release_builder(w, cycle);
      free_chain(open);
      return true;
    }
  }
  if (!take_builder(slot, w, cycle)) return false;
  if (place.role != ChainRole::operation) {
    w.accessing = open;
    w.stores_elsewhere = place.role == ChainRole::store;
  } else if (place.tag == ChainTag::last) {
    close(slot, open, cycle);
  }
  return true;
}

// FLAT addresses may be in LDS or private memory. The core performs the chain.
void OffloadUnit::leave_global_memory(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  const std::uint16_t open = std::exchange(w.accessing, kNone);
  count(&slot, NearDataCount::address_space);
  for (const std::uint16_t part : std::vector<std::uint16_t>(chains_[open].parts)) {
    if (w.stores_elsewhere) {
      leave_queue(parts_[part]);
    } else {
      flush(part, clock_.ticks(cycle));
    }
  }
  if (w.stores_elsewhere) close(slot, open, cycle);
}

bool OffloadUnit::take_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (w.builds) return true;
  if (builders_ > 0) {
    --builders_;
    return w.builds = true;
  }
  hold(slot, cycle);
  waiting_.push_back(&slot);
  return false;
}

// Hands it to the wavefront that has waited longest.
void OffloadUnit::release_builder(Wavefront& w, Cycles cycle) {
  if (!std::exchange(w.builds, false)) return;
  if (waiting_.empty()) {
    ++builders_;
    return;
  }
  WavefrontSlot& next = *waiting_.front();
  waiting_.erase(waiting_.begin());
  wavefront(next).builds = true;
  resume(next, NearDataCause::builder, cycle + Cycles{1});
}

void OffloadUnit::hold(WavefrontSlot& slot, Cycles cycle) {
  slot.account(StallCause::unit_busy, cycle);
  slot.hold(StallReason::registers);
  slot.publish();
}

void OffloadUnit::resume(WavefrontSlot& slot, NearDataCause cause, Cycles at) {
  slot.when = later(slot.when, at);
  slot.account(extension_stall(texts_.first_cause + static_cast<std::size_t>(cause)), slot.when);
  if (slot.held_by(StallReason::registers)) {
    slot.release(StallReason::registers);
  } else {
    slot.publish();
  }
}

std::uint16_t OffloadUnit::find_open(const Wavefront& w, const Chain* chain) const {
  for (const std::uint16_t open : w.open) {
    if (chains_[open].chain == chain) return open;
  }
  return kNone;
}

void OffloadUnit::wavefront_ended(WavefrontSlot& slot) {
  Wavefront& w = wavefront(slot);
  std::erase(waiting_, &slot);
  release_builder(w, clock_.floor(last_));
  for (std::uint16_t open = 0; open < static_cast<std::uint16_t>(chains_.size()); ++open) {
    OpenChain& chain = chains_[open];
    if (chain.slot != &slot) continue;
    chain.slot = nullptr;
    if (chain.closing) continue;
    // Under construction: nothing of it is in the network.
    for (const std::uint16_t part : std::exchange(chain.parts, {})) free_part(part);
    if (chain.fills == 0) free_chain(open);
  }
  w = {};
}

unsigned OffloadUnit::alu_use(Tick at) {
  constexpr unsigned kWhole = 1024;
  const std::uint64_t cycles = at > alu_since_ ? clock_.floor(at - alu_since_).n : 0;
  if (cycles >= kAluCycles) {
    alu_use_ = static_cast<unsigned>(std::min<std::uint64_t>(kWhole, alu_busy_ * kWhole / (cycles * unit_.simds)));
    alu_busy_ = 0;
    alu_since_ = at;
  }
  return alu_use_;
}

}  // namespace lacuna
