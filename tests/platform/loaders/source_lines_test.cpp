// Lines of instructions by DWARF: a function's own, inlined ones, and what has none.
#include "platform/loaders/source_lines.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

namespace lacuna {
namespace {

std::vector<std::byte> code_object(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// Lines of the instructions of a code object, by the name of the source file without its folder.
std::set<std::string> lines_of(const std::vector<std::byte>& object) {
  constexpr std::uint64_t kBehindCode = 0x4000;  // of these small kernels
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
  const std::set<std::string> lines = lines_of(code_object(LACUNA_INLINED_CODE_OBJECT));
  EXPECT_TRUE(lines.contains("inlined.cl:17")) << "an instruction of the kernel's own";
  EXPECT_TRUE(lines.contains("inlined.cl:3, inlined at inlined.cl:10")) << "the outermost call, not that in line 4";
  EXPECT_TRUE(lines.contains("inlined.cl:14")) << "instructions without a line are known by the call that inlines them";
  for (const std::string& line : lines) EXPECT_EQ(line.find(":0"), std::string::npos) << line;
}

TEST(SourceLines, AreNothingWithoutATable) {
  const std::vector<std::byte> object = code_object(LACUNA_INLINED_CODE_OBJECT);
  EXPECT_FALSE(source_line(object, 0)) << "no instruction is at the beginning of the file";
  EXPECT_EQ(lines_of(code_object(LACUNA_PLAIN_CODE_OBJECT)), std::set<std::string>{}) << "compiled without -g";
  EXPECT_EQ(lines_of({}), std::set<std::string>{});
}

TEST(SourceLines, OfADamagedFileAreWrongOrNothing) {
  const std::vector<std::byte> object = code_object(LACUNA_INLINED_CODE_OBJECT);
  std::uint64_t address = 0;
  while (!source_line(object, address)) address += 4;
  for (std::size_t size = 0; size < object.size(); size += 97)
    (void)source_line(std::span(object).first(size), address);  // must not crash: the address sanitizer looks
  for (std::size_t at = 0; at < object.size(); at += 61) {
    std::vector<std::byte> damaged = object;
    damaged[at] ^= std::byte{0xff};
    (void)source_line(damaged, address);
  }
}

TEST(SourceLines, EmbeddedCodeObjectsAreFoundWhole) {
  const std::vector<std::byte> object = code_object(LACUNA_INLINED_CODE_OBJECT);
  std::vector<std::byte> program(100);
  program.insert(program.end(), object.begin(), object.end());
  program.resize(program.size() + 100);
  const auto found = embedded_code_objects(program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(std::equal(found[0].begin(), found[0].end(), object.begin(), object.end()));
}

}  // namespace
}  // namespace lacuna
