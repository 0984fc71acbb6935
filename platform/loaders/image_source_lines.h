// Source lines of code in GPU memory, from the files that it was loaded from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/command/source_lines.h"

namespace lacuna {

/// The code objects within `bytes`, such as those in a program for the hart.
std::vector<std::span<const std::byte>> embedded_code_objects(std::span<const std::byte> bytes);

struct LoadedCodeObject;

/// Share (0 to 1) of the bytes in the file's executable segments that differ from GPU memory at the loaded object's base;
/// nullopt if the file does not have the object's segments.
std::optional<double> loaded_difference(std::span<const std::byte> file, const isa::MemoryInterface& memory,
                                        const LoadedCodeObject& object);
/// Whether the executable segments of a file equal those loaded at the object's base.
bool is_loaded(std::span<const std::byte> file, const isa::MemoryInterface& memory, const LoadedCodeObject& object);

/// Source lines from the image whose executable segments differ least from those in GPU memory, where code may have been
/// modified.
class ImageSourceLines : public SourceLines {
 public:
  using Images = std::function<std::vector<std::span<const std::byte>>()>;

  /// `images` is called for each report, because programs may load code objects while they run.
  explicit ImageSourceLines(Images images) : images_(std::move(images)) {}
  std::optional<std::string> find(const isa::MemoryInterface& memory, std::uint64_t pc) const override;

 private:
  Images images_;
};

}  // namespace lacuna
