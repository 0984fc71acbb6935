#include "models/isa/analysis/wait_effects.h"

#include <algorithm>
#include <optional>

namespace lacuna::isa {
namespace {

constexpr unsigned kLgkmNone = 15;  // all ones in a 4-bit field, on both targets: no wait
constexpr unsigned kVgprSlots = 256;
constexpr unsigned kSgprs = 128;

}  // namespace

bool is_wait(const Instruction& instruction) { return instruction.latency == LatencyClass::waitcnt; }

bool counts_vm(const Instruction& instruction) { return instruction.unit == Unit::vmem; }

bool counts_lgkm(const Instruction& instruction) {
  return instruction.unit == Unit::smem || instruction.unit == Unit::lds || instruction.format == Format::flat;
}

// SIMM16: GCN3 ISA manual, "s_waitcnt"; gfx9 adds bits 5:4 of vmcnt at 15:14.
WaitCounts WaitCounts::of(const Instruction& wait, Target target) {
  const auto simm16 = static_cast<std::uint32_t>(wait.immediate);
  const unsigned vm_limit = (1U << traits(target).vmcnt_bits) - 1;
  const unsigned vm = (simm16 & 0xf) | ((simm16 >> 14 & 3) << 4 & vm_limit);
  const unsigned lgkm = simm16 >> 8 & 0xf;
  return {.vm = vm == vm_limit ? kNone : vm, .lgkm = lgkm == kLgkmNone ? kNone : lgkm};
}

std::uint32_t WaitCounts::encode(std::uint32_t word, Target target) const {
  const unsigned vm_limit = (1U << traits(target).vmcnt_bits) - 1;
  const unsigned vm_field = vm == kNone ? vm_limit : vm;
  const unsigned lgkm_field = lgkm == kNone ? kLgkmNone : lgkm;
  word = (word & ~0xf0fU) | (vm_field & 0xf) | lgkm_field << 8;
  return traits(target).vmcnt_bits == 4 ? word : (word & ~0xc000U) | (vm_field >> 4) << 14;
}

bool PendingRegisters::contains_any(RegisterRange range) const {
  PendingRegisters asked;
  asked.change(range, true);
  return intersects(asked);
}

bool PendingRegisters::intersects(const PendingRegisters& other) const {
  for (unsigned word = 0; word < kWords; ++word)
    if ((words_[word] & other.words_[word]) != 0) return true;
  return false;
}

bool PendingRegisters::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

bool PendingRegisters::merge(const PendingRegisters& other) {
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    added |= other.words_[i] & ~words_[i];
    words_[i] |= other.words_[i];
  }
  return added != 0;
}

void PendingRegisters::change(RegisterRange range, bool present) {
  if (range.file != OperandKind::vgpr && range.file != OperandKind::sgpr) return;
  const unsigned base = range.file == OperandKind::vgpr ? 0 : kVgprSlots;
  const unsigned end = std::min<unsigned>(range.first + range.count, range.file == OperandKind::vgpr ? kVgprSlots : kSgprs);
  for (unsigned r = range.first; r < end; ++r) {
    const std::uint64_t bit = std::uint64_t{1} << ((base + r) % 64);
    std::uint64_t& word = words_[(base + r) / 64];
    word = present ? word | bit : word & ~bit;
  }
}

WaitEffects::WaitEffects(const ControlFlow& flow, Target target) : flow_(flow), target_(target) {
  const std::vector<BasicBlock>& blocks = flow.blocks();
  std::vector<State> begins(blocks.size());
  std::vector<std::uint32_t> pending;
  for (std::size_t b = blocks.size(); b-- > 0;) pending.push_back(static_cast<std::uint32_t>(b));
  std::vector<bool> is_pending(blocks.size(), true);
  while (!pending.empty()) {
    const std::uint32_t b = pending.back();
    pending.pop_back();
    is_pending[b] = false;
    State state = begins[b];
    for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) step(i, state, nullptr);
    for (const std::uint32_t load : state.vm) add_results(load, state.vm_before);
    for (const std::uint32_t load : state.lgkm) add_results(load, state.lgkm_before);
    for (unsigned n = 0; n < blocks[b].next_count; ++n) {
      const std::uint32_t next = blocks[b].next[n];
      const bool more_vm = begins[next].vm_before.merge(state.vm_before);
      const bool more_lgkm = begins[next].lgkm_before.merge(state.lgkm_before);
      if ((!more_vm && !more_lgkm) || is_pending[next]) continue;
      is_pending[next] = true;
      pending.push_back(next);
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    State state = begins[b];
    for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i)
      step(i, state, is_wait(flow.instructions()[i].instruction) ? &effects_[i] : nullptr);
  }
}

void WaitEffects::step(std::uint32_t index, State& state, Effect* effect) const {
  const PlacedInstruction& placed = flow_.instructions()[index];
  if (is_wait(placed.instruction)) {
    wait(WaitCounts::of(placed.instruction, target_), state, effect);
    return;
  }
  // A wait does not make a result available if another instruction has overwritten the register.
  for (unsigned i = 0; i < placed.use.write_count; ++i) {
    state.vm_before.remove(placed.use.writes[i]);
    state.lgkm_before.remove(placed.use.writes[i]);
  }
  if (counts_vm(placed.instruction)) state.vm.push_back(index);
  if (counts_lgkm(placed.instruction)) state.lgkm.push_back(index);
}

void WaitEffects::wait(const WaitCounts& counts, State& state, Effect* effect) const {
  // Number of the block's operations that are complete when at most n are outstanding; nullopt without a wait, or if the block
  // has issued fewer than n: earlier operations may then be outstanding, too.
  const auto waited_for = [](unsigned n, const std::vector<std::uint32_t>& list) {
    return n == WaitCounts::kNone || list.size() < n ? std::nullopt : std::optional(list.size() - n);
  };
  const auto complete = [](std::vector<std::uint32_t>& list, std::size_t count, std::vector<std::uint32_t>* to) {
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(count);
    if (to != nullptr) to->insert(to->end(), list.begin(), end);
    list.erase(list.begin(), end);
  };
  if (const auto count = waited_for(counts.vm, state.vm)) {
    if (effect != nullptr) {
      effect->vm_before = true;
      effect->from_before.merge(state.vm_before);
    }
    state.vm_before.clear();
    // FLAT instructions are in both lists: completed FLAT instructions are removed from the LGKM list as well.
    const std::vector<std::uint32_t> done(state.vm.begin(), state.vm.begin() + static_cast<std::ptrdiff_t>(*count));
    std::erase_if(state.lgkm, [&](std::uint32_t index) { return std::find(done.begin(), done.end(), index) != done.end(); });
    complete(state.vm, *count, effect != nullptr ? &effect->vm : nullptr);
  }
  if (const auto count = waited_for(counts.lgkm, state.lgkm)) {
    if (effect != nullptr) {
      effect->lgkm_before = true;
      effect->from_before.merge(state.lgkm_before);
    }
    state.lgkm_before.clear();
    complete(state.lgkm, *count, effect != nullptr ? &effect->lgkm : nullptr);
  }
}

void WaitEffects::add_results(std::uint32_t load, PendingRegisters& registers) const {
  const RegisterUse& use = flow_.instructions()[load].use;
  for (unsigned i = 0; i < use.write_count; ++i) registers.add(use.writes[i]);
}

}  // namespace lacuna::isa
