#include "models/neardata/finalizer_move.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "models/isa/decode/table.h"
#include "models/neardata/chain_renaming.h"
#include "models/neardata/finalizer_items.h"

namespace lacuna {
namespace {

using isa::Instruction;
using isa::OperandKind;
using isa::WaitCounts;

/// A value to be renamed: operands that refer to it, and its registers in the original code.
struct Unnamed {
  std::map<std::uint32_t, unsigned> operands;  ///< bit mask of operands (bits by OperandPlace::operand), by instruction
  std::set<unsigned> vgprs;
  unsigned first_bit = 0;  ///< bit of the value's first register in Resources
};

class BlockMover {
 public:
  BlockMover(const isa::ControlFlow& flow, const ChainFinder& finder, isa::Target target, std::vector<unsigned> vgprs,
             bool take_apart)
      : flow_(flow), finder_(finder), target_(target), candidates_(std::move(vgprs)), take_apart_(take_apart) {}

  /// Makes chains contiguous where possible; adds a patch if the block has changed.
  void run(std::uint32_t block, MovedCode& code) {
    const isa::BasicBlock& range = flow_.blocks()[block];
    first_ = range.begin;
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      positions_.push_back(items_.size());
      items_.push_back(item_of(i));
      if (items_.back().is_wait && waits_for_a_part(i)) return;
    }
    for (std::size_t c = 0; c < finder_.chains().size(); ++c) {
      const ChainCandidate& chain = finder_.chains()[c];
      if (flow_.instructions()[chain.first()].block == block && !waits_for_operands(chain))
        chains_.push_back(members_of(chain));
    }
    note_outstanding();
    unsigned changes = 0;
    std::vector<std::optional<unsigned>> failed(chains_.size());  // `changes` at a chain's last attempt, if it has failed
    constexpr unsigned kMostPasses = 4;
    for (unsigned pass = 0; pass < kMostPasses; ++pass) {
      const unsigned before = changes;
      for (std::size_t c = 0; c < chains_.size(); ++c) {
        if (failed[c] == changes) continue;  // nothing has changed since
        if (gather(c)) {
          ++changes;
        } else {
          failed[c] = changes;
        }
      }
      if (changes == before) break;
    }
    if (changes > 0) add_patch(range.begin, code);
  }

 private:
  MovedItem item_of(std::uint32_t index) const {
    MovedItem item;
    item.index = index;
    item.instruction = flow_.instructions()[index].instruction;
    item.is_wait = isa::is_wait(item.instruction);
    set_resources(item);
    return item;
  }

  void set_resources(MovedItem& item) const {
    Instruction instruction = item.instruction;
    item.reads = {};
    item.writes = {};
    item.uses.clear();
    for (const Unnamed& value : unnamed_) {
      const auto found = value.operands.find(item.index);
      if (found == value.operands.end()) continue;
      for (unsigned operand = 0; operand <= OperandPlace::kDestination; ++operand)
        if ((found->second >> operand & 1) != 0) take_operand(value, operand, instruction, item);
    }
    add_uses(instruction, item);
    if (!item.is_wait) return;
    item.writes.add(Resources::kWait);
    item.available = available_by(item.index);
  }

  /// Replaces an operand's registers by the bits of a renamed value, so that the item depends on the value, not on registers.
  static void take_operand(const Unnamed& value, unsigned operand, Instruction& instruction, MovedItem& item) {
    const bool is_destination = operand == OperandPlace::kDestination;
    isa::Operand& place = is_destination ? instruction.dst[0] : instruction.src.at(operand);
    const bool keeps_old = is_destination && (instruction.row->flags & isa::kReadsDst) != 0;
    for (unsigned word = 0; word < place.words; ++word) {
      const unsigned bit =
          value.first_bit + static_cast<unsigned>(std::distance(value.vgprs.begin(), value.vgprs.find(place.index + word)));
      if (is_destination) item.writes.add(bit);
      if (!is_destination || keeps_old) item.reads.add(bit);
    }
    place.kind = OperandKind::none;
  }

  /// Registers that a wait makes available, after renaming.
  isa::PendingRegisters available_by(std::uint32_t wait) const {
    const isa::WaitEffects::Effect& effect = finder_.waits().effect(wait);
    isa::PendingRegisters registers = effect.from_before;
    for (const std::vector<std::uint32_t>* list : {&effect.vm, &effect.lgkm}) {
      for (const std::uint32_t load : *list) {
        const isa::RegisterUse use = isa::register_use(at_index(load).instruction);
        for (unsigned w = 0; w < use.write_count; ++w) registers.add(use.writes[w]);
      }
    }
    return registers;
  }
  /// The block's instruction with this index in ControlFlow::instructions().
  const MovedItem& at_index(std::uint32_t index) const { return items_[positions_[index - first_]]; }

  /// Whether the wait covers only some of the operations issued before the block.
  bool waits_for_a_part(std::uint32_t wait) const {
    const WaitCounts counts = WaitCounts::of(flow_.instructions()[wait].instruction, target_);
    const isa::WaitEffects::Effect& effect = finder_.waits().effect(wait);
    return (counts.vm != WaitCounts::kNone && !effect.vm_before) || (counts.lgkm != WaitCounts::kNone && !effect.lgkm_before);
  }

  /// Whether a wait of the candidate is for an operand that the candidate does not load: then no position of the wait makes the
  /// candidate a chain.
  bool waits_for_operands(const ChainCandidate& chain) const {
    const auto is_load = [&](std::uint32_t load) {
      return std::find(chain.loads.begin(), chain.loads.end(), load) != chain.loads.end();
    };
    return std::any_of(chain.waits.begin(), chain.waits.end(), [&](std::uint32_t wait) {
      const isa::PendingRegisters others = finder_.waits().made_available(wait, is_load);
      const auto needs = [&](std::uint32_t member) { return member > wait && at_index(member).uses.intersects(others); };
      return std::any_of(chain.operations.begin(), chain.operations.end(), needs) || (chain.store && needs(*chain.store));
    });
  }

  static std::vector<std::uint32_t> members_of(const ChainCandidate& chain) {
    std::vector<std::uint32_t> members = chain.loads;
    members.insert(members.end(), chain.operations.begin(), chain.operations.end());
    members.insert(members.end(), chain.waits.begin(), chain.waits.end());
    if (chain.store) members.push_back(*chain.store);
    std::sort(members.begin(), members.end());
    return members;
  }
  bool is_member(std::size_t chain, const MovedItem& item) const {
    return std::binary_search(chains_[chain].begin(), chains_[chain].end(), item.index);
  }

  // -- gathering

  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range range_of(std::size_t chain) const {
    Range range{items_.size(), 0};
    for (const std::uint32_t member : chains_[chain]) {
      range.begin = std::min(range.begin, positions_[member - first_]);
      range.end = std::max(range.end, positions_[member - first_] + 1);
    }
    return range;
  }
  void note_positions() {
    for (std::size_t i = 0; i < items_.size(); ++i) positions_[items_[i].index - first_] = i;
  }
  bool is_contiguous(std::size_t chain) const {
    const Range range = range_of(chain);
    return range.end - range.begin == chains_[chain].size();
  }

  /// Number of items of each chain that is contiguous and must remain contiguous, indexed by the chain's first item. Chain
  /// `gathered` is excluded.
  std::map<std::size_t, std::size_t> units(std::size_t gathered) const {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t c = 0; c < chains_.size(); ++c)
      if (c != gathered && is_contiguous(c)) found[range_of(c).begin] = chains_[c].size();
    return found;
  }

  /// Resources of earlier items, on which later items may depend.
  struct Dependents {
    Resources reads;
    Resources writes;
    isa::PendingRegisters available;
    std::vector<std::uint32_t> memory;  ///< indices of all items: later waits may cover those that access memory

    bool has(const MovedItem& item, const ChainFinder& finder) const {
      return item.reads.intersects(writes) || item.writes.intersects(reads) || item.writes.intersects(writes) ||
             item.uses.intersects(available) || waits_for_any(item, finder);
    }
    /// Whether an item depends on the earlier items only because it writes a VGPR that they use: renaming removes this
    /// dependence.
    bool by_name_only(const MovedItem& item, const ChainFinder& finder) const {
      if (item.reads.intersects(writes) || item.uses.intersects(available) || waits_for_any(item, finder)) return false;
      return !item.writes.intersects_beyond_vgprs(reads) && !item.writes.intersects_beyond_vgprs(writes);
    }
    void add(const MovedItem& item) {
      Resources ordered = item.reads;
      ordered.remove(Resources::kWait);  // instructions before a wait may move behind that wait
      reads.add(ordered);
      writes.add(item.writes);
      if (item.is_wait) available.merge(item.available);
      memory.push_back(item.index);
    }
    bool waits_for_any(const MovedItem& item, const ChainFinder& finder) const {
      if (!item.is_wait) return false;
      const isa::WaitEffects::Effect& effect = finder.waits().effect(item.index);
      return std::any_of(memory.begin(), memory.end(), [&](std::uint32_t index) { return effect.covers(index); });
    }
  };

  /// Resources of later items, which may depend on earlier items.
  struct Needs {
    Resources reads;
    Resources writes;
    isa::PendingRegisters uses;
    std::vector<std::uint32_t> waits;

    /// Whether Dependents::has() holds for the earlier item and one of the later items.
    bool depend_on(const MovedItem& item, const ChainFinder& finder) const {
      Resources ordered = item.reads;
      ordered.remove(Resources::kWait);
      return item.writes.intersects(reads) || ordered.intersects(writes) || item.writes.intersects(writes) ||
             item.available.intersects(uses) || std::any_of(waits.begin(), waits.end(), [&](std::uint32_t wait) {
               return finder.waits().effect(wait).covers(item.index);
             });
    }
    void add(const MovedItem& item) {
      reads.add(item.reads);
      writes.add(item.writes);
      uses.merge(item.uses);
      if (item.is_wait) waits.push_back(item.index);
    }
  };

  /// Items of a range that move behind the chain.
  struct Partition {
    std::vector<bool> behind;
    std::optional<std::size_t> conflict;  ///< chain member that depends on an item in `behind`
  };
  Partition partition(std::size_t chain, const Range& range) const {
    Partition result{std::vector<bool>(range.end - range.begin, false), std::nullopt};
    const std::map<std::size_t, std::size_t> fixed_units = units(chain);
    Dependents on_chain;
    Dependents on_foreign;
    for (std::size_t i = range.begin; i < range.end;) {
      if (is_member(chain, items_[i])) {
        if (on_foreign.has(items_[i], finder_)) {
          result.conflict = i;
          return result;
        }
        on_chain.add(items_[i++]);
        continue;
      }
      const auto unit = fixed_units.find(i);
      const std::size_t count = unit == fixed_units.end() ? 1 : unit->second;
      bool goes_behind = false;
      for (std::size_t k = i; k < i + count; ++k) goes_behind = goes_behind || on_chain.has(items_[k], finder_);
      for (std::size_t k = i; k < i + count; ++k) {
        if (!goes_behind) continue;
        result.behind[k - range.begin] = true;
        on_chain.add(items_[k]);
        on_foreign.add(items_[k]);
      }
      i += count;
    }
    return result;
  }

  /// Whether the order would move a load behind a wait that the load precedes.
  bool delays_loads(std::size_t chain, const Range& range, const Partition& order) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const bool behind = order.behind[i - range.begin];
      if (behind && is_vector_load(items_[i].instruction)) return true;
      if (!behind && items_[i].is_wait && !is_member(chain, items_[i])) return true;
    }
    return false;
  }

  /// Makes the chain contiguous. Returns whether the block has changed.
  bool gather(std::size_t chain) {
    const Range wanted = range_of(chain);
    const bool is_fixed = std::any_of(at(wanted.begin), at(wanted.end), [](const MovedItem& item) { return item.is_fixed; });
    if (is_fixed || wanted.end - wanted.begin == chains_[chain].size()) return false;
    std::vector<MovedItem> before;  // the block before the first change
    const std::set<OperandPlace> renamed_before = renamed_;
    constexpr unsigned kMostNames = 8;
    for (unsigned names = 0;; ++names) {
      const Range range = range_of(chain);
      const Partition order = partition(chain, range);
      if (order.conflict) {
        if (names < kMostNames && rename_in_the_way(chain, range, *order.conflict, before)) continue;
        break;
      }
      if (!take_apart_ && delays_loads(chain, range, order)) break;
      if (before.empty()) before = items_;
      std::vector<MovedItem> front;
      std::vector<MovedItem> own;
      std::vector<MovedItem> behind;
      for (std::size_t i = range.begin; i < range.end; ++i)
        (is_member(chain, items_[i]) ? own : order.behind[i - range.begin] ? behind : front).push_back(items_[i]);
      auto to = at(range.begin);
      for (const std::vector<MovedItem>* part : {&front, &own, &behind}) to = std::copy(part->begin(), part->end(), to);
      note_positions();
      if (same_outstanding() && name_values()) return true;
      break;
    }
    if (before.empty()) return false;
    items_ = std::move(before);
    note_positions();
    renamed_ = renamed_before;
    unnamed_.clear();
    return false;
  }
  std::vector<MovedItem>::iterator at(std::size_t position) { return items_.begin() + static_cast<std::ptrdiff_t>(position); }

  /// Finds an item on which the conflicting member depends and whose only conflict is its destination register, and renames
  /// that register. Copies the block's items to `before_change`, if it is empty, before it changes them. Returns false if there
  /// is none.
  bool rename_in_the_way(std::size_t chain, const Range& range, std::size_t conflict, std::vector<MovedItem>& before_change) {
    // Items that the member depends on, in reverse order.
    std::vector<bool> needed(conflict - range.begin, false);
    Needs needs;
    needs.add(items_[conflict]);
    for (std::size_t i = conflict; i-- > range.begin;) {
      if (!needs.depend_on(items_[i], finder_)) continue;
      needed[i - range.begin] = true;
      needs.add(items_[i]);
    }
    Dependents before;
    for (std::size_t i = range.begin; i < conflict; ++i) {
      const MovedItem& item = items_[i];
      if (is_member(chain, item)) {
        before.add(item);
        continue;
      }
      if (!before.has(item, finder_)) continue;
      if (needed[i - range.begin] && before.by_name_only(item, finder_) && rename(item.index, before_change)) return true;
      before.add(item);
    }
    return false;
  }

  bool rename(std::uint32_t writer, std::vector<MovedItem>& before) {
    ValueWeb web(flow_, finder_.values());
    if (!web.grow(writer)) return false;
    Unnamed value{.operands = {}, .vgprs = web.vgprs(), .first_bit = Resources::kUnnamed};
    for (const Unnamed& other : unnamed_) value.first_bit += static_cast<unsigned>(other.vgprs.size());
    if (value.first_bit + value.vgprs.size() > Resources::kEnd) return false;
    for (const OperandPlace& place : web.places()) {
      if (renamed_.count(place) != 0) return false;  // a value is renamed only once
      value.operands[place.instruction] |= 1U << place.operand;
    }
    if (before.empty()) before = items_;
    unnamed_.push_back(value);
    update_resources(value);
    return true;
  }
  /// Called when a value has lost its registers, or has been assigned new ones.
  void update_resources(const Unnamed& value) {
    for (MovedItem& item : items_) {
      if (value.operands.count(item.index) != 0 || item.is_wait) set_resources(item);
    }
  }

  /// Assigns free registers to all values of unnamed_, given the current order of items.
  bool name_values() {
    while (!unnamed_.empty()) {
      const Unnamed value = unnamed_.back();
      unnamed_.pop_back();
      const std::optional<int> distance = free_distance(value.vgprs, value.operands);
      if (!distance) return false;
      for (MovedItem& item : items_) {
        const auto found = value.operands.find(item.index);
        if (found == value.operands.end()) continue;
        const auto now = renamed(item.instruction, found->second, *distance, target_);
        if (!now) return false;
        item.instruction = *now;
        for (unsigned operand = 0; operand <= OperandPlace::kDestination; ++operand)
          if ((found->second >> operand & 1) != 0) renamed_.insert({item.index, operand});
      }
      update_resources(value);
    }
    return true;
  }
  /// Distance that, added to the numbers of `vgprs`, yields free registers; nullopt if there are none. On gfx90a, register
  /// pairs start at even numbers.
  std::optional<int> free_distance(const std::set<unsigned>& vgprs, const std::map<std::uint32_t, unsigned>& places) const {
    Range range{items_.size(), 0};
    for (const auto& [index, operands] : places) {
      range.begin = std::min(range.begin, positions_[index - first_]);
      range.end = std::max(range.end, positions_[index - first_] + 1);
    }
    const auto lowest = static_cast<int>(*vgprs.begin());
    for (const unsigned first : candidates_) {
      const int distance = static_cast<int>(first) - lowest;
      if (target_ == isa::Target::gfx90a && vgprs.size() > 1 && distance % 2 != 0) continue;
      const bool all = std::all_of(vgprs.begin(), vgprs.end(), [&](unsigned vgpr) {
        const auto wanted = static_cast<unsigned>(static_cast<int>(vgpr) + distance);
        return std::find(candidates_.begin(), candidates_.end(), wanted) != candidates_.end() && is_free(wanted, range);
      });
      if (all) return distance;
    }
    return std::nullopt;
  }
  /// Whether no instruction of the range uses the register, and none after it reads its previous value.
  bool is_free(unsigned vgpr, const Range& range) const {
    Resources wanted;
    wanted.add(Resources::kVgprs + vgpr);
    const auto uses = [&](const MovedItem& item) { return item.reads.intersects(wanted) || item.writes.intersects(wanted); };
    const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = items_.begin() + static_cast<std::ptrdiff_t>(range.end);
    if (std::any_of(begin, end, uses)) return false;
    // A VGPR that the original code does not name holds only renamed values of this block, each under one EXEC mask.
    const bool is_named = (finder_.values().named_vgprs()[vgpr / 64] >> (vgpr % 64) & 1) != 0;
    // The register is free if the next access in the block is a write by the same lanes.
    for (auto item = begin; item != items_.end(); ++item) {
      if (isa::writes_exec(isa::register_use(item->instruction))) break;
      if (item->reads.intersects(wanted)) return false;
      if (item->writes.intersects(wanted)) return true;
    }
    if (!is_named) return true;
    // The register is also free if the same lanes wrote it last and the written value has no later reader.
    for (auto item = begin; item != items_.begin();) {
      --item;
      if (isa::writes_exec(isa::register_use(item->instruction))) return false;
      if (!item->writes.intersects(wanted)) continue;
      if (renamed_.count({item->index, OperandPlace::kDestination}) != 0) return false;
      const isa::ValueReaders::Readers readers = finder_.values().readers(item->index, vgpr);
      const auto precedes = [&](std::uint32_t reader) { return positions_[reader - first_] < range.begin; };
      return !readers.elsewhere && std::all_of(readers.in_block.begin(), readers.in_block.end(), precedes);
    }
    return false;
  }

  // -- waits

  struct Issued {
    std::vector<std::uint32_t> vm;
    std::vector<std::uint32_t> lgkm;
  };
  Issued issued() const {
    Issued all;
    for (const MovedItem& item : items_) {
      if (isa::counts_vm(item.instruction)) all.vm.push_back(item.index);
      if (isa::counts_lgkm(item.instruction)) all.lgkm.push_back(item.index);
    }
    return all;
  }
  /// Records the block's operations that none of its waits covers.
  void note_outstanding() {
    outstanding_ = issued();
    for (const MovedItem& item : items_) {
      if (!item.is_wait) continue;
      const isa::WaitEffects::Effect& effect = finder_.waits().effect(item.index);
      for (const std::uint32_t done : effect.vm) {
        std::erase(outstanding_.vm, done);
        std::erase(outstanding_.lgkm, done);
      }
      for (const std::uint32_t done : effect.lgkm) std::erase(outstanding_.lgkm, done);
    }
  }
  bool same_outstanding() const {
    // The order matters: a wait of another block counts the operations issued after the operation for which it waits.
    const auto same_order = [](std::vector<std::uint32_t> all, const std::vector<std::uint32_t>& outstanding) {
      std::erase_if(all, [&](std::uint32_t index) {
        return std::find(outstanding.begin(), outstanding.end(), index) == outstanding.end();
      });
      return all == outstanding;
    };
    const Issued now = issued();
    return same_order(now.vm, outstanding_.vm) && same_order(now.lgkm, outstanding_.lgkm);
  }

  /// Number of instructions that satisfy `counts` between the last of `waited` and the wait at `position`.
  unsigned issued_since(const std::vector<std::uint32_t>& waited, std::size_t position,
                        bool (*counts)(const Instruction&)) const {
    unsigned count = 0;
    for (std::size_t i = position; i-- > 0;) {
      if (!counts(items_[i].instruction)) continue;
      if (std::find(waited.begin(), waited.end(), items_[i].index) != waited.end()) break;
      ++count;
    }
    return count;
  }

  std::uint32_t wait_word(std::size_t position) const {
    const MovedItem& item = items_[position];
    const WaitCounts old = WaitCounts::of(item.instruction, target_);
    const isa::WaitEffects::Effect& effect = finder_.waits().effect(item.index);
    WaitCounts now = old;
    const unsigned vm_limit = (1U << isa::traits(target_).vmcnt_bits) - 1;
    if (old.vm != WaitCounts::kNone) now.vm = std::min(issued_since(effect.vm, position, isa::counts_vm), vm_limit - 1);
    // Of the instructions counted by lgkmcnt, only LDS instructions complete in order.
    const bool in_order = std::all_of(
        items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(position),
        [](const MovedItem& i) { return !isa::counts_lgkm(i.instruction) || i.instruction.unit == isa::Unit::lds; });
    constexpr unsigned kLgkmLimit = 15;
    if (old.lgkm != WaitCounts::kNone && old.lgkm != 0)
      now.lgkm = in_order ? std::min(issued_since(effect.lgkm, position, isa::counts_lgkm), kLgkmLimit - 1) : 0;
    return now.encode(item.instruction.raw[0], target_);
  }

  void add_patch(std::uint32_t first, MovedCode& code) {
    CodePatch patch{.address = flow_.instructions()[first].address, .words = {}};
    std::vector<std::uint32_t> old;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].is_wait) items_[i].instruction.raw[0] = wait_word(i);
      const isa::PlacedInstruction& placed = flow_.instructions()[first + i];
      const auto append = [](std::vector<std::uint32_t>& words, const Instruction& instruction) {
        words.insert(words.end(), instruction.raw.begin(), instruction.raw.begin() + instruction.size / 4);
      };
      append(patch.words, items_[i].instruction);
      append(old, placed.instruction);
    }
    // The patch extends from the first changed word to the last.
    const auto begin = std::mismatch(old.begin(), old.end(), patch.words.begin()).first - old.begin();
    const auto end = old.rend() - std::mismatch(old.rbegin(), old.rend(), patch.words.rbegin()).first;
    if (begin >= end) return;
    patch.address += 4 * static_cast<std::uint64_t>(begin);
    patch.words = {patch.words.begin() + begin, patch.words.begin() + end};
    code.patches.push_back(std::move(patch));
  }

  const isa::ControlFlow& flow_;
  const ChainFinder& finder_;
  isa::Target target_;
  std::vector<unsigned> candidates_;  ///< the kernel's VGPRs; unused VGPRs are first
  bool take_apart_;
  std::vector<MovedItem> items_;        ///< the block in its current order
  std::uint32_t first_ = 0;             ///< index of the block's first instruction
  std::vector<std::size_t> positions_;  ///< position in items_, indexed by instruction - first_
  std::vector<std::vector<std::uint32_t>> chains_;
  std::vector<Unnamed> unnamed_;  ///< values without a register; empty except in gather()
  std::set<OperandPlace> renamed_;
  Issued outstanding_;
};

}  // namespace

MovedCode move_chains(const isa::ControlFlow& flow, const ChainFinder& chains, isa::Target target,
                      const FinalizerOptions& options) {
  MovedCode code;
  std::vector<unsigned> candidates(std::min(options.vgprs, 256U));
  std::iota(candidates.begin(), candidates.end(), 0U);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](unsigned vgpr) { return (chains.values().named_vgprs()[vgpr / 64] >> (vgpr % 64) & 1) == 0; });
  std::set<std::uint32_t> blocks;
  for (const ChainCandidate& chain : chains.chains()) blocks.insert(flow.instructions()[chain.first()].block);
  for (const std::uint32_t block : blocks) BlockMover(flow, chains, target, candidates, options.take_apart).run(block, code);
  return code;
}

}  // namespace lacuna
