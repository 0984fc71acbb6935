#include "models/command/kernel_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lacuna {

namespace {

constexpr unsigned kMaxSymbols = 1u << 16;  // a corrupt count must not stall the report
/// Maximum number of kernels whose code objects are remembered, for programs that load and unload code repeatedly.
constexpr std::size_t kMostKernels = 4096;
constexpr unsigned char kSymbolTypeAmdKernel = 10;  // STT_AMDGPU_HSA_KERNEL, code object v2

std::string read_string(const isa::MemoryInterface& memory, std::uint64_t address) {
  constexpr std::size_t kMost = 4096;
  std::string text;
  while (text.size() < kMost) {
    const std::uint64_t at = address + text.size();
    const isa::MemoryWindow window = memory.find(at);
    if (!window.contains(at, 1)) break;
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(window.base + window.size - at, kMost - text.size()));
    const auto* const from = reinterpret_cast<const char*>(window.host + (at - window.base));
    const std::size_t length = strnlen(from, room);
    text.append(from, length);
    if (length < room) break;
  }
  return text;
}

/// A symbol table in GPU memory with its strings.
struct SymbolTable {
  std::uint64_t symbols = 0;
  std::uint64_t count = 0;
  std::uint64_t count_at = 0;  ///< address of `count`; 0: the count is in a section header
  std::uint64_t strings = 0;
};

std::optional<SymbolTable> dynamic_table(const isa::MemoryInterface& memory, const LoadedCodeObject& object) {
  const std::uint64_t base = object.base;
  for (const Elf64_Phdr& segment : object.segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    SymbolTable table;
    std::uint64_t hash = 0;
    for (unsigned j = 0; j < segment.p_memsz / sizeof(Elf64_Dyn); ++j) {
      const auto entry = read_object<Elf64_Dyn>(memory, base + segment.p_vaddr + std::uint64_t{j} * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) break;
      // Some loaders relocate the addresses in the dynamic section: values below the base address are still offsets.
      const std::uint64_t at = entry->d_un.d_ptr >= base ? entry->d_un.d_ptr : base + entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) table.symbols = at;
      if (entry->d_tag == DT_STRTAB) table.strings = at;
      if (entry->d_tag == DT_HASH) hash = at;
    }
    if (table.symbols == 0 || table.strings == 0 || hash == 0) continue;
    const auto chains = read_object<std::uint32_t>(memory, hash + 4);  // nchain = number of symbols
    if (!chains) return std::nullopt;
    table.count = *chains;
    table.count_at = hash + 4;
    return table;
  }
  return std::nullopt;
}

std::optional<SymbolTable> static_table(const LoadedCodeObject& object) {
  for (const Elf64_Shdr& section : object.sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= object.sections.size()) continue;
    return SymbolTable{.symbols = object.base + section.sh_addr,
                       .count = section.sh_size / sizeof(Elf64_Sym),
                       .count_at = 0,
                       .strings = object.base + object.sections[section.sh_link].sh_addr};
  }
  return std::nullopt;
}

/// Calls `visit` with each named, defined symbol, its address and the address of its name, until `visit` returns true. Dynamic
/// symbols are first.
template <class Visit>
void visit_symbols(const isa::MemoryInterface& memory, const LoadedCodeObject& object, Visit visit) {
  for (const auto& table : {dynamic_table(memory, object), static_table(object)}) {
    if (!table) continue;
    for (unsigned i = 0; i < table->count && i < kMaxSymbols; ++i) {
      const std::uint64_t at = table->symbols + std::uint64_t{i} * sizeof(Elf64_Sym);
      const auto symbol = read_object<Elf64_Sym>(memory, at);
      if (!symbol) break;
      if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF) continue;
      if (visit(*symbol, at, table->strings + symbol->st_name)) return;
    }
  }
}

template <class T>
bool holds(const isa::MemoryInterface& memory, std::uint64_t address, const T& object) {
  const auto now = read_object<T>(memory, address);
  return now && std::memcmp(&*now, &object, sizeof object) == 0;
}

/// Whether memory holds `text` and its terminating null.
bool holds_string(const isa::MemoryInterface& memory, std::uint64_t address, const std::string& text) {
  const isa::MemoryWindow window = memory.find(address);
  return window.contains(address, text.size() + 1) && isa::allows(window.granted, isa::Access::read) &&
         std::memcmp(window.host + (address - window.base), text.c_str(), text.size() + 1) == 0;
}

}  // namespace

std::optional<KernelSymbols::Place> KernelSymbols::find(std::uint64_t kernel_object) const {
  const auto object = LoadedCodeObject::around(memory_, kernel_object);
  const auto header = object ? read_object<Elf64_Ehdr>(memory_, object->base) : std::nullopt;
  if (!header) return std::nullopt;
  std::optional<Place> found;
  visit_symbols(memory_, *object, [&](const Elf64_Sym& symbol, std::uint64_t symbol_at, std::uint64_t name_at) {
    if (object->base + symbol.st_value != kernel_object) return false;
    std::string text = read_string(memory_, name_at);
    std::string name = text;
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    if (type != kSymbolTypeAmdKernel) {
      if (type != STT_OBJECT || !text.ends_with(".kd")) return false;
      name.resize(name.size() - 3);
    }
    found = Place{.header_at = object->base,
                  .symbol_at = symbol_at,
                  .name_at = name_at,
                  .header = *header,
                  .symbol = symbol,
                  .text = std::move(text),
                  .name = std::move(name)};
    return true;
  });
  return found;
}

std::optional<KernelSymbols::DataObject> KernelSymbols::data_object(std::uint64_t kernel_object, const std::string& name) {
  const auto base = bases_.find(kernel_object);
  auto known = base == bases_.end() ? data_.end() : data_.find(base->second);
  if (known == data_.end() || !is_unchanged(known->second)) {
    const auto object = LoadedCodeObject::around(memory_, kernel_object);
    if (!object) return std::nullopt;
    if (bases_.size() >= kMostKernels) {
      bases_.clear();
      data_.clear();
    }
    bases_[kernel_object] = object->base;
    known = data_.find(object->base);
    if (known == data_.end() || !is_unchanged(known->second)) {
      known = data_.insert_or_assign(object->base, read_data_objects(*object)).first;
      ++readings_;
    }
  }
  const auto found = known->second.by_name.find(name);
  return found == known->second.by_name.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> KernelSymbols::data_without_kernel(std::uint64_t kernel_object, std::string_view suffix) const {
  std::vector<std::string> names;
  const auto base = bases_.find(kernel_object);
  const auto known = base == bases_.end() ? data_.end() : data_.find(base->second);
  if (known == data_.end()) return names;
  const auto& by_name = known->second.by_name;
  for (const auto& [name, object] : by_name) {
    if (!name.ends_with(suffix)) continue;
    std::string kernel = name.substr(0, name.size() - suffix.size());
    if (!by_name.contains(kernel + ".kd")) names.push_back(std::move(kernel));
  }
  std::sort(names.begin(), names.end());
  return names;
}

KernelSymbols::DataObjects KernelSymbols::read_data_objects(const LoadedCodeObject& object) const {
  DataObjects objects;
  const auto keep = [&](std::uint64_t begin, std::uint64_t bytes) {
    const isa::MemoryWindow window = memory_.find(begin);
    if (!window.contains(begin, bytes)) return;
    const std::byte* const from = window.host + (begin - window.base);
    objects.read.push_back({begin, {from, from + bytes}});
  };
  keep(object.base, sizeof(Elf64_Ehdr));
  for (const auto& table : {dynamic_table(memory_, object), static_table(object)}) {
    if (!table) continue;
    keep(table->count_at, table->count_at == 0 ? 0 : sizeof(std::uint32_t));
    keep(table->symbols, std::min<std::uint64_t>(table->count, kMaxSymbols) * sizeof(Elf64_Sym));
  }
  std::uint64_t first_name = ~std::uint64_t{0};
  std::uint64_t last_name = 0;
  visit_symbols(memory_, object, [&](const Elf64_Sym& symbol, std::uint64_t, std::uint64_t name_at) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) return false;
    const std::string name = read_string(memory_, name_at);
    first_name = std::min(first_name, name_at);
    last_name = std::max(last_name, name_at + name.size() + 1);
    objects.by_name.try_emplace(name, DataObject{.address = object.base + symbol.st_value, .bytes = symbol.st_size});
    return false;
  });
  if (last_name != 0) keep(first_name, last_name - first_name);
  return objects;
}

bool KernelSymbols::is_unchanged(const DataObjects& objects) const {
  return std::all_of(objects.read.begin(), objects.read.end(), [this](const DataObjects::Block& block) {
    const isa::MemoryWindow window = memory_.find(block.begin);
    return window.contains(block.begin, block.bytes.size()) &&
           std::memcmp(window.host + (block.begin - window.base), block.bytes.data(), block.bytes.size()) == 0;
  });
}

bool KernelSymbols::is_unchanged(const Place& place) const {
  return holds(memory_, place.header_at, place.header) && holds(memory_, place.symbol_at, place.symbol) &&
         holds_string(memory_, place.name_at, place.text);
}

std::string KernelSymbols::name(std::uint64_t kernel_object) {
  const auto known = found_.find(kernel_object);
  if (known != found_.end()) {
    if (is_unchanged(known->second)) return known->second.name;
    found_.erase(known);
  }
  auto found = find(kernel_object);
  if (!found) return fmt::format("{}{:#x}", kUnnamed, kernel_object);
  return found_.emplace(kernel_object, std::move(*found)).first->second.name;
}

std::optional<CodeSymbol> KernelSymbols::function(std::uint64_t pc) const {
  const auto object = LoadedCodeObject::around(memory_, pc);
  if (!object || !object->executable(pc)) return std::nullopt;
  // Select the nearest symbol at or below the address: assembly code may omit sizes.
  std::uint64_t name_at = 0;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  visit_symbols(memory_, *object, [&](const Elf64_Sym& symbol, std::uint64_t, std::uint64_t symbol_name_at) {
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    const std::uint64_t address = object->base + symbol.st_value;
    if ((type != STT_FUNC && type != kSymbolTypeAmdKernel) || address > pc || (name_at != 0 && address <= begin)) return false;
    name_at = symbol_name_at;
    begin = address;
    size = symbol.st_size;
    return false;
  });
  if (name_at == 0 || (size != 0 && pc - begin >= size)) return std::nullopt;
  return CodeSymbol{.name = read_string(memory_, name_at), .address = begin};
}

std::string code_place(std::string_view kernel, std::uint64_t entry, std::uint64_t pc,
                       const std::optional<CodeSymbol>& function) {
  if (function && function->name != kernel && function->address != entry)
    return fmt::format("PC {:#x} (function {} +{:#x})", pc, function->name, pc - function->address);
  return pc < entry ? fmt::format("PC {:#x} (-{:#x})", pc, entry - pc) : fmt::format("PC {:#x} (+{:#x})", pc, pc - entry);
}

}  // namespace lacuna
