#include "models/sampling/kernel_classes.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

class KernelClassesTest : public testing::Test {
 protected:
  void time(std::uint64_t number, std::initializer_list<double> cycles, std::uint64_t instructions = 1000) {
    for (const double c : cycles) classes_.add(number, {.cycles = c, .instructions = instructions, .workgroups = 1});
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
  EXPECT_FALSE(classes_.predict(number_, 1));
  time(number_, {996});
  const auto prediction = classes_.predict(number_, 1);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->cycles, 1000);
  EXPECT_GT(prediction->half_width, 4);
  EXPECT_LT(prediction->half_width, 40);
}

TEST_F(KernelClassesTest, ATwoHumpedClassIsNotPredicted) {
  time(number_, {1000, 1500, 1000, 1500, 1000, 1500, 1000, 1500});
  EXPECT_FALSE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, LaunchesWithOtherWorkAreNotPredicted) {
  time(number_, {1000, 1000}, 1000);
  time(number_, {1000}, 1100);
  EXPECT_FALSE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, APredictedLaunchWithOtherWorkIsScaledAndEndsThePredictions) {
  time(number_, {1000, 1001, 999});
  const auto prediction = classes_.predict(number_, 1);
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(classes_.executed(*prediction, 1005).cycles, 1000);
  EXPECT_TRUE(classes_.predict(number_, 1));
  const KernelPrediction more = classes_.executed(*prediction, 1500);
  EXPECT_DOUBLE_EQ(more.cycles, 1500);
  EXPECT_GE(more.half_width, 500);
  EXPECT_FALSE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, IsCheckedAfterAWhileAndBeginsAnewIfTheTimeHasChanged) {
  time(number_, {1000, 1001, 999});
  unsigned predicted = 0;
  while (classes_.predict(number_, 1)) ++predicted;
  EXPECT_GT(predicted, 4U);
  EXPECT_LT(predicted, 100U);
  classes_.add(number_, {.cycles = 5000,
                         .instructions = 1000,
                         .workgroups = 1,
                         .comparable = false});  // with the caches of an untimed launch: not compared
  EXPECT_FALSE(classes_.predict(number_, 1));
  classes_.add(number_, {.cycles = 1300, .instructions = 1000, .workgroups = 1});
  EXPECT_FALSE(classes_.predict(number_, 1));
  time(number_, {1301, 1299});
  ASSERT_TRUE(classes_.predict(number_, 1));
  EXPECT_NEAR(classes_.predict(number_, 1)->cycles, 1300, 1);
}

TEST_F(KernelClassesTest, LaunchesAfterUntimedOnesAreNotCounted) {
  time(number_, {1000, 1001});
  classes_.add(number_, {.cycles = 900, .instructions = 1000, .workgroups = 1, .comparable = false});
  EXPECT_FALSE(classes_.predict(number_, 1));
  time(number_, {999});
  EXPECT_TRUE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, DuringACheckLaunchesOfAllClassesAreTimed) {
  const std::uint64_t other = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(other, {500, 501, 499});
  EXPECT_TRUE(classes_.predict(other, 1));
  while (classes_.predict(number_, 1)) {
  }
  EXPECT_FALSE(classes_.predict(other, 1));
  classes_.add(number_, {.cycles = 980, .instructions = 1000, .workgroups = 1, .comparable = false});
  EXPECT_FALSE(classes_.predict(other, 1));
  classes_.add(number_, {.cycles = 1000, .instructions = 1000, .workgroups = 1});
  EXPECT_TRUE(classes_.predict(other, 1));
  EXPECT_TRUE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, ACheckEndsIfItsClassIsNotLaunchedAgain) {
  const std::uint64_t other = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(other, {500, 501, 499});
  while (classes_.predict(number_, 1)) {
  }
  unsigned timed = 0;
  while (!classes_.predict(other, 1)) ++timed;
  EXPECT_GT(timed, 100U);
  EXPECT_LT(timed, 1000U);
}

TEST_F(KernelClassesTest, AFirstLaunchWithColdCachesIsDropped) {
  time(number_, {1500, 1000, 1001});
  EXPECT_FALSE(classes_.predict(number_, 1));
  time(number_, {999});
  ASSERT_TRUE(classes_.predict(number_, 1));
  EXPECT_DOUBLE_EQ(classes_.predict(number_, 1)->cycles, 1000);
}

// If the first kernel were predicted without the second, the second kernel would always be timed with an L2 that still holds
// the lines that the first kernel should have replaced.
TEST_F(KernelClassesTest, PredictsOnlyIfTheNextKernelIsPredictedToo) {
  const std::uint64_t next = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  time(number_, {1000, 1001, 999});
  time(next, {500, 550, 500, 550});
  EXPECT_TRUE(classes_.predict(number_, 1));
  EXPECT_FALSE(classes_.predict(next, 1));
  classes_.follows(next, number_);
  EXPECT_FALSE(classes_.predict(number_, 1));
  for (unsigned i = 0; i < 200; ++i) time(next, {525});
  EXPECT_TRUE(classes_.predict(next, 1));
  EXPECT_TRUE(classes_.predict(number_, 1));
}

TEST_F(KernelClassesTest, DoesNotPredictBeforeAKernelThatIsNeverPredicted) {
  time(number_, {1000, 1001, 999});
  EXPECT_TRUE(classes_.predict(number_, 1));
  classes_.follows(KernelClasses::kNever, number_);
  EXPECT_FALSE(classes_.predict(number_, 1));
}

// A step of an algorithm whose size changes: launch i has i workgroups of 100 instructions and takes 500 + 50 i cycles.
class KernelFamilyTest : public testing::Test {
 protected:
  static TimedLaunch launch(unsigned workgroups, double factor = 1) {
    return {.cycles = factor * (500 + 50.0 * workgroups), .instructions = 100ULL * workgroups, .workgroups = workgroups};
  }
  std::uint64_t class_of(unsigned workgroups) {
    return classes_.find({.entry = 0x1000, .grid = {64 * workgroups, 1, 1}, .workgroup = {64, 1, 1}, .previous = 7}, family_);
  }
  void time(const TimedLaunch& launch) {
    classes_.add(class_of(static_cast<unsigned>(launch.workgroups)), launch);
    classes_.add(family_, launch);
  }
  std::optional<KernelPrediction> predict(unsigned workgroups) { return classes_.predict(class_of(workgroups), workgroups); }
  KernelClasses classes_{0.02};
  const std::uint64_t family_ = classes_.find_family({.entry = 0x1000, .workgroup = {64, 1, 1}, .previous = 5});
};

TEST_F(KernelFamilyTest, PredictsLaunchesOfOtherSizesFromTheLineThroughTheTimedOnes) {
  time(launch(100, 3));  // the first launch finds cold caches, and does not count
  for (const unsigned workgroups : {90U, 80U, 60U, 50U}) time(launch(workgroups));
  EXPECT_FALSE(predict(70));
  time(launch(40));
  const auto prediction = predict(70);
  ASSERT_TRUE(prediction);
  EXPECT_TRUE(prediction->of_family);
  EXPECT_EQ(prediction->number, family_);
  EXPECT_NEAR(prediction->cycles, 4000, 1e-6);
  EXPECT_NEAR(prediction->instructions, 7000, 1e-6);
  EXPECT_NEAR(prediction->half_width, 0.05 * 4000, 1e-6);
  const KernelPrediction final = classes_.executed(*prediction, 7200);
  EXPECT_NEAR(final.cycles, 4100, 1e-6);
  EXPECT_EQ(final.number, family_);
}

TEST_F(KernelFamilyTest, PredictsOnlyLittleBeyondTheTimedSizes) {
  time(launch(100));
  for (const unsigned workgroups : {90U, 80U, 70U, 60U, 50U}) time(launch(workgroups));
  const auto smaller = predict(49);
  ASSERT_TRUE(smaller);
  EXPECT_GT(smaller->half_width, 0.05 * smaller->cycles);
  EXPECT_TRUE(predict(92));
  EXPECT_FALSE(predict(40));
  EXPECT_FALSE(predict(110));
  time(launch(40));
  EXPECT_TRUE(predict(40));
}

TEST_F(KernelFamilyTest, DoesNotPredictTimesThatAreNotOnALine) {
  time(launch(100));
  for (unsigned i = 0; i < 20; ++i) time(launch(50 + i, i % 2 == 0 ? 1 : 1.3));
  EXPECT_FALSE(predict(61));
}

TEST_F(KernelFamilyTest, DoesNotPredictWorkThatDoesNotFollowFromTheNumberOfWorkgroups) {
  for (unsigned i = 0; i < 20; ++i) {
    TimedLaunch one = launch(50 + i);
    if (i % 2 == 0) one.instructions *= 2, one.cycles *= 2;
    time(one);
  }
  EXPECT_FALSE(predict(61));
}

TEST_F(KernelFamilyTest, AClassThatPredictsGoesFirst) {
  time(launch(100));
  for (const unsigned workgroups : {90U, 80U, 70U, 60U, 50U}) time(launch(workgroups));
  for (unsigned i = 0; i < 3; ++i) classes_.add(class_of(65), launch(65, 1.01));
  const auto prediction = predict(65);
  ASSERT_TRUE(prediction);
  EXPECT_FALSE(prediction->of_family);
  EXPECT_NEAR(prediction->cycles, 1.01 * (500 + 50 * 65), 1e-6);
}

TEST_F(KernelFamilyTest, BeginsAnewIfATimedLaunchDisagrees) {
  time(launch(100));
  for (const unsigned workgroups : {90U, 80U, 70U, 60U, 50U}) time(launch(workgroups));
  ASSERT_TRUE(predict(65));
  time(launch(66, 1.5));
  EXPECT_FALSE(predict(65));
  for (const unsigned workgroups : {90U, 80U, 70U, 60U, 50U}) time(launch(workgroups, 1.5));
  ASSERT_TRUE(predict(65));
  EXPECT_NEAR(predict(65)->cycles, 1.5 * (500 + 50 * 65), 1e-6);
}

TEST_F(KernelFamilyTest, AKernelWhoseSizeChangesDoesNotStopPredictionsOfTheOneBefore) {
  const std::uint64_t other = classes_.find({.entry = 0x2000, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}});
  for (unsigned i = 0; i < 3; ++i) classes_.add(other, {.cycles = 1000, .instructions = 100, .workgroups = 1});
  classes_.follows(class_of(90), other);
  EXPECT_FALSE(classes_.predict(other, 1));
  time(launch(100));
  for (const unsigned workgroups : {90U, 80U, 70U, 60U, 50U}) time(launch(workgroups));
  EXPECT_TRUE(classes_.predict(other, 1));
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
