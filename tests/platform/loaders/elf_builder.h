// Builds small ELF64 files in memory, so that tests of the reader need no compiler and can damage any field.
#pragma once

#include <elf.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "platform/loaders/elf_file.h"

namespace lacuna::test {

/// Collects bytes and returns the offset of each piece.
class ByteBuffer {
 public:
  std::size_t append(const void* data, std::size_t size) {
    const std::size_t offset = bytes_.size();
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    return offset;
  }
  template <class T>
  std::size_t append(const T& value) {
    return append(&value, sizeof(T));
  }
  template <class T>
  void overwrite(std::size_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A program with one segment and one executable section of `words` at `address`, and the symbols `main` (function, start of
/// the section) and `tohost` (address + 0x100).
inline std::vector<std::byte> small_elf(ElfMachine machine, std::uint32_t flags, std::uint64_t address,
                                        const std::vector<std::uint32_t>& words) {
  constexpr std::string_view kNames("\0.text\0.symtab\0.strtab\0main\0tohost\0", 36);
  const std::uint64_t text_size = words.size() * 4;
  ByteBuffer file;
  Elf64_Ehdr header{};
  file.append(header);
  const std::size_t segments = file.append(Elf64_Phdr{});
  const std::size_t text = file.append(words.data(), text_size);

  Elf64_Sym symbols[3]{};
  symbols[1].st_name = 23;
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  symbols[1].st_value = address;
  symbols[1].st_size = text_size;
  symbols[2].st_name = 28;
  symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbols[2].st_shndx = SHN_ABS;
  symbols[2].st_value = address + 0x100;
  const std::size_t symbol_table = file.append(symbols, sizeof symbols);
  const std::size_t names = file.append(kNames.data(), kNames.size());

  Elf64_Shdr sections[4]{};
  sections[1] = {1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, address, text, text_size, 0, 0, 4, 0};
  sections[2] = {7, SHT_SYMTAB, 0, 0, symbol_table, sizeof symbols, 3, 1, 8, sizeof(Elf64_Sym)};
  sections[3] = {15, SHT_STRTAB, 0, 0, names, kNames.size(), 0, 0, 1, 0};
  const std::size_t section_table = file.append(sections, sizeof sections);

  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = static_cast<std::uint16_t>(machine);
  header.e_version = EV_CURRENT;
  header.e_entry = address;
  header.e_flags = flags;
  header.e_phoff = segments;
  header.e_shoff = section_table;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  file.overwrite(0, header);
  file.overwrite(segments, Elf64_Phdr{PT_LOAD, PF_R | PF_X, text, address, address, text_size, text_size + 16, 4});
  return file.bytes();
}

}  // namespace lacuna::test
