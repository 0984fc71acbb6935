#include "platform/loaders/image_tags.h"

#include "models/command/loaded_code_object.h"
#include "platform/listing/finalize.h"
#include "platform/loaders/image_source_lines.h"

namespace lacuna {

std::optional<KernelTags> ImageTags::find(const isa::MemoryInterface& memory, std::uint64_t entry) const {
  const auto object = LoadedCodeObject::around(memory, entry);
  if (!object) return std::nullopt;
  for (const std::span<const std::byte> image : images_()) {
    if (!is_loaded(image, memory, *object)) continue;
    try {
      const CodeObject file(ElfFile({image.begin(), image.end()}, "code object"));
      for (KernelTags& kernel : tags_of(file)) {
        if (kernel.entry != entry - object->base) continue;
        kernel.entry = entry;
        for (Chain& chain : kernel.chains)
          for (ChainInstruction& part : chain.instructions) part.address += object->base;
        return std::move(kernel);
      }
    } catch (const ElfError& e) {
      throw TagError(e.what());
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace lacuna
