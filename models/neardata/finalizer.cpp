#include "models/neardata/finalizer.h"

#include <algorithm>
#include <array>
#include <map>

#include "models/isa/decode/decoder.h"
#include "models/neardata/chain_finder.h"
#include "models/neardata/finalizer_move.h"

namespace lacuna {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(ChainRefusal::count)> kRefusalNames{"reused",
                                                                                                    "fused",
                                                                                                    "wide",
                                                                                                    "form of load",
                                                                                                    "operation",
                                                                                                    "EXEC",
                                                                                                    "crosses a branch",
                                                                                                    "alias",
                                                                                                    "does not fit the packet",
                                                                                                    "LDS",
                                                                                                    "nothing saved",
                                                                                                    "wait",
                                                                                                    "interleaved"};

Chain chain_of(const ChainCandidate& candidate, const isa::ControlFlow& flow) {
  Chain chain;
  chain.pattern = candidate.pattern;
  chain.element_bytes = chain_element(flow.instructions()[candidate.loads.front()].instruction).bytes;
  chain.operations = static_cast<std::uint8_t>(candidate.operations.size());
  for (const std::uint32_t operation : candidate.operations) {
    const isa::Instruction& instruction = flow.instructions()[operation].instruction;
    chain.steps =
        static_cast<std::uint8_t>(chain.steps + (candidate.splits_at(operation) ? 1 : chain_operation(instruction).operations));
  }
  chain.second_load = candidate.loads.size() == 2;
  chain.stores = candidate.store.has_value();
  chain.compares = candidate.compares;
  const auto add = [&](std::uint32_t index, ChainRole role) {
    chain.instructions.push_back({flow.instructions()[index].address, ChainTag::middle, role});
  };
  for (const std::uint32_t load : candidate.loads)
    add(load, load == candidate.operand_b() ? ChainRole::load_b : ChainRole::load_a);
  for (const std::uint32_t wait : candidate.waits) add(wait, ChainRole::wait);
  for (const std::uint32_t operation : candidate.operations) add(operation, ChainRole::operation);
  if (candidate.store) add(*candidate.store, ChainRole::store);
  std::sort(chain.instructions.begin(), chain.instructions.end(),
            [](const ChainInstruction& a, const ChainInstruction& b) { return a.address < b.address; });
  chain.instructions.front().tag = ChainTag::first;
  chain.instructions.back().tag = ChainTag::last;
  return chain;
}

/// A kernel's code with patches applied.
class PatchedCode {
 public:
  explicit PatchedCode(const isa::FetchWords& fetch) : fetch_(fetch) {}

  void apply(const std::vector<CodePatch>& patches) {
    for (const CodePatch& patch : patches)
      for (std::size_t i = 0; i < patch.words.size(); ++i) words_[patch.address + 4 * i] = patch.words[i];
  }
  isa::FetchWords fetch() const {
    return [this](std::uint64_t pc, std::array<std::uint32_t, 3>& words) {
      const std::size_t count = fetch_(pc, words);
      for (std::size_t i = 0; i < count; ++i)
        if (const auto found = words_.find(pc + 4 * i); found != words_.end()) words.at(i) = found->second;
      return count;
    };
  }
  /// Ranges of words that differ; adjacent words are combined.
  std::vector<CodePatch> patches() const {
    std::vector<CodePatch> patches;
    for (const auto& [address, word] : words_) {
      std::array<std::uint32_t, 3> old{};
      if (fetch_(address, old) == 0 || old[0] == word) continue;
      const bool follows = !patches.empty() && patches.back().address + 4 * patches.back().words.size() == address;
      if (!follows) patches.push_back({.address = address, .words = {}});
      patches.back().words.push_back(word);
    }
    return patches;
  }

 private:
  const isa::FetchWords& fetch_;
  std::map<std::uint64_t, std::uint32_t> words_;  ///< replaced words by address
};

/// Number of instructions that differ between two versions of the same code, which have equal numbers of instructions.
std::uint64_t changed_instructions(const isa::ControlFlow& before, const isa::ControlFlow& after) {
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < before.instructions().size(); ++i) {
    const isa::PlacedInstruction& a = before.instructions()[i];
    const isa::PlacedInstruction& b = after.instructions()[i];
    if (a.address != b.address || a.instruction.raw != b.instruction.raw) ++changed;
  }
  return changed;
}

}  // namespace

std::string_view refusal_name(ChainRefusal reason) { return kRefusalNames.at(static_cast<std::size_t>(reason)); }

FinalizedKernel finalize_kernel(const isa::FetchWords& fetch, isa::Target target, std::uint64_t entry,
                                const FinalizerOptions& options) {
  PatchedCode code(fetch);
  FinalizedKernel kernel;
  isa::ControlFlow flow(fetch, target, entry);
  kernel.unknown = flow.unknown();
  if (!flow.known()) return kernel;
  kernel.instructions = flow.instructions().size();
  if (options.move) {
    const isa::ControlFlow given = flow;
    // Each round of moves may make further moves possible.
    constexpr unsigned kMostRounds = 4;
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const ChainFinder candidates(flow, target, {.move = true, .interleaved = true}, ChainFinder::Waits::any);
      const MovedCode moved = move_chains(flow, candidates, target, options);
      if (moved.patches.empty()) break;
      code.apply(moved.patches);
      flow = isa::ControlFlow(code.fetch(), target, entry);
    }
    kernel.moved = changed_instructions(given, flow);
    kernel.patches = code.patches();
  }
  const ChainFinder finder(flow, target, options);
  kernel.loads = finder.loads();
  for (const ChainCandidate& candidate : finder.chains()) kernel.chains.push_back(chain_of(candidate, flow));
  kernel.refusals = finder.refusals();
  return kernel;
}

unsigned foreign_instructions(const Chain& chain, const isa::FetchWords& fetch, isa::Target target) {
  unsigned foreign = 0;
  std::size_t next = 0;
  for (std::uint64_t pc = chain.instructions.front().address; next < chain.instructions.size();) {
    std::array<std::uint32_t, 3> words{};
    const std::size_t available = fetch(pc, words);
    const isa::DecodeResult decoded = isa::decode(words.data(), available, target);
    if (available == 0 || !decoded.ok) break;
    if (chain.instructions[next].address == pc) {
      ++next;
    } else {
      ++foreign;
    }
    pc += decoded.instruction.size;
  }
  return foreign;
}

std::string_view tag_bits(ChainTag tag) {
  constexpr std::array<std::string_view, 4> kBits{"00", "01", "10", "11"};
  return kBits.at(static_cast<std::size_t>(tag));
}

std::string_view role_name(ChainRole role) {
  constexpr std::array<std::string_view, 5> kNames{"load a", "load b", "wait", "operation", "store"};
  return kNames.at(static_cast<std::size_t>(role));
}

std::string chain_name(const Chain& chain) {
  constexpr std::array<std::string_view, 10> kNames{"",
                                                    "c = f(a, b)",
                                                    "c = f(a, b, c)",
                                                    "c = a",
                                                    "c = f(a, c)",
                                                    "h(a, b)",
                                                    "h(a, i)",
                                                    "c = f(a, i)",
                                                    "d = f(a, d, g(b, i))",
                                                    "d = f(a, g(b, i))"};
  if (chain.pattern != 0) return std::string(kNames.at(chain.pattern));
  std::string text = chain.second_load ? "ld ld" : "ld";
  for (unsigned i = 0; i < chain.operations; ++i) text += chain.compares && i + 1U == chain.operations ? " cmp" : " alu";
  if (chain.stores) text += " st";
  return text;
}

}  // namespace lacuna
