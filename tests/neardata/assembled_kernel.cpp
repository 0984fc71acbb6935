#include "tests/neardata/assembled_kernel.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "tests/isa/llvm_oracle.h"

namespace lacuna::test {

std::string translated(const std::string& line, isa::Target target) {
  const std::size_t end = line.find(' ');
  std::string name = line.substr(0, end);
  std::string rest = end == std::string::npos ? "" : line.substr(end);
  const bool gfx8 = target == isa::Target::gfx803;
  const auto memory = [&](std::size_t prefix, const std::string& operation) {
    const std::string type = name.size() > prefix ? name.substr(prefix) : "_dword";
    // Modifiers follow the operands; in GLOBAL instructions an SGPR pair or `off` precedes the modifiers.
    const std::size_t modifiers = rest.find(" :");
    const std::string operands = rest.substr(0, modifiers);
    const std::string modifier = modifiers == std::string::npos ? "" : " " + rest.substr(modifiers + 2);
    return (gfx8 ? "flat_" : "global_") + operation + type + operands + (gfx8 ? "" : ", off") + modifier;
  };
  const auto with_vcc = [](const std::string& operands) {
    const std::size_t comma = operands.find(',');
    return operands.substr(0, comma) + ", vcc" + operands.substr(comma);
  };
  if (name.starts_with("LOAD")) return memory(4, "load");
  if (name.starts_with("STORE")) return memory(5, "store");
  if (name == "ADD_u32") {
    const std::size_t comma = rest.find(',');
    return "v_add_u32_e32" + rest.substr(0, comma) + (gfx8 ? ", vcc" : "") + rest.substr(comma);
  }
  if (name == "ADD_co_u32") return (gfx8 ? "v_add_u32_e32" : "v_add_co_u32_e32") + with_vcc(rest);
  if (name == "ADDC_co_u32") return (gfx8 ? "v_addc_u32_e32" : "v_addc_co_u32_e32") + with_vcc(rest) + ", vcc";
  return line;
}

AssembledKernel::AssembledKernel(isa::Target target, std::vector<std::string> lines) : target_(target) {
  lines.emplace_back("s_endpgm");
  for (std::string& line : lines) line = translated(line, target);
  std::uint64_t address = kEntry;
  for (const std::vector<std::uint32_t>& words : isa::test::assemble_by_llvm(lines, target)) {
    addresses_.push_back(address);
    words_.insert(words_.end(), words.begin(), words.end());
    address += 4 * words.size();
  }
}

isa::FetchWords fetch_from(const std::vector<std::uint32_t>& code) {
  return [&code](std::uint64_t pc, std::array<std::uint32_t, 3>& words) -> std::size_t {
    const std::uint64_t index = (pc - kEntry) / 4;
    if (pc < kEntry || index >= code.size()) return 0;
    const std::size_t count = std::min<std::size_t>(3, code.size() - index);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(index), count, words.begin());
    return count;
  };
}

std::size_t AssembledKernel::line(std::uint64_t address) const {
  return static_cast<std::size_t>(std::find(addresses_.begin(), addresses_.end(), address) - addresses_.begin());
}

FinalizedKernel AssembledKernel::finalize(const FinalizerOptions& options) const {
  return finalize_kernel(fetch(), target_, kEntry, options);
}

void AssembledKernel::apply(const std::vector<CodePatch>& patches) {
  for (const CodePatch& patch : patches)
    std::copy(patch.words.begin(), patch.words.end(),
              words_.begin() + static_cast<std::ptrdiff_t>((patch.address - kEntry) / 4));
}

std::vector<std::string> AssembledKernel::chains(const FinalizedKernel& kernel) const {
  std::vector<std::string> texts;
  for (const Chain& chain : kernel.chains) {
    std::string text = std::to_string(chain.pattern) + ":";
    for (const ChainInstruction& part : chain.instructions) {
      constexpr std::array kRoles{'a', 'b', 'w', 'o', 's'};
      text += std::string(" ") + kRoles.at(static_cast<std::size_t>(part.role)) + std::to_string(line(part.address)) + '/' +
              std::bitset<2>(static_cast<unsigned>(part.tag)).to_string();
    }
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> AssembledKernel::refusals(const FinalizedKernel& kernel) const {
  std::vector<std::string> texts;
  for (const RefusedLoad& load : kernel.refusals)
    texts.push_back(std::to_string(line(load.address)) + ' ' + std::string(refusal_name(load.reason)) + ' ' +
                    std::to_string(line(load.because)));
  return texts;
}

}  // namespace lacuna::test
