// Tests the names of kernels and functions that are read from a code object in GPU memory: its dynamic symbols, and the symbols
// that a loader has placed after it.
#include "models/command/kernel_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tlb/gpuvm.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kBase = 0x200000;
constexpr std::uint64_t kBytes = 0x4000;
constexpr std::uint64_t kDescriptor = 0x800;
constexpr std::uint64_t kFunction = 0x1000;  // 0x40 bytes, before the kernel
constexpr std::uint64_t kKernel = 0x1100;    // the kernel's function, 0x80 bytes
constexpr std::uint64_t kUnsized = 0x1200;
constexpr std::uint64_t kSections = 0x3000;

class KernelSymbolsTest : public testing::Test {
 protected:
  KernelSymbolsTest() : bytes_(kBytes) {
    vm_.map(kBase, kBytes, 0, bytes_.data(), isa::Access::read | isa::Access::execute);
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_phoff = sizeof header_;
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_phnum = 1;
    put(0, header_);
    put(sizeof header_, Elf64_Phdr{.p_type = PT_LOAD,
                                   .p_flags = PF_R | PF_X,
                                   .p_offset = 0,
                                   .p_vaddr = 0x1000,
                                   .p_paddr = 0,
                                   .p_filesz = 0,
                                   .p_memsz = 0x1000,
                                   .p_align = 0});
  }
  template <class T>
  void put(std::uint64_t offset, const T& value) {
    std::memcpy(&bytes_[offset], &value, sizeof value);
  }
  static Elf64_Sym symbol(unsigned name, unsigned char type, std::uint64_t value, std::uint64_t size) {
    return {.st_name = name, .st_info = type, .st_other = 0, .st_shndx = 1, .st_value = value, .st_size = size};
  }
  /// Writes a section table, symbols and strings as the firmware driver does.
  void put_symbols() {
    const std::string names("\0helper\0outer\0outer.kd\0unsized\0", 31);
    const Elf64_Sym symbols[] = {{},
                                 symbol(1, STT_FUNC, kFunction, 0x40),
                                 symbol(8, STT_FUNC, kKernel, 0x80),
                                 symbol(14, STT_OBJECT, kDescriptor, 64),
                                 symbol(23, STT_FUNC, kUnsized, 0)};
    Elf64_Shdr sections[3]{};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_flags = SHF_ALLOC;
    sections[1].sh_addr = kSections + sizeof sections;
    sections[1].sh_size = sizeof symbols;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_flags = SHF_ALLOC;
    sections[2].sh_addr = sections[1].sh_addr + sizeof symbols;
    sections[2].sh_size = names.size();
    put(kSections, sections);
    put(sections[1].sh_addr, symbols);
    std::memcpy(&bytes_[sections[2].sh_addr], names.data(), names.size());
    header_.e_shoff = kSections;
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_shnum = 3;
    put(0, header_);
  }

  std::vector<std::byte> bytes_;
  Elf64_Ehdr header_{};
  GpuVm vm_;
  KernelSymbols symbols_{vm_};
};

TEST_F(KernelSymbolsTest, FunctionsAreFoundByTheirAddress) {
  put_symbols();
  struct Row {
    std::uint64_t pc;
    const char* name;
    std::uint64_t begin;
  };
  for (const Row& row : {Row{kFunction, "helper", kFunction}, Row{kFunction + 0x3c, "helper", kFunction},
                         Row{kKernel + 8, "outer", kKernel}, Row{kUnsized + 0x100, "unsized", kUnsized}}) {
    const auto function = symbols_.function(kBase + row.pc);
    ASSERT_TRUE(function) << row.pc;
    EXPECT_EQ(function->name, row.name);
    EXPECT_EQ(function->address, kBase + row.begin);
  }
  EXPECT_FALSE(symbols_.function(kBase + kFunction + 0x40)) << "between two functions";
  EXPECT_FALSE(symbols_.function(kBase + kDescriptor)) << "no code";
  EXPECT_FALSE(symbols_.function(0x900000)) << "not mapped";
}

TEST_F(KernelSymbolsTest, KernelsThatAreNotDynamicHaveTheirName) {
  EXPECT_EQ(symbols_.name(kBase + kDescriptor), "kernel@0x200800");
  put_symbols();
  EXPECT_EQ(symbols_.name(kBase + kDescriptor), "outer");
}

TEST_F(KernelSymbolsTest, MemoryIsReusedForOtherKernels) {
  put_symbols();
  const std::vector<std::byte> before = bytes_;
  const auto find = [this](std::string_view text) {
    return std::search(bytes_.begin(), bytes_.end(), text.begin(), text.end(),
                       [](std::byte byte, char c) { return byte == static_cast<std::byte>(c); });
  };
  const std::uint64_t symbols = kSections + 3 * sizeof(Elf64_Shdr);
  struct Row {
    std::function<void()> change;
    const char* name;
  };
  for (const Row& row : {Row{[&] { *find("outer.kd") = std::byte{'O'}; }, "Outer"},
                         Row{[&] { *(find("outer.kd") + 8) = std::byte{'!'}; }, "kernel@0x200800"},  // name without .kd
                         Row{[&] { put(symbols + 3 * sizeof(Elf64_Sym), Elf64_Sym{}); }, "kernel@0x200800"},
                         Row{[&] { put(0, Elf64_Ehdr{}); }, "kernel@0x200800"}}) {
    EXPECT_EQ(symbols_.name(kBase + kDescriptor), "outer");
    row.change();
    EXPECT_EQ(symbols_.name(kBase + kDescriptor), row.name);
    std::copy(before.begin(), before.end(), bytes_.begin());
  }
}

// Symbols are read once for all kernels and names of a code object, and again if they have changed in memory.
TEST_F(KernelSymbolsTest, DataObjectsAreFoundByName) {
  const std::uint64_t kernel = kBase + kDescriptor;
  EXPECT_FALSE(symbols_.data_object(kernel, "outer.kd"));
  put_symbols();
  const auto is_at = [&](const std::string& name, std::uint64_t offset) {
    const auto object = symbols_.data_object(kernel, name);
    return object && object->address == kBase + offset && object->bytes == 64;
  };
  const std::uint64_t before = symbols_.readings();
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_at("outer.kd", kDescriptor));
    EXPECT_FALSE(symbols_.data_object(kernel, "outer")) << "a function";
    EXPECT_FALSE(symbols_.data_object(kernel, "other"));
    EXPECT_FALSE(symbols_.data_object(kernel + 0x40, "other")) << "another kernel of the code object";
  }
  EXPECT_EQ(symbols_.readings(), before + 1);

  const std::vector<std::byte> bytes = bytes_;
  const std::uint64_t third = kSections + 3 * sizeof(Elf64_Shdr) + 3 * sizeof(Elf64_Sym);
  // Each change is noticed: another object, another name, another address, and finally memory that is no longer a code object.
  put(third, symbol(1, STT_OBJECT, kDescriptor, 64));
  EXPECT_FALSE(symbols_.data_object(kernel, "outer.kd"));
  EXPECT_TRUE(is_at("helper", kDescriptor));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  EXPECT_TRUE(is_at("outer.kd", kDescriptor));
  const std::string_view text = "outer.kd";
  *std::search(bytes_.begin(), bytes_.end(), text.begin(), text.end(),
               [](std::byte byte, char c) { return byte == static_cast<std::byte>(c); }) = std::byte{'O'};
  EXPECT_FALSE(symbols_.data_object(kernel, "outer.kd"));
  EXPECT_TRUE(is_at("Outer.kd", kDescriptor));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  put(third, symbol(14, STT_OBJECT, kDescriptor + 0x80, 64));
  EXPECT_TRUE(is_at("outer.kd", kDescriptor + 0x80));
  put(0, Elf64_Ehdr{});
  EXPECT_FALSE(symbols_.data_object(kernel, "outer.kd"));
}

// Other loaders do not change the header: e_shoff then points to arbitrary memory.
TEST_F(KernelSymbolsTest, OnlyATableThatIsInMemoryCounts) {
  put_symbols();
  Elf64_Shdr section{};
  std::memcpy(&section, &bytes_[kSections + sizeof section], sizeof section);
  section.sh_flags = 0;
  put(kSections + sizeof section, section);
  EXPECT_FALSE(symbols_.function(kBase + kFunction));
  for (std::size_t i = kSections; i < kBytes; ++i) bytes_[i] = std::byte{0xff};
  EXPECT_FALSE(symbols_.function(kBase + kFunction));
  header_.e_shoff = kBytes - 8;
  put(0, header_);
  EXPECT_FALSE(symbols_.function(kBase + kFunction));
}

TEST(CodePlace, NamesTheFunctionWhenItIsNotTheKernel) {
  EXPECT_EQ(code_place("outer", 0x2000, 0x2030, std::nullopt), "PC 0x2030 (+0x30)");
  EXPECT_EQ(code_place("outer", 0x2000, 0x2030, CodeSymbol{"outer", 0x1f00}),
            "PC 0x2030 (+0x30)");  // code object v2: the symbol is the kernel object, which precedes the entry
  EXPECT_EQ(code_place("kernel@0x1f00", 0x2000, 0x2030, CodeSymbol{"outer", 0x2000}), "PC 0x2030 (+0x30)");
  EXPECT_EQ(code_place("outer", 0x2000, 0x1c10, CodeSymbol{"helper", 0x1c00}), "PC 0x1c10 (function helper +0x10)");
  EXPECT_EQ(code_place("outer", 0x2000, 0x1c10, std::nullopt), "PC 0x1c10 (-0x3f0)");
}

}  // namespace
}  // namespace lacuna
