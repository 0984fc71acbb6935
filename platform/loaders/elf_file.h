// ELF64 little-endian files: RISC-V programs for the hart, and AMDGPU code objects.
//
// Everything is checked while reading, so that all ranges that the accessors return lie inside the file. Sections and symbols
// are optional in a program (stripped); segments are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The file is invalid or unsuitable; what() states the file and the problem.
class ElfError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// e_machine values that Lacuna supports (System V gABI registry).
enum class ElfMachine : std::uint16_t { amdgpu = 224, riscv = 243 };

/// A PT_LOAD segment. memory_size >= bytes.size(); the rest is zero.
struct ElfSegment {
  std::uint64_t virtual_address = 0;
  std::uint64_t physical_address = 0;
  std::uint64_t memory_size = 0;
  std::span<const std::byte> bytes;
};

/// A section with contents (SHT_PROGBITS).
struct ElfSection {
  std::string name;
  std::uint64_t address = 0;
  bool executable = false;
  std::size_t index = 0;
  std::span<const std::byte> bytes;
};

/// Types of symbols that Lacuna distinguishes (System V gABI; LLVM, "User Guide for AMDGPU Backend").
inline constexpr std::uint8_t kSymbolTypeNone = 0;        ///< STT_NOTYPE: a label of assembly code
inline constexpr std::uint8_t kSymbolTypeObject = 1;      ///< STT_OBJECT
inline constexpr std::uint8_t kSymbolTypeAmdKernel = 10;  ///< STT_AMDGPU_HSA_KERNEL, code object version 2

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::size_t section = 0;  ///< index of its section; 0 = undefined; SHN_ABS and others as in the file
  std::uint8_t type = 0;    ///< STT_*
  bool function = false;
};

/// An entry of a note section.
struct ElfNote {
  std::string owner;
  std::uint32_t type = 0;
  std::span<const std::byte> bytes;
};

class ElfFile {
 public:
  /// Reads a file. Throws ElfError if it cannot be read or is not an intact ELF64 little-endian file.
  static ElfFile read(const std::filesystem::path& file);
  /// Like read(), for bytes in memory; `name`: name of the file in messages.
  ElfFile(std::vector<std::byte> bytes, std::string name);
  ElfFile(ElfFile&&) = default;
  ElfFile& operator=(ElfFile&&) = default;

  /// Checks the machine. Throws ElfError, naming both machines, if the file is for another machine.
  void require(ElfMachine machine) const;

  const std::string& name() const { return name_; }
  std::uint16_t machine() const { return machine_; }
  std::uint32_t flags() const { return flags_; }
  std::uint64_t entry() const { return entry_; }
  /// OS ABI in e_ident; abi_version() returns the ABI version.
  std::uint8_t os_abi() const { return os_abi_; }
  std::uint8_t abi_version() const { return abi_version_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  /// Named symbols of .symtab, or of .dynsym if there is no .symtab.
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  /// Notes of the note segments, or of the note sections if the file is not linked.
  const std::vector<ElfNote>& notes() const { return notes_; }
  /// Returns the bytes at a virtual address; empty unless the whole range lies in the file contents of one segment.
  std::span<const std::byte> at(std::uint64_t address, std::uint64_t size) const;
  /// The whole file.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Address of a defined symbol; nullopt if there is none of this name.
  std::optional<std::uint64_t> symbol(std::string_view name) const;

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::vector<std::byte> bytes_;
  std::string name_;
  std::uint16_t machine_ = 0;
  std::uint32_t flags_ = 0;
  std::uint64_t entry_ = 0;
  std::uint8_t os_abi_ = 0;
  std::uint8_t abi_version_ = 0;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfNote> notes_;

  struct Reader;
};

}  // namespace lacuna
