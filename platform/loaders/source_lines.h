// Source lines of code objects, from the DWARF line tables that compilers write with -g or -gline-tables-only (libdw).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lacuna {

/// "dir/kernel.hip:12" of the instruction at `address`, which is relative as the file's symbols are. If it is inlined,
/// "dir/header.h:3, inlined at dir/kernel.hip:12" with the line of the function that is executed, or only "dir/kernel.hip:12"
/// if the instruction belongs to no line of the inlined function. nullopt if the file has no line table, or is damaged.
std::optional<std::string> source_line(std::span<const std::byte> code_object, std::uint64_t address);

}  // namespace lacuna
