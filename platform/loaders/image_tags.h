// Tags of code that is in GPU memory, by the files that it was loaded from.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "models/neardata/tag_source.h"

namespace lacuna {

/// Tags of code whose file is among the images that are given: the one whose executable segments are what is in GPU memory.
class ImageTags : public TagSource {
 public:
  using Images = std::function<std::vector<std::span<const std::byte>>()>;

  /// `images` is called for each kernel: programs may load more while they run.
  explicit ImageTags(Images images) : images_(std::move(images)) {}
  std::optional<KernelTags> find(const isa::MemoryInterface& memory, std::uint64_t entry) const override;

 private:
  Images images_;
};

}  // namespace lacuna
