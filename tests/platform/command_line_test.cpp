#include "platform/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "platform/command_texts.h"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error(const std::vector<std::string>& arguments) {
  try {
    parse_command_line(arguments);
  } catch (const UsageError& e) {
    return e.what();
  }
  return {};
}

TEST(CommandLine, ReadsEveryOption) {
  const CommandLine line =
      parse_command_line({"run", "fw.elf", "--config", "r9nano", "--set", "l2.size=4MiB", "--config=b.cfg", "--out", "dir",
                          "--gdb", "1234", "--max-time", "10ms", "--input", "-", "--quiet"});
  EXPECT_EQ(line.command, Command::run);
  EXPECT_EQ(line.input, "fw.elf");
  ASSERT_EQ(line.configuration.size(), 4u);
  EXPECT_TRUE(line.configuration[0].file);
  EXPECT_EQ(line.configuration[0].value, "r9nano");
  EXPECT_FALSE(line.configuration[1].file);
  EXPECT_EQ(line.configuration[1].value, "l2.size=4MiB");
  EXPECT_TRUE(line.configuration[2].file);
  EXPECT_EQ(line.configuration[2].value, "b.cfg");
  EXPECT_EQ(line.configuration[3].value, "sim.max_time=10ms");
  EXPECT_EQ(line.output_folder, "dir");
  EXPECT_EQ(line.gdb_port, 1234);
  EXPECT_EQ(line.console_input, "-");
  EXPECT_TRUE(line.quiet);
}

TEST(CommandLine, GuestArgumentsAreTheGuests) {
  const CommandLine line = parse_command_line({"hart", "-q", "prog.elf", "--", "--config", "x", "--"});
  EXPECT_EQ(line.command, Command::hart);
  EXPECT_EQ(line.input, "prog.elf");
  EXPECT_TRUE(line.configuration.empty());
  EXPECT_THAT(line.guest_arguments, ElementsAre("--config", "x", "--"));
}

TEST(CommandLine, ExecTakesAProgramAndItsArguments) {
  const CommandLine line = parse_command_line(
      {"exec", "--config", "tiny", "--max-time", "1s", "--out=dir", "-q", "--", "./vadd", "--config", "x", "--"});
  EXPECT_EQ(line.command, Command::exec);
  EXPECT_EQ(line.input, "./vadd");
  EXPECT_THAT(line.guest_arguments, ElementsAre("--config", "x", "--"));
  ASSERT_EQ(line.configuration.size(), 2u);
  EXPECT_EQ(line.configuration[1].value, "sim.max_time=1s");
  EXPECT_EQ(line.output_folder, "dir");
  EXPECT_TRUE(line.quiet);
  const CommandLine plain = parse_command_line({"exec", "rocminfo"});
  EXPECT_EQ(plain.input, "rocminfo");
  EXPECT_TRUE(plain.guest_arguments.empty());
  EXPECT_EQ(error({"exec"}), "lacuna exec needs -- PROGRAM [ARGUMENTS]; see lacuna exec --help");
  EXPECT_EQ(error({"exec", "--"}), "lacuna exec needs -- PROGRAM [ARGUMENTS]; see lacuna exec --help");
  EXPECT_THAT(error({"exec", "--gdb", "1", "--", "./vadd"}), HasSubstr("--gdb"));
  EXPECT_THAT(parse_command_line({"exec", "--help"}).help, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(CommandLine, AnOutputFolderHasAName) {
  for (const std::string command : {"hart", "run", "launch", "exec"}) {
    const std::string refusal = "the value of --out is empty; see lacuna " + command + " --help";
    EXPECT_EQ(error({command, "--out", "", "program"}), refusal);
    EXPECT_EQ(error({command, "--out=", "program"}).empty(), false);
  }
}

TEST(CommandLine, SweepsAndTheirResults) {
  const CommandLine sweep = parse_command_line({"sweep", "a.sweep", "-j", "4", "--db", "x.db", "-n", "--retry", "--on", "slurm",
                                                "--slurm", "partition=a=b", "--no-wait"});
  EXPECT_EQ(sweep.command, Command::sweep);
  EXPECT_EQ(sweep.input, "a.sweep");
  EXPECT_EQ(sweep.sweep.jobs, 4u);
  EXPECT_EQ(sweep.sweep.database, "x.db");
  EXPECT_TRUE(sweep.sweep.dry_run && sweep.sweep.retry && sweep.sweep.on_slurm && !sweep.sweep.wait);
  ASSERT_EQ(sweep.sweep.slurm.size(), 1u);
  EXPECT_EQ(sweep.sweep.slurm[0].second, "a=b");
  EXPECT_THAT(error({"sweep"}), HasSubstr("lacuna sweep needs FILE"));
  EXPECT_THAT(error({"sweep", "a", "-j", "0"}), HasSubstr("--jobs must be at least 1"));
  EXPECT_THAT(error({"sweep", "a", "--on", "moon"}), HasSubstr("--on moon: must be here or slurm"));
  EXPECT_THAT(error({"sweep", "a", "--no-wait"}), HasSubstr("--no-wait belongs to --on slurm"));
  EXPECT_THAT(error({"sweep", "a", "--slurm", "time=1"}), HasSubstr("--slurm belongs to --on slurm"));
  const CommandLine results = parse_command_line({"results", "a@0.1", "--compare", "b", "--threshold", "2%", "-m", "x=run.y"});
  EXPECT_EQ(results.command, Command::results);
  EXPECT_EQ(results.input, "a@0.1");
  EXPECT_EQ(results.results.compare, "b");
  EXPECT_THAT(results.results.metrics, ElementsAre("x=run.y"));
  EXPECT_EQ(results.results.database, "lacuna-results.db");
  EXPECT_EQ(parse_command_line({"results"}).input, "");
  EXPECT_THAT(option_names(Command::launch), ::testing::Contains("define"));
}

TEST(CommandLine, HelpBeginsWithExamplesAndFitsAScreen) {
  for (const CommandInfo& info : kCommands) {
    const std::string help = parse_command_line({info.name, "--help"}).help;
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 44) << help;
    EXPECT_THAT(help, ::testing::ContainsRegex(std::string("^lacuna ") + info.name + ": [^\n]*\n\nExamples:\n  lacuna "));
    EXPECT_THAT(help, HasSubstr(std::string("\nUsage: lacuna ") + info.name + " [OPTIONS]"));
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), line.starts_with("Usage:") ? 100u : 101u) << info.name << ": " << line;
  }
  const std::string help = parse_command_line({"--help"}).help;
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 44) << help;
}

TEST(CommandLine, HelpOfSweepsGroupsOptionsByTopic) {
  const auto captions = [](const std::string& command) {
    std::vector<std::string> found;
    std::istringstream lines(parse_command_line({command, "--help"}).help);
    for (std::string line; std::getline(lines, line);)
      if (line.ends_with(':') && line != "Examples:") found.push_back(line);
    return found;
  };
  EXPECT_THAT(captions("sweep"), ElementsAre("Points:", "Place:", "Output:"));
  EXPECT_THAT(captions("results"), ElementsAre("Selection:", "Contents:", "Comparison:", "Output:"));
}

TEST(CommandLine, TheTaskOfABatchJobIsAnUnlistedOption) {
  EXPECT_THAT(parse_command_line({"sweep", "--help"}).help, ::testing::Not(HasSubstr("--task")));
  const CommandLine line = parse_command_line({"sweep", "--task", "folder"});
  EXPECT_EQ(line.sweep.task, "folder");
  EXPECT_EQ(line.input, "");
  EXPECT_EQ(error({"sweep", "a", "--tusk", "x"}), "unknown option --tusk; see lacuna sweep --help");
}

TEST(CommandLine, TopLevelOptions) {
  EXPECT_EQ(parse_command_line({"--version"}).command, Command::version);
  EXPECT_EQ(parse_command_line({"--list-params"}).command, Command::list_parameters);
  EXPECT_THAT(parse_command_line({"--help"}).help, HasSubstr("hart      run a bare-metal program"));
  EXPECT_THAT(parse_command_line({"--help"}).help, HasSubstr("125  hung"));
  EXPECT_THAT(parse_command_line({"run", "--help"}).help, HasSubstr("--max-time TIME"));
  EXPECT_EQ(parse_command_line({"disasm", "a.co"}).command, Command::disasm);
  EXPECT_EQ(parse_command_line({"docs", "docs"}).command, Command::docs);
}

TEST(CommandLine, UnknownOptionsOfEveryCommandHaveANearestOne) {
  for (const char* command : {"run", "launch", "exec", "sweep", "results", "hart", "disasm", "isa", "docs"}) {
    const std::string help = std::string(" See lacuna ") + command + " --help";
    EXPECT_EQ(error({command, "a", "--hepl"}), "unknown option --hepl; did you mean --help?" + help);
    EXPECT_EQ(error({command, "a", "--hepl="}), "unknown option --hepl; did you mean --help?" + help);
    EXPECT_EQ(error({command, "a", "--hepl=1"}), "unknown option --hepl; did you mean --help?" + help);
    EXPECT_EQ(error({command, "a", "-hlep"}), "unknown option -hlep; did you mean --help?" + help);
    EXPECT_EQ(error({command, "a", "--frobnicate"}),
              std::string("unknown option --frobnicate; see lacuna ") + command + " --help");
  }
  EXPECT_EQ(error({"launch", "a", "-grid", "64"}), "unknown option -grid; did you mean --grid? See lacuna launch --help");
  EXPECT_EQ(error({"launch", "a", "--def", "n=1"}), "unknown option --def; did you mean --define? See lacuna launch --help")
      << "rather than --set";
  EXPECT_EQ(error({"results", "a", "--thresh", "1"}),
            "unknown option --thresh; did you mean --threshold? See lacuna results --help");
  EXPECT_EQ(error({"sweep", "a", "--config", "tiny"}),
            "unknown option --config, which is one of lacuna exec, launch, run, hart, mesh, sida; see lacuna sweep --help");
  EXPECT_THAT(error({"run", "a", "--set="}), HasSubstr("the argument for option '--set'")) << "there is one";
  EXPECT_EQ(error({"--config", "tiny", "run", "a"}),
            "--config belongs after a command: lacuna COMMAND --config; see lacuna --help");
}

TEST(CommandLine, UnknownOptionsThatGoOnFromOneOrAreAPartOfOne) {
  const auto unknown = [](const std::vector<std::string>& arguments) { return error(arguments).substr(15); };
  EXPECT_EQ(unknown({"run", "a", "--output", "x"}), "--output; did you mean --out? See lacuna run --help");
  EXPECT_EQ(unknown({"run", "a", "--time", "1ms"}), "--time; did you mean --max-time? See lacuna run --help");
  EXPECT_EQ(unknown({"sweep", "a", "--jobs-at-once=4"}), "--jobs-at-once; did you mean --jobs? See lacuna sweep --help");
  EXPECT_EQ(unknown({"results", "a", "--database", "x"}), "--database; see lacuna results --help");
  // Option names that belong to another command, or to no command.
  EXPECT_EQ(unknown({"run", "a", "--kernal", "x"}),
            "--kernal; the nearest, --kernel, is one of lacuna launch; see lacuna run --help");
  EXPECT_EQ(unknown({"run", "a", "-k", "x"}), "-k, which is one of lacuna launch; see lacuna run --help");
  EXPECT_EQ(unknown({"run", "a", "--list-params"}),
            "--list-params, which is used without a command: lacuna --list-params; see lacuna run --help");
  EXPECT_EQ(error({"--quite", "run", "a"}), "unknown command --quite; did you mean lacuna COMMAND --quiet? See lacuna --help");
}

TEST(CommandLine, EmptyNamesAreRefused) {
  EXPECT_EQ(error({""}), "the command is an empty name; see lacuna --help");
  for (const char* command : {"run", "launch", "sweep", "results", "hart", "disasm", "docs"})
    EXPECT_THAT(error({command, ""}), ::testing::StartsWith("an empty name means ")) << command;
  EXPECT_THAT(error({"isa", "check", "a.co", ""}), ::testing::StartsWith("an empty name means "));
  EXPECT_THAT(error({"exec", ""}), ::testing::StartsWith("an empty name means "));
  EXPECT_THAT(error({"exec", "--", ""}), ::testing::StartsWith("an empty name means "));
  EXPECT_THAT(parse_command_line({"exec", "--", "./vadd", ""}).guest_arguments, ElementsAre(""))
      << "programs may create their own files";
  const std::vector<std::vector<std::string>> commands = {{"run", "a"}, {"launch", "a"}, {"exec", "a"}, {"hart", "a"}};
  for (std::vector<std::string> words : commands) {
    for (const char* option : {"--config", "--set", "--out", "--max-time", "-c", "-s", "-o"}) {
      words.resize(2);
      words.insert(words.end(), {option, ""});
      EXPECT_NE(error(words), "") << words.front() << ' ' << option;
      EXPECT_THAT(error(words), ::testing::Not(HasSubstr(": :")));
    }
  }
  EXPECT_NE(error({"run", "a", "--input", ""}), "");
  EXPECT_NE(error({"sweep", "a", "--db", ""}), "");
  EXPECT_NE(error({"results", "--db", ""}), "");
}

TEST(CommandLine, ErrorsSayWhatAndWhereHelpIs) {
  EXPECT_EQ(error({}), "no command given; see lacuna --help");
  EXPECT_EQ(error({"rum"}), "unknown command rum; did you mean run? See lacuna --help");
  EXPECT_EQ(error({"--versoin"}), "unknown command --versoin; did you mean --version? See lacuna --help");
  EXPECT_EQ(error({"simulate"}), "unknown command simulate; see lacuna --help");
  EXPECT_EQ(error({"run"}), "lacuna run needs FIRMWARE.elf; see lacuna run --help");
  EXPECT_EQ(error({"run", "a", "b"}), "unexpected b; see lacuna run --help");
  EXPECT_EQ(error({"run", "a", "--quite"}), "unknown option --quite; did you mean --quiet? See lacuna run --help");
  EXPECT_EQ(error({"run", "a", "--confg=x"}), "unknown option --confg; did you mean --config? See lacuna run --help");
  EXPECT_EQ(error({"run", "a", "--kernel", "x"}),
            "unknown option --kernel, which is one of lacuna launch; see lacuna run --help");
  EXPECT_EQ(error({"launch", "a", "--kernal", "x"}),
            "unknown option --kernal; did you mean --kernel? See lacuna launch --help");
  EXPECT_EQ(error({"run", "a", "-x"}), "unknown option -x; see lacuna run --help");
  EXPECT_THAT(error({"run", "a", "--qui"}), HasSubstr("--qui")) << "abbreviations are not guessed";
  EXPECT_THAT(error({"run", "a", "--gdb", "99999"}), HasSubstr("--gdb"));
  EXPECT_THAT(error({"run", "a", "--config"}), HasSubstr("--config"));
  EXPECT_THAT(error({"disasm", "a", "--", "b"}), HasSubstr("nothing may follow --"));
}

}  // namespace
}  // namespace lacuna
