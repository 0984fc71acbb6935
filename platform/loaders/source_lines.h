// Source lines of code objects, from the DWARF line tables that compilers write with -g or -gline-tables-only (libdw).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lacuna {

/// The source line of the instruction at `address`, such as "dir/kernel.hip:12". Addresses are those of the file's symbols. For
/// an inlined instruction, "dir/header.h:3, inlined at dir/kernel.hip:12" with the line of the inlined function, or only
/// "dir/kernel.hip:12" if the instruction belongs to no line of that function. nullopt if no line table of the file covers the
/// address, or the file is damaged.
std::optional<std::string> source_line(std::span<const std::byte> code_object, std::uint64_t address);

}  // namespace lacuna
