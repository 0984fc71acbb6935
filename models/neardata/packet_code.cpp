#include "models/neardata/packet_code.h"

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/neardata/chain_operations.h"

namespace lacuna {
namespace {

/// Encodes modifiers in six bits: signs and absolute values of two sources and the output modifier, or of three sources.
std::uint8_t packed(const isa::VectorModifiers& vop, unsigned operands) {
  return operands == 3 ? static_cast<std::uint8_t>((vop.neg & 7U) | (vop.abs & 7U) << 3)
                       : static_cast<std::uint8_t>((vop.neg & 3U) | (vop.abs & 3U) << 2 | (vop.omod & 3U) << 4);
}

void add_operation(const isa::Instruction& instruction, const Chain& chain, unsigned& known, PacketCode& code) {
  const ChainOperation operation = chain_operation(instruction);
  for (unsigned i = 0; i < operation.operations; ++i) {
    if (known == chain.steps) {
      code.combines = true;
      return;
    }
    code.operations[known++] = static_cast<std::uint8_t>(operation.codes[i]);
  }
  if (chain.steps == 1 && operation.modified) code.modifiers = packed(instruction.vop, operation.operands);
  for (unsigned i = 0; i < instruction.sources; ++i) {
    const isa::Operand& source = instruction.src[i];
    if (source.kind == isa::OperandKind::constant || source.kind == isa::OperandKind::sgpr) code.immediate = source;
  }
}

}  // namespace

PacketCode packet_code(const Chain& chain, const isa::FetchWords& fetch, isa::Target target) {
  PacketCode code;
  unsigned known = 0;
  for (const ChainInstruction& instruction : chain.instructions) {
    if (instruction.role == ChainRole::wait || instruction.role == ChainRole::store) continue;
    std::array<std::uint32_t, 3> words{};
    const std::size_t available = fetch(instruction.address, words);
    const isa::DecodeResult decoded = isa::decode(words.data(), static_cast<unsigned>(available), target, isa::kAllMatrixCodes);
    if (!decoded.ok) continue;
    if (instruction.role == ChainRole::operation) {
      add_operation(decoded.instruction, chain, known, code);
    } else {
      code.is_signed |= (decoded.instruction.row->flags & isa::kSignExtends) != 0;
    }
  }
  return code;
}

}  // namespace lacuna
