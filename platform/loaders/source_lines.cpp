#include "platform/loaders/source_lines.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <algorithm>
#include <cstring>
#include <memory>

#include "models/command/loaded_code_object.h"
#include "platform/loaders/elf_file.h"

namespace lacuna {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

template <class T>
std::optional<T> object_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Whether the executable segments of a file are what was loaded at the object's base.
bool is_loaded(std::span<const std::byte> file, const isa::MemoryInterface& memory, const LoadedCodeObject& object) {
  const auto header = object_at<Elf64_Ehdr>(file, 0);
  if (!header || header->e_phnum != object.segments.size()) return false;
  bool any = false;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = object_at<Elf64_Phdr>(file, header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_vaddr != object.segments[i].p_vaddr || segment->p_filesz != object.segments[i].p_filesz)
      return false;
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    if (segment->p_offset > file.size() || segment->p_filesz > file.size() - segment->p_offset) return false;
    const std::uint64_t address = object.base + segment->p_vaddr;
    const isa::MemoryWindow window = memory.find(address);
    if (!window.contains(address, segment->p_filesz)) return false;
    if (std::memcmp(window.host + (address - window.base), file.data() + segment->p_offset, segment->p_filesz) != 0)
      return false;
    any = true;
  }
  return any;
}

/// Below `parent`: the outermost call whose inlined code holds `address`. dwarf_getscopes does not look into namespaces.
std::optional<Dwarf_Die> outermost_inlined(Dwarf_Die& parent, std::uint64_t address) {
  Dwarf_Die die{};
  for (int more = dwarf_child(&parent, &die); more == 0; more = dwarf_siblingof(&die, &die)) {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_namespace) {
      if (const auto found = outermost_inlined(die, address)) return found;
    } else if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block) {
      if (dwarf_haspc(&die, address) <= 0) continue;
      return tag == DW_TAG_inlined_subroutine ? die : outermost_inlined(die, address);
    }
  }
  return std::nullopt;
}

/// Where the function that holds `address` calls what the instruction there was inlined from: "dir/kernel.hip:12". Nothing
/// when the instruction is the function's own.
std::optional<std::string> outermost_call(Dwarf_Die& unit, std::uint64_t address) {
  auto call = outermost_inlined(unit, address);
  if (!call) return std::nullopt;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(&*call, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_formudata(dwarf_attr(&*call, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_getsrcfiles(&unit, &files, nullptr) != 0)
    return std::nullopt;
  const char* const name = dwarf_filesrc(files, file, nullptr, nullptr);
  if (name == nullptr) return std::nullopt;
  return name + (':' + std::to_string(line));
}

}  // namespace

std::optional<std::string> source_line(std::span<const std::byte> code_object, std::uint64_t address) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  // libelf wants bytes that it could write to, and aligned.
  std::vector<std::byte> bytes(code_object.begin(), code_object.end());
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return std::nullopt;
  const std::unique_ptr<Dwarf, EndDwarf> dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
  if (dwarf == nullptr) return std::nullopt;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die{};
  while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    if (dwarf_haspc(&die, address) <= 0) continue;
    Dwarf_Line* const line = dwarf_getsrc_die(&die, address);
    if (line == nullptr) return std::nullopt;
    const char* const file = dwarf_linesrc(line, nullptr, nullptr);
    int number = 0;
    if (file == nullptr || dwarf_lineno(line, &number) != 0) return std::nullopt;
    auto call = outermost_call(die, address);
    // Line 0: of no line in particular, of which the call is still known.
    if (number == 0) return call;
    std::string text = file + (':' + std::to_string(number));
    if (call) text += ", inlined at " + *call;
    return text;
  }
  return std::nullopt;
}

std::vector<std::span<const std::byte>> embedded_code_objects(std::span<const std::byte> bytes) {
  std::vector<std::span<const std::byte>> found;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kMagic{ELFMAG, SELFMAG};
  for (std::size_t at = text.find(kMagic); at != std::string_view::npos; at = text.find(kMagic, at + 1)) {
    const auto header = object_at<Elf64_Ehdr>(bytes, at);
    if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != static_cast<std::uint16_t>(ElfMachine::amdgpu) || header->e_shoff > bytes.size() - at)
      continue;
    // Linkers write the section table last.
    const std::uint64_t size = header->e_shoff + std::uint64_t{header->e_shnum} * sizeof(Elf64_Shdr);
    found.push_back(bytes.subspan(at, std::min<std::uint64_t>(size, bytes.size() - at)));
  }
  return found;
}

std::optional<std::string> ImageSourceLines::find(const isa::MemoryInterface& memory, std::uint64_t pc) const {
  const auto object = LoadedCodeObject::around(memory, pc);
  if (!object) return std::nullopt;
  for (const std::span<const std::byte> image : images_()) {
    if (is_loaded(image, memory, *object)) return source_line(image, pc - object->base);
  }
  return std::nullopt;
}

}  // namespace lacuna
