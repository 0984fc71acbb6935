// Basic blocks of a kernel, with the registers that each instruction uses, for passes that analyse or rewrite code.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

struct PlacedInstruction {
  std::uint64_t address = 0;  ///< address of the first byte
  Instruction instruction;
  RegisterUse use;
  std::uint32_t block = 0;
};

/// Instructions [begin, end) of ControlFlow::instructions(). Control enters at the first instruction and leaves after the last
/// instruction.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::array<std::uint32_t, 2> next{};  ///< indices of the blocks that may follow
  std::uint8_t next_count = 0;
};

/// The instructions reachable from an entry point, and all control transfers between them.
class ControlFlow {
 public:
  /// Calls, returns and jumps through registers are not followed: the control flow of a kernel with one of them is unknown.
  ControlFlow(const FetchWords& fetch, Target target, std::uint64_t entry);

  /// Whether the control flow is known, so that the blocks contain all instructions that may execute. If not, there are no
  /// blocks.
  bool known() const { return unknown_.empty(); }
  /// Reason why the control flow is unknown, such as "s_swappc_b64 at 0x1234".
  const std::string& unknown() const { return unknown_; }
  /// All reachable instructions, ascending by address.
  const std::vector<PlacedInstruction>& instructions() const { return instructions_; }
  /// All basic blocks, ascending by address.
  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  const BasicBlock& block_of(std::uint32_t instruction) const { return blocks_[instructions_[instruction].block]; }

 private:
  void note_problems(const CodeInventory& inventory);
  void find_blocks();
  /// Index of the instruction at an address that the walk has reached.
  std::uint32_t index_of(std::uint64_t address) const;

  std::string unknown_;
  std::vector<PlacedInstruction> instructions_;
  std::vector<BasicBlock> blocks_;
};

/// Whether the instruction may write EXEC.
bool writes_exec(const RegisterUse& use);

}  // namespace lacuna::isa
