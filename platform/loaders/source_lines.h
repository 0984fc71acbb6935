// Source lines of code objects, by the DWARF line tables that compilers write with -g or -gline-tables-only (libdw).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lacuna {

/// "dir/kernel.hip:12" of the instruction at `address`, which counts as the file's symbols do. When it is from an inlined
/// function, "dir/header.h:3, inlined at dir/kernel.hip:12" with the line of the function that is executed, or
/// "dir/kernel.hip:12" alone when the instruction is of no line of the inlined function. Nothing when the file has no line
/// table, or is not intact.
std::optional<std::string> source_line(std::span<const std::byte> code_object, std::uint64_t address);

}  // namespace lacuna
