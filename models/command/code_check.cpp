#include "models/command/code_check.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "models/command/loaded_code_object.h"
#include "models/isa/decode/decoder.h"

namespace lacuna {
namespace {

/// Maximum number of cached entry points, for programs that load and unload code repeatedly; beyond it the cache is cleared.
constexpr std::size_t kMostEntries = 4096;

}  // namespace

const isa::CodeProblem* CodeCheck::problem(std::uint64_t entry) {
  auto found = checked_.find(entry);
  if (found == checked_.end() || !unchanged(found->second)) {
    if (checked_.size() >= kMostEntries) checked_.clear();
    found = checked_.insert_or_assign(entry, check(entry)).first;
  }
  return found->second.problem ? &*found->second.problem : nullptr;
}

bool CodeCheck::unchanged(const Checked& checked) const {
  return std::all_of(checked.code.begin(), checked.code.end(), [&](const Block& block) {
    const isa::MemoryWindow window = memory_.find(block.begin);
    return window.contains(block.begin, block.bytes.size()) && isa::allows(window.granted, isa::Access::execute) &&
           std::memcmp(window.host + (block.begin - window.base), block.bytes.data(), block.bytes.size()) == 0;
  });
}

CodeCheck::Checked CodeCheck::check(std::uint64_t entry) const {
  // The ROCm runtime maps whole code objects executable; only their segments distinguish code from constant data whose address
  // a kernel computes.
  std::optional<LoadedCodeObject> object = LoadedCodeObject::around(memory_, entry);
  if (object && !object->executable(entry)) object.reset();
  const isa::FetchWords fetch = [&](std::uint64_t pc, std::array<std::uint32_t, 3>& words) -> std::size_t {
    const isa::MemoryWindow window = memory_.find(pc);
    if (!window.contains(pc, 4) || !isa::allows(window.granted, isa::Access::execute)) return 0;
    if (object && !object->executable(pc)) return 0;
    const std::uint64_t count = std::min<std::uint64_t>((window.base + window.size - pc) / 4, words.size());
    std::memcpy(words.data(), window.host + (pc - window.base), count * 4);
    return count;
  };
  Checked checked;
  isa::VisitInstruction visit;
  if (objection_) {
    visit = [&](std::uint64_t pc, const isa::Instruction& instruction) {
      if (checked.problem && checked.problem->pc < pc) return;
      if (auto why = objection_(instruction)) checked.problem = {pc, isa::disassemble(instruction, target_), std::move(*why)};
    };
  }
  const isa::CodeInventory inventory = isa::walk_code(fetch, target_, codes_, entry, {}, visit);
  if (!objection_ && !inventory.problems.empty()) checked.problem = inventory.problems.front();
  const auto keep = [&](std::uint64_t begin, std::uint64_t end) {
    const isa::MemoryWindow window = memory_.find(begin);
    if (!window.contains(begin, end - begin)) return;
    const std::byte* const from = window.host + (begin - window.base);
    checked.code.push_back({begin, {from, from + (end - begin)}});
  };
  for (const isa::CodeRange& range : inventory.ranges) keep(range.begin, range.end);
  // An illegal word belongs to no range; it is recorded as well, so that its correction is detected.
  for (const isa::CodeProblem& problem : inventory.problems) keep(problem.pc, problem.pc + 4);
  return checked;
}

}  // namespace lacuna
