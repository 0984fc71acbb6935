#include "models/gpu/kernel_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "models/gpu/loaded_code_object.h"

namespace lacuna {

namespace {

constexpr unsigned kMaxSymbols = 1u << 16;          // a corrupt count must not stall the report
constexpr unsigned char kSymbolTypeAmdKernel = 10;  // STT_AMDGPU_HSA_KERNEL, code object v2

std::string read_string(const isa::MemoryInterface& memory, std::uint64_t address) {
  std::string text;
  while (text.size() < 4096) {
    const auto c = read_object<char>(memory, address + text.size());
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

std::optional<DynamicTables> dynamic_tables(const isa::MemoryInterface& memory, const LoadedCodeObject& object) {
  const std::uint64_t base = object.base;
  for (const Elf64_Phdr& segment : object.segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    DynamicTables tables;
    for (unsigned j = 0; j < segment.p_memsz / sizeof(Elf64_Dyn); ++j) {
      const auto entry = read_object<Elf64_Dyn>(memory, base + segment.p_vaddr + std::uint64_t{j} * sizeof(Elf64_Dyn));
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

std::optional<std::string> lookup(const isa::MemoryInterface& memory, const LoadedCodeObject& object,
                                  std::uint64_t kernel_object) {
  const auto tables = dynamic_tables(memory, object);
  if (!tables) return std::nullopt;
  const auto chains = read_object<std::uint32_t>(memory, tables->hash + 4);  // nchain = number of symbols
  if (!chains) return std::nullopt;
  for (unsigned i = 0; i < *chains && i < kMaxSymbols; ++i) {
    const auto symbol = read_object<Elf64_Sym>(memory, tables->symbols + std::uint64_t{i} * sizeof(Elf64_Sym));
    if (!symbol) return std::nullopt;
    if (object.base + symbol->st_value != kernel_object || symbol->st_name == 0) continue;
    std::string name = read_string(memory, tables->strings + symbol->st_name);
    const unsigned char type = ELF64_ST_TYPE(symbol->st_info);
    if (type == kSymbolTypeAmdKernel) return name;
    if (type == STT_OBJECT && name.ends_with(".kd")) return name.substr(0, name.size() - 3);
  }
  return std::nullopt;
}

}  // namespace

std::string KernelSymbols::name(std::uint64_t kernel_object) const {
  if (const auto object = LoadedCodeObject::around(memory_, kernel_object)) {
    if (auto found = lookup(memory_, *object, kernel_object)) return *found;
  }
  return fmt::format("{}{:#x}", kUnnamed, kernel_object);
}

}  // namespace lacuna
