// A loaded code object, found by its ELF header in GPU memory.
//
// Loaders place a code object's segments at their offsets in one allocation, and the first segment holds the ELF header. The
// header is therefore found by searching backwards from any address inside the code object, for firmware and for ROCm alike,
// without help from the loader.
//
// A section table is not part of any segment. Lacuna's firmware driver places one after the segments, for the symbols that are
// not dynamic: in the copy of the ELF header, e_shoff is an offset from the header in memory, the first entry is null, and the
// others have SHF_ALLOC and their offset from the header as sh_addr.
#pragma once

#include <elf.h>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// Copies a T at `address` out of GPU memory; nullopt if any byte is unmapped.
template <class T>
std::optional<T> read_object(const isa::MemoryInterface& memory, std::uint64_t address) {
  const isa::MemoryWindow window = memory.find(address);
  if (!window.contains(address, sizeof(T))) return std::nullopt;
  T value;
  std::memcpy(&value, window.host + (address - window.base), sizeof(T));
  return value;
}

struct LoadedCodeObject {
  std::uint64_t base = 0;  ///< GPU virtual address of the ELF header
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;  ///< sections in memory; empty unless the loader has placed the section table there

  /// The code object with the nearest header at or below `address`; nullopt if there is none or it is not intact.
  static std::optional<LoadedCodeObject> around(const isa::MemoryInterface& memory, std::uint64_t address);
  /// Whether the address is in a loaded segment whose flags contain PF_X.
  bool executable(std::uint64_t address) const;
};

}  // namespace lacuna
