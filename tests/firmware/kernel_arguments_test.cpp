#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "firmware/include/lacuna.h"

namespace lacuna {
namespace {

struct Explicit {
  std::uint64_t pointer = 0x1122'3344'5566'7788;
  std::uint32_t count = 0xaabbccdd;
};

class KernelArgumentsTest : public ::testing::Test {
 protected:
  template <typename T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, segment_.data() + offset, sizeof value);
    return value;
  }
  lacuna_error lay_out(std::uint32_t segment_bytes, unsigned version, std::size_t argument_bytes = sizeof(Explicit)) {
    segment_.fill(0xee);
    const lacuna_kernel kernel{0x1000, 0, 0, segment_bytes, version};
    const lacuna_launch_shape shape{{100, 7, 1}, {32, 7, 1}, 2, 0x2000'0001, 0x2000'0000, 0x7100'0000'4000};
    return lacuna_kernel_arguments(&kernel, &shape, &explicit_, argument_bytes, segment_.data(), segment_.size());
  }
  Explicit explicit_;
  std::array<std::uint8_t, 512> segment_{};
};

TEST_F(KernelArgumentsTest, HiddenArgumentsAreZeroBeforeVersion5) {
  ASSERT_EQ(lay_out(88, 4), LACUNA_OK);
  EXPECT_EQ(std::memcmp(segment_.data(), &explicit_, 12), 0);
  for (std::size_t i = 16; i < segment_.size(); ++i) EXPECT_EQ(segment_[i], 0) << i;
}

TEST_F(KernelArgumentsTest, Version5HasTheLaunchShape) {
  ASSERT_EQ(lay_out(16 + 256, 5), LACUNA_OK);
  EXPECT_EQ(at<std::uint32_t>(16), 3u) << "whole workgroups of 32 in 100";
  EXPECT_EQ(at<std::uint32_t>(20), 1u);
  EXPECT_EQ(at<std::uint32_t>(24), 1u);
  EXPECT_EQ(at<std::uint16_t>(28), 32u);
  EXPECT_EQ(at<std::uint16_t>(30), 7u);
  EXPECT_EQ(at<std::uint16_t>(32), 1u);
  EXPECT_EQ(at<std::uint16_t>(34), 4u) << "100 mod 32";
  EXPECT_EQ(at<std::uint16_t>(36), 0u);
  EXPECT_EQ(at<std::uint64_t>(16 + 40), 0u) << "global offset";
  EXPECT_EQ(at<std::uint16_t>(16 + 64), 2u) << "dimensions";
  EXPECT_EQ(at<std::uint32_t>(16 + 192), 0x2000'0001u);
  EXPECT_EQ(at<std::uint32_t>(16 + 196), 0x2000'0000u);
  EXPECT_EQ(at<std::uint64_t>(16 + 200), 0x7100'0000'4000u);
}

TEST_F(KernelArgumentsTest, Version5CutShort) {
  ASSERT_EQ(lay_out(16 + 18, 5), LACUNA_OK);
  EXPECT_EQ(at<std::uint16_t>(32), 1u) << "the last one that fits";
  EXPECT_EQ(at<std::uint16_t>(34), 0u) << "remainders lie outside";
}

TEST_F(KernelArgumentsTest, ExplicitArgumentsMustFit) {
  EXPECT_EQ(lay_out(12, 4), LACUNA_OK) << "the struct's padding is not an argument";
  EXPECT_EQ(lay_out(8, 4), LACUNA_ERROR_SEGMENT_TOO_LARGE);
  EXPECT_EQ(lay_out(513, 4), LACUNA_ERROR_SEGMENT_TOO_LARGE);
  EXPECT_EQ(lay_out(0, 4, 0), LACUNA_OK);
}

}  // namespace
}  // namespace lacuna
