#include "platform/loaders/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>
#include <random>

#include "tests/platform/loaders/elf_builder.h"

namespace lacuna {
namespace {

using test::small_elf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kAddress = 0x8000'0000;
const std::vector<std::uint32_t> kWords{0x00000513, 0x0000006f, 0x00000013};

std::vector<std::byte> good() { return small_elf(ElfMachine::riscv, 5, kAddress, kWords); }

std::string elf_error(std::vector<std::byte> bytes) {
  try {
    ElfFile(std::move(bytes), "x.elf").require(ElfMachine::riscv);
  } catch (const ElfError& e) {
    return e.what();
  }
  return {};
}

template <class T>
std::vector<std::byte> with(std::size_t offset, T value) {
  std::vector<std::byte> bytes = good();
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

TEST(ElfFile, ReadsSegmentsSectionsAndSymbols) {
  const ElfFile elf(good(), "x.elf");
  EXPECT_EQ(elf.entry(), kAddress);
  EXPECT_EQ(elf.flags(), 5u);
  ASSERT_EQ(elf.segments().size(), 1u);
  EXPECT_EQ(elf.segments()[0].physical_address, kAddress);
  EXPECT_EQ(elf.segments()[0].memory_size, 28u);
  ASSERT_EQ(elf.segments()[0].bytes.size(), 12u);
  EXPECT_EQ(std::memcmp(elf.segments()[0].bytes.data(), kWords.data(), 12), 0);
  ASSERT_EQ(elf.sections().size(), 1u);
  EXPECT_EQ(elf.sections()[0].name, ".text");
  EXPECT_TRUE(elf.sections()[0].executable);
  EXPECT_EQ(elf.symbols().size(), 2u);
  EXPECT_EQ(elf.symbol("main"), kAddress);
  EXPECT_EQ(elf.symbol("tohost"), kAddress + 0x100);
  EXPECT_EQ(elf.symbol("fromhost"), std::nullopt);
}

TEST(ElfFile, ErrorsNameTheFileAndWhatIsWrong) {
  EXPECT_EQ(elf_error({}), "x.elf: not an ELF file");
  EXPECT_EQ(elf_error(with(0, '#')), "x.elf: not an ELF file");
  EXPECT_EQ(elf_error(with(EI_CLASS, char{ELFCLASS32})), "x.elf: is a 32-bit ELF file; ELF64 is needed");
  EXPECT_EQ(elf_error(with(EI_DATA, char{ELFDATA2MSB})), "x.elf: is not little-endian");
  EXPECT_EQ(elf_error(with(EI_VERSION, char{9})), "x.elf: has ELF version 9 (e_ident); there is only version 1");
  EXPECT_EQ(elf_error(with(offsetof(Elf64_Ehdr, e_version), std::uint32_t{9})),
            "x.elf: has ELF version 9 (e_version); there is only version 1");
  EXPECT_EQ(elf_error(small_elf(ElfMachine::amdgpu, 0, 0, kWords)), "x.elf: is for AMDGPU (224), RISC-V (243) is needed");
  EXPECT_EQ(elf_error(with(offsetof(Elf64_Ehdr, e_machine), std::uint16_t{62})),
            "x.elf: is for x86-64 (62), RISC-V (243) is needed");
  constexpr std::size_t kSegment = sizeof(Elf64_Ehdr);
  EXPECT_THAT(elf_error(with(kSegment + offsetof(Elf64_Phdr, p_filesz), std::uint64_t{1} << 40)),
              StartsWith("x.elf: truncated: segment 0"));
  EXPECT_THAT(elf_error(with(kSegment + offsetof(Elf64_Phdr, p_memsz), std::uint64_t{4})),
              HasSubstr("more bytes in the file than in memory"));
  EXPECT_THAT(elf_error(with(kSegment + offsetof(Elf64_Phdr, p_paddr), ~std::uint64_t{8})), HasSubstr("wraps around"));
  EXPECT_THAT(elf_error(with(offsetof(Elf64_Ehdr, e_phoff), std::uint64_t{1} << 40)), HasSubstr("program header"));
}

TEST(ElfFile, EveryTruncationIsAnError) {
  const std::vector<std::byte> whole = good();
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_NE(elf_error({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "")
        << size << " of " << whole.size();
  EXPECT_EQ(elf_error(whole), "");
}

TEST(ElfFile, FileProblemsAreErrors) {
  const std::filesystem::path folder = ::testing::TempDir();
  const auto read_error = [](const std::filesystem::path& path) {
    try {
      ElfFile::read(path);
    } catch (const ElfError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(read_error(folder / "absent.elf"), (folder / "absent.elf").string() + ": no such file");
  EXPECT_THAT(read_error(folder), HasSubstr(": not a regular file"));
}

// Reading a file of arbitrary bytes ends with an ElfFile whose parts lie inside the file, or with an ElfError.
TEST(ElfFile, SurvivesMutation) {
  const std::vector<std::byte> whole = good();
  std::mt19937_64 random(19620706);
  unsigned read = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<std::byte>(random());
          break;
        case 1:
          bytes[at] ^= static_cast<std::byte>(1U << (random() % 8));
          break;
        case 2: {
          const std::uint64_t interesting[] = {0, 1, ~0ULL, 1ULL << 63, bytes.size(), 0xffff, 0xffffffff};
          std::memcpy(bytes.data() + at, &interesting[random() % 7], std::min<std::size_t>(8, bytes.size() - at));
          break;
        }
        default:
          bytes.resize(bytes.size() - random() % 16);
          break;
      }
    }
    try {
      const ElfFile elf(std::move(bytes), "mutant");
      ++read;
      unsigned sum = 0;
      for (const ElfSegment& segment : elf.segments()) {
        ASSERT_LE(segment.bytes.size(), segment.memory_size);
        for (const std::byte b : segment.bytes) sum += std::to_integer<unsigned>(b);
      }
      for (const ElfSection& section : elf.sections())
        for (const std::byte b : section.bytes) sum += std::to_integer<unsigned>(b);
      ASSERT_LT(sum, 255U * 2 * whole.size() * 4);
    } catch (const ElfError& e) {
      ASSERT_THAT(e.what(), StartsWith("mutant: "));
    }
  }
  EXPECT_GT(read, 1000u) << "the mutations are too destructive to test anything after the header";
}

}  // namespace
}  // namespace lacuna
