// Tests the look-up of device functions' names in the runtime's list of loaded code objects.
#include "drivers/rocm/runtime_symbols.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/platform/loaders/elf_builder.h"

namespace lacuna::rocm {
namespace {

TEST(CodeObjectPlace, FilesAndMemory) {
  const auto file = code_object_place("file:///tmp/a%20program#offset=4096&size=9000");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->file, "/tmp/a program");
  EXPECT_EQ(file->offset, 4096u);
  EXPECT_EQ(file->size, 9000u);
  const auto whole = code_object_place("file:///a.co");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->file, "/a.co");
  EXPECT_EQ(whole->size, 0u);
  const auto memory = code_object_place("memory://1234#offset=0x7f0000&size=9000");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->file, "");
  EXPECT_EQ(memory->offset, 0x7f0000u);
  EXPECT_EQ(memory->size, 9000u);
}

TEST(CodeObjectPlace, OtherUrisAreRefused) {
  for (const char* uri : {"", "file://", "memory://12", "memory://12#offset=x&size=1", "http://a", "/a.co"})
    EXPECT_FALSE(code_object_place(uri)) << uri;
}

/// A code object whose function `main` has 16 bytes at 0x1000, and a list of loaded code objects, as kept by the runtime.
class RuntimeSymbolsTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLoadedAt = 0x700000;

  std::string in_memory(const std::vector<std::byte>& bytes) const {
    return "memory://" + std::to_string(getpid()) + "#offset=" + std::to_string(reinterpret_cast<std::uint64_t>(bytes.data())) +
           "&size=" + std::to_string(bytes.size());
  }
  void load(std::uint64_t address, std::string& uri) {
    entry_.l_addr = address;
    entry_.l_name = uri.data();
    list_.r_map = &before_;
    before_.l_addr = 0x1000;
    before_.l_name = nothing_.data();
    before_.l_next = &entry_;
  }

  const std::vector<std::byte> elf_ = test::small_elf(ElfMachine::amdgpu, 0x2a, 0x1000, {1, 2, 3, 4});
  std::string nothing_ = "file:///nowhere";
  link_map before_{};
  link_map entry_{};
  r_debug list_{};
  RuntimeSymbols symbols_{&list_};
};

TEST_F(RuntimeSymbolsTest, AFunctionIsFoundWhereItsObjectIsLoaded) {
  std::string uri = in_memory(elf_);
  load(kLoadedAt, uri);
  const auto function = symbols_.function(kLoadedAt + 0x1004);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "main");
  EXPECT_EQ(function->address, kLoadedAt + 0x1000);
  EXPECT_FALSE(symbols_.function(kLoadedAt + 0x1010)) << "after its end";
  EXPECT_FALSE(symbols_.function(kLoadedAt + 0xffc)) << "before its begin";
  EXPECT_FALSE(symbols_.function(0x2004)) << "in an object whose file is not there";
}

TEST_F(RuntimeSymbolsTest, AFileIsReadFromItsOffset) {
  const std::string name = testing::TempDir() + "runtime symbols " + std::to_string(getpid());
  std::ofstream(name, std::ios::binary) << std::string(100, 'x')
                                        << std::string(reinterpret_cast<const char*>(elf_.data()), elf_.size()) << "behind";
  std::string uri = "file://" + name + "#offset=100&size=" + std::to_string(elf_.size());
  load(kLoadedAt, uri);
  const auto function = symbols_.function(kLoadedAt + 0x1000);
  std::remove(name.c_str());
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "main");
}

TEST_F(RuntimeSymbolsTest, InvalidMemoryAndListsGiveNoFunction) {
  std::string uri = "memory://1#offset=4096&size=5000";  // memory that belongs to no code object
  load(kLoadedAt, uri);
  EXPECT_FALSE(symbols_.function(kLoadedAt + 0x1000));
  before_.l_next = reinterpret_cast<link_map*>(0x1000);
  EXPECT_FALSE(symbols_.function(kLoadedAt + 0x1000));
  before_.l_next = &before_;  // an endless cycle
  EXPECT_FALSE(symbols_.function(kLoadedAt + 0x1000));
  EXPECT_FALSE(RuntimeSymbols(nullptr).function(kLoadedAt));
  EXPECT_FALSE(RuntimeSymbols(reinterpret_cast<const r_debug*>(0x1000)).function(kLoadedAt));
}

}  // namespace
}  // namespace lacuna::rocm
