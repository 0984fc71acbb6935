#include "platform/loaders/image_source_lines.h"

#include <elf.h>
#include <algorithm>
#include <cstring>

#include "models/command/loaded_code_object.h"
#include "platform/loaders/elf_file.h"
#include "platform/loaders/source_lines.h"

namespace lacuna {
namespace {

template <class T>
std::optional<T> object_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::optional<double> loaded_difference(std::span<const std::byte> file, const isa::MemoryInterface& memory,
                                        const LoadedCodeObject& object) {
  const auto header = object_at<Elf64_Ehdr>(file, 0);
  if (!header || header->e_phnum != object.segments.size()) return std::nullopt;
  std::uint64_t bytes = 0;
  std::uint64_t others = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = object_at<Elf64_Phdr>(file, header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_vaddr != object.segments[i].p_vaddr || segment->p_filesz != object.segments[i].p_filesz)
      return std::nullopt;
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    if (segment->p_offset > file.size() || segment->p_filesz > file.size() - segment->p_offset) return std::nullopt;
    const std::uint64_t address = object.base + segment->p_vaddr;
    const isa::MemoryWindow window = memory.find(address);
    if (!window.contains(address, segment->p_filesz)) return std::nullopt;
    const std::byte* const loaded = window.host + (address - window.base);
    bytes += segment->p_filesz;
    for (std::uint64_t at = 0; at < segment->p_filesz; ++at) others += loaded[at] != file[segment->p_offset + at] ? 1 : 0;
  }
  if (bytes == 0) return std::nullopt;
  return static_cast<double>(others) / static_cast<double>(bytes);
}

bool is_loaded(std::span<const std::byte> file, const isa::MemoryInterface& memory, const LoadedCodeObject& object) {
  return loaded_difference(file, memory, object) == 0.0;
}

std::vector<std::span<const std::byte>> embedded_code_objects(std::span<const std::byte> bytes) {
  std::vector<std::span<const std::byte>> found;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kMagic{ELFMAG, SELFMAG};
  for (std::size_t at = text.find(kMagic); at != std::string_view::npos; at = text.find(kMagic, at + 1)) {
    const auto header = object_at<Elf64_Ehdr>(bytes, at);
    if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != static_cast<std::uint16_t>(ElfMachine::amdgpu) || header->e_shoff > bytes.size() - at)
      continue;
    // The section table is the last part of a linked file, so its end is the file's size.
    const std::uint64_t size = header->e_shoff + std::uint64_t{header->e_shnum} * sizeof(Elf64_Shdr);
    found.push_back(bytes.subspan(at, std::min<std::uint64_t>(size, bytes.size() - at)));
  }
  return found;
}

std::optional<std::string> ImageSourceLines::find(const isa::MemoryInterface& memory, std::uint64_t pc) const {
  const auto object = LoadedCodeObject::around(memory, pc);
  if (!object) return std::nullopt;
  // The share of differing bytes must be below this value: a kernel's instructions may have been moved within their basic
  // blocks after loading (models/neardata/kernel_tagger.h).
  constexpr double kMostMoved = 0.5;
  double least = kMostMoved;
  std::optional<std::span<const std::byte>> nearest;
  for (const std::span<const std::byte> image : images_()) {
    const std::optional<double> difference = loaded_difference(image, memory, *object);
    if (!difference || *difference >= least) continue;
    least = *difference;
    nearest = image;
    if (least == 0) break;
  }
  return nearest ? source_line(*nearest, pc - object->base) : std::nullopt;
}

}  // namespace lacuna
