// The field extractors that decode() calls, one per encoding format, and their common functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/isa/decode/instruction.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {

constexpr std::uint32_t bits(std::uint32_t word, unsigned shift, unsigned count) {
  return (word >> shift) & ((std::uint32_t{1} << count) - 1);
}
constexpr bool bit(std::uint32_t word, unsigned shift) { return ((word >> shift) & 1) != 0; }

/// One instruction being decoded. Extractors fill `instruction` and call fail() when the encoding is not legal.
struct DecodeContext {
  Instruction& instruction;
  const InstructionRow& row;
  Target target;
  const std::uint32_t* words;
  std::size_t available;
  unsigned used;  ///< number of words consumed so far; incremented when a literal, SDWA or DPP word is consumed
  std::string error;
  unsigned literal_at = 0;  ///< word index of the literal once consumed (two operands may share it)

  void fail(std::string why) {
    if (error.empty()) error = std::move(why);
  }
  /// Consumes and returns the next word after the encoding; fails if there is none.
  std::uint32_t take_word();
  std::uint32_t take_literal();

  /// Checks a field that the instruction does not use: fails if it is not zero.
  void unused(std::uint32_t field) {
    if (field != 0) fail("unused field is not zero");
  }

  Operand& add_dst() { return instruction.dst.at(instruction.destinations++); }
  Operand& add_src() { return instruction.src.at(instruction.sources++); }

  Operand vgpr(unsigned index, OperandType type);
  /// A register of the file that an ACC bit (gfx90a) selects: VGPR or AGPR.
  Operand vgpr_or_agpr(bool accumulator, unsigned index, OperandType type);
  /// Scalar register destination or source (7-bit field).
  Operand sgpr(unsigned encoding, OperandType type);
  /// 8-bit scalar source: register, constant, literal or special value (OperandKind::special).
  Operand scalar_source(unsigned encoding, OperandType type);
  /// 9-bit vector source: VGPR, or as scalar_source(). The caller handles SDWA and DPP.
  Operand vector_source(unsigned encoding, OperandType type);
  Operand constant(std::uint64_t value, OperandType type) const;
};

void decode_sop1(DecodeContext& context);
void decode_sop2(DecodeContext& context);
void decode_sopk(DecodeContext& context);
void decode_sopc(DecodeContext& context);
void decode_sopp(DecodeContext& context);
void decode_smem(DecodeContext& context);
void decode_vop1(DecodeContext& context);
void decode_vop2(DecodeContext& context);
void decode_vopc(DecodeContext& context);
void decode_vop3(DecodeContext& context);
void decode_vop3p(DecodeContext& context);
void decode_mai(DecodeContext& context);
void decode_ds(DecodeContext& context);
void decode_flat(DecodeContext& context);
void decode_mubuf(DecodeContext& context);
void decode_mtbuf(DecodeContext& context);

}  // namespace lacuna::isa
