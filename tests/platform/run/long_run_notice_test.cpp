// Tests the notice for long simulations, which is written once.
#include "platform/run/long_run_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr ProgressLine::Snapshot kMatmul{Tick{3'214'000'000}, 0, 24'000'000, "_Z6matmulPfS_S_i"};

TEST(LongRunNotice, IsDueOnceAfterItsTime) {
  std::ostringstream out;
  LongRunNotice notice(10, true, out);
  EXPECT_FALSE(notice.due(4));
  EXPECT_FALSE(notice.due(5.5));
  EXPECT_TRUE(notice.due(0.5));
  EXPECT_FALSE(notice.said());
  notice.say(kMatmul);
  EXPECT_TRUE(notice.said());
  EXPECT_FALSE(notice.due(100));
}

TEST(LongRunNotice, ATimeOfZeroDisablesTheNotice) {
  std::ostringstream out;
  LongRunNotice notice(0, true, out);
  EXPECT_FALSE(notice.due(1e6));
}

TEST(LongRunNotice, NamesKernelTimeSpeedAndTheFasterWay) {
  std::ostringstream out;
  LongRunNotice notice(10, true, out);
  ASSERT_TRUE(notice.due(12));
  notice.say(kMatmul);
  EXPECT_EQ(out.str(),
            "lacuna: simulating for 12 s: kernel matmul, 3.214 ms of simulated time, 2.00 million wavefront instructions/s; "
            "without timing (--set gpu.timing=functional) some ten times faster\n");
}

TEST(LongRunNotice, WithoutTimingThereIsNoFasterWay) {
  std::ostringstream out;
  LongRunNotice notice(1, false, out);
  ASSERT_TRUE(notice.due(1));
  notice.say({Tick{1000}, 0, 5, ""});
  EXPECT_THAT(out.str(), HasSubstr("simulating for 1 s: 1.000 ns of simulated time"));
  EXPECT_THAT(out.str(), Not(HasSubstr("functional")));
  EXPECT_THAT(out.str(), Not(HasSubstr("kernel")));
}

}  // namespace
}  // namespace lacuna
