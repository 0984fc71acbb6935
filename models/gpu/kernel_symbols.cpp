#include "models/gpu/kernel_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace lacuna {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kMaxPagesBack = 16384;           // 64 MiB: far larger than any code object's first segment
constexpr unsigned kMaxSymbols = 1u << 16;          // a corrupt count must not stall the report
constexpr unsigned char kSymbolTypeAmdKernel = 10;  // STT_AMDGPU_HSA_KERNEL, code object v2

/// Copies a T at `address` out of GPU memory; nothing when any byte is unmapped.
template <class T>
std::optional<T> read(const isa::MemoryInterface& memory, std::uint64_t address) {
  const isa::MemoryWindow window = memory.find(address);
  if (!window.contains(address, sizeof(T))) return std::nullopt;
  T value;
  std::memcpy(&value, window.host + (address - window.base), sizeof(T));
  return value;
}

std::string read_string(const isa::MemoryInterface& memory, std::uint64_t address) {
  std::string text;
  while (text.size() < 4096) {
    const auto c = read<char>(memory, address + text.size());
    if (!c || *c == '\0') break;
    text.push_back(*c);
  }
  return text;
}

struct DynamicTables {
  std::uint64_t symbols = 0;
  std::uint64_t strings = 0;
  std::uint64_t hash = 0;
};

std::optional<DynamicTables> dynamic_tables(const isa::MemoryInterface& memory, std::uint64_t base, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(memory, base + header.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type != PT_DYNAMIC) continue;
    DynamicTables tables;
    for (unsigned j = 0; j < segment->p_memsz / sizeof(Elf64_Dyn); ++j) {
      const auto entry = read<Elf64_Dyn>(memory, base + segment->p_vaddr + std::uint64_t{j} * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) break;
      // Loaders may or may not have relocated these; values below the image size are offsets.
      const std::uint64_t at = entry->d_un.d_ptr >= base ? entry->d_un.d_ptr : base + entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = at;
      if (entry->d_tag == DT_STRTAB) tables.strings = at;
      if (entry->d_tag == DT_HASH) tables.hash = at;
    }
    if (tables.symbols != 0 && tables.strings != 0 && tables.hash != 0) return tables;
  }
  return std::nullopt;
}

std::optional<std::string> lookup(const isa::MemoryInterface& memory, std::uint64_t base, std::uint64_t kernel_object) {
  const auto header = read<Elf64_Ehdr>(memory, base);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  const auto tables = dynamic_tables(memory, base, *header);
  if (!tables) return std::nullopt;
  const auto chains = read<std::uint32_t>(memory, tables->hash + 4);  // nchain = number of symbols
  if (!chains) return std::nullopt;
  for (unsigned i = 0; i < *chains && i < kMaxSymbols; ++i) {
    const auto symbol = read<Elf64_Sym>(memory, tables->symbols + std::uint64_t{i} * sizeof(Elf64_Sym));
    if (!symbol) return std::nullopt;
    if (base + symbol->st_value != kernel_object || symbol->st_name == 0) continue;
    std::string name = read_string(memory, tables->strings + symbol->st_name);
    const unsigned char type = ELF64_ST_TYPE(symbol->st_info);
    if (type == kSymbolTypeAmdKernel) return name;
    if (type == STT_OBJECT && name.ends_with(".kd")) return name.substr(0, name.size() - 3);
  }
  return std::nullopt;
}

}  // namespace

std::string KernelSymbols::name(std::uint64_t kernel_object) const {
  std::uint64_t page = kernel_object & ~(kPage - 1);
  for (unsigned i = 0; i < kMaxPagesBack; ++i, page -= kPage) {
    const auto magic = read<std::uint32_t>(memory_, page);
    if (!magic) break;
    if (std::memcmp(&*magic, ELFMAG, SELFMAG) == 0) {
      if (auto found = lookup(memory_, page, kernel_object)) return *found;
      break;
    }
    if (page == 0) break;
  }
  return fmt::format("kernel@{:#x}", kernel_object);
}

}  // namespace lacuna
