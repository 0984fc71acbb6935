#include "models/neardata/offload_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace lacuna {

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
  free_queue();
}

void OffloadUnit::describe(StatisticsGroup& unit) const {
  StatisticsGroup& g = unit.group("ndc");
  for (std::size_t i = 0; i < kNearDataCounts; ++i) {
    const ExtensionCountText& text = kNearDataCountTexts[i];
    g.add(std::string(text.name), statistics_.counts[i], text.meaning, text.unit);
  }
  g.add("committed", statistics_.committed, "operations of chains that the core has committed without execution",
        "wavefront instructions");
  g.add("core_lanes", statistics_.core_lanes,
        "lanes of operations that the core performs in the end, among them the sums of results with registers", "lanes");
  g.add("look_ups", statistics_.look_ups, "look-ups of the L1 cache's tags for loads that are offloaded", "look-ups");
  g.add("table_reads", statistics_.table_reads, "reads of the table of meeting nodes", "reads");
  g.add("entry_time", statistics_.entry_time, "time that entries of the offload queue were in use, summed over entries");
  g.add("most_entries", statistics_.most_entries, "highest number of entries of the offload queue in use", "entries");
}

void OffloadUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const {
  meter.add("vgpr", "chain_address", statistics_.address_words, energy.vgpr_read);
  meter.add("vgpr", "chain_load", statistics_.loaded_words, energy.vgpr_write);
  meter.add("vgpr", "chain_store", statistics_.stored_words, energy.vgpr_read);
  meter.add("valu", "chain", statistics_.core_lanes, energy.valu_f32 + 2 * energy.vgpr_read + energy.vgpr_write);
}

void OffloadUnit::count(const WavefrontSlot* slot, NearDataCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  if (slot == nullptr) return;
  slot->group->work->activity.extension[texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

// A kernel's count is summed over compute units, so each adds only the amount by which it raises the kernel's peak occupancy of
// a service queue's input.
void OffloadUnit::count_input(unsigned number, std::uint64_t fill) {
  constexpr auto kIndex = static_cast<std::size_t>(NearDataCount::most_input);
  statistics_.counts[kIndex] = std::max(statistics_.counts[kIndex], fill);
  const WavefrontSlot* const slot = chains_[parts_[number].chain].slot;
  if (slot == nullptr) return;
  std::uint64_t& highest = network_.most_input[slot->group->dispatch->index];
  if (fill <= highest) return;
  slot->group->work->activity.extension[texts_.first_count + kIndex] += fill - highest;
  highest = fill;
}

void OffloadUnit::count_chain(const WavefrontSlot& slot, const Chain& chain) {
  const unsigned accesses = 1U + (chain.second_load ? 1 : 0) + (chain.stores ? 1 : 0);
  count(&slot, NearDataCount::chains);
  count(&slot, NearDataCount::tagged, accesses + chain.operations);
  count(&slot, NearDataCount::tagged_memory, accesses);
  count(&slot, static_cast<NearDataCount>(static_cast<unsigned>(NearDataCount::pattern_0) + chain.pattern));
}

std::string OffloadUnit::remains() const {
  const auto in_use = [](std::size_t all, std::size_t free) { return all - free; };
  const std::size_t parts = in_use(parts_.size(), free_parts_.size());
  const std::size_t chains = in_use(chains_.size(), free_chains_.size());
  const bool right = parts == 0 && chains == 0 && used_ == 0 && builders_ == parameters_.builders && waiting_.empty() &&
                     messages_.empty() && free_requests_.size() == requests_.size();
  if (right) return "";
  return fmt::format(
      "core {}: {} parts, {} chains, {} entries of the offload queue, {} of {} packet generation units, {} wavefronts waiting "
      "for one, {} packets, {} requests to the L1 cache",
      core_, parts, chains, used_, parameters_.builders - builders_, parameters_.builders, waiting_.size(), messages_.size(),
      in_use(requests_.size(), free_requests_.size()));
}

// Entries are used in ascending order until the first entry has been freed; then the entry freed last is used first.
void OffloadUnit::free_queue() {
  used_ = 0;
  free_entries_.clear();
  for (unsigned entry = parameters_.oq_entries; entry-- > 0;) free_entries_.push_back(static_cast<std::uint8_t>(entry));
}

void OffloadUnit::reset() {
  for (Wavefront& w : wavefronts_) w = {};
  chains_.clear();
  free_chains_.clear();
  parts_.clear();
  free_parts_.clear();
  flow_ = {};
  free_queue();
  builders_ = parameters_.builders;
  waiting_.clear();
  requests_.clear();
  free_requests_.clear();
  messages_.clear();
  next_message_ = kNever;
  alu_use_.reset();
  lds_use_.reset();
}

// -- before instructions

void OffloadUnit::begin_kernel(Wavefront& w, const WavefrontSlot& slot) {
  w.dispatch = slot.group->dispatch;
  w.kernel = network_.kernels.find(w.dispatch->entry);
}

StageVerdict OffloadUnit::prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (slot.group->dispatch != w.dispatch) [[unlikely]]
    begin_kernel(w, slot);
  StageVerdict verdict;
  if (w.kernel != nullptr) verdict = prepare_tagged(slot, w, instruction, cycle);
  alu_busy_ += verdict.vector_unit.n;
  if (verdict.issues && instruction.unit == isa::Unit::valu) {
    if (verdict.elsewhere != 0 && verdict.elsewhere == slot.wave.exec()) {
      ++statistics_.committed;
    } else {
      alu_busy_ += isa::kLanes / unit_.lanes_per_simd;
    }
  }
  return verdict;
}

StageVerdict OffloadUnit::prepare_tagged(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                                         Cycles cycle) {
  constexpr StageVerdict kStalls{.issues = false};
  if (w.accessing != kNone) [[unlikely]]
    leave_global_memory(slot, w, cycle);
  if (w.closing != kNone) {
    hold(slot, cycle);
    return kStalls;
  }
  if (w.not_before > cycle) {
    resume(slot, NearDataCause::chain, w.not_before);
    return kStalls;
  }
  if (w.operations > 0) return perform_operations(slot, w, cycle);
  if (!w.kernel->current()) [[unlikely]]
    return {.issues = leave_code(slot, w, cycle)};
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  if (place.chain == nullptr || place.role == ChainRole::wait) {
    // No chain is open, because no lane of the chain's first load accessed global memory: the core executes the chain.
    if (w.builds && w.open.empty()) {
      count_registers(w, ChainRole::load_a, 0);
      release_builder(slot, w, cycle);
    }
    return {};
  }
  const Lanes active = slot.wave.exec();
  if (place.tag == ChainTag::first) {
    if (active == 0) return {};
    if (!take_builder(slot, w, cycle)) return kStalls;
    w.uncounted = active;
    return {.elsewhere = active};
  }
  const std::uint16_t open = find_open(w, place.chain);
  if (open == kNone) return {};
  OpenChain& chain = chains_[open];
  if (!loads(place.role)) {
    if (chain.fills > 0) {
      release_builder(slot, w, cycle);  // the wavefront builds no chain while it is held
      w.filling = open;
      hold(slot, cycle);
      return kStalls;
    }
    if (chain.filled > cycle) {
      resume(slot, NearDataCause::chain, chain.filled);
      return kStalls;
    }
    if (chain.parts.empty()) {  // all lanes of the chain have remained at the core
      std::erase(w.open, open);
      if (w.open.empty()) release_builder(slot, w, cycle);
      free_chain(open);
      return {};
    }
  }
  if (!take_builder(slot, w, cycle)) return kStalls;
  if (place.role != ChainRole::operation) {
    w.accessing = open;
    w.stores_elsewhere = place.role == ChainRole::store;
    w.uncounted = active;
    return {.elsewhere = active};
  }
  if (place.code->immediate) chain.immediate = place.code->immediate_of(slot.wave);
  const StageVerdict performed{.elsewhere = offloaded(chain) & active};
  if (place.tag == ChainTag::last) close(slot, open, cycle);
  return performed;
}

// Repeats the decision of prepare_tagged().
bool OffloadUnit::commits(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) const {
  const Wavefront& w = wavefronts_[slot.simd->number * slots_ + slot.number];
  if (!w.builds || w.dispatch != slot.group->dispatch || w.kernel == nullptr || !w.kernel->current()) return false;
  if (w.accessing != kNone || w.closing != kNone || w.operations > 0 || w.not_before > cycle) return false;
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  if (place.chain == nullptr || place.role != ChainRole::operation) return false;
  const std::uint16_t open = find_open(w, place.chain);
  if (open == kNone) return false;
  const OpenChain& chain = chains_[open];
  const Lanes active = slot.wave.exec();
  return chain.fills == 0 && chain.filled <= cycle && active != 0 && (active & ~offloaded(chain)) == 0;
}

// Called before the wavefront's next instruction. Performs the core's share of the last chain: the operations of parts whose
// operands have arrived at the core, for all lanes of these parts together, and the operation that combines the chain's result
// with a register.
StageVerdict OffloadUnit::perform_operations(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (slot.simd->valu_free > cycle) {
    resume(slot, NearDataCause::chain, slot.simd->valu_free);
    return {.issues = false};
  }
  const std::uint64_t operations = std::exchange(w.operations, 0);
  return {.issues = false, .vector_unit = Cycles{operations * (isa::kLanes / unit_.lanes_per_simd)}};
}

OffloadUnit::Lanes OffloadUnit::offloaded(const OpenChain& chain) const {
  Lanes lanes = 0;
  for (const std::uint16_t part : chain.parts) lanes |= parts_[part].packet.lanes;
  return lanes;
}

// The vector memory unit reads the addresses of all lanes, but moves data only for the lanes that remain at the core.
void OffloadUnit::count_registers(Wavefront& w, ChainRole role, Lanes offloaded) {
  constexpr std::uint64_t kAddressWords = 2;
  const Lanes lanes = std::exchange(w.uncounted, 0);
  statistics_.address_words += kAddressWords * static_cast<std::uint64_t>(std::popcount(lanes));
  const auto data = static_cast<std::uint64_t>(std::popcount(lanes & ~offloaded));
  (role == ChainRole::store ? statistics_.stored_words : statistics_.loaded_words) += data;
}

// Called if all lanes' FLAT addresses were in LDS or private memory, none in global memory: the core executes the chain.
void OffloadUnit::leave_global_memory(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  const std::uint16_t open = std::exchange(w.accessing, kNone);
  count(&slot, NearDataCount::address_space);
  count_registers(w, w.stores_elsewhere ? ChainRole::store : ChainRole::load_b, 0);
  for (const std::uint16_t part : std::vector<std::uint16_t>(chains_[open].parts)) {
    if (w.stores_elsewhere) {
      leave_queue(parts_[part], clock_.ticks(cycle));
    } else {
      flush(part, clock_.ticks(cycle));
    }
  }
  if (w.stores_elsewhere) close(slot, open, cycle);
}

// Called if the code has changed. Chains that the wavefront has begun remain at the core, which performs their loads before the
// wavefront continues; the wavefront begins no further chains.
bool OffloadUnit::leave_code(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  release_builder(slot, w, cycle);
  for (const std::uint16_t open : w.open) {
    OpenChain& chain = chains_[open];
    if (!chain.parts.empty()) count(&slot, NearDataCount::code_changed);
    for (const std::uint16_t part : std::vector<std::uint16_t>(chain.parts)) flush(part, clock_.ticks(cycle));
    if (chain.fills > 0) {
      w.filling = open;
      hold(slot, cycle);
      return false;
    }
    if (chain.filled > cycle) {
      resume(slot, NearDataCause::chain, chain.filled);
      return false;
    }
  }
  for (const std::uint16_t open : std::exchange(w.open, {})) free_chain(open);
  w.kernel = nullptr;
  return true;
}

bool OffloadUnit::take_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (w.builds) return true;
  if (builders_ > 0) {
    --builders_;
    build(slot, w, true);
    return true;
  }
  hold(slot, cycle);
  waiting_.push_back(&slot);
  return false;
}

void OffloadUnit::build(WavefrontSlot& slot, Wavefront& w, bool builds) {
  w.builds = builds;
  slot.simd->issue.favour(slot.number, builds);
}

// Passes the packet generation unit to the wavefront that has waited longest, or frees the unit if no wavefront waits.
void OffloadUnit::release_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (!w.builds) return;
  build(slot, w, false);
  if (waiting_.empty()) {
    ++builders_;
    return;
  }
  WavefrontSlot& next = *waiting_.front();
  waiting_.erase(waiting_.begin());
  build(next, wavefront(next), true);
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
  release_builder(slot, w, clock_.floor(last_));
  for (std::uint16_t open = 0; open < static_cast<std::uint16_t>(chains_.size()); ++open) {
    OpenChain& chain = chains_[open];
    if (chain.slot != &slot) continue;
    chain.slot = nullptr;
    if (chain.closing) continue;
    // The chain is under construction: the network carries no message of the chain.
    for (const std::uint16_t part : std::exchange(chain.parts, {})) free_part(part, last_);
    if (chain.fills == 0) free_chain(open);
  }
  w = {};
}

}  // namespace lacuna
