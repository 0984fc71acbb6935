#include "models/isa/analysis/value_readers.h"

#include <algorithm>
#include <unordered_map>

#include "models/isa/analysis/exec_cover.h"
#include "models/isa/analysis/register_masks.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

template <class Set>
void insert(Set& set, RegisterRange range) {
  const unsigned end = std::min<unsigned>(range.first + range.count, static_cast<unsigned>(64 * set.size()));
  for (unsigned r = range.first; r < end; ++r) set[r / 64] |= std::uint64_t{1} << (r % 64);
}

template <class Set>
void erase(Set& set, RegisterRange range) {
  const unsigned end = std::min<unsigned>(range.first + range.count, static_cast<unsigned>(64 * set.size()));
  for (unsigned r = range.first; r < end; ++r) set[r / 64] &= ~(std::uint64_t{1} << (r % 64));
}

/// Whether the instruction writes EXEC or an SGPR that ExecCover tracks.
bool may_change_masks(const RegisterUse& use) {
  return std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, [](const RegisterRange& range) {
    return range.file == OperandKind::sgpr &&
           (range.first < kFlatScratchLo || unsigned{range.first} + range.count > unsigned{kExecLo});
  });
}

/// Whether the instruction may read inactive lanes of the VGPR.
bool reads_across_lanes(const Instruction& instruction, unsigned vgpr) {
  // ds_permute and ds_bpermute read other lanes of the data, not of the addresses; ds_swizzle has no address operand.
  if (instruction.latency == LatencyClass::lds_permute && instruction.sources > 1) return vgpr == instruction.src[1].index;
  return instruction.vop.dpp || instruction.passes != 0 || (instruction.row->flags & kScalarDst) != 0 ||
         instruction.latency == LatencyClass::lds_permute || instruction.latency == LatencyClass::valu_lane;
}

/// Changes the set of SGPRs that are live after an instruction to the set that is live before it.
template <class Set>
void step_back(Set& live, const RegisterUse& use) {
  for (unsigned i = 0; i < use.write_count; ++i)
    if (use.writes[i].file == OperandKind::sgpr) erase(live, use.writes[i]);
  for (unsigned i = 0; i < use.read_count; ++i)
    if (use.reads[i].file == OperandKind::sgpr) insert(live, use.reads[i]);
}

}  // namespace

ValueReaders::ValueReaders(const ControlFlow& flow) : flow_(flow), accesses_(kVgprs), live_out_(flow.blocks().size()) {
  for (std::uint32_t i = 0; i < flow.instructions().size(); ++i) note(i);
  find_live_sgprs();
}

void ValueReaders::note(std::uint32_t index) {
  const PlacedInstruction& placed = flow_.instructions()[index];
  const RegisterMasks masks(placed.instruction);  // relative moves may access any register
  if (may_change_masks(placed.use)) mask_events_.push_back(index);
  const auto entry = [&](unsigned vgpr) -> Access& {
    std::vector<Access>& list = accesses_[vgpr];
    if (list.empty() || list.back().instruction != index) list.push_back({.instruction = index});
    return list.back();
  };
  const auto each = [&](RegisterRange range, auto visit) {
    if (range.file != OperandKind::vgpr) return;
    insert(named_, range);
    for (unsigned r = range.first; r < std::min<unsigned>(range.first + range.count, kVgprs); ++r) visit(entry(r));
  };
  for (unsigned i = 0; i < masks.reads(); ++i) {
    const bool any_lane = reads_across_lanes(placed.instruction, masks.read(i).first);
    each(masks.read(i), [any_lane](Access& access) {
      access.reads = true;
      access.reads_any_lane = access.reads_any_lane || any_lane;
    });
  }
  // If the instruction may write any of several registers, none of them is certain to lose its value.
  for (unsigned i = 0; i < masks.writes(); ++i) {
    const bool one_of_many = masks.write(i) != placed.use.writes[i];
    each(masks.write(i), [&](Access& access) {
      access.writes = true;
      access.replaces = !one_of_many;
    });
  }
}

std::span<const ValueReaders::Access> ValueReaders::accesses(unsigned vgpr, std::uint32_t begin, std::uint32_t end) const {
  const std::vector<Access>& list = accesses_[vgpr];
  const auto less = [](const Access& access, std::uint32_t value) { return access.instruction < value; };
  const auto first = std::lower_bound(list.begin(), list.end(), begin, less);
  return {first, std::lower_bound(first, list.end(), end, less)};
}

std::optional<std::uint32_t> ValueReaders::writer(std::uint32_t reader, unsigned vgpr) const {
  const std::span<const Access> before = accesses(vgpr, flow_.block_of(reader).begin, reader);
  const auto found = std::find_if(before.rbegin(), before.rend(), [](const Access& access) { return access.writes; });
  return found == before.rend() ? std::nullopt : std::optional(found->instruction);
}

std::optional<std::uint32_t> ValueReaders::access(std::uint32_t after, std::uint32_t before, unsigned vgpr, bool writes) const {
  for (const Access& access : accesses(vgpr, after + 1, before))
    if (!writes || access.writes) return access.instruction;
  return std::nullopt;
}

/// Follows a value from its writer along all paths.
class ValueReaders::Walk {
 public:
  Walk(const ValueReaders& readers, unsigned vgpr) : readers_(readers), vgpr_(vgpr) {}

  Readers from(std::uint32_t writer) {
    const BasicBlock& block = readers_.flow_.block_of(writer);
    if (Lanes lanes; pass(writer + 1, block.end, lanes, found_.in_block)) leave(block, lanes);
    while (!pending_.empty() && !found_.elsewhere) {
      const std::uint32_t number = pending_.back();
      pending_.pop_back();
      const BasicBlock& next = readers_.flow_.blocks()[number];
      Lanes lanes = known_.at(number);
      std::vector<std::uint32_t> readers;
      const bool goes_on = pass(next.begin, next.end, lanes, readers);
      if (!readers.empty()) found_.elsewhere = readers.front();
      if (goes_on) leave(next, lanes);
    }
    return std::move(found_);
  }

 private:
  struct Lanes {
    ExecCover writers;  ///< active lanes relative to the lanes in which the value was written
    ExecBound written;  ///< active lanes relative to the lanes that have been overwritten

    void apply(const PlacedInstruction& placed) {
      writers.apply(placed.instruction, placed.use);
      written.apply(placed.instruction, placed.use);
    }
    bool meet(const Lanes& other) {
      const bool writers_change = writers.meet(other.writers);
      return written.meet(other.written) || writers_change;
    }
  };

  /// Follows the value through [begin, end) and collects its readers. False: the value does not survive to the end.
  bool pass(std::uint32_t begin, std::uint32_t end, Lanes& lanes, std::vector<std::uint32_t>& readers) const {
    const std::span<const Access> accesses = readers_.accesses(vgpr_, begin, end);
    const std::vector<std::uint32_t>& events = readers_.mask_events_;
    auto event = std::lower_bound(events.begin(), events.end(), begin);
    const auto change_masks = [&](std::uint32_t until) {
      for (; event != events.end() && *event < until; ++event) lanes.apply(readers_.flow_.instructions()[*event]);
    };
    for (const Access& access : accesses) {
      change_masks(access.instruction);
      if (access.reads && (access.reads_any_lane || !lanes.written.holds())) readers.push_back(access.instruction);
      if (!access.replaces) continue;
      if (lanes.writers.covers()) return false;
      lanes.written.write();
    }
    change_masks(end);
    return true;
  }

  void leave(const BasicBlock& block, const Lanes& lanes) {
    for (unsigned i = 0; i < block.next_count; ++i) {
      const auto [known, is_new] = known_.try_emplace(block.next[i], lanes);
      if (!is_new && !known->second.meet(lanes)) continue;
      pending_.push_back(block.next[i]);
    }
  }

  const ValueReaders& readers_;
  unsigned vgpr_;
  Readers found_;
  std::unordered_map<std::uint32_t, Lanes> known_;  ///< state at the beginning of each block; never iterated
  std::vector<std::uint32_t> pending_;
};

ValueReaders::Readers ValueReaders::readers(std::uint32_t writer, unsigned vgpr) const {
  return Walk(*this, vgpr).from(writer);
}

void ValueReaders::find_live_sgprs() {
  const std::vector<BasicBlock>& blocks = flow_.blocks();
  // SGPRs that each block reads before it writes them, and SGPRs that it does not write.
  std::vector<SgprSet> reads(blocks.size());
  std::vector<SgprSet> keeps(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    keeps[b].fill(~std::uint64_t{0});
    for (std::uint32_t i = blocks[b].end; i-- > blocks[b].begin;) {
      const RegisterUse& use = flow_.instructions()[i].use;
      step_back(reads[b], use);
      for (unsigned w = 0; w < use.write_count; ++w)
        if (use.writes[w].file == OperandKind::sgpr) erase(keeps[b], use.writes[w]);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      SgprSet live{};
      for (unsigned n = 0; n < blocks[b].next_count; ++n) {
        const std::uint32_t next = blocks[b].next[n];
        for (std::size_t word = 0; word < live.size(); ++word)
          live[word] |= reads[next][word] | (live_out_[next][word] & keeps[next][word]);
      }
      changed = changed || live != live_out_[b];
      live_out_[b] = live;
    }
  }
}

bool ValueReaders::sgpr_live_after(std::uint32_t instruction, unsigned sgpr) const {
  const BasicBlock& block = flow_.block_of(instruction);
  const auto covers = [sgpr](const RegisterRange& range) {
    return range.file == OperandKind::sgpr && sgpr >= range.first && sgpr < unsigned{range.first} + range.count;
  };
  for (std::uint32_t i = instruction + 1; i < block.end; ++i) {
    const RegisterUse& use = flow_.instructions()[i].use;
    if (std::any_of(use.reads.begin(), use.reads.begin() + use.read_count, covers)) return true;
    if (std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, covers)) return false;
  }
  return (live_out_[flow_.instructions()[instruction].block][sgpr / 64] >> (sgpr % 64) & 1) != 0;
}

}  // namespace lacuna::isa
