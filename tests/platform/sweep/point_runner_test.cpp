// Tests points that run as processes, with shell scripts in place of lacuna: how they end, which data are stored, and the
// causes of failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "platform/run/output_file.h"
#include "platform/sweep/point_failure.h"
#include "platform/sweep/point_runner.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kRunStatistics =
    R"({"run": {"lacuna": "0", "run_hash": "1", "simulated_ps": 5}, "statistics": {"a": {"value": 1, "unit": "x"}}})";

class Points : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }

  /// Writes a shell script in place of lacuna; the variable `out` is the output folder of the point.
  void write_simulator(const std::string& script) const {
    std::ofstream(folder / "simulator") << "#!/bin/sh\nout=${3#--out=}\nmkdir -p \"$out\"\n" << script << '\n';
    fs::permissions(folder / "simulator", fs::perms::owner_all);
  }

  PointRunner::Setup setup(double timeout = 0, double grace = 60) const {
    return {folder / "simulator", folder, folder / "points", 2, timeout, grace};
  }

  /// Runs one point to its end.
  PointRecord run(const std::string& script, double timeout = 0, double grace = 60) const {
    write_simulator(script);
    const PointTask task{0, "key", {"run"}, {}};
    bool started = false;
    PointRecord record;
    PointRunner::Observer observer;
    observer.next = [&]() -> const PointTask* { return std::exchange(started, true) ? nullptr : &task; };
    observer.ended = [&](const PointTask&, const RunResult& result, const fs::path& place) {
      record = record_of("key", {}, "command", result, place);
      return true;
    };
    observer.progress = [](std::size_t) {};
    EXPECT_TRUE(PointRunner(setup(timeout, grace)).run(observer));
    return record;
  }

  const fs::path folder = fs::path(::testing::TempDir()) / "sweep_points";
};

std::string log_line(const std::string& level, const std::string& text) {
  return "echo '[12.5 us] " + level + ": " + text + "' >>\"$out/log.txt\"\n";
}

TEST_F(Points, ThatTakeTooLongMayWriteTheirResults) {
  const PointRecord record = run("trap 'echo \"wrote it\"; echo '\"'\"'" + std::string(kRunStatistics) +
                                     "'\"'\"' >\"$out/statistics.json\"; exit 7' TERM\nwhile :; do sleep 0.01; done",
                                 0.2);
  EXPECT_EQ(record.state, PointState::timeout);
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_THAT(record.cause, StartsWith("not ended after 1 s"));
  EXPECT_THAT(record.log, HasSubstr("wrote it"));
  EXPECT_EQ(record.results.statistics.size(), 2u);
}

TEST_F(Points, ThatIgnoreSigtermAreKilledAfterTheGrace) {
  const PointRecord record = run("trap '' TERM\necho begun\nwhile :; do sleep 0.01; done", 0.2, 0.2);
  EXPECT_EQ(record.state, PointState::timeout);
  EXPECT_EQ(record.exit_code, 128 + SIGKILL);
  EXPECT_THAT(record.cause, HasSubstr("nor by SIGTERM within"));
  EXPECT_THAT(record.log, HasSubstr("begun"));
}

TEST_F(Points, AreReportedWhenAllTheirProcessesHaveEnded) {
  // SIGTERM ends the first process while its child still writes.
  const PointRecord record =
      run("( trap 'sleep 0.3; echo late; exit' TERM; echo up; while :; do sleep 0.01; done ) &\nwait", 0.5);
  EXPECT_EQ(record.state, PointState::timeout);
  EXPECT_EQ(record.exit_code, 128 + SIGTERM);
  EXPECT_THAT(record.log, HasSubstr("late"));
}

TEST_F(Points, FailForAReason) {
  struct Case {
    std::string script;
    PointState state;
    int exit_code;
    std::string cause;  ///< cause, as a regular expression
  };
  const std::string fault =
      "platform.gpu0.cp: queue 1 stopped at packet 3: memory fault: kernel wild, PC 0x1040, wavefront 0, lane 5, 4 bytes at "
      "0x10000000";
  const std::vector<Case> cases{
      {"echo fine\necho 'sum is wrong'\nexit 42", PointState::failed, 42,
       "ended with exit code 42; its last line: sum is wrong"},
      {"exit 42", PointState::failed, 42, "ended with exit code 42"},
      {"kill -ABRT $$", PointState::failed, 134, "ended by SIGABRT \\(Aborted\\)"},
      {"echo 'main: Assertion failed'\nkill -ABRT $$", PointState::failed, 134,
       "ended by SIGABRT \\(Aborted\\); its last line: main: Assertion failed"},
      {"kill -SEGV $$", PointState::failed, 139, "ended by SIGSEGV \\(Segmentation fault\\)"},
      {"kill -KILL $$", PointState::killed, 137,
       "killed by SIGKILL \\(Killed\\)( from outside of the sweep|, out of memory), at [0-9]+ MiB.*"},
      {"kill -TERM $$", PointState::killed, 143, "killed by SIGTERM \\(Terminated\\)"},
      // The simulator's first error is the cause; later errors, including those of the host program, are consequences.
      {log_line("info", "process 7") + log_line("warning", "odd") + log_line("error", fault) + log_line("error", "later") +
           log_line("warning", "mistakes of the guest: 1 stopped queues") + "echo 'Aborting'\nkill -ABRT $$",
       PointState::failed, 134, "at 12\\.5 us: " + fault},
      {log_line("critical", "a model found itself in an impossible state: x") + "exit 126", PointState::failed, 126,
       "at 12\\.5 us: a model found itself in an impossible state: x"},
      // The error is in the log of another process of the run.
      {"mkdir \"$out/process-9\"\n" + log_line("info", "process 7") +
           "echo '[1 ps] error: of another process' >\"$out/process-9/log.txt\"\nexit 1",
       PointState::failed, 1, "at 1 ps: of another process"},
      // Lacuna refuses the run before it starts.
      {"echo 'lacuna: warning at 0 ps: odd'\necho 'lacuna: a.cfg:3: unknown parameter l2.sise; did you mean l2.size?'\nexit 2",
       PointState::failed, 2, "a\\.cfg:3: unknown parameter l2\\.sise; did you mean l2\\.size\\?"},
      {log_line("info", "process 7") + "echo 'lacuna: not a refusal, the run has begun'\nexit 5", PointState::failed, 5,
       "ended with exit code 5"},
      {"exit 0", PointState::failed, 0, "the run has left no statistics.json"},
      {"echo '" + std::string(kRunStatistics) + "' >\"$out/statistics.json\"", PointState::done, 0, ""}};
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.script);
    const PointRecord record = run(expected.script);
    EXPECT_EQ(record.state, expected.state);
    EXPECT_EQ(record.exit_code, expected.exit_code);
    EXPECT_THAT(record.cause, MatchesRegex(expected.cause));
    EXPECT_THAT(record.cause, Not(HasSubstr("\n")));
  }
}

TEST_F(Points, ThatTimeOutHaveACauseFromTheLog) {
  const std::string endless = "\nwhile :; do sleep 0.01; done";
  EXPECT_EQ(
      run(log_line("warning", "kernel loop is running") + log_line("warning", "mistakes of the guest: 2 x") + endless, 0.2)
          .cause,
      "not ended after 1 s; at 12.5 us: kernel loop is running");
  EXPECT_EQ(run(log_line("warning", "odd") + log_line("error", "queue 1 stopped") + endless, 0.2).cause,
            "not ended after 1 s; at 12.5 us: queue 1 stopped");
}

TEST_F(Points, KeepTheFaultingLineOfALongLog) {
  const std::string lines = "i=0; while [ $i -lt 6000 ]; do echo \"line $i of many more\"; i=$((i+1)); done\n";
  const std::string fault = "queue 1 stopped at packet 3: kernel wild, PC 0x1040, lane 5";
  const PointRecord record = run(lines + "echo 'lacuna: error at 12.5 us: " + fault + "'\n" + log_line("error", fault) + lines +
                                 "echo the end\nexit 1");
  EXPECT_EQ(record.cause, "at 12.5 us: " + fault);
  EXPECT_THAT(record.log, AllOf(HasSubstr("lacuna: error at 12.5 us: " + fault + "\nline 0 of"),
                                HasSubstr(" bytes are not kept]"), EndsWith("the end\n"), Not(HasSubstr("line 3000 of"))));
  EXPECT_LT(record.log.size(), 32u * 1024);
  // If the simulator has reported no error, the beginning and the end of the log are kept.
  EXPECT_THAT(run("echo the beginning\n" + lines + "echo the end\nexit 1").log,
              AllOf(StartsWith("the beginning\nline 0 of"), EndsWith("the end\n")));
  // If the line of the cause is in the kept end, it is not kept twice.
  const std::string last = run(lines + "echo the end\nexit 1").log;
  EXPECT_EQ(last.find("the end"), last.rfind("the end"));
}

TEST_F(Points, ThatHaveEndedAreKeptWhenTheSweepIsEnded) {
  write_simulator(
      "[ $1 = fast ] && { echo done; exit 3; }\ntrap 'echo ended >\"$out/ended\"; exit' TERM\necho up >\"$out/up\"\n"
      "while :; do sleep 0.01; done");
  const std::vector<PointTask> tasks{{0, "a", {"fast"}, {}}, {1, "b", {"slow"}, {}}, {2, "c", {"slow"}, {}}};
  std::size_t next = 0;
  std::vector<std::string> ended;
  std::size_t being_ended = 0;
  PointRunner::Observer observer;
  observer.next = [&]() -> const PointTask* { return next < tasks.size() ? &tasks[next++] : nullptr; };
  observer.ended = [&](const PointTask& task, const RunResult& result, const fs::path&) {
    EXPECT_EQ(result.exit_code, 3);
    ended.push_back(task.key);
    return true;
  };
  observer.progress = [&](std::size_t) {
    if (fs::exists(folder / "points/1/out/up") && fs::exists(folder / "points/2/out/up")) std::raise(SIGINT);
  };
  observer.ending = [&](std::size_t running) { being_ended = running; };
  EXPECT_FALSE(PointRunner(setup()).run(observer));
  EXPECT_THAT(ended, ElementsAre("a"));
  EXPECT_EQ(being_ended, 2u);
  EXPECT_TRUE(fs::exists(folder / "points/1/out/ended"));
  EXPECT_TRUE(fs::exists(folder / "points/2/out/ended"));
}

TEST_F(Points, AreNotBlamedWhenTheHostCannotStoreTheirOutput) {
  fs::create_directories(folder / "out");
  std::ofstream(folder / "out/kernels.csv") << std::string(4096, 'x');
  EXPECT_NO_THROW(require_writable({}, folder));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto refusal = [&](rlim_t bytes, const RunResult& result) {
    const rlimit limit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string what;
    try {
      require_writable(result, folder);
    } catch (const WriteError& e) {
      what = e.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    return what;
  };
  EXPECT_THAT(refusal(4096, {}), AllOf(HasSubstr("out/kernels.csv: cannot be written"), HasSubstr("4096 bytes")));
  EXPECT_EQ(refusal(4097, {}), "");
  RunResult result;
  result.signal = SIGXFSZ;
  EXPECT_THAT(refusal(8192, result), HasSubstr("8192 bytes"));
  EXPECT_THROW(require_writable({}, folder / "nowhere"), WriteError);
}

}  // namespace
}  // namespace lacuna
