// Operations that a compute packet can name, and their derivation from instructions.
//
// A packet has 12 bits for its operations with their modifiers (Fig. 5 of the paper names the field; the division is ours): one
// operation of 6 bits with 6 bits of modifiers, or two operations of 6 bits without modifiers. Operands are a, b (loaded) and i
// (uniform). `v_mad_f32 d, a, i, b` is two operations, multiplication and addition, because its product is rounded; `v_fma_f32`
// is one. Signs of operands are absorbed where the operation has a form for them: a + -b is a subtraction.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/instruction.h"

namespace lacuna {

/// Operation of up to three operands x, y and z. At most 63: the packet has 6 bits, and 63 is ComputePacket::kNoOperation.
enum class PacketOperation : std::uint8_t {
  add_f32,
  sub_f32,     ///< x - y
  subrev_f32,  ///< y - x
  mul_f32,
  min_f32,
  max_f32,
  fma_f32,         ///< x × y + z, rounded once, with three operands; FmaOrder assigns them
  fma_addend_f32,  ///< x × y + z, rounded once, with the uniform operand as z
  floor_f32,
  ceil_f32,
  trunc_f32,
  rndne_f32,
  cvt_f32_i32,
  cvt_f32_u32,
  cvt_i32_f32,
  cvt_u32_f32,
  add_u32,
  sub_u32,
  subrev_u32,
  min_i32,
  max_i32,
  min_u32,
  max_u32,
  mul_lo_u32,
  mul_i32_i24,
  mul_u32_u24,
  and_b32,
  or_b32,
  xor_b32,
  not_b32,
  mov_b32,
  lshl_b32,     ///< x << y
  lshlrev_b32,  ///< y << x
  lshr_b32,
  lshrrev_b32,
  ashr_i32,
  ashrrev_i32,
  // Comparisons: the conditions of the instruction set in its order, without those whose result is constant. Unsigned integers
  // use cmp_eq_i32 and cmp_ne_i32.
  cmp_lt_f32,
  cmp_eq_f32,
  cmp_le_f32,
  cmp_gt_f32,
  cmp_lg_f32,
  cmp_ge_f32,
  cmp_o_f32,
  cmp_u_f32,
  cmp_nge_f32,
  cmp_nlg_f32,
  cmp_ngt_f32,
  cmp_nle_f32,
  cmp_neq_f32,
  cmp_nlt_f32,
  cmp_lt_i32,
  cmp_eq_i32,
  cmp_le_i32,
  cmp_gt_i32,
  cmp_ne_i32,
  cmp_ge_i32,
  cmp_lt_u32,
  cmp_le_u32,
  cmp_gt_u32,
  cmp_ge_u32,
  count,
};
inline constexpr unsigned kPacketOperationBits = 6;
inline constexpr unsigned kPacketOperations = 2;  ///< maximum number of operations of a packet
static_assert(static_cast<unsigned>(PacketOperation::count) <= 1U << kPacketOperationBits);

/// A vector instruction as packet operations: codes[0] is applied to the first two sources, then codes[1] to the result and the
/// third source.
struct ChainOperation {
  bool valid = false;
  bool compares = false;      ///< the result is one bit per lane
  bool fused = false;         ///< product and sum are rounded once, so they cannot be computed in two places
  bool splits = false;        ///< there are two operations, which can be computed in two places
  std::uint8_t operands = 0;  ///< 1 to 3; the third operand of v_mac is the old value of the destination
  std::uint8_t operations = 0;
  std::array<PacketOperation, kPacketOperations> codes{};
  /// The instruction has modifiers that no operation absorbs. A packet with two operations has no room for them.
  bool modified = false;
  /// The instruction has modifiers for which no packet has room: clamp, output modifiers with three operands, or any modifiers
  /// with two operations.
  bool unfit = false;
};

ChainOperation chain_operation(const isa::Instruction& instruction);

}  // namespace lacuna
