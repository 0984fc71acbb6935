// Function names and source lines of code that the runtime has loaded.
//
// GPU memory holds the segments of a code object, with only its dynamic symbols; these do not include device functions local to
// a HIP program. The code object's file contains them, and ROCm's runtime publishes the file's location in a list for
// debuggers: symbol _amdgpu_r_debug, with the layout of the dynamic linker's r_debug; names of its entries are URIs. Format:
// LLVM "User Guide for AMDGPU Backend", section "Loaded Code Object Path Uniform Resource Identifier (URI)".
//
// The runtime's threads may change the list at any time. The list is read by system calls only: if an entry disappears
// meanwhile, a name is missing, but nothing crashes.
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

/// Location of a code object's bytes: a part of a file, or of this process's memory if `file` is empty.
struct CodeObjectPlace {
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< 0: to the file's end
};

/// Parses "file:///a%20b#offset=4096&size=9000" or "memory://1234#offset=0x7f0000&size=9000"; nullopt for any other form.
std::optional<CodeObjectPlace> code_object_place(const std::string& uri);

class RuntimeSymbols : public SourceLines {
 public:
  /// Uses the list of the runtime in this process. Construct it on a thread that is in a call from the runtime.
  RuntimeSymbols();
  explicit RuntimeSymbols(const r_debug* loaded) : loaded_(loaded) {}

  /// The function that contains the instruction at `pc`.
  std::optional<CodeSymbol> function(std::uint64_t pc) const;
  /// The source line of the instruction at `pc`, from the line table of its file.
  std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const override;

  struct LoadedFile {
    std::uint64_t address = 0;  ///< address at which the file is loaded
    std::vector<std::byte> bytes;
  };
  /// The file of the code at `pc`; nullopt if the runtime has loaded none there.
  std::optional<LoadedFile> file_of(std::uint64_t pc) const;

 private:
  const r_debug* loaded_ = nullptr;
};

/// Tags stored in the files of loaded code (`lacuna finalize`).
class RuntimeTags : public TagSource {
 public:
  explicit RuntimeTags(const RuntimeSymbols& symbols) : symbols_(symbols) {}
  std::optional<KernelTags> find(const isa::MemoryInterface& memory, std::uint64_t entry) const override;

 private:
  const RuntimeSymbols& symbols_;
};

}  // namespace lacuna::rocm
