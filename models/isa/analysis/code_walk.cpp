#include "models/isa/analysis/code_walk.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/disassemble_operand.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {
namespace {

/// Maximum number of instructions in a walk, more than any kernel has. Bounds a walk through memory that contains no code.
constexpr std::uint64_t kMostInstructions = 4 << 20;

/// Known constants in scalar registers, and in VGPR lanes to which scalar registers are spilled, in straight-line code.
class Constants {
 public:
  void clear() {
    registers_.clear();
    lanes_.clear();
    carry_.reset();
  }

  void forget_registers() {
    registers_.clear();
    carry_.reset();
  }

  std::optional<std::uint64_t> pair(const Operand& operand) const {
    if (operand.kind != OperandKind::sgpr) return std::nullopt;
    const auto low = get(operand.index);
    const auto high = get(operand.index + 1U);
    if (!low || !high) return std::nullopt;
    return std::uint64_t{*high} << 32 | *low;
  }

  /// Applies an instruction. If it completes a 64-bit sum of known values, such as an address relative to the program counter,
  /// returns the sum.
  std::optional<std::uint64_t> apply(const Instruction& instruction, std::uint64_t pc) {
    const std::string_view name = instruction.row->mnemonic;
    if (name == "s_getpc_b64") {
      set_pair(instruction.dst[0].index, pc + instruction.size);
      return std::nullopt;
    }
    if (name == "s_add_u32" || name == "s_addc_u32") return add(instruction, name == "s_addc_u32");
    if (name == "s_mov_b32") {
      const auto value = word(instruction.src[0]);
      set(instruction.dst[0].index, value);
    } else if (name == "s_mov_b64") {
      const auto value = pair_or_constant(instruction.src[0]);
      forget(instruction);
      if (value) set_pair(instruction.dst[0].index, *value);
    } else if (name == "v_writelane_b32") {
      const auto lane = word(instruction.src[1]);
      const auto value = word(instruction.src[0]);
      if (lane) lanes_[lane_key(instruction.dst[0].index, *lane)] = value;
    } else if (name == "v_readlane_b32") {
      const auto lane = word(instruction.src[1]);
      std::optional<std::uint32_t> value;
      if (lane)
        if (const auto spilled = lanes_.find(lane_key(instruction.src[0].index, *lane)); spilled != lanes_.end())
          value = spilled->second;
      set(instruction.dst[0].index, value);
    } else {
      forget(instruction);
    }
    return std::nullopt;
  }

 private:
  static std::uint32_t lane_key(unsigned vgpr, std::uint32_t lane) { return vgpr << 6 | (lane & (kLanes - 1)); }

  std::optional<std::uint32_t> get(unsigned sgpr) const {
    const auto found = registers_.find(sgpr);
    return found == registers_.end() ? std::nullopt : std::optional(found->second);
  }
  void set(unsigned sgpr, std::optional<std::uint32_t> value) {
    if (value) {
      registers_[sgpr] = *value;
    } else {
      registers_.erase(sgpr);
    }
  }
  void set_pair(unsigned sgpr, std::uint64_t value) {
    registers_[sgpr] = static_cast<std::uint32_t>(value);
    registers_[sgpr + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  std::optional<std::uint32_t> word(const Operand& operand) const {
    if (operand.kind == OperandKind::constant) return static_cast<std::uint32_t>(operand.value);
    return operand.kind == OperandKind::sgpr ? get(operand.index) : std::nullopt;
  }
  std::optional<std::uint64_t> pair_or_constant(const Operand& operand) const {
    return operand.kind == OperandKind::constant ? std::optional(operand.value) : pair(operand);
  }

  void forget(const Instruction& instruction) {
    for (unsigned d = 0; d < instruction.destinations; ++d) {
      const Operand& operand = instruction.dst[d];
      if (operand.kind != OperandKind::sgpr) continue;
      for (unsigned w = 0; w < std::max<unsigned>(operand.words, 1); ++w) registers_.erase(operand.index + w);
    }
    if ((instruction.row->flags & kWritesScc) != 0) carry_.reset();
  }

  std::optional<std::uint64_t> add(const Instruction& instruction, bool with_carry) {
    const auto a = word(instruction.src[0]);
    const auto b = word(instruction.src[1]);
    const auto carry = with_carry ? carry_ : std::optional(0U);
    forget(instruction);
    if (!a || !b || !carry) return std::nullopt;
    const std::uint64_t sum = std::uint64_t{*a} + *b + *carry;
    carry_ = static_cast<std::uint32_t>(sum >> 32);
    const unsigned to = instruction.dst[0].index;
    registers_[to] = static_cast<std::uint32_t>(sum);
    if (!with_carry || to == 0) return std::nullopt;
    Operand whole = instruction.dst[0];
    whole.index = static_cast<std::uint16_t>(to - 1);
    return pair(whole);
  }

  std::unordered_map<unsigned, std::uint32_t> registers_;
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> lanes_;
  std::optional<std::uint32_t> carry_;
};

class CodeWalk {
 public:
  CodeWalk(const FetchWords& fetch, Target target, const MatrixCodes& codes, const VisitInstruction& visit)
      : fetch_(fetch), target_(target), codes_(codes), visit_(visit) {}

  void follow(std::uint64_t pc) { pending_.push_back(pc); }

  CodeInventory finish() {
    while (!pending_.empty() && inventory_.instructions < kMostInstructions) {
      const std::uint64_t pc = pending_.back();
      pending_.pop_back();
      constants_.clear();
      run(pc);
    }
    std::sort(inventory_.problems.begin(), inventory_.problems.end(),
              [](const CodeProblem& a, const CodeProblem& b) { return a.pc < b.pc; });
    merge_ranges();
    return std::move(inventory_);
  }

 private:
  /// Whether `pc` is in executable memory: a computed address may also point to data.
  bool is_code(std::uint64_t pc) const {
    std::array<std::uint32_t, 3> words{};
    return pc % 4 == 0 && fetch_(pc, words) != 0;
  }

  /// Walks from `pc` to the end of straight-line code, or to code that has already been visited.
  void run(std::uint64_t pc) {
    while (inventory_.instructions < kMostInstructions && visited_.insert(pc).second) {
      std::array<std::uint32_t, 3> words{};
      const std::size_t available = pc % 4 == 0 ? fetch_(pc, words) : 0;
      if (available == 0) {
        ++inventory_.runs_into_nothing;
        return;
      }
      const DecodeResult decoded = decode(words.data(), available, target_, codes_);
      if (!decoded.ok) {
        problem(pc, ".long 0x" + hexadecimal_word(words[0]), decoded.error);
        return;
      }
      count(decoded.instruction, pc);
      if (visit_) visit_(pc, decoded.instruction);
      const std::uint64_t next = pc + decoded.instruction.size;
      inventory_.ranges.push_back({pc, next});
      if (!continues(decoded.instruction, pc)) return;
      pc = next;
    }
  }

  static std::string hexadecimal_word(std::uint32_t word) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
    return text;
  }

  void problem(std::uint64_t pc, std::string mnemonic, std::string reason) {
    inventory_.problems.push_back({pc, std::move(mnemonic), std::move(reason)});
  }

  void count(const Instruction& instruction, std::uint64_t pc) {
    ++inventory_.instructions;
    const MatrixCode* const code = instruction.matrix_code;
    const std::string_view name = code != nullptr ? code->name : instruction.row->mnemonic;
    if (code != nullptr) inventory_.extensions = inventory_.extensions | code->extension;
    auto use = inventory_.uses.find(name);
    if (use == inventory_.uses.end()) use = inventory_.uses.emplace(std::string(name), InstructionUse{}).first;
    ++use->second.count;
    // The results of matrix extension codes are specified exactly, to the last bit.
    use->second.verdict = std::max(use->second.verdict, code != nullptr ? Verdict::exact : verdict(*instruction.row));
    if (instruction.execute != execute_unsupported) return;
    ++use->second.unsupported;
    use->second.verdict = Verdict::unsupported;
    problem(pc, disassemble(instruction, target_), not_executed_reason(instruction));
  }

  /// Records the possible successors of an instruction. False: the next instruction in memory is not one of them.
  bool continues(const Instruction& instruction, std::uint64_t pc) {
    const InstructionRow& row = *instruction.row;
    // All traps except the debug trap end the wavefront: their handlers do not return.
    if (row.latency == LatencyClass::trap) return (static_cast<unsigned>(instruction.immediate) & 0xff) == kDebugTrap;
    if (row.latency == LatencyClass::end_program) return false;
    if (row.mnemonic == "s_swappc_b64") {
      ++inventory_.calls;
      transfer(instruction.src[0]);
      // A callee may change scalar registers, but preserves the VGPR lanes to which its caller has spilled registers.
      constants_.forget_registers();
      return true;
    }
    if (const auto computed = constants_.apply(instruction, pc); computed && is_code(*computed)) follow(*computed);
    if ((row.flags & kBranch) == 0) return true;
    if (row.mnemonic == "s_setpc_b64" || row.mnemonic.starts_with("s_rfe")) return false;
    const bool relative = row.format == Format::sopp || row.mnemonic == "s_call_b64" || row.mnemonic == "s_cbranch_i_fork";
    if (relative) follow(branch_target(instruction, pc));
    if (row.mnemonic == "s_call_b64") ++inventory_.calls;
    return row.mnemonic != "s_branch";
  }

  void transfer(const Operand& to) {
    const auto known = constants_.pair(to);
    if (!known) {
      ++inventory_.unknown_targets;
    } else if (is_code(*known)) {
      follow(*known);
    }
  }

  void merge_ranges() {
    auto& ranges = inventory_.ranges;
    std::sort(ranges.begin(), ranges.end(), [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
    std::vector<CodeRange> merged;
    for (const CodeRange& range : ranges) {
      if (!merged.empty() && range.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, range.end);
      } else {
        merged.push_back(range);
      }
    }
    ranges = std::move(merged);
  }

  const FetchWords& fetch_;
  Target target_;
  MatrixCodes codes_;
  const VisitInstruction& visit_;
  CodeInventory inventory_;
  Constants constants_;
  std::vector<std::uint64_t> pending_;
  std::unordered_set<std::uint64_t> visited_;
};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::exact:
      return "exact";
    case Verdict::approximate:
      return "approximate";
    case Verdict::unsupported:
      break;
  }
  return "unsupported";
}

Verdict verdict(const InstructionRow& row) {
  if (row.execute == nullptr) return Verdict::unsupported;
  return (row.flags & kApproximate) != 0 ? Verdict::approximate : Verdict::exact;
}

std::uint64_t branch_target(const Instruction& instruction, std::uint64_t pc) {
  return pc + 4 + static_cast<std::uint64_t>(std::int64_t{instruction.immediate} * 4);
}

CodeInventory walk_code(const FetchWords& fetch, Target target, const MatrixCodes& codes, std::uint64_t entry,
                        std::span<const std::uint64_t> further, const VisitInstruction& visit) {
  CodeWalk walk(fetch, target, codes, visit);
  for (const std::uint64_t pc : further) walk.follow(pc);
  walk.follow(entry);
  CodeInventory inventory = walk.finish();
  std::array<std::uint32_t, 3> words{};
  if (entry % 4 != 0 || fetch(entry, words) == 0)
    inventory.problems.push_back({entry, "", "the entry point is not executable code"});
  return inventory;
}

}  // namespace lacuna::isa
