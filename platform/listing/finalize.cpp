#include "platform/listing/finalize.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "models/isa/decode/decoder.h"
#include "platform/loaders/elf_section.h"
#include "platform/loaders/kernel_resources.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t kPage = 4096;

std::string instruction_text(std::uint64_t address, const isa::FetchWords& fetch, isa::Target target) {
  std::array<std::uint32_t, 3> words{};
  const std::size_t available = fetch(address, words);
  if (available == 0) return "";
  const isa::DecodeResult decoded = isa::decode(words.data(), available, target, isa::kAllMatrixCodes);
  return decoded.ok ? isa::disassemble(decoded.instruction, target) : "";
}

unsigned contiguous_chains(const std::vector<Chain>& chains, const isa::FetchWords& fetch, isa::Target target) {
  return static_cast<unsigned>(std::count_if(
      chains.begin(), chains.end(), [&](const Chain& chain) { return foreign_instructions(chain, fetch, target) == 0; }));
}

/// Writes the patches to the executable sections in the file.
void apply(const std::vector<CodePatch>& patches, const ElfFile& elf, std::vector<std::byte>& bytes) {
  for (const CodePatch& patch : patches) {
    for (const ElfSection& section : elf.sections()) {
      const std::uint64_t size = patch.words.size() * 4;
      if (!section.executable || patch.address < section.address) continue;
      const std::uint64_t offset = patch.address - section.address;
      if (offset > section.bytes.size() || size > section.bytes.size() - offset) continue;
      const auto at = static_cast<std::uint64_t>(section.bytes.data() - elf.bytes().data()) + offset;
      std::memcpy(bytes.data() + at, patch.words.data(), size);
    }
  }
}

/// Returns a bundle with new contents of its entries, each at the start of a page.
std::vector<std::byte> rebuilt_bundle(std::span<const BundleEntry> entries,
                                      const std::vector<std::vector<std::byte>>& contents) {
  std::string header = "__CLANG_OFFLOAD_BUNDLE__";
  const auto put = [&](std::uint64_t value) { header.append(reinterpret_cast<const char*>(&value), sizeof value); };
  std::uint64_t size = header.size() + sizeof size;
  for (const BundleEntry& entry : entries) size += 3 * sizeof size + entry.identifier.size();
  put(entries.size());
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    size = (size + kPage - 1) / kPage * kPage;
    offsets.push_back(size);
    put(size);
    put(contents[i].size());
    put(entries[i].identifier.size());
    header += entries[i].identifier;
    size += contents[i].size();
  }
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), header.data(), header.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!contents[i].empty()) std::memcpy(bytes.data() + offsets[i], contents[i].data(), contents[i].size());
  return bytes;
}

Json instructions_json(const Chain& chain) {
  Json list = Json::array();
  for (const ChainInstruction& part : chain.instructions)
    list.push_back({{"pc", part.address}, {"tag", tag_bits(part.tag)}, {"role", role_name(part.role)}});
  return list;
}

Json kernel_json(const KernelChains& kernel) {
  Json chains = Json::array();
  for (std::size_t c = 0; c < kernel.found.chains.size(); ++c) {
    const Chain& chain = kernel.found.chains[c];
    chains.push_back({{"pattern", chain.pattern},
                      {"name", chain_name(chain)},
                      {"element_bytes", chain.element_bytes},
                      {"foreign_instructions", kernel.foreign[c]},
                      {"instructions", instructions_json(chain)}});
  }
  Json refusals = Json::array();
  for (const RefusedLoad& load : kernel.found.refusals)
    refusals.push_back({{"pc", load.address}, {"reason", refusal_name(load.reason)}, {"because_of", load.because}});
  return {{"kernel", kernel.kernel},
          {"entry", kernel.entry},
          {"unknown_control_flow", kernel.found.unknown},
          {"instructions", kernel.found.instructions},
          {"vector_loads", kernel.found.loads},
          {"chains_before", kernel.chains_before},
          {"contiguous_before", kernel.contiguous_before},
          {"contiguous", kernel.contiguous},
          {"moved_instructions", kernel.found.moved},
          {"chains", chains},
          {"refused", refusals}};
}

void write_kernel(const KernelChains& kernel, const isa::FetchWords& fetch, isa::Target target, std::ostream& out) {
  const FinalizedKernel& found = kernel.found;
  out << "kernel " << kernel.kernel << ": ";
  if (!found.unknown.empty()) {
    out << "not tagged, control flow is not fully known: " << found.unknown << '\n';
    return;
  }
  out << found.instructions << " instructions, " << found.loads << " vector loads, " << found.chains.size() << " chains, "
      << kernel.contiguous << " of them contiguous";
  if (!found.patches.empty())
    out << " (before moving: " << kernel.chains_before << ", " << kernel.contiguous_before << " contiguous)";
  out << '\n';
  const auto place = [&](std::uint64_t address) {
    return fmt::format("{:#x}  {}", address, instruction_text(address, fetch, target));
  };
  for (std::size_t c = 0; c < found.chains.size(); ++c) {
    const Chain& chain = found.chains[c];
    out << "  pattern " << unsigned{chain.pattern} << ", " << chain_name(chain);
    if (kernel.foreign[c] != 0) out << ", " << kernel.foreign[c] << " other instructions in between";
    out << '\n';
    for (const ChainInstruction& part : chain.instructions)
      out << "    " << tag_bits(part.tag) << ' ' << place(part.address) << '\n';
  }
  if (!found.refusals.empty()) out << "  loads that are not offloaded:\n";
  for (const RefusedLoad& load : found.refusals) {
    out << "    " << place(load.address) << ": " << refusal_name(load.reason);
    if (load.because != load.address) out << ", see " << place(load.because);
    out << '\n';
  }
}

/// Reads the tags of a file without checking them against its code; empty if the file has no section of tags.
std::vector<KernelTags> section_tags(const ElfFile& file) {
  const std::vector<ElfSection>& sections = file.sections();
  const auto found =
      std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) { return section.name == kTagSectionName; });
  return found == sections.end() ? std::vector<KernelTags>() : decode_tags(found->bytes, file.name());
}

void check_kernel(const KernelTags& kernel, const CodeObject& object) {
  const bool known = std::any_of(object.entries().begin(), object.entries().end(), [&](const KernelEntry& entry) {
    return entry.name == kernel.name && entry.entry == kernel.entry;
  });
  if (!known)
    throw TagError(object.name() + ": section " + std::string(kTagSectionName) + ": kernel " + kernel.name +
                   fmt::format(": there is none at {:#x}", kernel.entry));
  check_tags(kernel, code_words(object.elf()), object.target(), object.name());
}

}  // namespace

FinalizedObject finalize_object(const CodeObject& object, const FinalizerOptions& options) {
  FinalizedObject finalized{.name = object.name(), .target = object.target(), .kernels = {}, .bytes = {}};
  const isa::FetchWords given = code_words(object.elf());
  std::vector<std::byte> bytes(object.elf().bytes().begin(), object.elf().bytes().end());
  for (const KernelEntry& entry : object.entries()) {
    KernelChains kernel{.kernel = entry.name, .entry = entry.entry, .found = {}, .foreign = {}};
    FinalizerOptions of_kernel = options;
    of_kernel.vgprs = kernel_registers(object, entry).vgprs;
    kernel.found = finalize_kernel(given, object.target(), entry.entry, of_kernel);
    FinalizerOptions tags_only = options;
    tags_only.move = false;
    const FinalizedKernel before =
        kernel.found.patches.empty() ? kernel.found : finalize_kernel(given, object.target(), entry.entry, tags_only);
    kernel.chains_before = static_cast<unsigned>(before.chains.size());
    kernel.contiguous_before = contiguous_chains(before.chains, given, object.target());
    apply(kernel.found.patches, object.elf(), bytes);
    finalized.kernels.push_back(std::move(kernel));
  }
  const ElfFile patched(bytes, object.name());
  const isa::FetchWords fetch = code_words(patched);
  std::vector<KernelTags> tagged;
  for (KernelChains& kernel : finalized.kernels) {
    for (const Chain& chain : kernel.found.chains)
      kernel.foreign.push_back(foreign_instructions(chain, fetch, object.target()));
    kernel.contiguous = static_cast<unsigned>(std::count(kernel.foreign.begin(), kernel.foreign.end(), 0U));
    tagged.push_back(kernel_tags(kernel.kernel, kernel.entry, kernel.found.chains, fetch, object.target()));
  }
  finalized.bytes = with_section(bytes, kTagSectionName, encode_tags(tagged), object.name());
  return finalized;
}

FinalizedFile finalize_file(const std::filesystem::path& file, const FinalizerOptions& options) {
  FinalizedFile finalized;
  const std::vector<CodeObject> objects = read_code_objects(file);
  for (const CodeObject& object : objects) finalized.objects.push_back(finalize_object(object, options));
  const std::vector<std::byte> bytes = file_bytes(file);
  if (!is_offload_bundle(bytes)) {
    const bool is_code_object = ElfFile(bytes, file.string()).machine() == static_cast<std::uint16_t>(ElfMachine::amdgpu);
    if (is_code_object) finalized.bytes = finalized.objects.front().bytes;
    return finalized;
  }
  const std::vector<BundleEntry> entries = read_offload_bundle(bytes, file.string());
  if (entries.back().bundle != 0) throw ElfError(file.string() + ": has more than one offload bundle");
  std::vector<std::vector<std::byte>> contents;
  auto next = finalized.objects.begin();
  for (const BundleEntry& entry : entries) {
    const bool is_finalized = next != finalized.objects.end() && next->name == file.string() + " (" + entry.identifier + ')';
    if (is_finalized) {
      contents.push_back((next++)->bytes);
    } else {
      contents.emplace_back(entry.bytes.begin(), entry.bytes.end());
    }
  }
  finalized.bytes = rebuilt_bundle(entries, contents);
  return finalized;
}

void write_chains(const FinalizedFile& file, std::ostream& out) {
  for (const FinalizedObject& object : file.objects) {
    const ElfFile elf(object.bytes, object.name);
    const isa::FetchWords fetch = code_words(elf);
    std::size_t chains = 0;
    std::uint64_t loads = 0;
    for (const KernelChains& kernel : object.kernels) {
      chains += kernel.found.chains.size();
      loads += kernel.found.loads;
    }
    out << object.name << ": " << isa::traits(object.target).name << ", " << object.kernels.size() << " kernels, " << loads
        << " vector loads, " << chains << " chains\n";
    for (const KernelChains& kernel : object.kernels) write_kernel(kernel, fetch, object.target, out);
  }
}

void write_chains_json(const FinalizedFile& file, std::ostream& out) {
  Json report = Json::array();
  for (const FinalizedObject& object : file.objects) {
    Json kernels = Json::array();
    for (const KernelChains& kernel : object.kernels) kernels.push_back(kernel_json(kernel));
    report.push_back({{"file", object.name}, {"target", isa::traits(object.target).name}, {"kernels", kernels}});
  }
  out << report.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::vector<KernelTags> tags_of(const CodeObject& object) {
  try {
    std::vector<KernelTags> kernels = section_tags(object.elf());
    for (const KernelTags& kernel : kernels) check_kernel(kernel, object);
    return kernels;
  } catch (const TagError& e) {
    throw ElfError(e.what());
  }
}

std::optional<KernelTags> loaded_tags(std::span<const std::byte> file, std::uint64_t base, std::uint64_t entry) {
  try {
    const CodeObject object(ElfFile({file.begin(), file.end()}, "code object"));
    std::vector<KernelTags> kernels = section_tags(object.elf());
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelTags& kernel) { return kernel.entry == entry - base; });
    if (found == kernels.end()) return std::nullopt;
    check_kernel(*found, object);
    found->entry += base;
    for (Chain& chain : found->chains)
      for (ChainInstruction& part : chain.instructions) part.address += base;
    return std::move(*found);
  } catch (const ElfError& e) {
    throw TagError(e.what());
  }
}

}  // namespace lacuna
