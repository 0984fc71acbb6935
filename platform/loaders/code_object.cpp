#include "platform/loaders/code_object.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

/// EF_AMDGPU_MACH: the processor in e_flags (LLVM, "User Guide for AMDGPU Backend", ELF header).
constexpr std::uint32_t kMachineFlags = 0xff;
constexpr std::uint8_t kOsAbiHsa = 64;                // ELFOSABI_AMDGPU_HSA
constexpr std::uint8_t kLastAbiVersion = 3;           // ELFABIVERSION_AMDGPU_HSA_V5
constexpr std::uint32_t kNoteIsaVersion = 3;          // NT_AMD_HSA_ISA_VERSION, owner "AMD", version 2
constexpr std::uint32_t kNoteMetadataYaml = 10;       // NT_AMD_HSA_METADATA, owner "AMD"
constexpr std::uint32_t kNoteMetadataMsgpack = 32;    // NT_AMDGPU_METADATA, owner "AMDGPU"
constexpr std::uint64_t kEntryOffset = 16;            // position of KERNEL_CODE_ENTRY_BYTE_OFFSET, the same in both descriptors
constexpr std::uint64_t kLargestKernarg = 64 * 1024;  // far above what any compiler emits
constexpr std::string_view kDescriptorSuffix = ".kd";

/// The processor that a file of version 2 names in a note, such as "gfx803"; nullopt if there is no such note. The e_flags of
/// version 2 may contain only features. Layout of the note: lengths of two names (16 bits each), then major, minor and stepping
/// (32 bits each).
std::optional<std::string> note_processor(const ElfFile& file) {
  for (const ElfNote& note : file.notes()) {
    std::array<std::uint32_t, 4> fields{};
    if (note.owner != "AMD" || note.type != kNoteIsaVersion || note.bytes.size() < sizeof fields) continue;
    std::memcpy(fields.data(), note.bytes.data(), sizeof fields);
    std::ostringstream name;
    name << "gfx" << fields[1] << std::hex << fields[2] << fields[3];
    return name.str();
  }
  return std::nullopt;
}

std::string kernel_list(const std::vector<KernelMetadata>& kernels) {
  std::string list;
  for (const KernelMetadata& kernel : kernels) list += "\n  " + kernel.signature();
  return list;
}

/// The last component of a readable name without template arguments: "scale" of "math::scale<float>".
std::string unqualified(const std::string& readable) {
  std::string text;
  unsigned depth = 0;
  for (const char c : readable) {
    if (c == '>' && depth != 0)
      --depth;
    else if (c == '<')
      ++depth;
    else if (depth == 0)
      text += c;
  }
  const std::size_t scope = text.rfind("::");
  return scope == std::string::npos ? text : text.substr(scope + 2);
}

/// The name to use for the kernel that is nearest to `name` by its readable name, that name without scope and template
/// arguments, or its mangled name; "" if none is near.
std::string nearest_kernel(const std::vector<KernelMetadata>& kernels, std::string_view name) {
  std::vector<std::string> spellings;
  for (const auto spelling : {+[](const KernelMetadata& k) { return readable_kernel(k.name); },
                              +[](const KernelMetadata& k) { return unqualified(readable_kernel(k.name)); },
                              +[](const KernelMetadata& k) { return k.name; }})
    std::transform(kernels.begin(), kernels.end(), std::back_inserter(spellings), spelling);
  const std::string nearest = nearest_name(spellings, name);
  if (nearest.empty()) return {};
  const auto found = std::find(spellings.begin(), spellings.end(), nearest) - spellings.begin();
  const std::string& mangled = kernels[static_cast<std::size_t>(found) % kernels.size()].name;
  const std::string readable = readable_kernel(mangled);
  // Overloads share a readable name, by which none of them can be selected.
  return std::count(spellings.begin(), spellings.begin() + static_cast<std::ptrdiff_t>(kernels.size()), readable) == 1
             ? readable
             : mangled;
}

void check(const KernelMetadata& kernel, const std::string& file) {
  const auto fail = [&](const std::string& reason) {
    throw ElfError(file + ": metadata of kernel " + kernel.name + ": " + reason);
  };
  if (kernel.kernarg_size > kLargestKernarg)
    fail("an argument segment of " + std::to_string(kernel.kernarg_size) + " bytes is out of range");
  for (const KernelArgument& argument : kernel.arguments) {
    if (std::uint64_t{argument.offset} + argument.size > kernel.kernarg_size)
      fail("argument of " + std::to_string(argument.size) + " bytes at " + std::to_string(argument.offset) +
           " does not fit in the segment of " + std::to_string(kernel.kernarg_size) + " bytes");
  }
}

}  // namespace

isa::Target code_object_target(const ElfFile& file) {
  file.require(ElfMachine::amdgpu);
  const bool version_2 = file.os_abi() == kOsAbiHsa && file.abi_version() == 0;
  const std::optional<std::string> processor = version_2 ? note_processor(file) : std::nullopt;
  const std::uint32_t machine = file.flags() & kMachineFlags;
  std::string known;
  for (unsigned t = 0; t < isa::kTargets; ++t) {
    const auto target = static_cast<isa::Target>(t);
    const isa::TargetTraits& traits = isa::traits(target);
    if (processor ? *processor == traits.name : traits.elf_machine_flags == machine) return target;
    known += (known.empty() ? "" : ", ") + std::string(traits.name);
  }
  std::ostringstream message;
  message << file.name() << ": processor ";
  if (processor) {
    message << *processor << " of its note";
  } else {
    message << "0x" << std::hex << machine << " of e_flags";
  }
  message << " is not one of " << known;
  throw ElfError(message.str());
}

isa::FetchWords code_words(const ElfFile& file) {
  std::vector<ElfSection> executable;
  std::copy_if(file.sections().begin(), file.sections().end(), std::back_inserter(executable),
               [](const ElfSection& section) { return section.executable; });
  return [executable](std::uint64_t pc, std::array<std::uint32_t, 3>& words) -> std::size_t {
    for (const ElfSection& section : executable) {
      if (pc < section.address || pc - section.address >= section.bytes.size()) continue;
      const std::uint64_t offset = pc - section.address;
      const std::size_t count = std::min<std::size_t>((section.bytes.size() - offset) / 4, words.size());
      std::memcpy(words.data(), section.bytes.data() + offset, count * 4);
      return count;
    }
    return 0;
  };
}

std::string KernelMetadata::signature() const {
  const std::string readable = readable_kernel(name);
  std::string text = readable + '(';
  unsigned number = 0;
  for (const KernelArgument& argument : arguments) {
    if (argument.hidden()) continue;
    if (number != 0) text += ", ";
    if (!argument.type_name.empty()) {
      text += argument.type_name;
    } else if (argument.kind == "by_value") {
      text += std::to_string(argument.size) + " bytes";
    } else {
      text += argument.kind;
    }
    text += ' ' + (argument.name.empty() ? '#' + std::to_string(number) : argument.name);
    ++number;
  }
  return text + (readable == name ? ")" : "), mangled " + name);
}

const KernelArgument* KernelMetadata::argument(std::string_view kind) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(), [&](const KernelArgument& a) { return a.kind == kind; });
  return found == arguments.end() ? nullptr : &*found;
}

CodeObject CodeObject::read(const std::filesystem::path& file) { return CodeObject(ElfFile::read(file)); }

CodeObject::CodeObject(ElfFile elf) : elf_(std::move(elf)), target_(code_object_target(elf_)) {
  read_version();
  read_entries();
  read_metadata();
}

void CodeObject::read_version() {
  if (elf_.os_abi() != kOsAbiHsa)
    throw ElfError(elf_.name() + ": OS ABI " + std::to_string(elf_.os_abi()) + " is not AMDGPU_HSA (64)");
  if (elf_.abi_version() > kLastAbiVersion)
    throw ElfError(elf_.name() + ": ABI version " + std::to_string(elf_.abi_version()) +
                   ": only code object versions 2 to 5 are known");
  version_ = elf_.abi_version() + 2U;
}

void CodeObject::read_entries() {
  for (const ElfSymbol& symbol : elf_.symbols()) {
    if (symbol.section == 0) continue;
    std::string name = symbol.name;
    if (symbol.type == kSymbolTypeObject && name.ends_with(kDescriptorSuffix)) {
      name.resize(name.size() - kDescriptorSuffix.size());
    } else if (symbol.type != kSymbolTypeAmdKernel) {
      continue;
    }
    const std::span<const std::byte> field = elf_.at(symbol.value + kEntryOffset, sizeof(std::int64_t));
    if (field.empty()) throw ElfError(elf_.name() + ": the descriptor of kernel " + name + " lies outside the segments");
    std::int64_t offset = 0;
    std::memcpy(&offset, field.data(), sizeof offset);
    entries_.push_back({name, symbol.value, symbol.value + static_cast<std::uint64_t>(offset)});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const KernelEntry& a, const KernelEntry& b) { return a.descriptor < b.descriptor; });
}

void CodeObject::read_metadata() {
  try {
    for (const ElfNote& note : elf_.notes()) {
      if (note.owner == "AMDGPU" && note.type == kNoteMetadataMsgpack) {
        kernels_ = parse_metadata_msgpack(note.bytes);
        has_metadata_ = true;
      } else if (note.owner == "AMD" && note.type == kNoteMetadataYaml) {
        kernels_ = parse_metadata_yaml({reinterpret_cast<const char*>(note.bytes.data()), note.bytes.size()});
        has_metadata_ = true;
      }
    }
  } catch (const std::runtime_error& e) {
    throw ElfError(elf_.name() + ": kernel metadata: " + e.what());
  }
  for (const KernelMetadata& kernel : kernels_) check(kernel, elf_.name());
}

const KernelMetadata& CodeObject::kernel(std::string_view name) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const KernelMetadata& k) { return k.name == name; });
  if (found != kernels_.end()) return *found;
  // Accept the readable name that reports show, if it is unique.
  const auto shown_as = [&](const KernelMetadata& k) { return readable_kernel(k.name) == name; };
  if (std::count_if(kernels_.begin(), kernels_.end(), shown_as) == 1)
    return *std::find_if(kernels_.begin(), kernels_.end(), shown_as);
  if (!has_metadata_)
    throw ElfError(elf_.name() + ": has no kernel metadata: kernels of such a code object can only be run by a firmware");
  throw ElfError(elf_.name() + ": has no kernel " + std::string(name) + did_you_mean(nearest_kernel(kernels_, name)) +
                 (kernels_.empty() ? "; it has none at all" : "\nits kernels are" + kernel_list(kernels_)));
}

}  // namespace lacuna
