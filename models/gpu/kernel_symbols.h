// Kernel names for reports, found in the loaded code object itself: its first segment holds the dynamic symbols.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "models/isa/memory_interface.h"

namespace lacuna {

class KernelSymbols {
 public:
  static constexpr std::string_view kUnnamed = "kernel@";

  explicit KernelSymbols(const isa::MemoryInterface& memory) : memory_(memory) {}
  /// The kernel's name, or "kernel@0x<address>" when no ELF header with a matching symbol is found. Not cached: called once
  /// per dispatch, and memory can be reused for another code object.
  std::string name(std::uint64_t kernel_object) const;

 private:
  const isa::MemoryInterface& memory_;
};

}  // namespace lacuna
