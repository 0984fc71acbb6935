// Adding a section to an ELF file that is complete.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The file with a section that holds `contents` and is not loaded, in place of one of that name if there is one. It stands
/// last, behind it section names and section table; all that is loaded stays where it is. Doing it twice is the same as doing
/// it once. Throws ElfError, naming `file`, unless this is an intact ELF64 little-endian file.
std::vector<std::byte> with_section(std::span<const std::byte> elf, std::string_view name, std::span<const std::byte> contents,
                                    const std::string& file);

}  // namespace lacuna
