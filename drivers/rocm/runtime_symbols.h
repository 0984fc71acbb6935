// Names of functions and source lines of code that the runtime has loaded.
//
// GPU memory holds what a code object's segments hold: dynamic symbols, and so none of the device functions that a HIP program
// keeps to itself. Its file has them, and ROCm's runtime says where that is, by the list that it keeps for debuggers: symbol
// _amdgpu_r_debug, in the form of the dynamic linker's r_debug; names of its entries are URIs. Format: LLVM "User Guide for
// AMDGPU Backend", section "Loaded Code Object Path Uniform Resource Identifier (URI)".
//
// The list is the runtime's: its threads may change it at any time. Everything is read through the operating system, so that
// what has gone meanwhile gives no name and nothing worse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/command/kernel_symbols.h"
#include "models/command/source_lines.h"
#include "models/neardata/tag_source.h"

struct r_debug;

namespace lacuna::rocm {

/// Where the bytes of a code object are: a part of a file, or of this process's memory when `file` is empty.
struct CodeObjectPlace {
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< 0: to the file's end
};

/// "file:///a%20b#offset=4096&size=9000", "memory://1234#offset=0x7f0000&size=9000"; nothing when it is neither.
std::optional<CodeObjectPlace> code_object_place(const std::string& uri);

class RuntimeSymbols : public SourceLines {
 public:
  /// Of the runtime that is in this process; to be made on a thread that the runtime has called.
  RuntimeSymbols();
  explicit RuntimeSymbols(const r_debug* loaded) : loaded_(loaded) {}

  /// The function that the instruction at `pc` belongs to.
  std::optional<CodeSymbol> function(std::uint64_t pc) const;
  /// By the line table of its file.
  std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const override;

  struct LoadedFile {
    std::uint64_t address = 0;  ///< where it is loaded
    std::vector<std::byte> bytes;
  };
  /// The file of the code at `pc`; nullopt if the runtime has loaded none there.
  std::optional<LoadedFile> file_of(std::uint64_t pc) const;

 private:
  const r_debug* loaded_ = nullptr;
};

/// Tags that the files of loaded code bring along (`lacuna finalize`).
class RuntimeTags : public TagSource {
 public:
  explicit RuntimeTags(const RuntimeSymbols& symbols) : symbols_(symbols) {}
  std::optional<KernelTags> find(const isa::MemoryInterface& memory, std::uint64_t entry) const override;

 private:
  const RuntimeSymbols& symbols_;
};

}  // namespace lacuna::rocm
