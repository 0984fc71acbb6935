// Tests the addresses of zero masks against the formulas of LazyGPU (ISCA '25), section 4.2, and which words have a known mask.
#include "models/lazy/zero_masks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBase = 0x10'0000'0000;
constexpr std::uint64_t kMasks = 0x20'0000'0000;

struct Shape {
  unsigned partitions;
  std::uint64_t interleave;
  unsigned mask_bits;
  unsigned transaction;
  AddressHash hash;
  std::uint64_t turns;  ///< rounds of interleaving of the memory

  std::uint64_t bytes() const { return turns * partitions * interleave; }
  AddressSlice slice() const { return AddressSlice(kBase, Bytes{bytes()}, Bytes{interleave}, partitions, 0, hash); }
};

Shape random_shape(std::mt19937& random) {
  Shape s{};
  s.hash = random() % 2 == 0 ? AddressHash::fold : AddressHash::none;
  s.partitions = s.hash == AddressHash::fold ? 1U << random() % 6 : 1U + static_cast<unsigned>(random() % 20);
  s.interleave = std::uint64_t{64} << random() % 8;
  s.mask_bits = 32U << random() % 3;
  s.transaction = 32U << random() % 2;
  s.turns = 1 + (std::uint64_t{1} << 20) / (s.partitions * s.interleave);
  return s;
}

// The paper counts in blocks of the size of a transaction: the interleave is I blocks, a mask transaction covers M blocks. With
// I >= M these are M consecutive blocks of a chunk, otherwise the chunks of M / I consecutive rounds of their partition.
std::tuple<unsigned, std::uint64_t, std::uint64_t> transaction_by_the_paper(const Shape& s, std::uint64_t address) {
  const std::uint64_t blocks = s.interleave / s.transaction;
  const std::uint64_t covered = s.mask_bits;
  const unsigned partition = s.slice().owner(address);
  const std::uint64_t block = (address - kBase) / s.transaction;
  const std::uint64_t turn = block / (blocks * s.partitions);
  if (s.partitions == 1) return {0, block / covered, 0};  // the whole memory is one chunk
  if (blocks >= covered) return {partition, turn, block % blocks / covered};
  return {partition, turn / (covered / blocks), 0};
}

TEST(ZeroMaskMap, DataShareATransactionAsThePaperSays) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random_shape(random);
    const ZeroMaskMap map(s.slice(), kMasks, s.mask_bits, s.transaction);
    ASSERT_EQ(map.covered(), std::uint64_t{s.transaction} * s.mask_bits);
    std::map<std::tuple<unsigned, std::uint64_t, std::uint64_t>, std::uint64_t> there;
    std::map<std::uint64_t, std::tuple<unsigned, std::uint64_t, std::uint64_t>> back;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t address = kBase + random() % s.bytes();
      const auto expected = transaction_by_the_paper(s, address);
      const std::uint64_t transaction = map.find(address).transaction;
      ASSERT_EQ(there.try_emplace(expected, transaction).first->second, transaction) << "round " << round;
      ASSERT_EQ(back.try_emplace(transaction, expected).first->second, expected) << "round " << round;
      ASSERT_EQ(transaction % s.transaction, 0U);
      // Masks go to the partition of their data.
      ASSERT_TRUE(map.masks_of(s.slice().owner(address)).contains(transaction, s.transaction)) << "round " << round;
    }
  }
}

TEST(ZeroMaskMap, EachUnitOfDataHasASeparateBit) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    Shape s = random_shape(random);
    s.turns = 1 + 60'000 / (s.partitions * s.interleave);
    const ZeroMaskMap map(s.slice(), kMasks, s.mask_bits, s.transaction);
    std::set<std::pair<std::uint64_t, unsigned>> bits;
    const std::uint64_t unit = s.mask_bits / 8;
    for (std::uint64_t at = 0; at < s.bytes(); at += unit) {
      const ZeroMaskMap::Place first = map.find(kBase + at);
      const ZeroMaskMap::Place last = map.find(kBase + at + unit - 1);
      ASSERT_EQ(first.transaction, last.transaction);
      ASSERT_EQ(first.bit, last.bit);
      ASSERT_LT(first.bit, 8 * s.transaction);
      ASSERT_TRUE(bits.emplace(first.transaction, first.bit).second) << "round " << round << " at " << at;
    }
  }
}

TEST(ZeroMaskMap, MasksTakeTheMemorysSizeDividedByMaskBits) {
  for (const unsigned mask_bits : {32U, 64U, 128U}) {
    for (const unsigned partitions : {1U, 16U, 24U}) {
      const Bytes size{std::uint64_t{partitions} << 28};
      const ZeroMaskMap map(AddressSlice(kBase, size, 128_B, partitions, 0), kMasks, mask_bits);
      EXPECT_EQ(map.masks().size().n, size.n / mask_bits) << partitions << " partitions";
    }
  }
}

TEST(ZeroMaskMap, RefusesAnInterleaveSmallerThanATransaction) {
  EXPECT_THROW(ZeroMaskMap(AddressSlice(kBase, 1_MiB, 48_B, 4, 0), kMasks, 32, 32), std::invalid_argument);
  EXPECT_THROW(ZeroMaskMap(AddressSlice(kBase, 1_MiB, 64_B, 4, 0), kMasks, 32, 24), std::invalid_argument);
}

TEST(ZeroMasks, StoresAreKnownFromTheEndOfTheWindowOn) {
  ZeroMasks masks(kBase, 1_MiB, 2);
  EXPECT_EQ(masks.known_of_transaction(kBase), 0U);
  masks.stored(0, kBase, ByteMask(0xf0f));
  masks.stored(1, kBase + 64, ByteMask(0xffff'0000'0000'0000));
  EXPECT_EQ(masks.known_of_transaction(kBase), 0U);
  masks.window_ended();
  EXPECT_EQ(masks.known_of_transaction(kBase), 0b101U);
  EXPECT_TRUE(masks.known(kBase + 8));
  EXPECT_FALSE(masks.known(kBase + 4));
  EXPECT_EQ(masks.known_of_transaction(kBase + 96), 0xf0U);
}

TEST(ZeroMasks, PartsOfAWordChangeNothing) {
  ZeroMasks masks(kBase, 1_MiB, 1);
  masks.stored(0, kBase, ByteMask(0xf0));
  masks.stored(0, kBase, ByteMask(0x313));
  masks.window_ended();
  EXPECT_EQ(masks.known_of_transaction(kBase), 0b10U);
}

TEST(ZeroMasks, AtomicsAreAppliedAfterTheStoresOfAllGroups) {
  ZeroMasks masks(kBase, 1_MiB, 2);
  masks.changed(0, kBase, ByteMask(0xf0));
  masks.stored(1, kBase, ByteMask(0xfff));
  masks.window_ended();
  EXPECT_EQ(masks.known_of_transaction(kBase), 0b101U);
  masks.window_ended();
  EXPECT_EQ(masks.known_of_transaction(kBase), 0b101U) << "applied writes are not applied again";
}

TEST(ZeroMasks, WholeWordsOfARangeBecomeKnownPartialOnesUnknown) {
  std::mt19937 random(3);
  constexpr std::uint64_t kBytes = 1024;
  ZeroMasks masks(kBase, Bytes{kBytes}, 1);
  std::vector<bool> expected(kBytes / 4, false);
  for (int round = 0; round < 2000; ++round) {
    const bool known = random() % 2 == 0;
    // Some ranges extend beyond the memory.
    const std::uint64_t begin = kBase - 64 + random() % (kBytes + 100);
    const std::uint64_t bytes = random() % 300;
    if (known) {
      masks.mark_known(begin, bytes);
    } else {
      masks.mark_unknown(begin, bytes);
    }
    for (std::uint64_t word = 0; word < expected.size(); ++word) {
      const std::uint64_t first = kBase + 4 * word;
      const bool whole = first >= begin && first + 4 <= begin + bytes;
      const bool part = bytes != 0 && first < begin + bytes && first + 4 > begin;
      if (known ? whole : part) expected[word] = known;
      ASSERT_EQ(masks.known(first), expected[word]) << "round " << round << ", word " << word;
    }
  }
}

TEST(ZeroMasks, OtherMemoryIsIgnored) {
  ZeroMasks masks(kBase, 1_MiB, 1);
  masks.stored(0, kBase - 64, ByteMask(~std::uint64_t{0}));
  masks.changed(0, kBase + (1 << 20), ByteMask(~std::uint64_t{0}));
  masks.window_ended();
  EXPECT_FALSE(masks.known(kBase));
}

}  // namespace
}  // namespace lacuna
