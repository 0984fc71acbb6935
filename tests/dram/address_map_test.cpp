#include "models/dram/address_map.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace lacuna {
namespace {

constexpr DramOrganization kOrganization{.pseudo_channels = 2, .bank_groups = 4, .banks_per_group = 4, .columns = 32};

TEST(DramAddressMap, FieldsFromTheTop) {
  const DramAddressMap map("row bank column group pseudo", kOrganization);
  EXPECT_EQ(map.locate(0), DramLocation{});
  EXPECT_EQ(map.locate(1), (DramLocation{.pseudo_channel = 1}));
  EXPECT_EQ(map.locate(2 + 8), (DramLocation{.column = 1, .group = 1}));
  EXPECT_EQ(map.locate(3 << 8), (DramLocation{.bank = 3}));
  EXPECT_EQ(map.locate((std::uint64_t{123'456'789} << 10) + 1023),
            (DramLocation{.row = 123'456'789, .column = 31, .pseudo_channel = 1, .group = 3, .bank = 3}));
}

TEST(DramAddressMap, AFieldMayBeSplitIntoTwoParts) {
  const DramAddressMap map("row column bank group pseudo column:2", kOrganization);
  EXPECT_EQ(map.locate(3), (DramLocation{.column = 3}));
  EXPECT_EQ(map.locate(4), (DramLocation{.pseudo_channel = 1}));
  EXPECT_EQ(map.locate(1 << 7), (DramLocation{.column = 4}));
  EXPECT_EQ(map.locate(7 << 7), (DramLocation{.column = 28}));
  EXPECT_EQ(map.locate(1 << 10), (DramLocation{.row = 1}));
}

// Checks that every burst has a different location and that every location is used.
TEST(DramAddressMap, IsOneToOne) {
  const DramAddressMap map("row column:2 bank:1 group column bank pseudo", kOrganization);
  std::vector<bool> seen(2048);
  for (unsigned burst = 0; burst < 2048; ++burst) {
    const DramLocation l = map.locate(burst);
    ASSERT_LT(l.row, 2U);
    const unsigned place =
        ((((static_cast<unsigned>(l.row) * 32 + l.column) * 2 + l.pseudo_channel) * 4 + l.group) * 4) + l.bank;
    EXPECT_FALSE(seen[place]);
    seen[place] = true;
  }
}

TEST(DramAddressMap, TheRowChoosesAPermutationOfTheBanks) {
  const DramAddressMap map("row bank^row group^row column pseudo", kOrganization);
  // In row 0 the hash changes nothing.
  EXPECT_EQ(map.locate(1 << 6), (DramLocation{.group = 1}));
  // Row 0b11'01'10: the hash is 0b01'10 ^ 0b11; its lower half belongs to the lower field.
  EXPECT_EQ(map.locate(0b11'01'10 << 10), (DramLocation{.row = 0b11'01'10, .group = 0b01, .bank = 0b01}));
  for (unsigned row = 0; row < 64; ++row) {
    unsigned seen = 0;
    for (unsigned bank = 0; bank < 16; ++bank) {
      const DramLocation l = map.locate((row * 16 + bank) << 6);
      ASSERT_EQ(l.row, row);
      seen |= 1U << (l.group * 4 + l.bank);
    }
    EXPECT_EQ(seen, 0xffffU) << row;
  }
}

TEST(DramAddressMap, ArraysAPowerOfTwoApartHaveOtherBanks) {
  const DramAddressMap map("row bank^row group^row column pseudo", kOrganization);
  for (unsigned distance = 1 << 6; distance < 1U << 28; distance *= 2) {
    const DramLocation a = map.locate(12345 << 6);
    const DramLocation b = map.locate((12345 << 6) ^ distance);
    const DramLocation c = map.locate((12345 << 6) ^ (2 * distance));
    EXPECT_NE(a.group * 4 + a.bank, b.group * 4 + b.bank) << distance;
    EXPECT_NE(a.group * 4 + a.bank, c.group * 4 + c.bank) << distance;
    EXPECT_NE(b.group * 4 + b.bank, c.group * 4 + c.bank) << distance;
  }
}

TEST(DramAddressMap, FieldsOfWidthNoneMayBeNamedOrNot) {
  constexpr DramOrganization kOne{.pseudo_channels = 1, .bank_groups = 1, .banks_per_group = 1, .columns = 4};
  EXPECT_EQ(DramAddressMap("row bank group column pseudo", kOne).locate(7), (DramLocation{.row = 1, .column = 3}));
  EXPECT_EQ(DramAddressMap("row column", kOne).locate(7), (DramLocation{.row = 1, .column = 3}));
}

TEST(DramAddressMap, Refusals) {
  struct Case {
    const char* text;
    const char* why;
  };
  for (const Case& c :
       {Case{"", "\"row\" must be first"}, Case{"bank row column group pseudo", "\"row\" must be first"},
        Case{"row:14 bank column group pseudo", "\"row\" must be first"},
        Case{"row bank column group", "pseudo has 1 bits, but 0 are placed"},
        Case{"row bank column:4 group pseudo", "column has 5 bits, but 4 are placed"},
        Case{"row bank column:6 group pseudo", "column has 5 bits, not more"},
        Case{"row rank bank column group pseudo", "\"rank\" is not one of"},
        Case{"row bank^rank column group pseudo", "are the hashes"}, Case{"row bank column^row group pseudo", "are the hashes"},
        Case{"row^row bank column group pseudo", "are the hashes"}, Case{"row bank:x column group pseudo", "number of bits"},
        Case{"row row bank column", "cannot be split"}}) {
    try {
      const DramAddressMap map(c.text, kOrganization);
      ADD_FAILURE() << c.text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(c.why), std::string::npos) << c.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace lacuna
