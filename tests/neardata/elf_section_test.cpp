// Tests that adding a section to an ELF file does not change the loaded contents and is idempotent.
#include "platform/loaders/elf_section.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "platform/loaders/code_object.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::mt19937 random(1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

const ElfSection* section(const ElfFile& file, std::string_view name) {
  for (const ElfSection& s : file.sections())
    if (s.name == name) return &s;
  return nullptr;
}

TEST(ElfSection, IsAddedToEveryCodeObject) {
  unsigned files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(LACUNA_KERNELS)) {
    if (entry.path().extension() != ".co") continue;
    SCOPED_TRACE(entry.path());
    ++files;
    const ElfFile original = ElfFile::read(entry.path());
    const std::vector<std::byte> contents = some_bytes(101);
    const std::vector<std::byte> bytes = with_section(original.bytes(), ".extra", contents, "a.co");
    const ElfFile extended(bytes, "a.co");
    ASSERT_NE(section(extended, ".extra"), nullptr);
    EXPECT_EQ(copy(section(extended, ".extra")->bytes), contents);
    EXPECT_EQ(section(extended, ".extra")->address, 0u);
    EXPECT_FALSE(section(extended, ".extra")->executable);
    // All other sections, segments, symbols and notes are unchanged.
    ASSERT_EQ(extended.segments().size(), original.segments().size());
    for (std::size_t i = 0; i < original.segments().size(); ++i) {
      EXPECT_EQ(extended.segments()[i].virtual_address, original.segments()[i].virtual_address);
      if (original.segments()[i].virtual_address == 0) continue;  // this segment contains the ELF header, which changes
      EXPECT_EQ(copy(extended.segments()[i].bytes), copy(original.segments()[i].bytes));
    }
    for (const ElfSection& s : original.sections()) {
      ASSERT_NE(section(extended, s.name), nullptr) << s.name;
      EXPECT_EQ(copy(section(extended, s.name)->bytes), copy(s.bytes));
      EXPECT_EQ(section(extended, s.name)->index, s.index);
    }
    ASSERT_EQ(extended.symbols().size(), original.symbols().size());
    for (std::size_t i = 0; i < original.symbols().size(); ++i)
      EXPECT_EQ(extended.symbols()[i].name, original.symbols()[i].name);
    EXPECT_EQ(extended.notes().size(), original.notes().size());
    EXPECT_EQ(CodeObject(ElfFile(bytes, "a.co")).kernels().size(), CodeObject::read(entry.path()).kernels().size());
    // Adds the same section again, and a section with other contents.
    EXPECT_EQ(with_section(bytes, ".extra", contents, "a.co"), bytes);
    const std::vector<std::byte> other = some_bytes(7);
    EXPECT_EQ(with_section(bytes, ".extra", other, "a.co"), with_section(original.bytes(), ".extra", other, "a.co"));
  }
  EXPECT_GE(files, 5u);
}

TEST(ElfSection, IsAddedToAFileWithoutSections) {
  std::vector<std::byte> bytes(copy(ElfFile::read(fs::path(LACUNA_KERNELS) / "vector_add.co").bytes()));
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  const std::vector<std::byte> contents = some_bytes(16);
  const std::vector<std::byte> extended = with_section(bytes, ".extra", contents, "a.co");
  const ElfFile file(extended, "a.co");
  ASSERT_NE(section(file, ".extra"), nullptr);
  EXPECT_EQ(copy(section(file, ".extra")->bytes), contents);
  EXPECT_EQ(with_section(extended, ".extra", contents, "a.co"), extended);
}

TEST(ElfSection, RefusesDamagedFiles) {
  const std::vector<std::byte> bytes(copy(ElfFile::read(fs::path(LACUNA_KERNELS) / "vector_add.co").bytes()));
  EXPECT_THROW(with_section(std::span(bytes).first(40), ".extra", {}, "a.co"), ElfError);
  for (std::size_t size = 64; size < bytes.size(); size += 64)
    EXPECT_THROW(with_section(std::span(bytes).first(size), ".extra", {}, "a.co"), ElfError) << size;
  // A section that is not the last is not replaced, since the numbers of the following sections would change.
  const std::vector<std::byte> one = with_section(bytes, ".one", some_bytes(4), "a.co");
  const std::vector<std::byte> two = with_section(one, ".two", some_bytes(4), "a.co");
  EXPECT_THROW(with_section(two, ".one", some_bytes(4), "a.co"), ElfError);
}

}  // namespace
}  // namespace lacuna
