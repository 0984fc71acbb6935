#include "models/isa/analysis/control_flow.h"

#include <algorithm>
#include <sstream>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

std::string place(std::string_view mnemonic, std::uint64_t address) {
  std::ostringstream text;
  text << mnemonic << " at 0x" << std::hex << address;
  return text.str();
}

bool is_branch(const Instruction& instruction) { return (instruction.row->flags & kBranch) != 0; }

/// Whether the instruction is a branch with an encoded target, and not a call, return or fork.
bool is_plain_branch(const Instruction& instruction) { return is_branch(instruction) && instruction.format == Format::sopp; }

/// Whether control may continue at the next instruction. Must not be called for branches that are not plain
/// (is_plain_branch()).
bool falls_through(const Instruction& instruction) {
  const InstructionRow& row = *instruction.row;
  if (row.latency == LatencyClass::end_program || row.mnemonic == "s_branch") return false;
  return row.latency != LatencyClass::trap || (static_cast<unsigned>(instruction.immediate) & 0xff) == kDebugTrap;
}

}  // namespace

bool writes_exec(const RegisterUse& use) {
  return std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, [](const RegisterRange& range) {
    return range.file == OperandKind::sgpr && range.first + range.count > kExecLo && range.first <= kExecHi;
  });
}

ControlFlow::ControlFlow(const FetchWords& fetch, Target target, std::uint64_t entry) {
  const auto visit = [&](std::uint64_t pc, const Instruction& instruction) {
    instructions_.push_back({pc, instruction, register_use(instruction)});
    if (unknown_.empty() && is_branch(instruction) && !is_plain_branch(instruction))
      unknown_ = place(instruction.row->mnemonic, pc);
  };
  const CodeInventory inventory = walk_code(fetch, target, kAllMatrixCodes, entry, {}, visit);
  std::sort(instructions_.begin(), instructions_.end(),
            [](const PlacedInstruction& a, const PlacedInstruction& b) { return a.address < b.address; });
  if (unknown_.empty()) note_problems(inventory);
  if (unknown_.empty()) {
    find_blocks();
  } else {
    instructions_.clear();
  }
}

void ControlFlow::note_problems(const CodeInventory& inventory) {
  if (!inventory.problems.empty()) {
    const CodeProblem& problem = inventory.problems.front();
    unknown_ = place(problem.mnemonic, problem.pc) + ": " + problem.reason;
  } else if (inventory.runs_into_nothing != 0) {
    unknown_ = "control leaves the code";
  }
  for (std::size_t i = 1; i < instructions_.size() && unknown_.empty(); ++i) {
    const PlacedInstruction& before = instructions_[i - 1];
    if (before.address + before.instruction.size > instructions_[i].address)
      unknown_ = place("an instruction inside of another one", instructions_[i].address);
  }
}

std::uint32_t ControlFlow::index_of(std::uint64_t address) const {
  const auto found =
      std::lower_bound(instructions_.begin(), instructions_.end(), address,
                       [](const PlacedInstruction& placed, std::uint64_t value) { return placed.address < value; });
  return static_cast<std::uint32_t>(found - instructions_.begin());
}

void ControlFlow::find_blocks() {
  const auto count = static_cast<std::uint32_t>(instructions_.size());
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const PlacedInstruction& placed = instructions_[i];
    if (is_branch(placed.instruction)) leads[index_of(branch_target(placed.instruction, placed.address))] = true;
    // The next reached instruction may not be adjacent in memory: data or unreachable code can lie in between.
    const bool gap = i + 1 < count && instructions_[i + 1].address != placed.address + placed.instruction.size;
    if (is_branch(placed.instruction) || !falls_through(placed.instruction) || gap) leads[i + 1] = true;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leads[i]) blocks_.push_back({.begin = i});
    blocks_.back().end = i + 1;
    instructions_[i].block = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  for (BasicBlock& block : blocks_) {
    const PlacedInstruction& last = instructions_[block.end - 1];
    const auto add = [&](std::uint32_t instruction) { block.next[block.next_count++] = instructions_[instruction].block; };
    if (falls_through(last.instruction)) add(index_of(last.address + last.instruction.size));
    if (is_branch(last.instruction)) add(index_of(branch_target(last.instruction, last.address)));
  }
}

}  // namespace lacuna::isa
