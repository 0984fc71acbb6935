#include "models/neardata/finalizer_items.h"

#include "models/isa/decode/table.h"

namespace lacuna {
namespace {

using isa::Instruction;
using isa::LatencyClass;

void add_memory(const Instruction& instruction, MovedItem& item) {
  const bool stores = instruction.latency == LatencyClass::vmem_store || instruction.latency == LatencyClass::smem_store ||
                      instruction.latency == LatencyClass::lds_store;
  Resources& places = stores ? item.writes : item.reads;
  const bool is_flat = instruction.format == isa::Format::flat;
  const bool is_scratch = instruction.format == isa::Format::scratch;
  if (instruction.unit == isa::Unit::lds || is_flat) places.add(Resources::kLds);
  if (is_scratch || is_flat) places.add(Resources::kPrivate);
  if (instruction.unit != isa::Unit::lds && !is_scratch) places.add(Resources::kMemory);
  item.reads.add(Resources::kWait);
}

/// Whether no instruction of the block may move across this instruction.
bool is_fixed(const Instruction& instruction) {
  switch (instruction.latency) {
    case LatencyClass::vmem_load:
    case LatencyClass::vmem_store:
    case LatencyClass::smem_load:
    case LatencyClass::smem_store:
    case LatencyClass::lds_load:
    case LatencyClass::lds_store:
    case LatencyClass::lds_permute:
    case LatencyClass::waitcnt:
      return instruction.mem.gds || instruction.mem.lds;
    default:
      break;
  }
  const bool alu = instruction.unit == isa::Unit::valu || instruction.unit == isa::Unit::salu;
  const isa::InstructionRow& row = *instruction.row;
  // Instructions that use M0, the program counter or hardware registers, and matrix instructions, which have wait states.
  const bool special = (row.flags & (isa::kReadsM0 | isa::kWritesM0 | isa::kBranch)) != 0 || instruction.passes != 0 ||
                       row.mnemonic.starts_with("s_getpc") || row.mnemonic.starts_with("s_setreg") ||
                       row.mnemonic.starts_with("s_getreg");
  return !alu || special;
}

}  // namespace

void add_uses(const Instruction& instruction, MovedItem& item) {
  const isa::RegisterUse use = isa::register_use(instruction);
  for (unsigned r = 0; r < use.read_count; ++r) {
    item.reads.add(use.reads[r]);
    item.uses.add(use.reads[r]);
  }
  for (unsigned w = 0; w < use.write_count; ++w) {
    item.writes.add(use.writes[w]);
    item.uses.add(use.writes[w]);
  }
  if (use.reads_scc) item.reads.add(Resources::kScc);
  if (use.writes_scc) item.writes.add(Resources::kScc);
  item.is_fixed = is_fixed(instruction);
  const bool accesses_memory = isa::counts_vm(instruction) || isa::counts_lgkm(instruction);
  if (accesses_memory) add_memory(instruction, item);
}

}  // namespace lacuna
