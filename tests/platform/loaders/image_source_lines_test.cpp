// Tests the search for code objects in programs, and the source lines of loaded code that has been changed.
#include "platform/loaders/image_source_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "models/isa/memory/memory_interface.h"
#include "platform/loaders/elf_file.h"

namespace lacuna {
namespace {

TEST(ImageSourceLines, EmbeddedCodeObjectsAreFoundWhole) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  const std::span<const std::byte> object = file.bytes();
  std::vector<std::byte> program(100);
  for (int i = 0; i < 2; ++i) {
    program.insert(program.end(), object.begin(), object.end());
    program.resize(program.size() + 100);
  }
  const auto found = embedded_code_objects(program);
  ASSERT_EQ(found.size(), 2U);
  for (const auto& image : found) EXPECT_TRUE(std::equal(image.begin(), image.end(), object.begin(), object.end()));
}

TEST(ImageSourceLines, CodeObjectsFoundInATruncatedProgramLieWithinIt) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  for (std::size_t size = 0; size < file.bytes().size(); size += 101) {
    const std::span<const std::byte> program = file.bytes().first(size);
    for (const auto& image : embedded_code_objects(program))
      EXPECT_LE(image.data() + image.size(), program.data() + program.size()) << size;
  }
}

/// Memory that contains a code object's segments at kBase.
class LoadedFile : public isa::MemoryInterface {
 public:
  static constexpr std::uint64_t kBase = 0x7000000000;

  explicit LoadedFile(const ElfFile& file) {
    for (const ElfSegment& segment : file.segments()) {
      bytes.resize(std::max<std::uint64_t>(bytes.size(), segment.virtual_address + segment.memory_size));
      std::copy(segment.bytes.begin(), segment.bytes.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(segment.virtual_address));
    }
  }
  isa::MemoryWindow find(std::uint64_t address) const override {
    const isa::MemoryWindow all{.base = kBase,
                                .size = bytes.size(),
                                .host = bytes.data(),
                                .physical = 0,
                                .granted = isa::Access::read | isa::Access::execute};
    return all.contains(address, 1) ? all : isa::MemoryWindow{};
  }
  std::uint64_t epoch() const override { return 0; }

  mutable std::vector<std::byte> bytes;
};

TEST(ImageSourceLines, CodeThatHasMovedHasItsFile) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  LoadedFile memory(file);
  const ImageSourceLines lines([&] { return std::vector<std::span<const std::byte>>{file.bytes()}; });
  const auto section = std::find_if(file.sections().begin(), file.sections().end(),
                                    [](const ElfSection& one) { return one.executable && !one.bytes.empty(); });
  ASSERT_NE(section, file.sections().end());
  const std::uint64_t begin = section->address;
  std::optional<std::string> line;
  std::uint64_t pc = LoadedFile::kBase + begin;
  for (; !line && pc < LoadedFile::kBase + begin + section->bytes.size(); pc += 4) line = lines.find(memory, pc);
  ASSERT_TRUE(line);
  pc -= 4;
  // Change some instructions.
  for (std::uint64_t at = begin; at < begin + 8; ++at) memory.bytes[at] ^= std::byte{0xff};
  EXPECT_EQ(lines.find(memory, pc), line);
  // Change all other instructions, as if other code of the same size were loaded.
  for (std::uint64_t at = begin + 8; at < begin + section->bytes.size(); ++at) memory.bytes[at] ^= std::byte{0xff};
  EXPECT_FALSE(lines.find(memory, pc).has_value());
}

}  // namespace
}  // namespace lacuna
