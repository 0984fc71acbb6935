#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "platform/sweep/axis_files.h"
#include "platform/sweep/prepared_point.h"
#include "platform/sweep/results_database.h"
#include "platform/sweep/statistic_names.h"
#include "platform/sweep/statistic_path.h"
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

std::string file_error(const std::string& text) {
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
      "timeout = 500ms\ngrace = 2s\ndatabase = x.db\ninput = a.mtx\n[set]\ngpu.timing = loose\n[environment]\nHSA_ENABLE_SDMA "
      "=\n[axes]\n"
      "n = 1..3\n[zip]\nl2.size = 1MiB, 2MiB\ncu.simds = 2, 4\n[repeat]\nrun = 1..2\n[metrics]\nwall = point.seconds\n[slurm]\n"
      "partition = short\noption = --nice\noption = --mail-type=END\n");
  EXPECT_EQ(sweep.name, "some");
  EXPECT_EQ(sweep.command.value, "exec");
  EXPECT_EQ(sweep.program.value, "./vadd");
  EXPECT_EQ(sweep.arguments.size(), 2u);
  EXPECT_EQ(sweep.timeout_seconds, 0.5);
  EXPECT_EQ(sweep.grace_seconds, 2);
  EXPECT_EQ(sweep.database, "x.db");
  ASSERT_EQ(sweep.axes.size(), 2u);
  EXPECT_EQ(sweep.axes[1].size(), 2u);
  EXPECT_EQ(sweep.axes[1][1].name, "cu.simds");
  EXPECT_EQ(sweep.repeats.size(), 1u);
  EXPECT_EQ(sweep.slurm.size(), 3u);
  EXPECT_EQ(sweep.environment.front().value, "");
}

TEST(SweepFiles, MistakesHaveAPlaceAndANearestName) {
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogramm = x\n"),
              HasSubstr("folder/some.sweep:3: unknown key programm in [sweep]; did you mean program?"));
  EXPECT_THAT(file_error("[sweeep]\n"), HasSubstr("some.sweep:1: unknown section [sweeep]; did you mean sweep?"));
  EXPECT_EQ(file_error("[sweep]\ncommand = run\nprogram = x\n[take]\nx = a.b\n"),
            "folder/some.sweep:4: the section [take] is called [metrics]");
  EXPECT_THAT(file_error("[sweep]\ncommand = lanch\nprogram = x\n"),
              HasSubstr(":2: command = lanch: must be run, launch, exec or sida; did "
                        "you mean launch?"));
  EXPECT_THAT(file_error(with_v("[set]\nl2.siz = 1MiB\n")), HasSubstr(":7: unknown parameter l2.siz; did you mean l2.size?"));
  EXPECT_THAT(file_error(with_v("l2.sise = 1MiB\n")), HasSubstr(":6: unknown parameter l2.sise; did you mean l2.size?"));
  EXPECT_THAT(file_error(with_v("cu.simds = 2, 3\n")), HasSubstr(":6: cu.simds = 3: "));
  EXPECT_THAT(file_error(with_v("rocm.sdma = true\n")), HasSubstr(":6: parameter rocm.sdma is not used by lacuna launch"));
  EXPECT_THAT(file_error(with_v("[options]\ndefin = a=1\n")),
              HasSubstr(":7: lacuna launch has no option --defin for a sweep; did you mean define?"));
  EXPECT_THAT(file_error(with_v("[options]\nout = x\n")), HasSubstr("has no option --out for a sweep"));
  EXPECT_EQ(file_error("[sweep]\ncommand = exec\nprogram = x\n[options]\nstrict-memory = 1\n"),
            "folder/some.sweep:5: strict-memory = 1: must be true or false, as --strict-memory takes no value");
  EXPECT_THAT(file_error("[sweep]\ncommand = exec\nprogram = x\n[options]\nstrict-memry = true\n"),
              HasSubstr("did you mean strict-memory?"));
  EXPECT_THAT(file_error(with_v("[metrics]\nx = {{v}}\n")), HasSubstr("some.sweep:7: x = {{v}}: a { inside { }"));
  EXPECT_THAT(file_error(with_v("[metrics]\nx = {a.b\n")), HasSubstr("some.sweep:7: x = {a.b: { without }"));
  EXPECT_THAT(file_error(with_v("[metrics]\nx = {}\n")), HasSubstr("some.sweep:7: x = {}: nothing inside { }"));
  EXPECT_THAT(file_error(with_v("[set]\nl2.size = {{v}}KiB\n")), HasSubstr("some.sweep:7: l2.size = {{v}}KiB: a { inside { }"));
  EXPECT_THAT(file_error(with_v("[environment]\nA = {v\n")), HasSubstr("some.sweep:7: A = {v: { without }"));
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogram = {{v}}.launch\n[axes]\nv = 1\n"),
              HasSubstr("some.sweep:3: program = {{v}}.launch: a { inside { }"));
  EXPECT_THAT(file_error(with_v("w = 1\n")), HasSubstr(":6: axis w is used nowhere"));
  EXPECT_THAT(file_error(with_v("[options]\ndefine = a={w}\n")), HasSubstr(":7: define = a={w}: "));
  EXPECT_THAT(file_error(with_v("v = 3\n")), HasSubstr(":6: axis v is given twice, first in line 5"));
  EXPECT_THAT(file_error(with_v("[slurm]\npartion = x\n")),
              HasSubstr("unknown key partion in [slurm]; did you mean partition?"));
  EXPECT_THAT(file_error(with_v("[set]\nl2.size = 1MiB\n[axes]\nl2.size = 2MiB\n")),
              HasSubstr(":9: l2.size is an axis and set in line 7"));
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogram = x\nargument = y\n"),
              HasSubstr(":4: a launch takes no argument"));
  EXPECT_THAT(
      file_error("[sweep]\ncommand = exec\nprogram = x\nargument = --rows 1024\n"),
      HasSubstr(":4: argument = --rows 1024: is one argument of the program; write argument = --rows=1024, or two lines, "
                "argument = --rows and argument = 1024"));
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogram = x\ntimeout = 5\n"),
              HasSubstr(":4: timeout = 5: must be a time"));
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogram = x\ncommand = run\n"), HasSubstr("given twice, first in line 2"));
  EXPECT_THAT(file_error("x = 1\n"), HasSubstr(":1: \"x = 1\" is before the first section"));
  EXPECT_THAT(file_error("[sweep]\nnothing\n"), HasSubstr(":2: \"nothing\" is neither [section] nor name = value"));
  EXPECT_THAT(file_error(""), HasSubstr("[sweep] needs command"));
  EXPECT_THAT(file_error(std::string("[sweep]\ncommand = \0launch\n", 26)), HasSubstr(":2: is not text"));
}

TEST(SweepFiles, OptionsWithoutValuesAreTrueOrFalse) {
  for (const char* value : {"true", "false", "{strict}"})
    EXPECT_EQ(file_error("[sweep]\ncommand = exec\nprogram = x\n[options]\nstrict-memory = " + std::string(value) +
                         "\n[environment]\nA = {strict}\n[axes]\nstrict = true, false\n"),
              "")
        << value;
  EXPECT_THAT(option_words(Command::exec, "strict-memory", "true"), ElementsAre("--strict-memory"));
  EXPECT_THAT(option_words(Command::exec, "strict-memory", "false"), ElementsAre());
  EXPECT_THAT(option_words(Command::exec, "max-time", "1ms"), ElementsAre("--max-time", "1ms"));
  EXPECT_THAT(option_words(Command::sida, "as-stored", "true"), ElementsAre("--as-stored"));
  EXPECT_THROW(option_words(Command::exec, "strict-memory", ""), SweepError);
}

/// A folder that contains base.sweep and is removed at the end.
class IncludedSweeps : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "parts");
    write("base.sweep",
          "# what two sweeps share\n[sweep]\nname = base\ncommand = launch\nprogram = a.launch\nconfig = tiny\ntimeout = 1s\n"
          "[set]\nl2.size = 1MiB\ncu.simds = 4\n[options]\ndefine = a={a}\n[zip]\na = 1, 2\nl2.ways = 8, 16\n"
          "[repeat]\ngpu.start_phase = 0cycles, 251cycles\nuntil = 5 %\nleast = 2\n[metrics]\nx = run.simulated_ps\ny = "
          "run.wall_seconds\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  SweepFile parsed_as(const std::string& name, const std::string& text) const {
    write(name, text);
    SweepFile sweep = parse_sweep_file(folder_ / name);
    check_names(sweep);
    return sweep;
  }
  /// The error message for main.sweep with this text, without the folder's path.
  std::string error_of(const std::string& text) const {
    try {
      expand(parsed_as("main.sweep", text));
    } catch (const SweepError& e) {
      const std::string whole = e.what();
      const std::string prefix = folder_.string() + '/';
      return whole.starts_with(prefix) ? whole.substr(prefix.size()) : whole;
    }
    return {};
  }

  const std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "lacuna_included_sweeps";
};

TEST_F(IncludedSweeps, LaterValuesWinAndListsAreContinued) {
  const SweepFile sweep =
      parsed_as("main.sweep",
                "include = base.sweep   # first\n[sweep]\nprogram = b.launch\nconfig = more.cfg\n[set]\nl2.size = "
                "2MiB\ncu.vgprs_per_simd = {b}\n"
                "[options]\ndefine = b={b}\n[axes]\nb = 256, 512\n[repeat]\ngpu.start_phase = 0cycles..3cycles\nuntil = 2 "
                "%\n[metrics]\nx = "
                "run.peak_host_memory_bytes\n");
  EXPECT_EQ(sweep.name, "base") << "as any key";
  EXPECT_EQ(sweep.command.value, "launch");
  EXPECT_EQ(sweep.program.value, "b.launch");
  EXPECT_EQ(sweep.timeout_seconds, 1);
  ASSERT_EQ(sweep.configurations.size(), 2U);
  EXPECT_EQ(sweep.configurations[0].value, "tiny");
  EXPECT_EQ(sweep.configurations[1].value, "more.cfg");
  ASSERT_EQ(sweep.settings.size(), 3U);
  EXPECT_EQ(sweep.settings[0].value, "2MiB") << "in the place of the included one";
  EXPECT_EQ(sweep.settings[1].value, "4");
  ASSERT_EQ(sweep.options.size(), 2U);
  EXPECT_EQ(sweep.options[1].value, "b={b}");
  ASSERT_EQ(sweep.metrics.size(), 2U);
  EXPECT_EQ(sweep.metrics[0].value, "run.peak_host_memory_bytes");
  ASSERT_EQ(sweep.repeats.size(), 1U);
  EXPECT_EQ(sweep.repeats[0].values.size(), 4U);
  EXPECT_EQ(sweep.until->share, 0.02);
  EXPECT_EQ(sweep.until->least, 2U);
  EXPECT_EQ(expand(sweep).size(), 16U);
  EXPECT_THAT(sweep.text, HasSubstr("include = base.sweep   # first\n# what two sweeps share\n[sweep]\nname = base\n"));
}

TEST_F(IncludedSweeps, AZipIsReplacedWhole) {
  const SweepFile sweep = parsed_as("main.sweep", "include = base.sweep\n[zip]\nl2.ways = 4, 8, 16\na = 5, 6, 7\n");
  ASSERT_EQ(sweep.axes.size(), 1U);
  EXPECT_EQ(sweep.axes[0].size(), 2U);
  EXPECT_EQ(expand(sweep).size(), 6U);
  EXPECT_EQ(error_of("include = base.sweep\n[axes]\na = 5\n"), "main.sweep:3: a goes together with l2.ways of " +
                                                                   (folder_ / "base.sweep").string() +
                                                                   ", which has to be given again, too");
}

TEST_F(IncludedSweeps, PointsAreThoseOfOneFile) {
  const SweepFile apart =
      parsed_as("main.sweep", "include = base.sweep\n[sweep]\nname = main\n[repeat]\ngpu.start_phase = 5cycles, 6cycles\n");
  const SweepFile whole = parsed_as(
      "whole.sweep",
      "[sweep]\nname = main\ncommand = launch\nprogram = a.launch\nconfig = tiny\ntimeout = 1s\n[set]\nl2.size = 1MiB\n"
      "cu.simds = 4\n[options]\ndefine = a={a}\n[zip]\na = 1, 2\nl2.ways = 8, 16\n[repeat]\ngpu.start_phase = 5cycles, "
      "6cycles\n");
  const std::vector<SweepPoint> a = expand(apart);
  const std::vector<SweepPoint> b = expand(whole);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(label(a[i].values()), label(b[i].values()));
    EXPECT_EQ(a[i].program, b[i].program);
    EXPECT_EQ(a[i].settings, b[i].settings);
    EXPECT_EQ(a[i].options, b[i].options);
    EXPECT_EQ(a[i].configurations, b[i].configurations);
  }
}

TEST_F(IncludedSweeps, MistakesHaveTheFileThatTheyAreIn) {
  EXPECT_EQ(error_of("include = bose.sweep\n"), "main.sweep:1: include = bose.sweep: no such file; did you mean base.sweep?");
  EXPECT_EQ(error_of("include = parts/nothing\n"), "main.sweep:1: include = parts/nothing: no such file");
  EXPECT_EQ(error_of("include =\n"), "main.sweep:1: \"include =\" is before the first section");
  EXPECT_EQ(error_of("[sweep]\ninclude = base.sweep\n").substr(0, 34), "main.sweep:2: unknown key include ");
  write("parts/loop.sweep", "\ninclude = ../main.sweep\n");
  EXPECT_EQ(error_of("include = parts/loop.sweep\n"),
            "parts/loop.sweep:2: include = ../main.sweep: this file is being read already");
  EXPECT_EQ(error_of("include = main.sweep\n"), "main.sweep:1: include = main.sweep: this file is being read already");
  write("parts/wrong.sweep", "include = ../base.sweep\n[set]\nl2.siz = 1MiB\n");
  EXPECT_EQ(error_of("include = parts/wrong.sweep\n"), "parts/wrong.sweep:3: unknown parameter l2.siz; did you mean l2.size?");
  EXPECT_EQ(error_of("include = base.sweep\n[set]\nl2.size = 1MiB\nl2.size = 2MiB\n"),
            "main.sweep:4: l2.size is given twice, first in line 3");
  EXPECT_EQ(error_of("include = base.sweep\n[axes]\nl2.size = 1MiB\n"),
            "main.sweep:3: l2.size is an axis and set in line 9 of " + (folder_ / "base.sweep").string());
  write("parts/half.sweep", "[sweep]\ncommand = launch\n");
  EXPECT_EQ(error_of("include = parts/half.sweep\n"), "parts/half.sweep:2: [sweep] needs program");
}

TEST_F(IncludedSweeps, ValuesOfAnAxisAreFilesOfAFolder) {
  const std::string general = "[sweep]\ncommand = sida\nprogram = pr\n", options = "[options]\nmatrix = {contents}\n",
                    zip = "[zip]\nmatrix = ca, gy\ncontents = road, band\n", files = "[files]\nca = a.mtx\ngy = b.mtx\n",
                    of = "files_of = contents by matrix\n";
  SweepFile sweep = parsed(general + of + options + zip + files);
  const auto error = [&sweep](const std::filesystem::path& folder) {
    try {
      take_files_from(folder, sweep);
    } catch (const SweepError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  std::filesystem::create_directory(folder_ / "b");
  std::ofstream(folder_ / "a.mtx.gz") << "x";
  std::ofstream(folder_ / "b" / "b1.mtx") << "x";
  EXPECT_EQ(error("nowhere"), "--files nowhere: is not a folder");
  EXPECT_EQ(error(folder_),
            "--files " + folder_.string() + ": no b.mtx, which matrix = gy needs, nor b.mtx.gz; did you mean b1.mtx?");
  std::ofstream(folder_ / "b" / "b.mtx") << "x";
  sweep = parsed(general + of + options + zip + files);
  EXPECT_EQ(error(folder_), "");
  EXPECT_THAT(sweep.axes[0][1].values, ElementsAre((folder_ / "a.mtx.gz").string(), (folder_ / "b" / "b.mtx").string()));
  EXPECT_EQ(sweep.name, "some_files");
  sweep = parsed(general + options + zip);
  EXPECT_THAT(error(folder_), HasSubstr("the sweep takes no files (files_of = AXIS by LABEL in [sweep])"));

  EXPECT_THAT(file_error(general + options + zip + files),
              HasSubstr(":10: [files] belongs to files_of, which [sweep] does not"));
  EXPECT_THAT(file_error(general + of + options + zip + "[files]\nca = a.mtx\n"),
              HasSubstr(":4: files_of = contents by matrix: [files] has no file for gy"));
  EXPECT_THAT(file_error(general + "files_of = contents\n" + options + zip + files),
              HasSubstr(":4: files_of = contents: must be AXIS by LABEL"));
  EXPECT_THAT(file_error(general + "files_of = contents by matrx\n" + options + zip + files),
              HasSubstr("there is no axis matrx; did you mean matrix?"));
  EXPECT_THAT(file_error(general + of + options + "order = {matrix}\n[axes]\nmatrix = ca, gy\ncontents = road, band\n" + files),
              HasSubstr("must be two axes of one [zip]"));
}

TEST(SweepFiles, AxesOfAZipAreOfOneLength) {
  EXPECT_THAT(file_error(with_v("[zip]\nl2.size = 1MiB, 2MiB\ncu.simds = 2\n")),
              HasSubstr(":8: axes of one [zip] go together: l2.size has 2 values, cu.simds has 1"));
}

TEST(SweepFiles, AnAxisMayNameWhatItsZipHas) {
  EXPECT_EQ(file_error(with_v("[zip]\nsize = small, large\nl2.size = 1MiB, 2MiB\n")), "");
  EXPECT_THAT(file_error(with_v("[zip]\nsize = small, large\nother = 1, 2\n")), HasSubstr(":7: axis size is used nowhere"));
}

TEST(SweepFiles, RepetitionsGoOnUntil) {
  const std::string repeat = "[metrics]\ncycles = kernels.*.cycles\nmisses = gpu.l2_*.read_misses\n[repeat]\nrun = 1..10\n";
  const SweepFile sweep = parsed(with_v(repeat + "until = 0.5 % of misses, cycles\nleast = 4\n"));
  ASSERT_TRUE(sweep.until);
  EXPECT_EQ(sweep.until->share, 0.005);
  EXPECT_THAT(sweep.until->metrics, ElementsAre("misses", "cycles"));
  EXPECT_EQ(sweep.until->least, 4U);
  EXPECT_EQ(sweep.repeats.size(), 1U);
  EXPECT_EQ(parsed(with_v(repeat + "until = 2%\n")).until->least, 16U);
  EXPECT_TRUE(parsed(with_v(repeat + "until = 0.02\n")).until->metrics.empty());
  EXPECT_EQ(parsed(with_v(repeat + "until = 0.02\n")).until->share, parsed(with_v(repeat + "until = 2 %\n")).until->share);
  EXPECT_FALSE(parsed(with_v(repeat)).until);
  for (const char* wrong : {"1", "100 %", "0 %", "-1 %", "1 cycles", "% of cycles", "of cycles", "", "few"})
    EXPECT_EQ(file_error(with_v(repeat + "until = " + wrong + '\n')),
              std::string("folder/some.sweep:11: until = ") + wrong +
                  ": must be a share of the mean above 0 and below 100 %, such as 1 % or 1 % of NAME");
  EXPECT_EQ(file_error(with_v(repeat + "until = 1 % of misess\n")),
            "folder/some.sweep:11: until = 1 % of misess: [metrics] has no misess; did you mean misses?");
  EXPECT_EQ(file_error(with_v("[repeat]\nuntil = 1 %\n")),
            "folder/some.sweep:7: until = 1 %: [repeat] has nothing that could be repeated, such as gpu.start_phase = "
            "0cycles..3765cycles+251cycles");
  EXPECT_EQ(file_error(with_v("[repeat]\nuntil = 1 %\nrun = 1\n")),
            "folder/some.sweep:7: until = 1 %: [repeat] has one repetition, and an interval needs at least two");
  EXPECT_EQ(file_error(with_v(repeat + "least = 4\n")),
            "folder/some.sweep:11: least belongs to until, which [repeat] does not have");
  for (const char* wrong : {"1", "4.5", "x", ""})
    EXPECT_EQ(file_error(with_v(repeat + "until = 1 %\nleast = " + wrong + '\n')),
              std::string("folder/some.sweep:12: least = ") + wrong + ": must be a whole number of repetitions, at least 2");
  EXPECT_EQ(file_error(with_v(repeat + "until = 1 %\nleast = 11\n")),
            "folder/some.sweep:12: least = 11: [repeat] has only 10 repetitions");
  EXPECT_EQ(file_error(with_v(repeat + "until = 1 %\nuntil = 2 %\n")),
            "folder/some.sweep:12: until is given twice, first in line 11");
  EXPECT_EQ(file_error("[sweep]\nuntil = 1 %\n"), "folder/some.sweep:2: until belongs in [repeat], not in [sweep]");
  EXPECT_EQ(
      file_error(with_v("[repeat]\nuntill = 1 %\n")),
      "folder/some.sweep:7: axis untill is used nowhere: no value has {untill} in it, and a parameter is section.name; did "
      "you mean until?");
}

// An axis must not have the name of a fixed column, because programs read tables by column names.
TEST(SweepFiles, AnAxisHasNoColumnsName) {
  for (const char* name : {"points", "done", "state", "exit_code", "seconds", "run_hash", "version", "commit", "host", "date",
                           "value", "before", "now", "change"}) {
    const std::string line = std::string(name) + " = 1, 2\n";
    const std::string reason =
        std::string("folder/some.sweep:7: axis ") + name +
        ": tables of results have a column of this name; give the axis another name, here and wherever {" + name + "} stands";
    EXPECT_EQ(file_error(with_v("[axes]\n" + line)), reason);
    EXPECT_EQ(file_error(with_v("[zip]\n" + line + "cu.simds = 2, 4\n")), reason);
    EXPECT_EQ(file_error(with_v("[repeat]\n" + line)), reason);
  }
  const std::string metrics = "[zip]\nsize = 1, 2\ncu.simds = 2, 4\n[metrics]\n";
  EXPECT_EQ(file_error(with_v(metrics + "time = run.simulated_ps\n")), "");
  EXPECT_EQ(file_error(with_v(metrics + "size_mean = run.simulated_ps\n")), "");
  EXPECT_EQ(
      file_error(with_v(metrics + "size = run.simulated_ps\n")),
      "folder/some.sweep:7: axis size: tables of results have a column of this name for the metric in line 10; give the axis "
      "another name, here and wherever {size} stands");
  for (const char* column : {"_mean", "_min", "_max", "_samples", "_low", "_high", "_deviation", "_needed"}) {
    const std::string axis = std::string("time") + column;
    EXPECT_THAT(file_error(with_v("[zip]\n" + axis + " = 1, 2\ncu.simds = 2, 4\n[metrics]\ntime = run.simulated_ps\n")),
                HasSubstr(":7: axis " + axis + ": tables of results have a column of this name for the metric in line 10; "));
  }
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
  EXPECT_THAT(file_error(kHead + std::string("leave_out = v\n") + axes), HasSubstr(":4: the conditions leave no point"));
  EXPECT_THAT(file_error(kHead + std::string("leave_out = w\n") + axes), HasSubstr(":4: leave_out = w: "));
}

TEST(SweepExpansion, OvernightOnlyThePointsThatAreMarked) {
  const std::string axes = "[axes]\nv = 1..3\nl2.size = 1MiB, 2MiB\n";
  SweepFile sweep = parsed(kHead + std::string("overnight = v < 3\nleave_out = l2.size < 2MiB\n") + axes);
  EXPECT_EQ(expand(sweep).size(), 3u);
  sweep.overnight_only = true;
  const std::vector<SweepPoint> points = expand(sweep);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(label(points[1].axes), "v=2 l2.size=2MiB");
  EXPECT_EQ(points[1].number, 2u);
  sweep = parsed(kHead + std::string("overnight = v > 3\n") + axes);
  sweep.overnight_only = true;
  EXPECT_THROW(expand(sweep), SweepError);
  EXPECT_THAT(file_error(kHead + std::string("overnight = w\n") + axes), HasSubstr(":4: overnight = w: "));
}

TEST(SweepExpansion, WithoutAxesThereIsOnePoint) {
  const std::vector<SweepPoint> points = expand(parsed("[sweep]\ncommand = run\nprogram = demo.elf\n"));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_TRUE(points[0].values().empty());
}

TEST(SweepExpansion, TooManyCombinationsAreRefused) {
  EXPECT_THAT(file_error("[sweep]\ncommand = launch\nprogram = {a}{b}{c}\n[axes]\na = 1..1000\nb = 1..1000\nc = 1..1000\n"),
              HasSubstr("more than 10 million"));
}

/// Parses a file and checks everything that does not depend on the command, its options, parameters and statistics.
void use(const std::string& text) {
  try {
    const SweepFile sweep = parsed(text);
    std::size_t combinations = 1;
    for (const auto& group : sweep.axes) combinations *= group.front().values.size();
    for (const SweepAxis& repeat : sweep.repeats) combinations *= repeat.values.size();
    for (const SweepKey& key : sweep.metrics) {
      const Metric metric = with_zipped_axes({key.name, key.value}, sweep);
      static_cast<void>(metric.value([](const std::string&) { return 1.5; }));
      for (const std::string& path : metric.paths()) {
        static_cast<void>(missing_path(StatisticPath::parse(path).path, {"gpu.l2_0.reads", "kernels.*.cycles"}));
        static_cast<void>(path_matches(StatisticPath::parse(path).path, "gpu.l2_0.reads"));
      }
    }
    if (combinations < 1000)
      for (const SweepPoint& point : expand(sweep)) static_cast<void>(values_of_json(to_json(point.values())));
  } catch (const SweepError&) {
  }
}

TEST(SweepFiles, MutantsAreReadOrRefused) {
  const std::string original =
      "[sweep]\ncommand = exec\nprogram = ./p{v}\nargument = {n * 2}\nleave_out = n > 2 && m == \"b\"\ntimeout = 10s\n"
      "[set]\ngpu.timing = loose\n[environment]\nA = {m}\n[axes]\nn = 1..4+1, 8..32*2\nv = \"a,b\", c\n[zip]\nm = a, b\n"
      "l2.size = 1MiB, 2MiB\n[repeat]\nseed = 1..3\n[metrics]\nx = {gpu.l2_*.reads @ m=a} / {kernels.*.cycles}\ny = "
      "gpu.l2_[01].reads\n"
      "[options]\nmax-time = {seed}ms\n[slurm]\ncpus = 2\n";
  use(original);
  EXPECT_NO_THROW(parsed(original));
  const std::vector<std::string> pieces{"{",  "}",     "{{",  "}}",      "{}",  "[",  "]",   "(",  ")",    "@",        "=",
                                        ",",  "\"",    "'",   "..",      "*",   "?",  "!",   "#",  "\n",   " ",        "\t",
                                        ".",  "-",     "+",   "/",       "%",   "%s", "{0}", "\\", "\xff", "\xc3\xa9", "9",
                                        "0x", "1e999", "nan", "[zip]\n", "{n}", "<<", ":",   "&&"};
  std::mt19937 random(9);
  const char* const more = std::getenv("LACUNA_MUTATIONS");
  const unsigned long mutants = more != nullptr ? std::strtoul(more, nullptr, 10) : 4000;
  for (unsigned long i = 0; i < mutants; ++i) {
    std::string text = original;
    for (auto changes = 1 + random() % 4; changes != 0; --changes) {
      const std::size_t at = random() % text.size();
      const std::string& piece = pieces[random() % pieces.size()];
      switch (random() % 4) {
        case 0:
          text.insert(at, piece);
          break;
        case 1:
          text.replace(at, 1, piece);
          break;
        case 2:
          text.erase(at, random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
      if (text.empty()) text = "[";
    }
    ASSERT_NO_THROW(use(text)) << text;
  }
}

}  // namespace
}  // namespace lacuna
