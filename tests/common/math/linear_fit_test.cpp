#include "models/common/math/linear_fit.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

TEST(LinearFitTest, FindsALineAndItsIntervals) {
  LinearFit fit;
  const double y[] = {2.1, 3.9, 6.2, 7.8, 10.1};
  for (unsigned i = 0; i < 5; ++i) fit.add(i + 1, y[i]);
  EXPECT_NEAR(fit.slope(), 1.99, 1e-12);
  // Values of the normal equations with t = 3.18245, solved with NumPy.
  EXPECT_NEAR(fit.at(3), 6.02, 1e-12);
  EXPECT_NEAR(fit.half_width(3), 0.2687864332, 1e-9);
  EXPECT_NEAR(fit.half_width_of_one(3), 0.6583896111, 1e-9);
  EXPECT_NEAR(fit.at(7), 13.98, 1e-12);
  EXPECT_NEAR(fit.half_width(7), 0.8063592996, 1e-9);
  EXPECT_NEAR(fit.half_width_of_one(7), 1.0057067432, 1e-9);
}

TEST(LinearFitTest, OfEqualXIsTheMean) {
  LinearFit fit;
  for (const double y : {9.0, 10.0, 11.0}) fit.add(5, y);
  EXPECT_EQ(fit.slope(), 0);
  EXPECT_DOUBLE_EQ(fit.at(100), 10);
}

TEST(LinearFitTest, ALineThroughAllPointsHasNoInterval) {
  LinearFit fit;
  for (const double x : {1e9, 1e9 + 1, 1e9 + 2}) fit.add(x, 3 * x);
  EXPECT_NEAR(fit.slope(), 3, 1e-9);
  EXPECT_NEAR(fit.half_width(1e9), 0, 1e-3);
}

TEST(LinearFitTest, TellsHowFarAPointLiesBeyondTheOthers) {
  LinearFit fit;
  for (const double x : {2.0, 5.0, 3.0}) fit.add(x, x);
  EXPECT_EQ(fit.beyond(4), 0);
  EXPECT_EQ(fit.beyond(1.5), 0.5);
  EXPECT_EQ(fit.beyond(7), 2);
}

}  // namespace
}  // namespace lacuna
