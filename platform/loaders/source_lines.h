// Source lines of code objects, by the DWARF line tables that compilers write with -g or -gline-tables-only (libdw).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/command/source_lines.h"

namespace lacuna {

/// "dir/kernel.hip:12" of the instruction at `address`, which counts as the file's symbols do. When it is from an inlined
/// function, "dir/header.h:3, inlined at dir/kernel.hip:12" with the line of the function that is executed, or
/// "dir/kernel.hip:12" alone when the instruction is of no line of the inlined function. Nothing when the file has no line
/// table, or is not intact.
std::optional<std::string> source_line(std::span<const std::byte> code_object, std::uint64_t address);

/// The code objects within `bytes`, such as a program for the hart that carries them.
std::vector<std::span<const std::byte>> embedded_code_objects(std::span<const std::byte> bytes);

/// Lines of code whose file is among the images that are given: the one whose executable segments are what is in GPU memory.
class ImageSourceLines : public SourceLines {
 public:
  using Images = std::function<std::vector<std::span<const std::byte>>()>;

  /// `images` is called for each report: programs may load more while they run.
  explicit ImageSourceLines(Images images) : images_(std::move(images)) {}
  std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const override;

 private:
  Images images_;
};

}  // namespace lacuna
