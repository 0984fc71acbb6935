#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "platform/sweep/statistic_path.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

SweepFile sweep() {
  std::istringstream text(
      "[sweep]\ncommand = launch\nprogram = {machine}{n}{half}.launch\n[axes]\nn = 1, 2\n"
      "[zip]\nmachine = old, new, new\nhalf = 0, 0, 1\nl2.size = 4MiB, 4MiB, 2MiB\n[repeat]\ngpu.start_phase = 0cycles, "
      "9cycles\n");
  return parse_sweep_text(text, "s.sweep");
}

std::string zipped(const std::string& text) { return with_zipped_axes({"x", text}, sweep()).text; }

std::string path_error(const std::string& text) {
  try {
    zipped(text);
  } catch (const SweepError& e) {
    return e.what();
  }
  return {};
}

TEST(StatisticPaths, HaveAReferenceAfterAnAtSign) {
  EXPECT_THAT(StatisticPath::parse(" kernels.*.cycles ").reference, IsEmpty());
  const StatisticPath path = StatisticPath::parse("kernels.*.cycles @ machine = old,l2.size=4MiB");
  EXPECT_EQ(path.path, "kernels.*.cycles");
  EXPECT_THAT(path.reference, ElementsAre(Pair("machine", "old"), Pair("l2.size", "4MiB")));
  EXPECT_EQ(path.text(), "kernels.*.cycles @ machine=old, l2.size=4MiB");
  EXPECT_THROW(StatisticPath::parse("a @"), SweepError);
  EXPECT_THROW(StatisticPath::parse("a @ machine"), SweepError);
  EXPECT_THROW(StatisticPath::parse("a @ machine=1, machine=2"), SweepError);
}

TEST(StatisticPaths, AReferenceDiffersOnlyInTheNamedAxes) {
  EXPECT_THAT(reference_values({{"n", "1"}, {"machine", "new"}}, {{"machine", "old"}, {"other", "1"}}),
              ElementsAre(Pair("n", "1"), Pair("machine", "old")));
}

TEST(StatisticPaths, AxesOfAZipGoWithTheNamedOnes) {
  EXPECT_EQ(zipped("{c @ machine=old} / {c}"), "{c @ machine=old, half=0, l2.size=4MiB} / {c}");
  EXPECT_EQ(zipped("{c @ machine=new, half=1} + {c @ n=2}"), "{c @ machine=new, half=1, l2.size=2MiB} + {c @ n=2}");
  EXPECT_EQ(zipped("c @ gpu.start_phase=0cycles"), "c @ gpu.start_phase=0cycles");
  EXPECT_EQ(zipped("{c} + {c} / {c @ n=1}"), "{c} + {c} / {c @ n=1}");
}

TEST(StatisticPaths, MistakesHaveTheNearestName) {
  EXPECT_THAT(path_error("{c @ machin=old}"), HasSubstr("there is no axis machin; did you mean machine?"));
  EXPECT_THAT(path_error("{c @ machine=olt}"), HasSubstr("axis machine has no value olt; did you mean old?"));
  EXPECT_THAT(path_error("{c @ machine=new}"), HasSubstr("include several of half, name one"));
  EXPECT_THAT(path_error("{c @ machine=old, half=1}"), HasSubstr("no place of the [zip] has all"));
}

}  // namespace
}  // namespace lacuna
