#include "models/isa/analysis/exec_cover.h"

#include <string_view>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

/// Bit that represents the operand in a set of SGPR pairs; 0 unless the operand is an SGPR pair that can hold a mask.
std::uint64_t bit_of(const Operand& operand) {
  const bool is_pair = operand.kind == OperandKind::sgpr && operand.words == 2 && operand.index % 2 == 0;
  return is_pair && operand.index < kFlatScratchLo ? std::uint64_t{1} << (operand.index / 2) : 0;
}

bool is_exec(const Operand& operand) {
  return operand.kind == OperandKind::sgpr && operand.index == kExecLo && operand.words == 2;
}

bool is_all_lanes(const Operand& operand) {
  return operand.kind == OperandKind::constant && operand.value == ~std::uint64_t{0};
}

bool is_no_lane(const Operand& operand) { return operand.kind == OperandKind::constant && operand.value == 0; }

/// Bits that represent the SGPR pairs of which an instruction writes at least a part.
std::uint64_t written_pairs(const RegisterUse& use) {
  std::uint64_t pairs = 0;
  for (unsigned i = 0; i < use.write_count; ++i) {
    const RegisterRange& range = use.writes[i];
    if (range.file != OperandKind::sgpr) continue;
    for (unsigned r = range.first; r < range.first + unsigned{range.count} && r < kFlatScratchLo; ++r)
      pairs |= std::uint64_t{1} << (r / 2);
  }
  return pairs;
}

enum class Logic : std::uint8_t { none, move, conjunction, difference, disjunction, exclusive };

Logic logic_of(const Instruction& instruction) {
  const std::string_view name = instruction.row->mnemonic;
  if (name == "s_mov_b64") return Logic::move;
  if (name == "s_and_b64") return Logic::conjunction;
  if (name == "s_andn2_b64") return Logic::difference;
  if (name == "s_or_b64") return Logic::disjunction;
  if (name == "s_xor_b64") return Logic::exclusive;
  return Logic::none;
}

}  // namespace

bool ExecCover::meet(const ExecCover& other) {
  const ExecCover before = *this;
  covers_ = covers_ && other.covers_;
  masks_ &= other.masks_;
  complements_ &= other.complements_;
  return covers_ != before.covers_ || masks_ != before.masks_ || complements_ != before.complements_;
}

void ExecCover::apply(const Instruction& instruction, const RegisterUse& use) {
  if (instruction.unit == Unit::salu && (apply_saving(instruction) || apply_logic(instruction))) return;
  forget(use);
}

/// Drops what is known about EXEC and about the masks if the instruction writes them.
void ExecCover::forget(const RegisterUse& use) {
  const std::uint64_t kept = ~written_pairs(use);
  masks_ &= kept;
  complements_ &= kept;
  if (!writes_exec(use)) return;
  covers_ = false;
  complements_ = masks_;
}

/// s_*_saveexec_b64 d, p: d = EXEC; EXEC = f(p, EXEC).
bool ExecCover::apply_saving(const Instruction& instruction) {
  const std::string_view name = instruction.row->mnemonic;
  if (!name.ends_with("_saveexec_b64")) return false;
  const std::uint64_t saved = bit_of(instruction.dst[0]);
  const std::uint64_t source = bit_of(instruction.src[0]);
  const bool is_mask = (masks_ & source) != 0 || is_all_lanes(instruction.src[0]);
  // Whether EXEC and the source together contain all lanes of D.
  const bool together = covers_ || is_mask || (complements_ & source) != 0;
  const bool covered = covers_;
  masks_ &= ~saved;
  if (covered) masks_ |= saved;
  if (name == "s_or_saveexec_b64") {
    complements_ = (complements_ & ~saved) | masks_;
    covers_ = together;
    return true;
  }
  covers_ = name == "s_and_saveexec_b64" && covered && is_mask;
  complements_ = masks_;
  if ((name == "s_xor_saveexec_b64" || name == "s_andn2_saveexec_b64") && together) complements_ |= saved;
  return true;
}

/// d = p op q, where each of d, p and q may be EXEC.
bool ExecCover::apply_logic(const Instruction& instruction) {
  const Logic logic = logic_of(instruction);
  if (logic == Logic::none) return false;
  const bool is_move = logic == Logic::move;
  const bool is_or = logic == Logic::disjunction;
  const bool is_and = logic == Logic::conjunction;
  const bool is_andn2 = logic == Logic::difference;
  const bool is_xor = logic == Logic::exclusive;
  const auto mask = [&](const Operand& operand) {
    return is_exec(operand) ? covers_ : is_all_lanes(operand) || (masks_ & bit_of(operand)) != 0;
  };
  const auto complement = [&](const Operand& operand) {
    return covers_ || mask(operand) || (complements_ & bit_of(operand)) != 0;
  };
  const Operand& p = instruction.src[0];
  const Operand& q = is_move ? p : instruction.src[1];
  if (!is_exec(instruction.dst[0])) {
    const std::uint64_t to = bit_of(instruction.dst[0]);
    const bool with_exec = is_exec(p) || is_exec(q);
    const Operand& other = is_exec(p) ? q : p;
    const bool is_mask = (is_move && mask(p)) || (is_or && (mask(p) || mask(q))) || (is_and && mask(p) && mask(q));
    // p ^ EXEC and p & ~EXEC, together with EXEC, contain the lanes that p and EXEC contain together.
    const bool is_complement = is_mask || (is_move && complement(p)) || (is_or && (complement(p) || complement(q))) ||
                               (is_xor && with_exec && complement(other)) || (is_andn2 && is_exec(q) && complement(p)) ||
                               covers_;
    masks_ = is_mask ? masks_ | to : masks_ & ~to;
    complements_ = is_complement ? complements_ | to : complements_ & ~to;
    return true;
  }
  if (!is_move && !is_exec(p) && !is_exec(q)) {
    const bool covered = (is_or && (mask(p) || mask(q))) || (is_and && mask(p) && mask(q));
    covers_ = covered;
    complements_ = masks_;
    return true;
  }
  const Operand& other = is_exec(p) ? q : p;
  const bool together = complement(other);
  if (is_or) {
    covers_ = together;
    complements_ |= masks_;
    return true;
  }
  const bool covered = (is_move && mask(p)) || (is_and && covers_ && mask(other));
  // EXEC ^ p and EXEC & ~p remove only lanes that are in p from EXEC.
  const bool lost_is_in_other = together && (is_xor || (is_andn2 && is_exec(p)));
  covers_ = covered;
  complements_ = masks_ | (lost_is_in_other ? bit_of(other) : 0);
  return true;
}

// -- ExecBound: lanes of W

bool ExecBound::meet(const ExecBound& other) {
  const ExecBound before = *this;
  holds_ = holds_ && other.holds_;
  masks_ &= other.masks_;
  return holds_ != before.holds_ || masks_ != before.masks_;
}

void ExecBound::apply(const Instruction& instruction, const RegisterUse& use) {
  if (instruction.unit == Unit::salu && (apply_saving(instruction) || apply_logic(instruction))) return;
  masks_ &= ~written_pairs(use);
  if (instruction.unit == Unit::valu && instruction.destinations > 0 &&
      instruction.row->dst.types[0] == OperandType::lane_mask) {
    // The mask is false in inactive lanes: if all active lanes are in W, all lanes of the mask are in W. v_cmpx only
    // deactivates lanes.
    if (holds_) masks_ |= bit_of(instruction.dst[0]);
    return;
  }
  if (writes_exec(use)) holds_ = false;
}

bool ExecBound::apply_saving(const Instruction& instruction) {
  const std::string_view name = instruction.row->mnemonic;
  if (!name.ends_with("_saveexec_b64")) return false;
  const std::uint64_t saved = bit_of(instruction.dst[0]);
  const bool source = is_no_lane(instruction.src[0]) || (masks_ & bit_of(instruction.src[0])) != 0;
  const bool held = holds_;
  masks_ = held ? masks_ | saved : masks_ & ~saved;
  if (name == "s_and_saveexec_b64") {
    holds_ = held || source;
  } else if (name == "s_or_saveexec_b64" || name == "s_xor_saveexec_b64") {
    holds_ = held && source;
  } else {
    holds_ = name == "s_andn2_saveexec_b64" && source;
  }
  return true;
}

bool ExecBound::apply_logic(const Instruction& instruction) {
  const Logic logic = logic_of(instruction);
  if (logic == Logic::none) return false;
  const auto inside = [&](const Operand& operand) {
    return is_exec(operand) ? holds_ : is_no_lane(operand) || (masks_ & bit_of(operand)) != 0;
  };
  const bool p = inside(instruction.src[0]);
  const bool q = logic == Logic::move ? p : inside(instruction.src[1]);
  const bool result = logic == Logic::move || logic == Logic::difference ? p : logic == Logic::conjunction ? p || q : p && q;
  if (is_exec(instruction.dst[0])) {
    holds_ = result;
  } else {
    const std::uint64_t to = bit_of(instruction.dst[0]);
    masks_ = result ? masks_ | to : masks_ & ~to;
  }
  return true;
}

}  // namespace lacuna::isa
