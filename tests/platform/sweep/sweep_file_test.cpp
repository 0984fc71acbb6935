#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/sweep/sweep_check.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_point.h"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kHead = "[sweep]\ncommand = launch\nprogram = a{v}.launch\n";

SweepFile parsed(const std::string& text) {
  std::istringstream stream(text);
  return parse_sweep_text(stream, "folder/some.sweep");
}

std::string error(const std::string& text) {
  try {
    const SweepFile sweep = parsed(text);
    check_names(sweep);
    expand(sweep);
  } catch (const SweepError& e) {
    return e.what();
  }
  return {};
}

std::string with_v(const std::string& text) { return std::string(kHead) + "[axes]\nv = 1, 2\n" + text; }

TEST(SweepFiles, AreReadWhole) {
  const SweepFile sweep = parsed(
      "# a comment\n[sweep]\ncommand = exec\nprogram = ./vadd   # another\nargument = --n\nargument = {n}\nconfig = tiny\n"
      "timeout = 500ms\ndatabase = x.db\ninput = a.mtx\n[set]\ngpu.timing = loose\n[environment]\nHSA_ENABLE_SDMA =\n[axes]\n"
      "n = 1..3\n[zip]\nl2.size = 1MiB, 2MiB\ncu.simds = 2, 4\n[repeat]\nrun = 1..2\n[take]\nwall = point.seconds\n[slurm]\n"
      "partition = short\noption = --nice\noption = --mail-type=END\n");
  EXPECT_EQ(sweep.name, "some");
  EXPECT_EQ(sweep.command.value, "exec");
  EXPECT_EQ(sweep.program.value, "./vadd");
  EXPECT_EQ(sweep.arguments.size(), 2u);
  EXPECT_EQ(sweep.timeout_seconds, 0.5);
  EXPECT_EQ(sweep.database, "x.db");
  ASSERT_EQ(sweep.axes.size(), 2u);
  EXPECT_EQ(sweep.axes[1].size(), 2u);
  EXPECT_EQ(sweep.axes[1][1].name, "cu.simds");
  EXPECT_EQ(sweep.repeats.size(), 1u);
  EXPECT_EQ(sweep.slurm.size(), 3u);
  EXPECT_EQ(sweep.environment.front().value, "");
}

TEST(SweepFiles, MistakesHaveAPlaceAndANearestName) {
  EXPECT_THAT(error("[sweep]\ncommand = launch\nprogramm = x\n"),
              HasSubstr("folder/some.sweep:3: unknown key programm in [sweep]; did you mean program?"));
  EXPECT_THAT(error("[sweeep]\n"), HasSubstr("some.sweep:1: unknown section [sweeep]; did you mean sweep?"));
  EXPECT_THAT(error("[sweep]\ncommand = lanch\nprogram = x\n"),
              HasSubstr(":2: command = lanch: must be run, launch or exec; did "
                        "you mean launch?"));
  EXPECT_THAT(error(with_v("[set]\nl2.siz = 1MiB\n")), HasSubstr(":7: unknown parameter l2.siz; did you mean l2.size?"));
  EXPECT_THAT(error(with_v("l2.sise = 1MiB\n")), HasSubstr(":6: unknown parameter l2.sise; did you mean l2.size?"));
  EXPECT_THAT(error(with_v("cu.simds = 2, 3\n")), HasSubstr(":6: cu.simds = 3: "));
  EXPECT_THAT(error(with_v("rocm.sdma = true\n")), HasSubstr(":6: parameter rocm.sdma is not used by lacuna launch"));
  EXPECT_THAT(error(with_v("[options]\ndefin = a=1\n")),
              HasSubstr(":7: lacuna launch has no option --defin for a sweep; did you mean define?"));
  EXPECT_THAT(error(with_v("[options]\nout = x\n")), HasSubstr("has no option --out for a sweep"));
  EXPECT_THAT(error(with_v("w = 1\n")), HasSubstr(":6: axis w is used nowhere"));
  EXPECT_THAT(error(with_v("[options]\ndefine = a={w}\n")), HasSubstr(":7: define = a={w}: "));
  EXPECT_THAT(error(with_v("v = 3\n")), HasSubstr(":6: axis v is given twice, first in line 5"));
  EXPECT_THAT(error(with_v("[slurm]\npartion = x\n")), HasSubstr("unknown key partion in [slurm]; did you mean partition?"));
  EXPECT_THAT(error(with_v("[set]\nl2.size = 1MiB\n[axes]\nl2.size = 2MiB\n")),
              HasSubstr(":9: l2.size is an axis and set in line 7"));
  EXPECT_THAT(error("[sweep]\ncommand = launch\nprogram = x\nargument = y\n"), HasSubstr(":4: a launch takes no argument"));
  EXPECT_THAT(error("[sweep]\ncommand = launch\nprogram = x\ntimeout = 5\n"), HasSubstr(":4: timeout = 5: must be a time"));
  EXPECT_THAT(error("[sweep]\ncommand = launch\nprogram = x\ncommand = run\n"), HasSubstr("given twice, first in line 2"));
  EXPECT_THAT(error("x = 1\n"), HasSubstr(":1: \"x = 1\" stands before the first section"));
  EXPECT_THAT(error("[sweep]\nnothing\n"), HasSubstr(":2: \"nothing\" is neither [section] nor name = value"));
  EXPECT_THAT(error(""), HasSubstr("[sweep] needs command"));
  EXPECT_THAT(error(std::string("[sweep]\ncommand = \0launch\n", 26)), HasSubstr(":2: is not text"));
}

TEST(SweepFiles, AxesOfAZipAreOfOneLength) {
  EXPECT_THAT(error(with_v("[zip]\nl2.size = 1MiB, 2MiB\ncu.simds = 2\n")),
              HasSubstr(":8: axes of one [zip] go together: l2.size has 2 values, cu.simds has 1"));
}

TEST(SweepFiles, AnAxisMayNameWhatItsZipHas) {
  EXPECT_EQ(error(with_v("[zip]\nsize = small, large\nl2.size = 1MiB, 2MiB\n")), "");
  EXPECT_THAT(error(with_v("[zip]\nsize = small, large\nother = 1, 2\n")), HasSubstr(":7: axis size is used nowhere"));
}

TEST(SweepExpansion, CrossesAndZips) {
  const std::vector<SweepPoint> points = expand(parsed(with_v("[zip]\nl2.size = 1MiB, 2MiB\ncu.simds = 2, 4\n")));
  std::vector<std::string> labels;
  for (const SweepPoint& point : points) labels.push_back(label(point.values()));
  EXPECT_THAT(labels, ElementsAre("v=1 l2.size=1MiB cu.simds=2", "v=1 l2.size=2MiB cu.simds=4", "v=2 l2.size=1MiB cu.simds=2",
                                  "v=2 l2.size=2MiB cu.simds=4"));
  EXPECT_EQ(points[2].program, "a2.launch");
  EXPECT_THAT(points[1].settings, ElementsAre(Pair("l2.size", "2MiB"), Pair("cu.simds", "4")));
}

TEST(SweepExpansion, RepetitionsAreNeighbours) {
  const std::vector<SweepPoint> points = expand(parsed(with_v("[repeat]\ngpu.start_phase = 0cycles, 251cycles\nrun = 1..3\n")));
  ASSERT_EQ(points.size(), 12u);
  EXPECT_EQ(label(points[0].axes), "v=1");
  EXPECT_EQ(label(points[5].axes), "v=1");
  EXPECT_EQ(label(points[6].axes), "v=2");
  EXPECT_EQ(label(points[4].repeats), "gpu.start_phase=251cycles run=2");
  EXPECT_EQ(points[11].number, 12u);
}

TEST(SweepExpansion, ConditionsLeavePointsOut) {
  const std::string axes = "[axes]\nv = 1..3\nl2.size = 1MiB, 2MiB\n";
  const std::vector<SweepPoint> points = expand(parsed(kHead + std::string("leave_out = v > 1 && l2.size < 2MiB\n") + axes));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(label(points[3].axes), "v=3 l2.size=2MiB");
  EXPECT_EQ(points[3].number, 4u);
  EXPECT_THAT(error(kHead + std::string("leave_out = v\n") + axes), HasSubstr(":4: the conditions leave no point"));
  EXPECT_THAT(error(kHead + std::string("leave_out = w\n") + axes), HasSubstr(":4: leave_out = w: "));
}

TEST(SweepExpansion, WithoutAxesThereIsOnePoint) {
  const std::vector<SweepPoint> points = expand(parsed("[sweep]\ncommand = run\nprogram = demo.elf\n"));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_TRUE(points[0].values().empty());
}

TEST(SweepExpansion, TooManyCombinationsAreRefused) {
  EXPECT_THAT(error("[sweep]\ncommand = launch\nprogram = {a}{b}{c}\n[axes]\na = 1..1000\nb = 1..1000\nc = 1..1000\n"),
              HasSubstr("more than 10 million"));
}

}  // namespace
}  // namespace lacuna
