#include "platform/loaders/elf_file.h"

#include <gelf.h>
#include <libelf.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <memory>
#include <sstream>
#include <utility>

namespace lacuna {
namespace {

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case 0:
      return "no machine (0)";
    case EM_386:
      return "i386 (3)";
    case EM_ARM:
      return "ARM (40)";
    case EM_X86_64:
      return "x86-64 (62)";
    case EM_AARCH64:
      return "AArch64 (183)";
    case static_cast<std::uint16_t>(ElfMachine::amdgpu):
      return "AMDGPU (224)";
    case static_cast<std::uint16_t>(ElfMachine::riscv):
      return "RISC-V (243)";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::string byte_range(std::uint64_t offset, std::uint64_t size) {
  std::ostringstream text;
  text << "bytes 0x" << std::hex << offset << "..0x" << offset + size;
  return text.str();
}

}  // namespace

/// One pass over the file with libelf; fills the ElfFile.
struct ElfFile::Reader {
  struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  ElfFile& file;
  std::unique_ptr<Elf, ElfCloser> elf;
  GElf_Ehdr header{};

  explicit Reader(ElfFile& f) : file(f) {
    read_header();
    read_segments();
    read_sections();
  }

  std::uint64_t file_size() const { return file.bytes_.size(); }

  void require_table(std::uint64_t offset, std::uint64_t count, std::uint64_t entry, const std::string& what) const {
    require_inside(offset, count > file_size() / entry ? file_size() : count * entry, what);
  }

  void require_inside(std::uint64_t offset, std::uint64_t size, const std::string& what) const {
    if (offset > file_size() || size > file_size() - offset)
      file.fail("truncated: " + what + " needs " + byte_range(offset, size) + ", the file has " + std::to_string(file_size()) +
                " bytes");
  }

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size) const {
    return std::span<const std::byte>(file.bytes_).subspan(offset, size);
  }

  void read_header() {
    constexpr std::size_t kIdentSize = EI_NIDENT;
    if (file_size() < kIdentSize || std::memcmp(file.bytes_.data(), ELFMAG, SELFMAG) != 0) file.fail("not an ELF file");
    const auto ident = [&](std::size_t index) { return std::to_integer<unsigned>(file.bytes_[index]); };
    if (ident(EI_CLASS) != ELFCLASS64)
      file.fail(ident(EI_CLASS) == ELFCLASS32 ? "is a 32-bit ELF file; ELF64 is needed" : "ELF class is neither 32 nor 64 bit");
    if (ident(EI_DATA) != ELFDATA2LSB) file.fail("is not little-endian");
    const auto require_version = [&](const char* field, std::uint32_t version) {
      if (version != EV_CURRENT)
        file.fail(std::string("has ELF version ") + std::to_string(version) + " (" + field + "); there is only version 1");
    };
    require_version("e_ident", ident(EI_VERSION));
    require_inside(0, sizeof(Elf64_Ehdr), "the ELF header");

    if (elf_version(EV_CURRENT) == EV_NONE) throw std::logic_error("libelf does not know this ELF version");
    elf.reset(elf_memory(reinterpret_cast<char*>(file.bytes_.data()), file.bytes_.size()));
    if (!elf || gelf_getehdr(elf.get(), &header) == nullptr) file.fail(std::string("ELF header: ") + elf_errmsg(-1));
    require_version("e_version", header.e_version);
    file.machine_ = header.e_machine;
    file.flags_ = header.e_flags;
    file.entry_ = header.e_entry;
    file.os_abi_ = header.e_ident[EI_OSABI];
    file.abi_version_ = header.e_ident[EI_ABIVERSION];
  }

  /// Reads notes, whose names and descriptions are aligned to 4 bytes (System V gABI, "Note Section").
  void read_notes(std::uint64_t offset, std::uint64_t size, const std::string& what) {
    require_inside(offset, size, what);
    const std::span<const std::byte> notes = part(offset, size);
    const auto padded = [](std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; };
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
      Elf64_Nhdr note{};
      std::memcpy(&note, notes.data() + at, sizeof note);
      at += sizeof note;
      const std::uint64_t name_end = at + padded(note.n_namesz);
      if (name_end > size || note.n_descsz > size - name_end) file.fail(what + " has a note that ends past its end");
      std::string owner(reinterpret_cast<const char*>(notes.data() + at), note.n_namesz);
      while (!owner.empty() && owner.back() == '\0') owner.pop_back();
      file.notes_.push_back({owner, note.n_type, notes.subspan(name_end, note.n_descsz)});
      at = name_end + padded(note.n_descsz);
    }
  }

  void read_segments() {
    std::size_t count = 0;
    if (elf_getphdrnum(elf.get(), &count) != 0) file.fail(std::string("program headers: ") + elf_errmsg(-1));
    require_table(header.e_phoff, std::max<std::size_t>(count, header.e_phnum), sizeof(Elf64_Phdr), "the program header table");
    for (std::size_t index = 0; index < count; ++index) {
      GElf_Phdr segment{};
      const std::string what = "segment " + std::to_string(index);
      if (gelf_getphdr(elf.get(), static_cast<int>(index), &segment) == nullptr) file.fail(what + ": " + elf_errmsg(-1));
      if (segment.p_type == PT_NOTE) read_notes(segment.p_offset, segment.p_filesz, what);
      if (segment.p_type != PT_LOAD) continue;
      require_inside(segment.p_offset, segment.p_filesz, what);
      if (segment.p_memsz < segment.p_filesz) file.fail(what + " has more bytes in the file than in memory");
      if (segment.p_vaddr + segment.p_memsz < segment.p_vaddr || segment.p_paddr + segment.p_memsz < segment.p_paddr)
        file.fail(what + " wraps around the address space");
      file.segments_.push_back({segment.p_vaddr, segment.p_paddr, segment.p_memsz, part(segment.p_offset, segment.p_filesz)});
    }
  }

  void read_sections() {
    if (header.e_shoff == 0) return;
    std::size_t count = 0;
    std::size_t names = 0;
    // libelf reports no sections if their table is truncated, so the header is checked as well.
    if (elf_getshdrnum(elf.get(), &count) != 0) file.fail(std::string("section headers: ") + elf_errmsg(-1));
    require_table(header.e_shoff, std::max<std::size_t>({count, header.e_shnum, 1}), sizeof(Elf64_Shdr),
                  "the section header table");
    if (elf_getshdrstrndx(elf.get(), &names) != 0) file.fail(std::string("section names: ") + elf_errmsg(-1));

    Elf_Scn* symbol_table = nullptr;
    for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr; section = elf_nextscn(elf.get(), section)) {
      GElf_Shdr shdr{};
      const std::size_t index = elf_ndxscn(section);
      const std::string what = "section " + std::to_string(index);
      if (gelf_getshdr(section, &shdr) == nullptr) file.fail(what + ": " + elf_errmsg(-1));
      if (shdr.sh_type == SHT_SYMTAB || (shdr.sh_type == SHT_DYNSYM && symbol_table == nullptr)) symbol_table = section;
      if (shdr.sh_type == SHT_NOTE && header.e_phnum == 0) read_notes(shdr.sh_offset, shdr.sh_size, what);
      if (shdr.sh_type != SHT_PROGBITS) continue;
      require_inside(shdr.sh_offset, shdr.sh_size, what);
      const char* const name = elf_strptr(elf.get(), names, shdr.sh_name);
      file.sections_.push_back({name == nullptr ? std::string() : std::string(name), shdr.sh_addr,
                                (shdr.sh_flags & SHF_EXECINSTR) != 0, index, part(shdr.sh_offset, shdr.sh_size)});
    }
    if (symbol_table != nullptr) read_symbols(symbol_table);
  }

  void read_symbols(Elf_Scn* section) {
    GElf_Shdr shdr{};
    if (gelf_getshdr(section, &shdr) == nullptr) file.fail(std::string("symbol table: ") + elf_errmsg(-1));
    require_inside(shdr.sh_offset, shdr.sh_size, "the symbol table");
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) file.fail(std::string("symbol table: ") + elf_errmsg(-1));
    const std::size_t count = data->d_size / sizeof(Elf64_Sym);
    for (std::size_t index = 1; index < count; ++index) {
      GElf_Sym symbol{};
      if (gelf_getsym(data, static_cast<int>(index), &symbol) == nullptr) break;
      const unsigned type = GELF_ST_TYPE(symbol.st_info);
      if (type == STT_SECTION || type == STT_FILE) continue;
      const char* const name = elf_strptr(elf.get(), shdr.sh_link, symbol.st_name);
      if (name == nullptr) file.fail("symbol " + std::to_string(index) + " has its name outside the string table");
      if (*name == '\0') continue;
      file.symbols_.push_back(
          {name, symbol.st_value, symbol.st_size, symbol.st_shndx, static_cast<std::uint8_t>(type), type == STT_FUNC});
    }
  }
};

ElfFile::ElfFile(std::vector<std::byte> bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
  Reader reader(*this);
}

ElfFile ElfFile::read(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::exists(file, status)) throw ElfError(file.string() + ": no such file");
  if (!std::filesystem::is_regular_file(file, status)) throw ElfError(file.string() + ": not a regular file");
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::byte> bytes(std::filesystem::file_size(file, status));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw ElfError(file.string() + ": cannot be read");
  return ElfFile(std::move(bytes), file.string());
}

void ElfFile::fail(const std::string& reason) const { throw ElfError(name_ + ": " + reason); }

void ElfFile::require(ElfMachine machine) const {
  if (machine_ != static_cast<std::uint16_t>(machine))
    fail("is for " + machine_name(machine_) + ", " + machine_name(static_cast<std::uint16_t>(machine)) + " is needed");
}

std::span<const std::byte> ElfFile::at(std::uint64_t address, std::uint64_t size) const {
  for (const ElfSegment& segment : segments_) {
    if (address < segment.virtual_address) continue;
    const std::uint64_t offset = address - segment.virtual_address;
    if (offset <= segment.bytes.size() && size <= segment.bytes.size() - offset) return segment.bytes.subspan(offset, size);
  }
  return {};
}

std::optional<std::uint64_t> ElfFile::symbol(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const ElfSymbol& s) { return s.name == name && s.section != SHN_UNDEF; });
  if (found == symbols_.end()) return std::nullopt;
  return found->value;
}

}  // namespace lacuna
