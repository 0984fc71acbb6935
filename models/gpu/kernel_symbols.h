// Kernel names for reports, found in the loaded code object itself.
//
// Loaders place a code object's segments at their own offsets in one allocation, and the first segment holds the ELF header and
// the dynamic symbols. So the name of a kernel object is found by looking back from its address to the ELF header, which works
// for firmware and for ROCm alike and needs nobody's help.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/isa/memory_interface.h"

namespace lacuna {

class KernelSymbols {
 public:
  explicit KernelSymbols(const isa::MemoryInterface& memory) : memory_(memory) {}
  /// The kernel's name, or "kernel@0x<address>" when no ELF header with a matching symbol is found. Not cached: called once
  /// per dispatch, and memory can be reused for another code object.
  std::string name(std::uint64_t kernel_object) const;

 private:
  const isa::MemoryInterface& memory_;
};

}  // namespace lacuna
