#include "platform/run/run_report.h"

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
  KernelLog kernels;
  kernels.kernel_ended(kernel);
  std::ostringstream text;
  write_statistics_json(f.summary, kernels, f.statistics, text);
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
  const std::uint64_t part = 7;
  StatisticsGroup& breakdown = f.statistics.group("hart").group("by_kind");
  breakdown.group("loads").add("instructions", part, "loads retired", "instructions");
  EXPECT_NE(hash("hello"), reference);
  breakdown.set_breakdown();
  EXPECT_EQ(hash("hello"), reference) << "the breakdown of the covered part";
  f.instructions = 43;
  EXPECT_NE(hash("hello"), reference);
}

TEST(RunReport, ManyDispatchesAreSummedUpByKernelInBoundedMemory) {
  Fixture f;
  KernelLog kernels;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    KernelRecord kernel;
    kernel.index = i;
    kernel.name = i % 2 == 0 ? "even" : "odd";
    kernel.end = Tick{1000 + i};
    kernels.kernel_ended(kernel);
  }
  EXPECT_EQ(kernels.count(), 5000u);
  EXPECT_EQ(kernels.records().size(), KernelLog::kKept);
  ASSERT_EQ(kernels.summaries().size(), 2u);
  EXPECT_EQ(kernels.summaries()[1].name, "odd");
  EXPECT_EQ(kernels.summaries()[1].dispatches, 2500u);
  EXPECT_EQ(kernels.summaries()[1].shortest.ps, 1001u);
  EXPECT_EQ(kernels.summaries()[1].longest.ps, 5999u);
  std::ostringstream text;
  write_run_report(f.summary, kernels, text);
  EXPECT_THAT(text.str(), HasSubstr("even              2,500"));
  // The hash also covers kernels that are not kept individually.
  KernelLog other = KernelLog();
  for (std::uint64_t i = 0; i < 5000; ++i) {
    KernelRecord kernel;
    kernel.index = i;
    kernel.name = i % 2 == 0 ? "even" : "odd";
    kernel.end = Tick{1000 + i + (i == 4999 ? 1 : 0)};
    other.kernel_ended(kernel);
  }
  EXPECT_NE(kernels.hash(), other.hash());
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
