#include "platform/listing/isa_check.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "platform/listing/finalize.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;
constexpr unsigned kShownProblems = 10;

/// Problems of `all` (kernel and functions) that `kernel` (the kernel alone) does not have.
std::vector<isa::CodeProblem> added_problems(const isa::CodeInventory& all, const isa::CodeInventory& kernel) {
  std::set<std::uint64_t> known;
  for (const isa::CodeProblem& problem : kernel.problems) known.insert(problem.pc);
  std::vector<isa::CodeProblem> added;
  std::copy_if(all.problems.begin(), all.problems.end(), std::back_inserter(added),
               [&](const isa::CodeProblem& problem) { return known.count(problem.pc) == 0; });
  return added;
}

/// "0x2000 (+0x30)": offset from the kernel's entry; "0x1c00 (function helper +0x10)": in a function that the kernel may call.
std::string place(const CodeObject& object, std::uint64_t entry, std::uint64_t pc) {
  const ElfSymbol* function = nullptr;
  for (const ElfSymbol& symbol : object.elf().symbols()) {
    if (!symbol.function || symbol.section == 0 || symbol.value > pc || symbol.value == entry) continue;
    if (pc - symbol.value < symbol.size) function = &symbol;
  }
  if (function != nullptr) return fmt::format("{:#x} (function {} +{:#x})", pc, function->name, pc - function->value);
  return pc < entry ? fmt::format("{:#x} (-{:#x})", pc, entry - pc) : fmt::format("{:#x} (+{:#x})", pc, pc - entry);
}

std::string problem_text(const isa::CodeProblem& problem, std::uint64_t entry, const CodeObject& object) {
  return place(object, entry, problem.pc) + "  " + problem.mnemonic + (problem.mnemonic.empty() ? "" : ": ") + problem.reason;
}

void write_problems(const std::vector<isa::CodeProblem>& problems, std::uint64_t entry, const CodeObject& object,
                    std::ostream& out) {
  for (std::size_t i = 0; i < problems.size() && i < kShownProblems; ++i)
    out << "    " << problem_text(problems[i], entry, object) << '\n';
  if (problems.size() > kShownProblems) out << "    and " << problems.size() - kShownProblems << " more\n";
}

void write_uses(const KernelCheck& check, isa::Verdict verdict, std::ostream& out) {
  std::string line;
  for (const auto& [mnemonic, use] : check.code.uses) {
    if (use.verdict != verdict) continue;
    const std::string word = mnemonic + ' ' + std::to_string(use.count);
    if (line.size() + word.size() > 110) {
      out << "    " << line << ",\n";
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + word;
  }
  if (!line.empty()) out << "    " << line << '\n';
}

void write_check(const KernelCheck& check, const CodeObject& object, std::ostream& out) {
  out << "kernel " << check.kernel << ": " << (check.code.runs() ? "runs" : "CANNOT RUN") << ", "
      << isa::verdict_name(check.verdict()) << "; " << check.code.instructions << " instructions of " << check.code.uses.size()
      << " kinds, " << check.code.calls << " calls\n";
  write_signature(check.signature, out);
  if (!check.offload_chains.empty()) {
    out << "  offload chains:";
    for (const auto& [pattern, count] : check.offload_chains) out << ' ' << count << " of pattern " << pattern << ',';
    out << ' ' << check.tagged_instructions << " instructions tagged\n";
  }
  for (const isa::Verdict verdict : {isa::Verdict::exact, isa::Verdict::approximate, isa::Verdict::unsupported}) {
    const bool any = std::any_of(check.code.uses.begin(), check.code.uses.end(),
                                 [&](const auto& use) { return use.second.verdict == verdict; });
    if (!any) continue;
    out << "  " << isa::verdict_name(verdict) << ":\n";
    write_uses(check, verdict, out);
  }
  if (check.code.extensions != isa::MatrixExtensions::none)
    out << "  runs with --set mfma.extensions=" << isa::matrix_extension_name(check.code.extensions) << " alone\n";
  if (!check.code.runs()) out << "  stops at:\n";
  write_problems(check.code.problems, check.entry, object, out);
  if (check.code.runs_into_nothing != 0)
    out << "  in " << check.code.runs_into_nothing << " places control would leave the code if it came there\n";
  if (check.code.unknown_targets != 0)
    out << "  " << check.code.unknown_targets
        << " of the calls are through pointers: the functions that they reach are not in this list\n";
  if (!check.possible_problems.empty()) out << "  would stop in functions of the file, if it calls them by pointer, at:\n";
  write_problems(check.possible_problems, check.entry, object, out);
}

Json problems_json(const std::vector<isa::CodeProblem>& problems) {
  Json list = Json::array();
  for (const isa::CodeProblem& problem : problems)
    list.push_back({{"pc", problem.pc}, {"instruction", problem.mnemonic}, {"reason", problem.reason}});
  return list;
}

Json chains_json(const KernelCheck& check) {
  Json chains = Json::object();
  for (const auto& [pattern, count] : check.offload_chains) chains[std::to_string(pattern)] = count;
  return chains;
}

Json check_json(const KernelCheck& check) {
  Json uses = Json::object();
  for (const auto& [mnemonic, use] : check.code.uses)
    uses[mnemonic] = {{"count", use.count}, {"unsupported", use.unsupported}, {"verdict", isa::verdict_name(use.verdict)}};
  return {{"kernel", check.kernel},
          {"runs", check.code.runs()},
          {"verdict", isa::verdict_name(check.verdict())},
          {"entry", check.entry},
          {"signature", signature_json(check.signature)},
          {"instructions", check.code.instructions},
          {"calls", check.code.calls},
          {"calls_by_pointer", check.code.unknown_targets},
          {"runs_into_nothing", check.code.runs_into_nothing},
          {"offload_chains", chains_json(check)},
          {"tagged_instructions", check.tagged_instructions},
          {"uses", uses},
          {"mfma_extensions", isa::matrix_extension_name(check.code.extensions)},
          {"problems", problems_json(check.code.problems)},
          {"possible_problems", problems_json(check.possible_problems)}};
}

}  // namespace

isa::Verdict KernelCheck::verdict() const {
  isa::Verdict worst = code.runs() ? isa::Verdict::exact : isa::Verdict::unsupported;
  for (const auto& [mnemonic, use] : code.uses) worst = std::max(worst, use.verdict);
  return worst;
}

std::vector<KernelCheck> check_kernels(const CodeObject& object) {
  const isa::FetchWords fetch = code_words(object.elf());
  std::vector<std::uint64_t> functions;
  for (const ElfSymbol& symbol : object.elf().symbols())
    if (symbol.function && symbol.section != 0) functions.push_back(symbol.value);
  const std::vector<KernelTags> tagged = tags_of(object);
  std::vector<KernelCheck> checks;
  for (const KernelEntry& entry : object.entries()) {
    // Kernels also have function symbols, but are never called.
    std::vector<std::uint64_t> callees;
    std::copy_if(functions.begin(), functions.end(), std::back_inserter(callees), [&](std::uint64_t function) {
      return std::none_of(object.entries().begin(), object.entries().end(),
                          [&](const KernelEntry& kernel) { return kernel.entry == function; });
    });
    KernelCheck check;
    check.kernel = entry.name;
    check.entry = entry.entry;
    check.signature = kernel_signature(object, entry);
    check.code = isa::walk_code(fetch, object.target(), isa::kAllMatrixCodes, entry.entry);
    if (check.code.unknown_targets != 0 && !callees.empty())
      check.possible_problems =
          added_problems(isa::walk_code(fetch, object.target(), isa::kAllMatrixCodes, entry.entry, callees), check.code);
    for (const KernelTags& kernel : tagged) {
      if (kernel.entry != entry.entry || kernel.name != entry.name) continue;
      for (const Chain& chain : kernel.chains) {
        ++check.offload_chains[chain.pattern];
        check.tagged_instructions += static_cast<unsigned>(chain.instructions.size());
      }
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

bool check_files(const std::vector<std::filesystem::path>& files, bool json, std::ostream& out) {
  bool all_run = true;
  Json report = Json::array();
  for (const std::filesystem::path& file : files) {
    for (const CodeObject& object : read_code_objects(file)) {
      const std::vector<KernelCheck> checks = check_kernels(object);
      for (const KernelCheck& check : checks) all_run = all_run && check.code.runs();
      if (json) {
        Json kernels = Json::array();
        for (const KernelCheck& check : checks) kernels.push_back(check_json(check));
        report.push_back({{"file", object.name()},
                          {"target", isa::traits(object.target()).name},
                          {"code_object_version", object.version()},
                          {"kernels", kernels}});
        continue;
      }
      out << object.name() << ": " << isa::traits(object.target()).name << ", code object version " << object.version() << ", "
          << checks.size() << " kernels\n";
      for (const KernelCheck& check : checks) write_check(check, object, out);
    }
  }
  if (json) out << report.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  return all_run;
}

}  // namespace lacuna
