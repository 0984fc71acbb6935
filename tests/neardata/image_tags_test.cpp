// Tests the tags of code in GPU memory: they are those of the code's file, relocated to the code's addresses.
#include "platform/loaders/image_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "platform/listing/finalize.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kBase = 0x7000000000;
constexpr std::uint64_t kLoadedBytes = 0x10000;

class ImageTagsTest : public ::testing::Test {
 protected:
  ImageTagsTest()
      : original_(CodeObject::read(std::filesystem::path(LACUNA_KERNELS) / "vector_add.co")),
        tagged_(finalize_object(original_, {.move = false})),
        loaded_(memory_.map(kBase, kLoadedBytes, isa::Access::read | isa::Access::execute)) {
    for (const ElfSegment& segment : original_.elf().segments())
      std::copy(segment.bytes.begin(), segment.bytes.end(), loaded_ + segment.virtual_address);
  }
  std::uint64_t entry() const { return original_.entries().front().entry; }
  std::optional<KernelTags> find(std::uint64_t address) const {
    return ImageTags([this] { return images_; }).find(memory_, address);
  }

  CodeObject original_;
  FinalizedObject tagged_;
  isa::test::TestMemory memory_;
  std::byte* loaded_;
  std::vector<std::span<const std::byte>> images_;
};

TEST_F(ImageTagsTest, AreThoseOfTheFile) {
  images_ = {tagged_.bytes};
  const auto tags = find(kBase + entry());
  ASSERT_TRUE(tags.has_value());
  EXPECT_EQ(tags->name, "vector_add");
  EXPECT_EQ(tags->entry, kBase + entry());
  ASSERT_EQ(tags->chains.size(), 1u);
  const Chain& in_file = tagged_.kernels.front().found.chains.front();
  for (std::size_t i = 0; i < in_file.instructions.size(); ++i)
    EXPECT_EQ(tags->chains[0].instructions[i].address, kBase + in_file.instructions[i].address);
}

TEST_F(ImageTagsTest, OtherCodeHasNoTags) {
  EXPECT_FALSE(find(kBase + entry()).has_value());
  images_ = {original_.elf().bytes()};
  EXPECT_FALSE(find(kBase + entry()).has_value());
  images_ = {tagged_.bytes};
  EXPECT_FALSE(find(kBase + entry() + 256).has_value());
  EXPECT_FALSE(find(0x1000).has_value());
  // Tags of code that has changed since it was loaded are refused.
  loaded_[entry()] ^= std::byte{1};
  EXPECT_FALSE(find(kBase + entry()).has_value());
}

TEST_F(ImageTagsTest, DamagedOnesAreRefused) {
  std::vector<std::byte> damaged = tagged_.bytes;
  const ElfFile file(damaged, "damaged");
  for (const ElfSection& section : file.sections()) {
    if (section.name != kTagSectionName) continue;
    damaged[static_cast<std::size_t>(section.bytes.data() - file.bytes().data()) + 4] = std::byte{9};
  }
  images_ = {damaged};
  EXPECT_THROW((void)find(kBase + entry()), TagError);
}

}  // namespace
}  // namespace lacuna
