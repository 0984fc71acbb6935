#include "models/command/loaded_code_object.h"

#include <algorithm>

namespace lacuna {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kMaxPagesBack = 16384;  // 64 MiB: far larger than any code object's segments
constexpr unsigned kMaxSections = 16;      // more than Lacuna's loader writes

/// Empty unless the table has the form that Lacuna's loader writes: with other loaders, e_shoff points to unrelated memory.
std::vector<Elf64_Shdr> sections_in_memory(const isa::MemoryInterface& memory, std::uint64_t base, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMaxSections) return sections;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = read_object<Elf64_Shdr>(memory, base + header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section) return {};
    const bool is_null = section->sh_type == SHT_NULL && section->sh_addr == 0 && section->sh_size == 0;
    const bool in_memory = section->sh_type != SHT_NULL && (section->sh_flags & SHF_ALLOC) != 0 && section->sh_addr != 0;
    if (i == 0 ? !is_null : !in_memory) return {};
    sections.push_back(*section);
  }
  return sections;
}

}  // namespace

std::optional<LoadedCodeObject> LoadedCodeObject::around(const isa::MemoryInterface& memory, std::uint64_t address) {
  std::uint64_t page = address & ~(kPage - 1);
  for (unsigned i = 0; i < kMaxPagesBack; ++i, page -= kPage) {
    const auto magic = read_object<std::uint32_t>(memory, page);
    if (!magic) return std::nullopt;
    if (std::memcmp(&*magic, ELFMAG, SELFMAG) == 0) break;
    if (page == 0) return std::nullopt;
  }
  const auto header = read_object<Elf64_Ehdr>(memory, page);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  LoadedCodeObject object{.base = page, .segments = {}, .sections = sections_in_memory(memory, page, *header)};
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_object<Elf64_Phdr>(memory, page + header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    object.segments.push_back(*segment);
  }
  return object;
}

bool LoadedCodeObject::executable(std::uint64_t address) const {
  const std::uint64_t offset = address - base;
  return std::any_of(segments.begin(), segments.end(), [offset](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && offset - segment.p_vaddr < segment.p_memsz;
  });
}

}  // namespace lacuna
