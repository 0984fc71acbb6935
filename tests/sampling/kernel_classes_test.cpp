#include "models/sampling/kernel_classes.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

class KernelClassesTest : public testing::Test {
 protected:
  void time(std::uint64_t number, std::initializer_list<double> cycles, std::uint64_t instructions = 1000) {
    for (const double c : cycles) classes_.add(number, c, 0, instructions, true);
  }
  KernelClasses classes_{0.02};
  const std::uint64_t number_ = classes_.find({.entry = 0x1000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
};

TEST_F(KernelClassesTest, LaunchesOfACodeAndGridAfterTheSameKernelAreAClass) {
  KernelKey key{.entry = 0x1000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}};
  EXPECT_EQ(classes_.find(key), number_);
  key.grid[0] = 128;
  const std::uint64_t larger = classes_.find(key);
  EXPECT_NE(larger, number_);
  key.previous = number_;
  EXPECT_NE(classes_.find(key), larger);
}

TEST_F(KernelClassesTest, PredictsWhenTheIntervalOfTheMeanIsNarrow) {
  time(number_, {1000, 1004});
  EXPECT_FALSE(classes_.predict(number_));
  time(number_, {996});
  const auto prediction = classes_.predict(number_);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->cycles, 1000);
  EXPECT_GT(prediction->half_width, 4);
  EXPECT_LT(prediction->half_width, 40);
}

TEST_F(KernelClassesTest, ATwoHumpedClassIsNotPredicted) {
  time(number_, {1000, 1500, 1000, 1500, 1000, 1500, 1000, 1500});
  EXPECT_FALSE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, LaunchesWithOtherWorkAreNotPredicted) {
  time(number_, {1000, 1000}, 1000);
  time(number_, {1000}, 1100);
  EXPECT_FALSE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, APredictedLaunchWithOtherWorkIsScaledAndEndsThePredictions) {
  time(number_, {1000, 1001, 999});
  const auto prediction = classes_.predict(number_);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(classes_.executed(number_, *prediction, 1005).cycles, 1000);
  EXPECT_TRUE(classes_.predict(number_));
  const KernelPrediction more = classes_.executed(number_, *prediction, 1500);
  EXPECT_DOUBLE_EQ(more.cycles, 1500);
  EXPECT_GE(more.half_width, 500);
  EXPECT_FALSE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, IsCheckedAfterAWhileAndBeginsAnewIfTheTimeHasChanged) {
  time(number_, {1000, 1001, 999});
  unsigned predicted = 0;
  while (classes_.predict(number_)) ++predicted;
  EXPECT_GT(predicted, 4U);
  EXPECT_LT(predicted, 100U);
  classes_.add(number_, 5000, 0, 1000, false);  // with the caches of an untimed launch: not compared
  EXPECT_FALSE(classes_.predict(number_));
  classes_.add(number_, 1300, 0, 1000, true);
  EXPECT_FALSE(classes_.predict(number_));
  time(number_, {1301, 1299});
  ASSERT_TRUE(classes_.predict(number_));
  EXPECT_NEAR(classes_.predict(number_)->cycles, 1300, 1);
}

TEST_F(KernelClassesTest, LaunchesAfterUntimedOnesAreNotCounted) {
  time(number_, {1000, 1001});
  classes_.add(number_, 900, 0, 1000, false);
  EXPECT_FALSE(classes_.predict(number_));
  time(number_, {999});
  EXPECT_TRUE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, DuringACheckLaunchesOfAllClassesAreTimed) {
  const std::uint64_t other = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(other, {500, 501, 499});
  EXPECT_TRUE(classes_.predict(other));
  while (classes_.predict(number_)) {
  }
  EXPECT_FALSE(classes_.predict(other));
  classes_.add(number_, 980, 0, 1000, false);
  EXPECT_FALSE(classes_.predict(other));
  classes_.add(number_, 1000, 0, 1000, true);
  EXPECT_TRUE(classes_.predict(other));
  EXPECT_TRUE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, ACheckEndsIfItsClassIsNotLaunchedAgain) {
  const std::uint64_t other = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(other, {500, 501, 499});
  while (classes_.predict(number_)) {
  }
  unsigned timed = 0;
  while (!classes_.predict(other)) ++timed;
  EXPECT_GT(timed, 100U);
  EXPECT_LT(timed, 1000U);
}

TEST_F(KernelClassesTest, AFirstLaunchWithColdCachesIsDropped) {
  time(number_, {1500, 1000, 1001});
  EXPECT_FALSE(classes_.predict(number_));
  time(number_, {999});
  ASSERT_TRUE(classes_.predict(number_));
  EXPECT_DOUBLE_EQ(classes_.predict(number_)->cycles, 1000);
}

// If the first kernel were predicted without the second, the second kernel would always be timed with an L2 that still holds
// the lines that the first kernel should have replaced.
TEST_F(KernelClassesTest, PredictsOnlyIfTheNextKernelIsPredictedToo) {
  const std::uint64_t next = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(next, {500, 550, 500, 550});
  EXPECT_TRUE(classes_.predict(number_));
  EXPECT_FALSE(classes_.predict(next));
  classes_.follows(next, number_);
  EXPECT_FALSE(classes_.predict(number_));
  for (unsigned i = 0; i < 200; ++i) time(next, {525});
  EXPECT_TRUE(classes_.predict(next));
  EXPECT_TRUE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, DoesNotPredictBeforeAKernelThatIsNeverPredicted) {
  time(number_, {1000, 1001, 999});
  EXPECT_TRUE(classes_.predict(number_));
  classes_.follows(KernelClasses::kNever, number_);
  EXPECT_FALSE(classes_.predict(number_));
}

TEST_F(KernelClassesTest, AClassVariesIfItsTimesDoNotAgree) {
  EXPECT_FALSE(classes_.varies(number_));
  time(number_, {1000, 1001});
  EXPECT_FALSE(classes_.varies(number_));
  time(number_, {2000});
  EXPECT_TRUE(classes_.varies(number_));
}

}  // namespace
}  // namespace lacuna
