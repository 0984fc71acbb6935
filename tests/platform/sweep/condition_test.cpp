#include "platform/sweep/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

const NamedValues kValues{{"l2.size", "1MiB"}, {"n", "64"}, {"gpu.target", "gfx90a"}, {"share", "0.5"}, {"rocm.sdma", "true"}};

std::string condition_error(const std::string& condition) {
  try {
    holds(condition, kValues);
  } catch (const SweepError& e) {
    return e.what();
  }
  return {};
}

TEST(Conditions, CompareQuantitiesInTheirBaseUnit) {
  EXPECT_TRUE(holds("l2.size == 1024KiB", kValues));
  EXPECT_TRUE(holds("l2.size > 512KiB && n < 65", kValues));
  EXPECT_FALSE(holds("l2.size / 2 > 512KiB", kValues));
  EXPECT_TRUE(holds("share * 4 == 2.0", kValues));
  EXPECT_TRUE(holds("max(n, 100) == 100", kValues));
}

TEST(Conditions, CompareTexts) {
  EXPECT_TRUE(holds("gpu.target == \"gfx90a\"", kValues));
  EXPECT_TRUE(holds("gpu.target != 'gfx803'", kValues));
  EXPECT_FALSE(holds("gpu.target == 'gfx803' || n != 64", kValues));
  EXPECT_TRUE(holds("rocm.sdma", kValues));
  EXPECT_TRUE(holds("rocm.sdma == true", kValues));
}

TEST(Conditions, SayWhatIsWrong) {
  EXPECT_THAT(condition_error("l2.siz == 1"), HasSubstr("unknown name l2.siz; did you mean l2.size?"));
  EXPECT_THAT(condition_error("gpu.target == 'gfx"), HasSubstr("quote has no end"));
  EXPECT_NE(condition_error("n =="), "");
  EXPECT_NE(condition_error("n 5"), "");
}

TEST(Substitution, TakesTextsAsTheyAreAndComputesTheRest) {
  EXPECT_EQ(substitute_values("n={n} size={l2.size}", kValues), "n=64 size=1MiB");
  EXPECT_EQ(substitute_values("{n * 4}:{ n }", kValues), "256:64");
  EXPECT_EQ(substitute_values("plain", kValues), "plain");
  EXPECT_THROW(substitute_values("{m}", kValues), SweepError);
  EXPECT_THROW(substitute_values("{n", kValues), SweepError);
}

TEST(Substitution, KnowsWhichNamesItUses) {
  EXPECT_TRUE(refers_to("a={n}", "n"));
  EXPECT_TRUE(refers_to("a={4 * n}", "n"));
  EXPECT_FALSE(refers_to("n={m}", "n"));
  EXPECT_FALSE(refers_to("{nn} {l2.n}", "n"));
}

TEST(Expressions, DivideAsReals) { EXPECT_DOUBLE_EQ(expression_value("a / b", {{"a", "1"}, {"b", "4"}}), 0.25); }

}  // namespace
}  // namespace lacuna
