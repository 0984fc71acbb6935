// Tests source lines from DWARF: for instructions of a kernel itself, of inlined functions, and without a line.
#include "platform/loaders/source_lines.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "platform/loaders/elf_file.h"

namespace lacuna {
namespace {

/// Source lines of the instructions of a code object. File names are without their folders.
std::set<std::string> lines_of(std::span<const std::byte> object) {
  constexpr std::uint64_t kBehindCode = 0x4000;  // beyond the code of these small kernels
  std::set<std::string> lines;
  for (std::uint64_t address = 0; address < kBehindCode; address += 4) {
    auto line = source_line(object, address);
    if (!line) continue;
    const std::string folder = LACUNA_SOURCES "/";
    for (std::size_t at = line->find(folder); at != std::string::npos; at = line->find(folder)) line->erase(at, folder.size());
    lines.insert(*line);
  }
  return lines;
}

TEST(SourceLines, AreTheFunctionsOwnOrWithTheCallThatInlinesThem) {
  const std::set<std::string> lines = lines_of(ElfFile::read(LACUNA_INLINED_CODE_OBJECT).bytes());
  EXPECT_TRUE(lines.contains("inlined.cl:17")) << "an instruction of the kernel's own";
  EXPECT_TRUE(lines.contains("inlined.cl:3, inlined at inlined.cl:10")) << "the outermost call, not that in line 4";
  EXPECT_TRUE(lines.contains("inlined.cl:14")) << "instructions without a line are known by the call that inlines them";
  for (const std::string& line : lines) EXPECT_EQ(line.find(":0"), std::string::npos) << line;
}

TEST(SourceLines, AreNothingWithoutATable) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  EXPECT_FALSE(source_line(file.bytes(), 0)) << "no instruction is at the beginning of the file";
  EXPECT_EQ(lines_of(ElfFile::read(LACUNA_PLAIN_CODE_OBJECT).bytes()), std::set<std::string>{}) << "compiled without -g";
  EXPECT_EQ(lines_of({}), std::set<std::string>{});
}

// Lines from a damaged file may be arbitrary, but the reader must not access memory beyond the file's bytes, which a sanitizer
// detects.
TEST(SourceLines, DamagedFilesCauseNoAccessOutsideOfThem) {
  const ElfFile file = ElfFile::read(LACUNA_INLINED_CODE_OBJECT);
  const std::span<const std::byte> object = file.bytes();
  std::uint64_t address = 0;
  while (!source_line(object, address)) address += 4;
  for (std::size_t size = 0; size < object.size(); size += 97) (void)source_line(object.first(size), address);
  std::vector<std::byte> damaged(object.begin(), object.end());
  unsigned changed = 0;
  for (std::size_t at = 0; at < object.size(); at += 5) {
    damaged[at] ^= std::byte{0xff};
    changed += source_line(damaged, address) != source_line(object, address) ? 1 : 0;
    damaged[at] ^= std::byte{0xff};
  }
  EXPECT_GT(changed, 0U) << "no byte that was damaged counts";
}

}  // namespace
}  // namespace lacuna
