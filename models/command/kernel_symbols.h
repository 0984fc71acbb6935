// Names for reports, found in the loaded code object itself: its first segment holds the dynamic symbols, and a loader may have
// left the others in memory as well (loaded_code_object.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/isa/memory_interface.h"

namespace lacuna {

/// A kernel or a function of a loaded code object.
struct CodeSymbol {
  std::string name;
  std::uint64_t address = 0;  ///< GPU virtual address that the symbol stands for
};

class KernelSymbols {
 public:
  static constexpr std::string_view kUnnamed = "kernel@";

  explicit KernelSymbols(const isa::MemoryInterface& memory) : memory_(memory) {}
  /// The kernel's name, or "kernel@0x<address>" when no ELF header with a matching symbol is found. Not cached: called once
  /// per dispatch, and memory can be reused for another code object.
  std::string name(std::uint64_t kernel_object) const;
  /// The function that the instruction at `pc` belongs to; nothing when no symbol covers it.
  std::optional<CodeSymbol> function(std::uint64_t pc) const;

 private:
  const isa::MemoryInterface& memory_;
};

/// "PC 0x2000 (+0x30)", counted from the kernel's entry; "PC 0x1c00 (function helper +0x10)" in another function; "PC 0x1c00
/// (-0x400)" before the entry, when nobody knows the function.
std::string code_place(std::string_view kernel, std::uint64_t entry, std::uint64_t pc,
                       const std::optional<CodeSymbol>& function);

}  // namespace lacuna
