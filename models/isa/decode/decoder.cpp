#include "models/isa/decode/decoder.h"

#include <algorithm>
#include <string>

#include "models/isa/analysis/execution_profile.h"
#include "models/isa/decode/decode_fields.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {
namespace {

struct Encoding {
  Format format;
  std::uint32_t mask;
  std::uint32_t value;
  unsigned opcode_shift;
  unsigned opcode_bits;
  unsigned words;
};

// Encodings, most specific first, since some lie in the encoding space of other encodings: SOP1, SOPC and SOPP lie in the space
// of SOPK and SOP2, VOP1 and VOPC in the space of VOP2, and VOP3P in the space of VOP3 (GCN3 and Vega ISA manuals, "Microcode
// formats").
constexpr std::array kEncodings{
    Encoding{Format::sop1, 0xff800000, 0xbe800000, 8, 8, 1},    Encoding{Format::sopc, 0xff800000, 0xbf000000, 16, 7, 1},
    Encoding{Format::sopp, 0xff800000, 0xbf800000, 16, 7, 1},   Encoding{Format::sopk, 0xf0000000, 0xb0000000, 23, 5, 1},
    Encoding{Format::sop2, 0xc0000000, 0x80000000, 23, 7, 1},   Encoding{Format::smem, 0xfc000000, 0xc0000000, 18, 8, 2},
    Encoding{Format::vop1, 0xfe000000, 0x7e000000, 9, 8, 1},    Encoding{Format::vopc, 0xfe000000, 0x7c000000, 17, 8, 1},
    Encoding{Format::vop2, 0x80000000, 0x00000000, 25, 6, 1},   Encoding{Format::vop3p, 0xff800000, 0xd3800000, 16, 7, 2},
    Encoding{Format::vop3a, 0xfc000000, 0xd0000000, 16, 10, 2}, Encoding{Format::ds, 0xfc000000, 0xd8000000, 17, 8, 2},
    Encoding{Format::flat, 0xfc000000, 0xdc000000, 18, 7, 2},   Encoding{Format::mubuf, 0xfc000000, 0xe0000000, 18, 7, 2},
    Encoding{Format::mtbuf, 0xfc000000, 0xe8000000, 15, 4, 2},
};

void decode_fields(DecodeContext& context) {
  switch (context.instruction.format) {
    case Format::sop1:
      return decode_sop1(context);
    case Format::sop2:
      return decode_sop2(context);
    case Format::sopk:
      return decode_sopk(context);
    case Format::sopc:
      return decode_sopc(context);
    case Format::sopp:
      return decode_sopp(context);
    case Format::smem:
      return decode_smem(context);
    case Format::vop1:
      return decode_vop1(context);
    case Format::vop2:
      return decode_vop2(context);
    case Format::vopc:
      return decode_vopc(context);
    case Format::vop3a:
      return decode_vop3(context);
    case Format::vop3p:
      return decode_vop3p(context);
    case Format::ds:
      return decode_ds(context);
    case Format::flat:
    case Format::global:
    case Format::scratch:
      return decode_flat(context);
    case Format::mubuf:
      return decode_mubuf(context);
    case Format::mtbuf:
      return decode_mtbuf(context);
    default:
      return context.fail("format not supported");
  }
}

// From gfx9 on, FLAT has segments with separate opcode tables (LLVM's FLAT, scratch, global; CDNA2 ISA manual, "FLAT").
Format segment_of(Format format, std::uint32_t word, Target target) {
  if (format != Format::flat || target == Target::gfx803) return format;
  constexpr std::array kSegments{Format::flat, Format::scratch, Format::global, Format::flat};
  return kSegments.at(bits(word, 14, 2));
}

// Raises the instruction's max_vgpr, max_agpr or max_sgpr to include the operand; they are checked against the kernel's
// allocation. Special scalar registers do not count.
void note_registers(Instruction& instruction, const Operand& operand) {
  const auto last = static_cast<std::uint16_t>(operand.index + operand.words);
  if (operand.kind == OperandKind::vgpr) instruction.max_vgpr = std::max(instruction.max_vgpr, last);
  if (operand.kind == OperandKind::agpr) instruction.max_agpr = std::max(instruction.max_agpr, last);
  if (operand.kind == OperandKind::sgpr && operand.index < kFlatScratchLo) {
    instruction.max_sgpr = std::max(instruction.max_sgpr, last);
  }
}

// gfx90a's register tuples start at even numbers (CDNA2 ISA manual, "VGPR alignment"); LLVM's assembler rejects other tuples,
// but its disassembler prints them.
bool is_misaligned(const Operand& operand) {
  return (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr) && operand.words > 1 &&
         operand.index % 2 != 0;
}

bool any_misaligned(const Instruction& instruction) {
  const auto any = [](const auto& operands) { return std::any_of(operands.begin(), operands.end(), is_misaligned); };
  return any(instruction.dst) || any(instruction.src);
}

void apply_matrix_code(Instruction& instruction, const MatrixCodes& codes) {
  instruction.passes = static_cast<std::uint8_t>(matrix_passes(instruction.latency));
  instruction.matrix_code = find_matrix_code(*instruction.row, instruction.vop);
  if (instruction.matrix_code == nullptr) return;
  const unsigned passes = instruction.matrix_code->passes_in(codes);
  instruction.execute = passes != 0 ? instruction.matrix_code->execute : execute_unsupported;
  if (passes != 0) instruction.passes = static_cast<std::uint8_t>(passes);
}

}  // namespace

std::string_view extension_name(const Instruction& instruction) {
  return instruction.matrix_code == nullptr ? std::string_view() : instruction.matrix_code->name;
}

std::string not_executed_reason(const Instruction& instruction) {
  if (instruction.execute != execute_unsupported) return {};
  if (instruction.row->execute == nullptr) return "the instruction is not executed";
  if (instruction.matrix_code == nullptr || any_misaligned(instruction)) return "this form of the instruction is not executed";
  const MatrixCode& code = *instruction.matrix_code;
  const std::string extension(matrix_extension_name(code.extension));
  return std::string(code.name) + " needs mfma.extensions = " + extension + " (or all)" +
         (code.passes[static_cast<unsigned>(MatrixDesign::fp32_native)] == 0
              ? ", and a unit that multiplies in steps (mfma.design)"
              : "");
}

DecodeResult decode(const std::uint32_t* words, std::size_t available, Target target, const MatrixCodes& codes) {
  DecodeResult result;
  if (available == 0) {
    result.error = "truncated: no bytes";
    return result;
  }
  const auto encoding =
      std::find_if(kEncodings.begin(), kEncodings.end(), [&](const Encoding& e) { return (words[0] & e.mask) == e.value; });
  if (encoding == kEncodings.end()) {
    result.error = "unknown encoding format";
    return result;
  }
  const unsigned opcode = bits(words[0], encoding->opcode_shift, encoding->opcode_bits);
  Instruction& instruction = result.instruction;
  const Format format = segment_of(encoding->format, words[0], target);
  instruction.row = find_row(format, opcode, target);
  if (instruction.row == nullptr) {
    result.error = "unknown " + std::string(format_name(format)) + " opcode " + std::to_string(opcode);
    return result;
  }
  if (available < encoding->words) {
    result.error = "truncated: second word missing";
    return result;
  }
  instruction.format = format;
  instruction.unit = instruction.row->unit;
  instruction.latency = instruction.row->latency;
  instruction.execute = instruction.row->execute != nullptr ? instruction.row->execute : execute_unsupported;
  for (unsigned i = 0; i < encoding->words; ++i) instruction.raw[i] = words[i];

  DecodeContext context{
      instruction, *instruction.row, target, words, std::min<std::size_t>(available, 3), encoding->words, {}, 0};
  decode_fields(context);
  if (!context.error.empty()) {
    result.error = std::string(instruction.row->mnemonic) + ": " + context.error;
    return result;
  }
  instruction.size = static_cast<std::uint8_t>(context.used * 4);
  for (unsigned i = 0; i < instruction.destinations; ++i) note_registers(instruction, instruction.dst[i]);
  for (unsigned i = 0; i < instruction.sources; ++i) note_registers(instruction, instruction.src[i]);
  if (instruction.format == Format::mai) apply_matrix_code(instruction, codes);
  if (target == Target::gfx90a && any_misaligned(instruction)) instruction.execute = execute_unsupported;
  result.ok = true;
  return result;
}

}  // namespace lacuna::isa
