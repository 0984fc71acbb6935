// Decodes the fields of the memory formats SMEM, DS, FLAT, MUBUF and MTBUF.
#include "models/isa/decode/decode_fields.h"
#include "models/isa/decode/operand.h"

namespace lacuna::isa {

void decode_smem(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  MemoryModifiers& mem = context.instruction.mem;
  mem.glc = bit(low, 16);
  mem.imm = bit(low, 17);
  const unsigned data = bits(low, 6, 7);
  if (row.src.count == 0) {
    // Clock reads and cache control have no address operand.
    context.unused(bits(low, 17, 1));
    mem = {};
  }
  if (row.dst.count > 0) context.add_dst() = context.sgpr(data, row.dst.types[0]);
  if (row.src.count == 0) return;
  context.add_src() = context.sgpr(bits(low, 0, 6) << 1, row.src.types[0]);
  const bool gfx9 = context.target != Target::gfx803;
  const bool scalar = gfx9 && bit(low, 14);
  if (mem.imm) {
    // The offset has 20 bits on gfx8, and 21 bits including a sign from gfx9 on.
    const bool negative = gfx9 && bit(high, 20);
    mem.offset = static_cast<std::int32_t>(bits(high, 0, 20)) - (negative ? 0x100000 : 0);
  }
  if (scalar) {
    context.add_src() = context.sgpr(bits(high, 25, 7), OperandType::b32);
  } else if (mem.imm) {
    context.add_src() = context.constant(static_cast<std::uint32_t>(mem.offset), OperandType::simm32);
  } else {
    context.add_src() = context.sgpr(bits(high, 0, 7), OperandType::b32);
  }
  if (row.src.count < 3) return;
  const bool immediate = row.src.types[2] == OperandType::simm16;
  if (immediate) mem.glc = false;
  context.add_src() = immediate ? context.constant(data, OperandType::simm16) : context.sgpr(data, row.src.types[2]);
}

void decode_ds(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  MemoryModifiers& mem = context.instruction.mem;
  mem.offset = static_cast<std::int32_t>(bits(low, 0, 16));
  mem.gds = bit(low, 16);
  if (mem.gds && (row.flags & kGdsOnly) == 0) context.instruction.execute = execute_unsupported;
  if (row.dst.count + row.src.count == 0 && mem.offset != 0 && (row.flags & kGdsOnly) == 0) context.fail("takes no offset");
  if ((row.flags & kGdsOnly) != 0 && !mem.gds) context.fail("needs GDS = 1");
  if ((row.flags & kNoGds) != 0 && mem.gds) context.fail("needs GDS = 0");
  // On gfx90a the data may be in AGPRs; the address is always a VGPR.
  const bool accumulator = context.target != Target::gfx803 && bit(low, 25);
  if (row.dst.count > 0) {
    context.add_dst() = context.vgpr_or_agpr(accumulator, bits(high, 24, 8), row.dst.types[0]);
  } else {
    context.unused(bits(high, 24, 8));
  }
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned field = bits(high, i * 8, 8);
    if (i >= row.src.count || row.src.types[i] == OperandType::none) {
      context.unused(field);
      if (i < row.src.count) context.add_src();
    } else {
      context.add_src() = context.vgpr_or_agpr(accumulator && i > 0, field, row.src.types[i]);
    }
  }
}

namespace {

// The atomics that gfx90a added have no SCC bit.
bool is_new_atomic(const InstructionRow& row) {
  return row.latency == LatencyClass::vmem_atomic && row.opcode.gfx803 == kAbsent;
}

}  // namespace

void decode_flat(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  const Format format = context.instruction.format;
  MemoryModifiers& mem = context.instruction.mem;
  mem.glc = bit(low, 16);
  mem.slc = bit(low, 17);
  const bool gfx9 = context.target != Target::gfx803;
  if (!gfx9 && bits(low, 13, 3) != 0) context.fail("reserved bits 13 to 15 are not zero");
  mem.lds = bit(low, 13);
  if (mem.lds && (row.flags & kLdsForm) == 0) context.fail("no LDS form");
  if (gfx9) mem.scc = bit(low, 25);
  // Floating-point atomics have no SCC (LLVM: their encodings fix the bit).
  const unsigned opcode = bits(low, 18, 7);
  if (mem.scc && opcode >= 0x4d && opcode <= 0x51) context.fail("no SCC form");
  const std::uint32_t offset = bits(low, 0, 13);
  const bool is_signed = format != Format::flat && (offset & 0x1000) != 0;
  mem.offset = static_cast<std::int32_t>(offset) - (is_signed ? 0x2000 : 0);
  // FLAT has no offset on gfx8; LLVM nevertheless prints the field.
  if (!gfx9 && offset != 0) context.instruction.execute = execute_unsupported;

  const bool accumulator = gfx9 && bit(high, 23);
  if (mem.lds && accumulator) context.fail("AGPR data in the LDS form");
  const auto data = [&](unsigned field, OperandType type) { return context.vgpr_or_agpr(accumulator, field, type); };
  const unsigned saddr = bits(high, 16, 7);
  constexpr unsigned kOff = 0x7f;
  const bool scalar = format != Format::flat && saddr != kOff;
  if (format == Format::flat) {
    context.unused(saddr);
    if (gfx9 && bits(low, 14, 2) == 3) context.fail("reserved segment");
  }
  const bool atomic = row.dst.count > 0 && row.src.count > 1;
  if (row.dst.count > 0 && (!atomic || mem.glc) && !mem.lds) context.add_dst() = data(bits(high, 24, 8), row.dst.types[0]);
  Operand& address = context.add_src();
  if (format != Format::scratch || !scalar) {
    const bool offset_only = format == Format::global && scalar;
    address = context.vgpr(bits(high, 0, 8), offset_only ? OperandType::b32 : row.src.types[0]);
  }
  if (row.src.count > 1) context.add_src() = data(bits(high, 8, 8), row.src.types[1]);
  if (format == Format::flat) return;
  Operand& base = context.add_src();
  if (scalar && format == Format::global) {
    base = context.sgpr(saddr, OperandType::b64);
  } else if (scalar) {
    base = context.sgpr(saddr, OperandType::b32);
  }
}

namespace {

// Decodes the fields that MUBUF and MTBUF have in common: offset and flags in the first word, registers in the second word.
void decode_buffer(DecodeContext& context, bool accumulator) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  MemoryModifiers& mem = context.instruction.mem;
  const bool atomic = row.dst.count > 0 && row.src.count > 3;
  const unsigned data = bits(high, 8, 8);
  // TFE appends a status word to the data.
  const auto data_operand = [&](OperandType type) {
    Operand operand = context.vgpr_or_agpr(accumulator, data, type);
    constexpr unsigned kNameable = 256;
    if (mem.tfe && data + ++operand.words > kNameable) context.fail("vector register tuple out of range");
    return operand;
  };
  mem.offset = static_cast<std::int32_t>(bits(low, 0, 12));
  mem.offen = bit(low, 12);
  mem.idxen = bit(low, 13);
  mem.glc = bit(low, 14);
  if (row.dst.count > 0 && !mem.lds && (!atomic || mem.glc)) context.add_dst() = data_operand(row.dst.types[0]);
  Operand& address = context.add_src();
  if (mem.offen || mem.idxen) {
    address = context.vgpr(bits(high, 0, 8), mem.offen && mem.idxen ? OperandType::b64 : OperandType::b32);
  }
  context.add_src() = context.sgpr(bits(high, 16, 5) << 2, OperandType::b128);
  if (bits(high, 24, 8) == kLiteral) return context.fail("SOFFSET cannot be a literal");
  context.add_src() = context.scalar_source(bits(high, 24, 8), OperandType::b32);
  if (row.src.count > 3) context.add_src() = data_operand(row.src.types[3]);
}

}  // namespace

void decode_mubuf(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  MemoryModifiers& mem = context.instruction.mem;
  const bool gfx9 = context.target != Target::gfx803;
  const bool from_lds = row.src.count > 0 && row.src.types[0] == OperandType::none;
  mem.lds = bit(low, 16);
  mem.slc = bit(low, 17);
  mem.scc = gfx9 && bit(low, 15);
  const bool accumulator = gfx9 && bit(high, 23);  // position of TFE on gfx8
  mem.tfe = !gfx9 && bit(high, 23) && !from_lds && !(row.dst.count > 0 && row.src.count > 3);
  if (row.src.count == 0) {
    // Only buffer_wbl2 may set GLC and SCC (LLVM sets both for the widest scope). Bit 55 is reserved in buffer_wbl2 and
    // buffer_invl2.
    const bool l2 = row.opcode.gfx803 == kAbsent;
    const unsigned flags = row.mnemonic == "buffer_wbl2" ? 2 : 4;
    if (bits(low, 12, flags) != 0 || mem.lds || (l2 && accumulator)) context.fail("flag without effect");
    return;
  }
  if (from_lds) {
    // buffer_store_lds_dword moves data from LDS to memory and uses no VGPR.
    if (!mem.lds || bits(low, 12, 2) != 0) context.fail("LDS = 1 and nothing from VGPRs");
  } else if (mem.lds && ((row.flags & kLdsForm) == 0 || mem.tfe)) {
    context.fail("no LDS form");
  }
  if (mem.lds && accumulator) context.fail("no registers in the LDS form");
  if (mem.scc && is_new_atomic(row)) context.fail("no SCC");
  decode_buffer(context, accumulator);
}

void decode_mtbuf(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  MemoryModifiers& mem = context.instruction.mem;
  const bool gfx9 = context.target != Target::gfx803;
  mem.data_format = static_cast<std::uint8_t>(bits(low, 19, 4));
  mem.number_format = static_cast<std::uint8_t>(bits(low, 23, 3));
  mem.scc = gfx9 && bit(high, 21);
  mem.slc = bit(high, 22);
  // LLVM does not decode TFE in MTBUF.
  if (!gfx9 && bit(high, 23)) context.instruction.execute = execute_unsupported;
  decode_buffer(context, gfx9 && bit(high, 23));
}

}  // namespace lacuna::isa
