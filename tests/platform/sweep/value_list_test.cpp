#include "platform/sweep/value_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string list_error(const std::string& text) {
  try {
    parse_values(text);
  } catch (const SweepError& e) {
    return e.what();
  }
  return {};
}

TEST(ValueList, SplitsAtCommasOutsideOfBracketsAndQuotes) {
  EXPECT_THAT(parse_values("1, 2 ,x"), ElementsAre("1", "2", "x"));
  EXPECT_THAT(parse_values("uniform(-1,1), \"gfx803,gfx90a\", \"\""), ElementsAre("uniform(-1,1)", "gfx803,gfx90a", ""));
}

TEST(ValueList, RangesCountUp) {
  EXPECT_THAT(parse_values("1..4"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(parse_values("0..10+5, 7"), ElementsAre("0", "5", "10", "7"));
  EXPECT_THAT(parse_values("3..3"), ElementsAre("3"));
  EXPECT_THAT(parse_values("1..10+4"), ElementsAre("1", "5", "9"));
}

TEST(ValueList, RangesOfRealsReachTheirEnd) {
  EXPECT_THAT(parse_values("0.1..0.3+0.1"), ::testing::SizeIs(3));
  EXPECT_THAT(parse_values("1e-1..1e+0+0.45"), ElementsAre("0.1", "0.55", "1"));
}

TEST(ValueList, RangesKeepTheUnitOfTheirBeginning) {
  EXPECT_THAT(parse_values("256KiB..1MiB*2"), ElementsAre("256KiB", "512KiB", "1024KiB"));
  EXPECT_THAT(parse_values("0cycles..502cycles+251cycles"), ElementsAre("0cycles", "251cycles", "502cycles"));
  EXPECT_THAT(parse_values("1GHz..2GHz+500MHz"), ElementsAre("1GHz", "1.5GHz", "2GHz"));
}

TEST(ValueList, FileNamesAreNoRanges) { EXPECT_THAT(parse_values("../a.launch, a..b"), ElementsAre("../a.launch", "a..b")); }

TEST(ValueList, RefusesEndlessAndMeaninglessRanges) {
  EXPECT_THAT(list_error("1,,2"), HasSubstr("a value is empty"));
  EXPECT_THAT(list_error("4..1"), HasSubstr("ends before it begins"));
  EXPECT_THAT(list_error("1..4*1"), HasSubstr("does not grow"));
  EXPECT_THAT(list_error("0..4*2"), HasSubstr("does not grow"));
  EXPECT_THAT(list_error("1..4+0"), HasSubstr("does not grow"));
  EXPECT_THAT(list_error("1KiB..4ns"), HasSubstr("units do not fit"));
  EXPECT_THAT(list_error("1KiB..4KiB*2KiB"), HasSubstr("units do not fit"));
  EXPECT_THAT(list_error("1..x"), HasSubstr("x is not a number"));
  EXPECT_THAT(list_error("\"a"), HasSubstr("quote has no end"));
  EXPECT_THAT(list_error("0..1000000000"), HasSubstr("more than a million"));
}

TEST(Quantities, HaveTheirBaseUnit) {
  EXPECT_EQ(parse_quantity("2MiB")->value, 2097152);
  EXPECT_EQ(parse_quantity("1.5 GHz")->value, 1.5e9);
  EXPECT_EQ(parse_quantity("14ns")->value, 14000);
  EXPECT_EQ(parse_quantity("0x10")->value, 16);
  EXPECT_EQ(parse_quantity("7")->kind, Quantity::Kind::plain);
  EXPECT_FALSE(parse_quantity("7 apples"));
  EXPECT_FALSE(parse_quantity("gfx803"));
  EXPECT_FALSE(parse_quantity(""));
  EXPECT_FALSE(parse_quantity("1e999"));
}

}  // namespace
}  // namespace lacuna
