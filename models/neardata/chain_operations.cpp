#include "models/neardata/chain_operations.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "models/isa/decode/table.h"

namespace lacuna {
namespace {

using P = PacketOperation;

struct Entry {
  std::string_view mnemonic;
  std::uint8_t operands;
  P first;
  P second = P::count;  ///< P::count: the instruction has no second operation
};

/// In reversed shifts, as in the instruction, operand x is the shift count.
constexpr Entry kEntries[] = {
    {"v_add_f32", 2, P::add_f32},
    {"v_sub_f32", 2, P::sub_f32},
    {"v_subrev_f32", 2, P::subrev_f32},
    {"v_mul_f32", 2, P::mul_f32},
    {"v_min_f32", 2, P::min_f32},
    {"v_max_f32", 2, P::max_f32},
    {"v_mac_f32", 3, P::mul_f32, P::add_f32},
    {"v_mad_f32", 3, P::mul_f32, P::add_f32},
    {"v_madak_f32", 3, P::mul_f32, P::add_f32},
    {"v_madmk_f32", 3, P::mul_f32, P::add_f32},
    {"v_fma_f32", 3, P::fma_f32},
    {"v_fmac_f32", 3, P::fma_f32},
    {"v_floor_f32", 1, P::floor_f32},
    {"v_ceil_f32", 1, P::ceil_f32},
    {"v_trunc_f32", 1, P::trunc_f32},
    {"v_rndne_f32", 1, P::rndne_f32},
    {"v_cvt_f32_i32", 1, P::cvt_f32_i32},
    {"v_cvt_f32_u32", 1, P::cvt_f32_u32},
    {"v_cvt_i32_f32", 1, P::cvt_i32_f32},
    {"v_cvt_u32_f32", 1, P::cvt_u32_f32},
    {"v_add_u32", 2, P::add_u32},
    {"v_add_i32", 2, P::add_u32},
    {"v_add_co_u32", 2, P::add_u32},
    {"v_sub_u32", 2, P::sub_u32},
    {"v_sub_i32", 2, P::sub_u32},
    {"v_sub_co_u32", 2, P::sub_u32},
    {"v_subrev_u32", 2, P::subrev_u32},
    {"v_subrev_co_u32", 2, P::subrev_u32},
    {"v_min_i32", 2, P::min_i32},
    {"v_max_i32", 2, P::max_i32},
    {"v_min_u32", 2, P::min_u32},
    {"v_max_u32", 2, P::max_u32},
    {"v_mul_lo_u32", 2, P::mul_lo_u32},
    {"v_mul_i32_i24", 2, P::mul_i32_i24},
    {"v_mul_u32_u24", 2, P::mul_u32_u24},
    {"v_mad_i32_i24", 3, P::mul_i32_i24, P::add_u32},
    {"v_mad_u32_u24", 3, P::mul_u32_u24, P::add_u32},
    {"v_and_b32", 2, P::and_b32},
    {"v_or_b32", 2, P::or_b32},
    {"v_xor_b32", 2, P::xor_b32},
    {"v_not_b32", 1, P::not_b32},
    {"v_mov_b32", 1, P::mov_b32},
    {"v_lshlrev_b32", 2, P::lshlrev_b32},
    {"v_lshrrev_b32", 2, P::lshrrev_b32},
    {"v_ashrrev_i32", 2, P::ashrrev_i32},
    {"v_add3_u32", 3, P::add_u32, P::add_u32},
    {"v_lshl_add_u32", 3, P::lshl_b32, P::add_u32},
    {"v_add_lshl_u32", 3, P::add_u32, P::lshl_b32},
    {"v_xad_u32", 3, P::xor_b32, P::add_u32},
    {"v_lshl_or_b32", 3, P::lshl_b32, P::or_b32},
    {"v_and_or_b32", 3, P::and_b32, P::or_b32},
    {"v_or3_b32", 3, P::or_b32, P::or_b32},
    {"v_cmp_lt_f32", 2, P::cmp_lt_f32},
    {"v_cmp_eq_f32", 2, P::cmp_eq_f32},
    {"v_cmp_le_f32", 2, P::cmp_le_f32},
    {"v_cmp_gt_f32", 2, P::cmp_gt_f32},
    {"v_cmp_lg_f32", 2, P::cmp_lg_f32},
    {"v_cmp_ge_f32", 2, P::cmp_ge_f32},
    {"v_cmp_o_f32", 2, P::cmp_o_f32},
    {"v_cmp_u_f32", 2, P::cmp_u_f32},
    {"v_cmp_nge_f32", 2, P::cmp_nge_f32},
    {"v_cmp_nlg_f32", 2, P::cmp_nlg_f32},
    {"v_cmp_ngt_f32", 2, P::cmp_ngt_f32},
    {"v_cmp_nle_f32", 2, P::cmp_nle_f32},
    {"v_cmp_neq_f32", 2, P::cmp_neq_f32},
    {"v_cmp_nlt_f32", 2, P::cmp_nlt_f32},
    {"v_cmp_lt_i32", 2, P::cmp_lt_i32},
    {"v_cmp_eq_i32", 2, P::cmp_eq_i32},
    {"v_cmp_le_i32", 2, P::cmp_le_i32},
    {"v_cmp_gt_i32", 2, P::cmp_gt_i32},
    {"v_cmp_ne_i32", 2, P::cmp_ne_i32},
    {"v_cmp_ge_i32", 2, P::cmp_ge_i32},
    {"v_cmp_lt_u32", 2, P::cmp_lt_u32},
    {"v_cmp_eq_u32", 2, P::cmp_eq_i32},
    {"v_cmp_le_u32", 2, P::cmp_le_u32},
    {"v_cmp_gt_u32", 2, P::cmp_gt_u32},
    {"v_cmp_ne_u32", 2, P::cmp_ne_i32},
    {"v_cmp_ge_u32", 2, P::cmp_ge_u32},
};

/// Entry of kEntries for an instruction; null if there is none. Entries are looked up by row, since rows compare faster than
/// names.
const Entry* entry_of(const isa::InstructionRow& row) {
  static const std::unordered_map<const isa::InstructionRow*, const Entry*> by_row = [] {
    std::unordered_map<std::string_view, const Entry*> by_name;
    for (const Entry& entry : kEntries) by_name.emplace(entry.mnemonic, &entry);
    std::unordered_map<const isa::InstructionRow*, const Entry*> found;
    for (const isa::Format format : isa::all_formats())
      for (const isa::InstructionRow& candidate : isa::rows(format))
        if (const auto entry = by_name.find(candidate.mnemonic); entry != by_name.end())
          found.emplace(&candidate, entry->second);
    return found;
  }();
  const auto found = by_row.find(&row);
  return found == by_row.end() ? nullptr : found->second;
}

/// Replaces a sum with negated operands (`x`, `y`) by an addition or subtraction. Returns false if both operands are negated.
bool absorb_signs(P& sum, bool x, bool y) {
  if (x && y) return false;
  const bool first = x != (sum == P::subrev_f32);
  const bool second = y != (sum == P::sub_f32);
  if (first && second) return false;
  sum = first ? P::subrev_f32 : second ? P::sub_f32 : P::add_f32;
  return true;
}

void apply_modifiers(const isa::VectorModifiers& vop, ChainOperation& operation) {
  constexpr unsigned kFirst = 1;
  constexpr unsigned kSecond = 2;
  constexpr unsigned kThird = 4;
  unsigned neg = vop.neg;
  const bool is_sum =
      operation.codes[0] == P::add_f32 || operation.codes[0] == P::sub_f32 || operation.codes[0] == P::subrev_f32;
  const bool is_product_and_sum = operation.operations == 2 && operation.codes[0] == P::mul_f32;
  // A negation applies after the absolute value: the operation absorbs both modifiers or neither.
  if (is_sum && vop.abs == 0 && absorb_signs(operation.codes[0], (neg & kFirst) != 0, (neg & kSecond) != 0)) neg = 0;
  if (is_product_and_sum && vop.abs == 0) {
    const bool product = ((neg & kFirst) != 0) != ((neg & kSecond) != 0);
    if (absorb_signs(operation.codes[1], product, (neg & kThird) != 0)) neg = 0;
  }
  operation.modified = neg != 0 || vop.abs != 0 || vop.omod != 0;
  operation.unfit =
      vop.clamp || (operation.operands == 3 && vop.omod != 0) || (operation.operations == 2 && operation.modified);
}

}  // namespace

ChainOperation chain_operation(const isa::Instruction& instruction) {
  ChainOperation operation;
  const Entry* const entry = entry_of(*instruction.row);
  const bool moves_lanes = instruction.vop.dpp || instruction.vop.sdwa;
  if (entry == nullptr || instruction.unit != isa::Unit::valu || moves_lanes || instruction.vop.op_sel != 0) return operation;
  operation.valid = true;
  operation.compares = entry->first >= P::cmp_lt_f32;
  operation.fused = entry->first == P::fma_f32;
  operation.operands = entry->operands;
  operation.operations = entry->second == P::count ? 1 : 2;
  operation.codes = {entry->first, entry->second};
  operation.splits = operation.operations == 2;
  apply_modifiers(instruction.vop, operation);
  return operation;
}

}  // namespace lacuna
