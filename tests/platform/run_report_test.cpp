#include "platform/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace lacuna {
namespace {

using ::testing::HasSubstr;

struct Fixture {
  std::uint64_t instructions = 42;
  StatisticsGroup statistics{"platform"};
  RunSummary summary;
  Fixture() {
    statistics.group("hart").add("instructions", instructions, "instructions retired", "instructions");
    statistics.group("hart").add_derived(
        "ipc", [] { return 0.5; }, "instructions per cycle", "");
    summary.program = "a.elf";
    summary.simulated = Tick{1'500'000};
    summary.wall_seconds = 0.25;
    summary.hart_instructions = 42;
    summary.peak_host_memory_bytes = 3 << 20;
    summary.run_hash = run_hash(summary, "hello", {}, statistics);
  }
};

TEST(RunReport, JsonIsATreeWithUnitsAndDescriptions) {
  Fixture f;
  KernelRecord kernel;
  kernel.name = "bad\xff name";
  std::ostringstream text;
  write_statistics_json(f.summary, {kernel}, f.statistics, text);
  const nlohmann::json json = nlohmann::json::parse(text.str());
  EXPECT_EQ(json["run"]["ended_by"], "guest");
  EXPECT_EQ(json["run"]["run_hash"], f.summary.run_hash);
  EXPECT_EQ(json["run"]["simulated_ps"], 1'500'000);
  EXPECT_EQ(json["kernels"].size(), 1u);
  EXPECT_EQ(json["statistics"]["hart"]["instructions"]["value"], 42);
  EXPECT_EQ(json["statistics"]["hart"]["instructions"]["unit"], "instructions");
  EXPECT_EQ(json["statistics"]["hart"]["instructions"]["description"], "instructions retired");
  EXPECT_EQ(json["statistics"]["hart"]["ipc"]["value"], 0.5);
}

TEST(RunReport, HashCoversResultsAndNotTheHost) {
  Fixture f;
  const std::string reference = f.summary.run_hash;
  const auto hash = [&](const std::string& console) { return run_hash(f.summary, console, {}, f.statistics); };
  f.summary.wall_seconds = 99;
  f.summary.output_folder = "elsewhere";
  f.summary.program = "b.elf";
  EXPECT_EQ(hash("hello"), reference);
  EXPECT_NE(hash("hellO"), reference);
  f.summary.exit_code = 1;
  EXPECT_NE(hash("hello"), reference);
  f.summary.exit_code = 0;
  f.summary.simulated.ps += 1;
  EXPECT_NE(hash("hello"), reference);
  f.summary.simulated.ps -= 1;
  f.instructions = 43;
  EXPECT_NE(hash("hello"), reference);
}

TEST(RunReport, TextNamesTimeHashAndFolder) {
  Fixture f;
  f.summary.output_folder = "lacuna-out/run-0001";
  std::ostringstream text;
  write_run_report(f.summary, {}, text);
  EXPECT_THAT(text.str(), HasSubstr("simulated time  1.500 us in 0.25 s, 42 hart instructions, peak memory 3 MiB\n"));
  EXPECT_THAT(text.str(), HasSubstr("run hash        " + f.summary.run_hash));
  EXPECT_THAT(text.str(), HasSubstr("output folder   lacuna-out/run-0001\n"));
}

}  // namespace
}  // namespace lacuna
