#include "platform/loaders/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <memory>
#include <vector>

namespace lacuna {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// The outermost inlined call below `parent` whose code contains `address`. libdw's dwarf_getscopes() is not used because it
/// does not search namespaces.
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

/// Returns the source line of the outermost inlined call that contains the instruction at `address`, such as
/// "dir/kernel.hip:12"; nullopt if the instruction is not inlined.
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
  // libelf requires writable and aligned bytes.
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
    // Line 0 means that the instruction belongs to no line; the line of the call is still known.
    if (number == 0) return call;
    std::string text = file + (':' + std::to_string(number));
    if (call) text += ", inlined at " + *call;
    return text;
  }
  return std::nullopt;
}

}  // namespace lacuna
