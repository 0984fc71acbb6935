#include "models/isa/analysis/register_use.h"

#include <algorithm>

#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {
namespace {

bool is_register(OperandKind kind) {
  return kind == OperandKind::sgpr || kind == OperandKind::vgpr || kind == OperandKind::agpr;
}

}  // namespace

RegisterUse register_use(const Instruction& instruction) {
  RegisterUse use;
  const auto reads = [&](RegisterRange range) { use.reads.at(use.read_count++) = range; };
  const auto writes = [&](RegisterRange range) { use.writes.at(use.write_count++) = range; };
  const auto range_of = [](const Operand& operand) { return RegisterRange{operand.kind, operand.index, operand.words}; };
  const std::uint64_t flags = instruction.row->flags;

  for (unsigned i = 0; i < instruction.sources; ++i) {
    const Operand& source = instruction.src[i];
    if (is_register(source.kind)) reads(range_of(source));
    if (source.kind == OperandKind::special && source.index == kScc) use.reads_scc = true;
    if (source.kind == OperandKind::special && source.index == kVccz) reads({OperandKind::sgpr, kVccLo, 2});
    if (source.kind == OperandKind::special && source.index == kExecz) reads({OperandKind::sgpr, kExecLo, 2});
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    writes(range_of(instruction.dst[i]));
    // SDWA may keep the bits of the destination that it does not select.
    const bool preserves = instruction.vop.sdwa && instruction.vop.dst_unused == 2;
    const bool keeps_lanes = instruction.vop.dpp;
    if (i == 0 && ((flags & kReadsDst) != 0 || preserves || keeps_lanes)) reads(range_of(instruction.dst[i]));
  }
  if ((flags & kWritesSource) != 0) writes(range_of(instruction.src[0]));
  const bool vector = instruction.unit == Unit::valu || instruction.unit == Unit::vmem || instruction.unit == Unit::lds;
  if (vector || (flags & kReadsExec) != 0) reads({OperandKind::sgpr, kExecLo, 2});
  if ((flags & kWritesExec) != 0) writes({OperandKind::sgpr, kExecLo, 2});
  if ((flags & kReadsVcc) != 0) reads({OperandKind::sgpr, kVccLo, 2});
  if ((flags & kReadsM0) != 0) reads({OperandKind::sgpr, kM0, 1});
  if ((flags & kWritesM0) != 0) writes({OperandKind::sgpr, kM0, 1});
  use.reads_scc = use.reads_scc || (flags & kReadsScc) != 0;
  use.writes_scc = (flags & kWritesScc) != 0;
  return use;
}

Reach reach_of(const Instruction& instruction) {
  if (instruction.latency == LatencyClass::waitcnt || instruction.row->mnemonic == "s_nop") return Reach::nothing;
  // Instructions that may raise Event::illegal_instruction: those without an executor, matrix instructions that broadcast
  // blocks and, depending on M0, relative moves.
  const VectorModifiers& vop = instruction.vop;
  const bool broadcasts =
      instruction.passes != 0 && instruction.matrix_code == nullptr && (vop.cbsz | vop.abid | vop.blgp) != 0;
  if (instruction.execute == execute_unsupported || broadcasts) return Reach::outside;
  if (instruction.unit == Unit::lds) {
    const bool plain = instruction.latency == LatencyClass::lds_load || instruction.latency == LatencyClass::lds_store ||
                       instruction.latency == LatencyClass::lds_permute;
    return plain && !instruction.mem.gds ? Reach::lds : Reach::outside;
  }
  if (instruction.unit != Unit::valu && instruction.unit != Unit::salu) return Reach::outside;
  if ((instruction.row->flags & (kReadsM0 | kWritesM0)) != 0) return Reach::outside;
  const RegisterUse use = register_use(instruction);
  const auto is_exec = [](const RegisterRange& range) {
    return range.file == OperandKind::sgpr && range.first + range.count > kExecLo && range.first <= kExecHi;
  };
  const bool writes_exec = std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, is_exec);
  return writes_exec ? Reach::outside : Reach::registers;
}

}  // namespace lacuna::isa
