// Tests masks of up to 128 bytes against std::bitset.
#include "models/common/transport/byte_mask.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace lacuna {
namespace {

using Bits = std::bitset<ByteMask::kBytes>;

Bits bits_of(ByteMask mask) { return Bits(mask.high()) << 64 | Bits(mask.low()); }

TEST(ByteMask, FirstBytes) {
  for (unsigned count = 0; count <= ByteMask::kBytes; ++count) {
    Bits expected;
    for (unsigned i = 0; i < count; ++i) expected.set(i);
    EXPECT_EQ(bits_of(ByteMask::first(count)), expected) << count;
  }
  EXPECT_EQ(ByteMask::first(ByteMask::kBytes), ByteMask::all());
  EXPECT_FALSE(ByteMask{}.any());
  EXPECT_TRUE((ByteMask(1) << 127).any());
}

TEST(ByteMask, OperatorsAreThoseOfABitset) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 1000; ++round) {
    const ByteMask a(random(), round % 2 == 0 ? 0 : random());
    const ByteMask b(random(), random());
    const unsigned bytes = round % ByteMask::kBytes;
    EXPECT_EQ(bits_of(a & b), (bits_of(a) & bits_of(b)));
    EXPECT_EQ(bits_of(a | b), (bits_of(a) | bits_of(b)));
    EXPECT_EQ(bits_of(~a), ~bits_of(a));
    EXPECT_EQ(bits_of(a << bytes), bits_of(a) << bytes) << bytes;
    EXPECT_EQ(bits_of(a >> bytes), bits_of(a) >> bytes) << bytes;
    ByteMask c = a;
    c |= b;
    EXPECT_EQ(c, a | b);
    c &= a;
    EXPECT_EQ(c, a);
  }
}

}  // namespace
}  // namespace lacuna
