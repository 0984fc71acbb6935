// Addition of a section to a complete ELF file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// Returns the file with an additional section `name`, which is not loaded and contains `contents`; replaces the last section
/// if it has that name. The new section is the last section, followed by section names and section table; loaded contents are
/// not moved. The operation is idempotent. Throws ElfError, naming `file`, if `elf` is not an intact ELF64 little-endian file,
/// or if a section that is not the last has the name.
std::vector<std::byte> with_section(std::span<const std::byte> elf, std::string_view name, std::span<const std::byte> contents,
                                    const std::string& file);

}  // namespace lacuna
