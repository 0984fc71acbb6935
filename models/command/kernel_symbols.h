// Names for reports, from the loaded code object in GPU memory: its first segment holds the dynamic symbols, and a loader may
// have placed the other symbols in memory as well (loaded_code_object.h).
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/command/loaded_code_object.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// A kernel or a function of a loaded code object.
struct CodeSymbol {
  std::string name;
  std::uint64_t address = 0;  ///< GPU virtual address of the symbol
};

class KernelSymbols {
 public:
  static constexpr std::string_view kUnnamed = "kernel@";

  explicit KernelSymbols(const isa::MemoryInterface& memory) : memory_(memory) {}
  /// The kernel's name, or "kernel@0x<address>" if no ELF header with a matching symbol is found. Memory can be reused for
  /// another code object: a cached symbol is used only while header, symbol and name in memory are unchanged.
  std::string name(std::uint64_t kernel_object);
  /// A data object of a code object.
  struct DataObject {
    std::uint64_t address = 0;  ///< GPU virtual address
    std::uint64_t bytes = 0;
  };
  /// The named data object in the code object of a kernel; nullopt if there is none. The symbols of a code object are read
  /// once, and again if they have changed in memory.
  std::optional<DataObject> data_object(std::uint64_t kernel_object, const std::string& name);
  /// All NAMEs for which the code object of a kernel has a data object NAME`suffix` but no kernel NAME. Empty unless
  /// data_object() has read the symbols for this kernel.
  std::vector<std::string> data_without_kernel(std::uint64_t kernel_object, std::string_view suffix) const;
  /// Number of times that symbols of code objects have been read for data_object().
  std::uint64_t readings() const { return readings_; }
  /// The function that contains the instruction at `pc`; nullopt if no symbol covers it.
  std::optional<CodeSymbol> function(std::uint64_t pc) const;

 private:
  /// Location and contents of a kernel's symbol.
  struct Place {
    std::uint64_t header_at;
    std::uint64_t symbol_at;
    std::uint64_t name_at;
    Elf64_Ehdr header;
    Elf64_Sym symbol;
    std::string text;  ///< string at `name_at`
    std::string name;  ///< name of the kernel: `text` without the suffix .kd of a descriptor
  };
  /// Data objects of a code object, and the bytes of its symbols from which they were read.
  struct DataObjects {
    struct Block {
      std::uint64_t begin = 0;
      std::vector<std::byte> bytes;
    };
    std::vector<Block> read;
    std::unordered_map<std::string, DataObject> by_name;
  };
  DataObjects read_data_objects(const LoadedCodeObject& object) const;
  bool is_unchanged(const DataObjects& objects) const;
  std::optional<Place> find(std::uint64_t kernel_object) const;
  bool is_unchanged(const Place& place) const;

  const isa::MemoryInterface& memory_;
  std::unordered_map<std::uint64_t, Place> found_;          ///< indexed by kernel object
  std::unordered_map<std::uint64_t, std::uint64_t> bases_;  ///< address of the code object, indexed by kernel object
  std::unordered_map<std::uint64_t, DataObjects> data_;     ///< indexed by address of the code object
  std::uint64_t readings_ = 0;
};

/// Text of a position in code: "PC 0x2000 (+0x30)", counted from the kernel's entry; "PC 0x1c00 (function helper +0x10)" in
/// another function; "PC 0x1c00 (-0x400)" before the entry, if the function is not known.
std::string code_place(std::string_view kernel, std::uint64_t entry, std::uint64_t pc,
                       const std::optional<CodeSymbol>& function);

}  // namespace lacuna
