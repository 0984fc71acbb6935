// Addition of a section to a complete ELF file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The file with a section of that name that holds `contents` and is not loaded; replaces an existing one. It is the last
/// section, followed by section names and section table; loaded contents are not moved. The operation is idempotent. Throws
/// ElfError, naming `file`, unless this is an intact ELF64 little-endian file.
std::vector<std::byte> with_section(std::span<const std::byte> elf, std::string_view name, std::span<const std::byte> contents,
                                    const std::string& file);

}  // namespace lacuna
