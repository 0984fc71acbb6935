// One encoding of an instruction (format, modifiers, kinds of operands), and its words.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "models/isa/decode/table.h"

namespace lacuna::isa::test {

// Registers of the bench's operands, each of which has room for four words.
inline constexpr unsigned kSourceVgpr[3] = {4, 8, 12};
inline constexpr unsigned kDestinationVgpr = 16;
inline constexpr unsigned kScalarSource = 4;  ///< s[4:5]
inline constexpr unsigned kMaskSource = 10;   ///< s[10:11] where it is not VCC
inline constexpr unsigned kMaskResult = 20;   ///< s[20:21] where it is not VCC

enum class Encoding : std::uint8_t { e32, e64, sdwa, dpp, vop3p };

struct Form {
  Encoding encoding = Encoding::e32;
  std::array<unsigned, 3> source{};  ///< 9-bit encodings; 256 and above: a VGPR
  std::uint32_t literal = 0;
  unsigned neg = 0, abs = 0, omod = 0, op_sel = 0;
  unsigned op_sel_hi = 0, neg_hi = 0;  ///< VOP3P
  bool clamp = false;
  unsigned dst_sel = 6, dst_unused = 0;
  std::array<unsigned, 2> sel{6, 6};
  std::array<bool, 2> sext{};
  unsigned dpp_ctrl = 0;  ///< quad permutations, row shifts and rotations, mirrors
  unsigned bank_mask = 0xf, row_mask = 0xf;
  bool bound_ctrl = false;

  std::string text() const;
};

/// Number of sources other than masks (the carry or VCC). They precede the mask in the row's list.
unsigned value_sources(const InstructionRow& row);
bool reads_mask(const InstructionRow& row);
bool returns_mask(const InstructionRow& row);       ///< comparisons: the mask is the only result
bool also_returns_mask(const InstructionRow& row);  ///< carries: the mask is the second result

bool mixed_precision(const InstructionRow& row);  ///< v_fma_mix*

/// A random legal form of the row.
Form random_form(const InstructionRow& row, Target target, std::mt19937_64& generator);
/// The words of the form, including a literal, SDWA or DPP word.
std::array<std::uint32_t, 3> encode(const InstructionRow& row, Target target, const Form& form);

/// Bits of a constant source as an operand of `type` ([GCN3] table "Scalar operands"; for 16-bit integers see
/// models/isa/decode/operand.h).
std::uint64_t constant_bits(unsigned encoding, std::uint32_t literal, OperandType type);

}  // namespace lacuna::isa::test
