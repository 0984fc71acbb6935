// Inventory of a kernel's code, obtained by following control flow from the entry point without executing the code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/matrix/matrix_extensions.h"
#include "models/isa/target.h"

namespace lacuna::isa {

struct Instruction;
struct InstructionRow;

enum class Verdict : std::uint8_t { exact, approximate, unsupported };
std::string_view verdict_name(Verdict verdict);
Verdict verdict(const InstructionRow& row);

/// A place in the code at which a wavefront would stop.
struct CodeProblem {
  std::uint64_t pc = 0;
  std::string mnemonic;  ///< ".long 0x…" if it is not an instruction, "" if it is no code
  std::string reason;
};

struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Uses of one mnemonic in a kernel; each matrix extension code is listed under its own name.
struct InstructionUse {
  std::uint64_t count = 0;        ///< number of places in the code, not of executions
  std::uint64_t unsupported = 0;  ///< number of these places at which the instruction has no executor
  Verdict verdict = Verdict::exact;
};

struct CodeInventory {
  std::uint64_t instructions = 0;
  std::map<std::string, InstructionUse, std::less<>> uses;  ///< uses by mnemonic, in alphabetical order
  std::vector<CodeProblem> problems;                        ///< ascending by pc, that of the entry point last
  std::vector<CodeRange> ranges;                            ///< address ranges of the code, ascending
  MatrixExtensions extensions = MatrixExtensions::none;     ///< matrix extensions whose codes the kernel uses
  unsigned calls = 0;
  /// Number of calls through registers with unknown contents (s_swappc_b64): their targets are not in the inventory.
  unsigned unknown_targets = 0;
  /// Number of places where control flow leaves executable memory, as far as static analysis can tell. Execution may never
  /// reach them: a call of a function that does not return may be the last instruction.
  unsigned runs_into_nothing = 0;

  bool runs() const { return problems.empty(); }
};

/// Copies up to three words of executable memory, beginning at `pc`, into `words`. Returns their number, which may be 0.
using FetchWords = std::function<std::size_t(std::uint64_t pc, std::array<std::uint32_t, 3>& words)>;

/// Receives each instruction that a walk reaches, once, in the order of the walk.
using VisitInstruction = std::function<void(std::uint64_t pc, const Instruction& instruction)>;

/// Target of a relative branch or call at `pc`.
std::uint64_t branch_target(const Instruction& instruction, std::uint64_t pc);

/// Returns the inventory of the code that is reachable from `entry` and from the additional entry points in `further`, such as
/// functions that may be called by pointer. Follows branches, fall-through and calls whose target is computed from the program
/// counter (s_getpc_b64, s_add_u32, s_addc_u32, as compilers emit them, also across moves and spills to lanes).
CodeInventory walk_code(const FetchWords& fetch, Target target, const MatrixCodes& codes, std::uint64_t entry,
                        std::span<const std::uint64_t> further = {}, const VisitInstruction& visit = {});

}  // namespace lacuna::isa
