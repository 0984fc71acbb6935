#include "firmware/driver/code_object_elf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace lacuna {
namespace {

using Image = std::vector<std::uint8_t>;

Image read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return Image(std::istreambuf_iterator<char>(file), {});
}

struct Version {
  unsigned number;
  const char* path;
};
constexpr Version kVersions[] = {{2, VECTOR_ADD_V2}, {3, VECTOR_ADD_V3}, {4, VECTOR_ADD_V4}, {5, VECTOR_ADD_V5}};

class CodeObjectElfTest : public ::testing::Test {
 protected:
  Image image_ = read_file(VECTOR_ADD_V4);
  code_object_view view_{};

  lacuna_error parse() { return code_object_parse(image_.data(), image_.size(), &view_); }
  template <typename T>
  void poke(std::size_t offset, T value) {
    std::memcpy(image_.data() + offset, &value, sizeof value);
  }
  template <typename T>
  T peek(std::size_t offset) const {
    T value;
    std::memcpy(&value, image_.data() + offset, sizeof value);
    return value;
  }
  /// File offset of the n-th program header of type `type`.
  std::size_t program_header(std::uint32_t type, unsigned n = 0) const {
    const std::size_t table = peek<std::uint64_t>(32);
    for (unsigned i = 0; i < peek<std::uint16_t>(56); ++i) {
      if (peek<std::uint32_t>(table + i * 56) == type && n-- == 0) return table + i * 56;
    }
    ADD_FAILURE() << "no program header of type " << type;
    return 0;
  }
  void expect_refused(lacuna_error error, const std::string& words) {
    EXPECT_EQ(parse(), error);
    EXPECT_NE(std::string(lacuna_last_error()).find(words), std::string::npos) << lacuna_last_error();
  }
};

TEST_F(CodeObjectElfTest, EveryVersion) {
  for (const Version& version : kVersions) {
    SCOPED_TRACE(version.path);
    image_ = read_file(version.path);
    ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(view_.version, version.number);
    EXPECT_EQ(view_.target, 0x080003u);
    EXPECT_EQ(view_.base, 0u);
    EXPECT_EQ(view_.span % 4096, 0u);
    EXPECT_EQ(view_.segments[0].address, 0u) << "the ELF header is loaded";
    lacuna_kernel kernel;
    ASSERT_EQ(code_object_kernel(&view_, "vector_add", &kernel), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(kernel.object % 64, 0u);
    EXPECT_EQ(kernel.group_segment_bytes, 0u);
    EXPECT_EQ(kernel.private_segment_bytes, 0u);
    EXPECT_GE(kernel.kernarg_segment_bytes, 28u);
    EXPECT_EQ(kernel.code_object_version, version.number);
    EXPECT_EQ(code_object_kernel(&view_, "vector_ad", &kernel), LACUNA_ERROR_NO_SUCH_KERNEL);
    EXPECT_EQ(code_object_kernel(&view_, "", &kernel), LACUNA_ERROR_NO_SUCH_KERNEL);
    EXPECT_EQ(code_object_kernel(&view_, std::string(300, 'x').c_str(), &kernel), LACUNA_ERROR_NO_SUCH_KERNEL);
  }
}

// Kernels with hidden visibility are only in .symtab.
TEST_F(CodeObjectElfTest, KernelsThatAreNotDynamic) {
  for (const Version& version : kVersions) {
    SCOPED_TRACE(version.path);
    image_ = read_file(version.path);
    ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
    const std::uint8_t* const symbols = code_object_bytes(&view_, view_.symbols, 24 * view_.symbol_count);
    for (std::uint64_t i = 1; i < view_.symbol_count; ++i)
      poke<std::uint16_t>(static_cast<std::size_t>(symbols - image_.data()) + 24 * i + 6, 0);  // st_shndx: undefined
    ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
    lacuna_kernel kernel;
    EXPECT_EQ(code_object_kernel(&view_, "vector_add", &kernel), LACUNA_OK) << lacuna_last_error();

    // The loaded copy contains the symbols as well, after the image has been released.
    std::vector<std::uint8_t> memory(code_object_loaded_bytes(&view_));
    for (unsigned i = 0; i < view_.segment_count; ++i) {
      const code_object_segment& segment = view_.segments[i];
      std::memcpy(memory.data() + segment.address, segment.bytes, segment.file_bytes);
    }
    code_object_keep_symbols(&view_, memory.data());
    for (unsigned i = 0; i < view_.segment_count; ++i) view_.segments[i].bytes = memory.data() + view_.segments[i].address;
    std::fill(image_.begin(), image_.end(), std::uint8_t{0});
    EXPECT_EQ(code_object_kernel(&view_, "vector_add", &kernel), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(code_object_kernel(&view_, "vector_ad", &kernel), LACUNA_ERROR_NO_SUCH_KERNEL);

    // Without sections only dynamic symbols are available.
    image_ = read_file(version.path);
    poke<std::uint64_t>(40, 0);  // e_shoff
    ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(code_object_kernel(&view_, "vector_add", &kernel), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(code_object_loaded_bytes(&view_), view_.span);
  }
}

TEST_F(CodeObjectElfTest, Version2NamesItsProcessorInANote) {
  image_ = read_file(VECTOR_ADD_V2);
  for (const std::uint32_t features : {0u, 1u, 2u, 3u}) {
    poke<std::uint32_t>(48, features);
    ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(view_.target, 0x080003u);
  }
  // The note: name "AMD", type 3; lengths of two names, then 8, 0, 3.
  constexpr std::uint8_t kNote[] = {3, 0, 0, 0, 'A', 'M', 'D', 0};
  const auto found = std::search(image_.begin(), image_.end(), std::begin(kNote), std::end(kNote));
  ASSERT_NE(found, image_.end());
  const auto note = static_cast<std::size_t>(found - image_.begin());
  poke<std::uint32_t>(note + 12, 9);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "its note names gfx903");
  poke<std::uint32_t>(note, 99);  // without a note of type 3, e_flags apply
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "e_flags 0x3 name");
  poke<std::uint32_t>(48, 0x2a);
  EXPECT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
  image_ = read_file(VECTOR_ADD_V4);  // version 4 has no note of type 3
  poke<std::uint32_t>(48, 1);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "e_flags 0x1 name");
}

TEST_F(CodeObjectElfTest, PagesHaveTheirSegmentsAccess) {
  ASSERT_EQ(parse(), LACUNA_OK);
  EXPECT_EQ(code_object_page_access(&view_, 0), LACUNA_ACCESS_READ);
  bool executable = false;
  for (std::uint64_t page = 0; page < view_.span; page += 4096) {
    const std::uint32_t access = code_object_page_access(&view_, page);
    executable |= (access & LACUNA_ACCESS_EXECUTE) != 0;
    EXPECT_NE(access & (LACUNA_ACCESS_EXECUTE | LACUNA_ACCESS_WRITE), LACUNA_ACCESS_EXECUTE | LACUNA_ACCESS_WRITE) << page;
  }
  EXPECT_TRUE(executable);
  EXPECT_EQ(code_object_page_access(&view_, view_.span), 0u);
}

TEST_F(CodeObjectElfTest, WrongKindOfFile) {
  poke<std::uint8_t>(0, 'M');
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "ELF magic");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint8_t>(4, 1);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "64-bit");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint8_t>(7, 0);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "OS ABI");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint8_t>(8, 9);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "version");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint16_t>(16, 1);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "not linked");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint16_t>(18, 62);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "machine 62");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint32_t>(48, 0x30);
  expect_refused(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "e_flags 0x30");
}

TEST_F(CodeObjectElfTest, DamagedProgramHeaders) {
  poke<std::uint64_t>(32, image_.size() - 8);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "program headers");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint64_t>(program_header(1) + 8, image_.size());
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "outside the image");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint64_t>(program_header(1) + 32, UINT64_MAX);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "outside the image");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint64_t>(program_header(1, 2) + 40, std::uint64_t{1} << 40);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "out of range");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint64_t>(program_header(1, 1) + 16, 0);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "overlaps");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint64_t>(program_header(1, 1) + 48, 12288);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "alignment");
  image_ = read_file(VECTOR_ADD_V4);
  poke<std::uint32_t>(program_header(2), 0);
  expect_refused(LACUNA_ERROR_INVALID_CODE_OBJECT, "no dynamic section");
}

TEST_F(CodeObjectElfTest, EveryTruncationIsRefused) {
  // The loader does not need the sections at the end of the file; loaded contents end with the last segment.
  ASSERT_EQ(parse(), LACUNA_OK);
  const code_object_segment& last = view_.segments[view_.segment_count - 1];
  const std::size_t needed = static_cast<std::size_t>(last.bytes - image_.data()) + last.file_bytes;
  for (std::size_t size = 0; size < needed; ++size) {
    // A separate allocation, so that the sanitizer detects a read past the end.
    const Image truncated(image_.begin(), image_.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(code_object_parse(truncated.data(), truncated.size(), &view_), LACUNA_OK) << size;
  }
}

TEST_F(CodeObjectElfTest, Relocations) {
  image_ = read_file(PROGRAM_SCOPE);
  ASSERT_EQ(parse(), LACUNA_OK) << lacuna_last_error();
  ASSERT_GT(view_.relocations[0].count + view_.relocations[1].count, 0u);
  std::vector<std::uint8_t> memory(view_.span);
  constexpr std::uint64_t kLoadedAt = 0x7100'0000'5000;
  ASSERT_EQ(code_object_relocate(&view_, memory.data(), kLoadedAt), LACUNA_OK) << lacuna_last_error();
  // r_offset, r_info, r_addend: type 13 is R_AMDGPU_RELATIVE64.
  std::uint64_t entry[3];
  std::memcpy(entry, code_object_bytes(&view_, view_.relocations[0].address, sizeof entry), sizeof entry);
  ASSERT_EQ(entry[1], 13u);
  std::uint64_t value;
  std::memcpy(&value, memory.data() + entry[0], sizeof value);
  EXPECT_EQ(value, kLoadedAt + entry[2]);
}

// Damages valid images at random, in ways that keep the magic most of the time, and passes them to all functions that the
// driver uses. Whatever the result, no byte outside the image or the loaded copy may be accessed; AddressSanitizer detects such
// accesses.
TEST_F(CodeObjectElfTest, MutatedImages) {
  std::mt19937_64 random(20240229);
  std::vector<Image> seeds;
  for (const Version& version : kVersions) seeds.push_back(read_file(version.path));
  seeds.push_back(read_file(PROGRAM_SCOPE));
  unsigned accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    Image image = seeds[random() % seeds.size()];
    const unsigned mutations = 1 + random() % 4;
    for (unsigned i = 0; i < mutations; ++i) {
      // The parser follows headers and dynamic tables, so they are damaged more often than code.
      const std::size_t limit = random() % 4 == 0 ? image.size() : std::min<std::size_t>(image.size(), 600);
      const std::size_t at = random() % limit;
      switch (random() % 4) {
        case 0:
          image[at] = static_cast<std::uint8_t>(random());
          break;
        case 1:
          image[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 2: {
          constexpr std::uint64_t kInteresting[] = {0,           1,           0x7f,           0xfff,     0x1000,
                                                    0x7fff'ffff, 0xffff'ffff, UINT64_MAX / 2, UINT64_MAX};
          const std::uint64_t value = kInteresting[random() % std::size(kInteresting)];
          std::memcpy(image.data() + at, &value, std::min<std::size_t>(8, image.size() - at));
          break;
        }
        default:
          if (random() % 4 == 0) image.resize(random() % image.size() + 1);
          break;
      }
    }
    const Image exact(image.begin(), image.end());
    code_object_view view;
    if (code_object_parse(exact.data(), exact.size(), &view) != LACUNA_OK) continue;
    if (view.span > (16u << 20)) continue;
    ++accepted;
    std::vector<std::uint8_t> memory(view.span);
    for (unsigned i = 0; i < view.segment_count; ++i) {
      const code_object_segment& segment = view.segments[i];
      if (segment.file_bytes != 0)
        std::memcpy(memory.data() + (segment.address - view.base), segment.bytes, segment.file_bytes);
    }
    code_object_relocate(&view, memory.data(), 0x7100'0000'0000);
    code_object_view kept = view;
    std::vector<std::uint8_t> with_symbols = memory;
    with_symbols.resize(code_object_loaded_bytes(&kept));
    code_object_keep_symbols(&kept, with_symbols.data());
    lacuna_kernel again;
    code_object_kernel(&kept, "vector_add", &again);
    lacuna_kernel kernel;
    code_object_kernel(&view, "vector_add", &kernel);
    for (std::uint64_t page = 0; page < std::min<std::uint64_t>(view.span, 1 << 16); page += 4096) {
      code_object_page_access(&view, view.base + page);
    }
  }
  EXPECT_GT(accepted, 1000u) << "mutations that are all rejected immediately test little";
}

}  // namespace
}  // namespace lacuna
