// Code objects inside of programs.
#include "platform/loaders/image_source_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(ImageSourceLines, OfACutCodeObjectNothingIsBeyondTheProgram) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  for (std::size_t size = 0; size < file.bytes().size(); size += 101) {
    const std::span<const std::byte> program = file.bytes().first(size);
    for (const auto& image : embedded_code_objects(program))
      EXPECT_LE(image.data() + image.size(), program.data() + program.size()) << size;
  }
}

}  // namespace
}  // namespace lacuna
