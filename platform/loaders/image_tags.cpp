#include "platform/loaders/image_tags.h"

#include "models/command/loaded_code_object.h"
#include "platform/listing/finalize.h"
#include "platform/loaders/image_source_lines.h"

namespace lacuna {

std::optional<KernelTags> ImageTags::find(const isa::MemoryInterface& memory, std::uint64_t entry) const {
  const auto object = LoadedCodeObject::around(memory, entry);
  if (!object) return std::nullopt;
  for (const std::span<const std::byte> image : images_()) {
    if (is_loaded(image, memory, *object)) return loaded_tags(image, object->base, entry);
  }
  return std::nullopt;
}

}  // namespace lacuna
