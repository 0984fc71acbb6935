#include "models/noc/address_routes.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lacuna {
namespace {

using namespace literals;

AddressRoutes two_ranges(AddressHash hash = AddressHash::none) {
  return AddressRoutes({{"vram", 0x10000, 0x4000_B, 1, 4, 0x80_B, hash}, {"host", 0x1000, 0x1000_B, 0}});
}

TEST(AddressRoutes, FindsTheDestinationAndHowFarItGoes) {
  const AddressRoutes routes = two_ranges();
  struct Row {
    std::uint64_t address;
    bool found;
    unsigned destination;
    std::uint64_t contiguous;
  };
  const Row table[] = {
      {0xfff, false, 0, 0},     {0x1000, true, 0, 0x1000}, {0x1fff, true, 0, 1},  {0x2000, false, 0, 0},
      {0xffff, false, 0, 0},    {0x10000, true, 1, 0x80},  {0x1007f, true, 1, 1}, {0x10080, true, 2, 0x80},
      {0x10180, true, 4, 0x80}, {0x10200, true, 1, 0x80},  {0x13fff, true, 4, 1}, {0x14000, false, 0, 0},
  };
  for (const Row& row : table) {
    AddressRoutes::Hop hop{};
    ASSERT_EQ(routes.find(row.address, hop), row.found) << std::hex << row.address;
    if (!row.found) continue;
    EXPECT_EQ(hop.destination, row.destination) << std::hex << row.address;
    EXPECT_EQ(hop.contiguous, row.contiguous) << std::hex << row.address;
    unsigned one = 0;
    EXPECT_TRUE(routes.find_one(row.address, static_cast<unsigned>(row.contiguous), one)) << std::hex << row.address;
    EXPECT_EQ(one, row.destination) << std::hex << row.address;
    EXPECT_FALSE(routes.find_one(row.address, static_cast<unsigned>(row.contiguous) + 1, one)) << std::hex << row.address;
  }
  EXPECT_EQ(routes.destinations(), 5u);
}

TEST(AddressRoutes, SlicesAgreeWithTheRouting) {
  for (const AddressHash hash : {AddressHash::none, AddressHash::fold}) {
    const AddressRoutes routes = two_ranges(hash);
    for (std::uint64_t address = 0x10000; address < 0x14000; address += 0x40) {
      AddressRoutes::Hop hop{};
      ASSERT_TRUE(routes.find(address, hop));
      for (unsigned d = 1; d <= 4; ++d) EXPECT_EQ(routes.slice(d).contains(address, 0x40), d == hop.destination);
    }
    EXPECT_TRUE(routes.slice(0).contains(0x1800, 0x800));
  }
}

TEST(AddressRoutes, AHashChangesTheOrderFromTurnToTurn) {
  const AddressRoutes routes = two_ranges(AddressHash::fold);
  const unsigned expected[] = {1, 2, 3, 4, 2, 1, 4, 3, 3, 4, 1, 2};
  for (unsigned chunk = 0; chunk < 12; ++chunk) {
    AddressRoutes::Hop hop{};
    ASSERT_TRUE(routes.find(0x10000 + chunk * 0x80, hop));
    EXPECT_EQ(hop.destination, expected[chunk]) << chunk;
    EXPECT_EQ(hop.contiguous, 0x80U);
  }
}

TEST(AddressRoutes, NearestRange) {
  const AddressRoutes routes = two_ranges();
  EXPECT_EQ(routes.nearest(0)->name, "host");
  EXPECT_EQ(routes.nearest(0x2fff)->name, "host");
  EXPECT_EQ(routes.nearest(0xf000)->name, "vram");
  EXPECT_EQ(routes.nearest(0x12345)->name, "vram");
  EXPECT_EQ(AddressRoutes({}).nearest(0), nullptr);
}

TEST(AddressRoutes, BadTablesAreModelErrors) {
  EXPECT_THROW(AddressRoutes({{"empty", 0, 0_B, 0}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"none", 0, 0x100_B, 0, 0}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"wrap", ~std::uint64_t{0} - 1, 3_B, 0}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"a", 0, 0x100_B, 0}, {"b", 0xff, 1_B, 1}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"odd", 0, 0x101_B, 0, 2, 0x80_B}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"no interleave", 0, 0x100_B, 0, 2}}), std::invalid_argument);
  EXPECT_THROW(AddressRoutes({{"hash", 0, 0x600_B, 0, 3, 0x80_B, AddressHash::fold}}), std::invalid_argument);
  EXPECT_NO_THROW(AddressRoutes({{"top", ~std::uint64_t{0} - 1, 2_B, 0}}));
}

}  // namespace
}  // namespace lacuna
