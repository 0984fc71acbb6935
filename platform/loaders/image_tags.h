// Tags of code in GPU memory, from the files that it was loaded from.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "models/neardata/tag_source.h"

namespace lacuna {

/// Tags from the image whose executable segments equal those in GPU memory.
class ImageTags : public TagSource {
 public:
  using Images = std::function<std::vector<std::span<const std::byte>>()>;

  /// `images` is called for each kernel, because programs may load code objects while they run.
  explicit ImageTags(Images images) : images_(std::move(images)) {}
  std::optional<KernelTags> find(const isa::MemoryInterface& memory, std::uint64_t entry) const override;

 private:
  Images images_;
};

}  // namespace lacuna
