// Interface for the tags of code in GPU memory. The section of tags is not loaded, so implementations need access to the files
// that the code was loaded from.
#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/memory/memory_interface.h"
#include "models/neardata/tag_section.h"

namespace lacuna {

class TagSource {
 public:
  virtual ~TagSource() = default;
  /// Tags of the kernel whose first instruction is at `entry`, with addresses in GPU memory; nullopt if the code's file is not
  /// known or has no tags for the kernel. Throws TagError if the tags are damaged or do not match the code.
  virtual std::optional<KernelTags> find(const isa::MemoryInterface& memory, std::uint64_t entry) const = 0;
};

}  // namespace lacuna
