#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "models/lazy/lazy_texts.h"
#include "models/neardata/near_data_texts.h"
#include "platform/reference/memory_map_reference.h"
#include "platform/run/energy_report.h"
#include "platform/run/kernel_activity_report.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_hash.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OutputFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root);
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }

  const fs::path root = fs::path(::testing::TempDir()) / "lacuna_output_test";
};

TEST_F(OutputFolders, NumbersCountUp) {
  EXPECT_EQ(OutputFolder::numbered(root / "out").path(), root / "out/run-0001");
  EXPECT_EQ(OutputFolder::numbered(root / "out").path(), root / "out/run-0002");
  fs::remove_all(root / "out/run-0001");
  EXPECT_EQ(OutputFolder::numbered(root / "out").path(), root / "out/run-0001");
}

TEST_F(OutputFolders, OwnFoldersAreUsedAgain) {
  EXPECT_NO_THROW(OutputFolder::at(root)) << "empty";
  OutputFolder::at(root / "own").write("effective.cfg", [](std::ostream& out) { out << "x"; });
  EXPECT_NO_THROW(OutputFolder::at(root / "own"));
}

TEST_F(OutputFolders, RefusesForeignFilesAndFolders) {
  std::ofstream(root / "mine.txt") << "precious";
  EXPECT_THROW(OutputFolder::at(root), OutputError);
  EXPECT_THROW(OutputFolder::at(root / "mine.txt"), OutputError);
  EXPECT_THROW(OutputFolder::at(root / "mine.txt" / "below"), OutputError);
  EXPECT_THROW(OutputFolder::numbered(root / "mine.txt"), OutputError);
  EXPECT_EQ(fs::file_size(root / "mine.txt"), 8u);
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(OutputFolders, AFileIsWrittenWithoutBeingAsked) {
  OutputFolder folder = OutputFolder::at(root);
  const auto file = folder.begin("kernels.csv");
  for (const char* text : {"first\n", "first\nsecond\n"}) {
    file->write(std::string_view(text).substr(contents(root / "kernels.csv").size()));
    while (contents(root / "kernels.csv") != text) std::this_thread::yield();
  }
  file->write("at once\n");
  folder.flush();
  EXPECT_EQ(contents(root / "kernels.csv"), "first\nsecond\nat once\n");
  const std::string much(OutputFile::kMostWaiting + 1, 'x');
  file->write(much);
  EXPECT_EQ(contents(root / "kernels.csv").size(), 21 + much.size()) << "so much does not wait";
}

TEST_F(OutputFolders, AChildLeavesTheFileToItsParent) {
  const auto file = std::make_unique<OutputFile>(root / "log.txt");
  file->write("once\n");
  // Wait until the file's thread has written the first text and waits for further text.
  while (contents(root / "log.txt").empty()) std::this_thread::yield();
  file->write("later\n");
  const pid_t child = fork();
  if (child == 0) {
    file->~OutputFile();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  file->flush();
  EXPECT_EQ(contents(root / "log.txt"), "once\nlater\n");
}

TEST_F(OutputFolders, UnwritableFilesAreReported) {
  OutputFolder folder = OutputFolder::at(root);
  for (const char* name : {"whole", "grows"}) fs::create_symlink("/dev/full", root / name);
  const auto message = [&](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const WriteError& e) {
      return e.what();
    }
    return {};
  };
  const std::string full = ": cannot be written: No space left on device";
  EXPECT_EQ(message([&] { folder.write("whole", [](std::ostream& out) { out << "text"; }); }),
            (root / "whole").string() + full);
  EXPECT_EQ(message([&] { folder.write("none/below", [](std::ostream&) {}); }),
            (root / "none/below").string() + ": cannot be written: No such file or directory");
  const auto file = folder.begin("grows");
  EXPECT_EQ(message([&] { folder.flush(); }), "") << "nothing has been written";
  file->write("text");
  while (!file->failed()) std::this_thread::yield();
  EXPECT_EQ(folder.failure(), (root / "grows").string() + full);
  file->write("more");
  EXPECT_EQ(message([&] { folder.flush(); }), (root / "grows").string() + full);
}

TEST(RunHash, IsFnv1a) {
  EXPECT_EQ(RunHash().text(), "cbf29ce484222325");
  RunHash one;
  one.add("", "");
  // Hash the lengths of two empty texts, with the decimal prime of the FNV page.
  std::uint64_t expected = 0xcbf29ce484222325;
  for (const unsigned char c : {'0', ':', '0', ':'}) expected = (expected ^ c) * 1099511628211U;
  EXPECT_EQ(one.value(), expected);
}

TEST(RunHash, SeparatesNameAndValue) {
  RunHash a;
  RunHash b;
  a.add("ab", "c");
  b.add("a", "bc");
  EXPECT_NE(a.value(), b.value());
}

TEST(RunHash, CoversCountsButNotDerivedValues) {
  std::uint64_t hits = 1;
  double ratio = 0.5;
  StatisticsGroup group("g");
  group.group("cache").add("hits", hits, "hits", "accesses");
  group.add_derived(
      "ratio", [&] { return ratio; }, "ratio", "");
  const auto hash = [&] {
    RunHash h;
    h.add(group);
    return h.value();
  };
  const std::uint64_t before = hash();
  ratio = 0.75;
  EXPECT_EQ(hash(), before);
  hits = 2;
  EXPECT_NE(hash(), before);
}

KernelRecord record() {
  KernelRecord r;
  r.index = 3;
  r.name = "relu, \"v2\"";
  r.queue = 1;
  r.grid = {1024, 2, 1};
  r.workgroup = {64, 1, 1};
  r.start = Tick{1'000'000};
  r.end = Tick{3'500'000};
  r.cycles = 2500;
  r.workgroups = 32;
  r.wavefronts = 32;
  r.wavefront_instructions = 4'000'000;
  r.thread_instructions = 200'000'000;
  r.wall_seconds = 2;
  // 2.5 us at 1 GHz with a DRAM peak of 256 B per cycle, of which 240 B are used; wavefronts wait for 90 % of their cycles.
  WavefrontClass& first = r.activity.wavefront_class(0);
  first.wavefronts = 32;
  first.resident = 1000;
  first.cycles[static_cast<std::size_t>(StallCause::issue)] = 100;
  first.cycles[static_cast<std::size_t>(StallCause::vmcnt)] = 900;
  r.activity.available = {4000, 10000, 640000, 640000, 640000, 640000, 10000};
  r.activity.used = {1000, 400, 0, 0, 0, 600000};
  return r;
}

TEST(KernelReports, EveryColumnIsDocumented) {
  std::ostringstream csv;
  write_kernels_csv({}, csv);
  std::ostringstream page;
  write_kernels_csv_reference(page);
  std::ostringstream totals;
  write_kernel_totals_csv({}, totals);
  std::istringstream header(csv.str() + ',' + totals.str());
  unsigned columns = 0;
  for (std::string column; std::getline(header, column, ','); ++columns) {
    if (column.ends_with('\n')) column.pop_back();
    std::string name = column;
    for (const std::string_view level : kMemoryLevelNames)
      if (name.starts_with(std::string(level) + '_') && name.ends_with("ing_ps")) name.replace(0, level.size(), "LEVEL");
    for (const std::string_view level : kMemoryLevelNames)
      if (name == std::string(level) + "_service_ps") name.replace(0, level.size(), "LEVEL");
    for (const ResourceText& resource : kResourceTexts)
      if (name == std::string(resource.name) + "_used" || name == std::string(resource.name) + "_peak")
        name.replace(0, resource.name.size(), "RESOURCE");
    for (const std::string_view kind : {"vector", "scalar_arguments", "scalar_data"}) {
      for (const std::string_view what : {"_requests", "_from_l2", "_from_memory"})
        if (name == std::string(kind) + std::string(what)) name.replace(0, kind.size(), "KIND");
    }
    EXPECT_THAT(page.str(), HasSubstr('`' + name + '`')) << column;
  }
  EXPECT_GT(columns, 50U);
}

TEST(KernelReports, CsvHoldsEveryField) {
  KernelRecord r = record();
  for (std::size_t i = 0; i < kLazyCounts; ++i) r.activity.extension[lazy_slots().first_count + i] = i + 1;
  for (std::size_t i = 0; i < isa::kMatrixOperations; ++i) r.activity.matrix_passes[i] = 100 + i;
  r.activity.reachable_dram_bytes = 320000;
  r.activity.memory = {51, 52, 53, 54, 55};
  r.untimed_instructions = 1'500'000;
  r.half_width = 25;
  std::ostringstream csv;
  write_kernels_csv({r}, csv);
  std::istringstream lines(csv.str());
  std::string header, line;
  ASSERT_TRUE(std::getline(lines, header) && std::getline(lines, line));
  EXPECT_THAT(header, StartsWith("index,kernel,queue,grid,workgroup,workgroups,wavefronts,start_ps,end_ps,cycles,"
                                 "wavefront_instructions,thread_instructions,failed,wall_seconds,cycles_issue,"));
  const std::string name = "\"relu, \"\"v2\"\"\"";
  EXPECT_THAT(line,
              StartsWith("3," + name + ",1,1024x2x1,64x1x1,32,32,1000000,3500000,2500,4000000,200000000,0,2.000000,100,"));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(line.begin(), line.end(), ',') - 1) << "one in the name";
  EXPECT_THAT(header,
              HasSubstr(",dram_used,dram_peak,matrix_used,matrix_peak,dram_reachable,l2_reads,l2_read_hits,dram_row_hits,"
                        "dram_row_empty,dram_row_conflicts,lazy_loads_held,lazy_loads_eager,"));
  EXPECT_THAT(
      header,
      EndsWith(",passes_simd2_orand,passes_simd2_addnorm,untimed_instructions,half_width_cycles,bulk_bytes,unfinished"));
  EXPECT_THAT(line, EndsWith(",600000,640000,0,10000,320000,51,52,53,54,55,1,2,3,4,5,6,7,8,9,10,11,12,13,14,100,101,102,103,"
                             "104,105,106,107,108,109,110,111,112,"
                             "113,114,115,1500000,25,0,0"));
}

TEST(KernelReports, TotalsAreSumsByKernel) {
  KernelRecord first = record();  // 2.5 us, 2500 cycles
  first.energy = {.joules = {100e-6, 25e-6}, .bounds = {{80e-6, 140e-6}, {20e-6, 60e-6}}, .peak_watts = 75};
  first.bulk_bytes = 7;
  KernelRecord second = first;
  second.end = Tick{5'500'000};
  second.cycles = 4501;
  second.failed = true;
  KernelRecord other = record();
  other.name = "other";
  KernelLog log;
  for (const KernelRecord& r : {first, second, other}) log.kernel_ended(r);
  std::ostringstream csv;
  write_kernel_totals_csv(log.summaries(), csv, {"valu", "dram"});
  std::istringstream lines(csv.str());
  std::string header, line, last, none;
  ASSERT_TRUE(std::getline(lines, header) && std::getline(lines, line) && std::getline(lines, last));
  EXPECT_FALSE(std::getline(lines, none));
  EXPECT_THAT(header, StartsWith("kernel,dispatches,failed,time_ps,least_time_ps,mean_time_ps,most_time_ps,cycles,least_cycles,"
                                 "mean_cycles,most_cycles,workgroups,wavefronts,wavefront_instructions,thread_instructions,"
                                 "wall_seconds,cycles_issue,"));
  EXPECT_THAT(line, StartsWith("\"relu, \"\"v2\"\"\",2,1,7000000,2500000,3500000.0,4500000,7001,2500,3500.5,4501,64,64,8000000,"
                               "400000000,4.000000,200,"));
  EXPECT_THAT(line, EndsWith(",14,0,0.00025,0,0.0002,0.0004,35.7142857143,75,1.75e-09,0.0002,5e-05"));
  EXPECT_THAT(header, HasSubstr(",bulk_bytes,unfinished,"));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(line.begin(), line.end(), ',') - 1) << "one in the name";
  EXPECT_THAT(last, StartsWith("other,1,0,2500000,2500000,2500000.0,2500000,2500,2500,2500.0,2500,32,32,"));
}

TEST(KernelReports, EnergyHasColumnsWhenItIsAccountedFor) {
  const std::vector<std::string> blocks{"valu", "dram"};
  KernelRecord r = record();  // 2.5 us
  r.energy = {.joules = {100e-6, 25e-6}, .bounds = {{80e-6, 140e-6}, {20e-6, 60e-6}}, .peak_watts = 75, .half_width = 2e-6};
  std::ostringstream csv;
  write_kernels_csv({r}, csv, blocks);
  std::istringstream lines(csv.str());
  std::string header, line;
  ASSERT_TRUE(std::getline(lines, header) && std::getline(lines, line));
  EXPECT_THAT(header, EndsWith(",bulk_bytes,unfinished,energy_j,half_width_j,low_j,high_j,mean_w,peak_w,energy_delay_js,energy_"
                               "valu_j,energy_dram_j"));
  EXPECT_THAT(line, EndsWith(",0,0,0.000125,2e-06,0.0001,0.0002,50,75,3.125e-10,0.0001,2.5e-05"));

  const nlohmann::ordered_json json = energy_json(r.energy, blocks, r.end - r.start);
  EXPECT_DOUBLE_EQ(json["mean_watts"].get<double>(), 50);
  EXPECT_DOUBLE_EQ(json["low_joules"].get<double>(), 100e-6);
  EXPECT_DOUBLE_EQ(json["high_joules"].get<double>(), 200e-6);
  EXPECT_DOUBLE_EQ(json["low_mean_watts"].get<double>(), 40);
  EXPECT_DOUBLE_EQ(json["high_energy_delay_js"].get<double>(), 5e-10);
  EXPECT_DOUBLE_EQ(json["low_blocks"]["valu"].get<double>(), 80e-6);
  EXPECT_DOUBLE_EQ(json["high_blocks"]["dram"].get<double>(), 60e-6);
  EXPECT_DOUBLE_EQ(json["blocks"]["dram"].get<double>(), 25e-6);

  KernelSummary sum;
  sum.add(r);
  r.energy.peak_watts = 60;
  sum.add(r);
  EXPECT_DOUBLE_EQ(sum.energy.total(), 250e-6);
  EXPECT_DOUBLE_EQ(sum.energy.peak_watts, 75);
  EXPECT_DOUBLE_EQ(sum.energy.half_width, 4e-6);
  EXPECT_DOUBLE_EQ(sum.energy.total_bounds().high, 400e-6);
  std::ostringstream table;
  write_energy_table({{"relu", sum.dispatches, sum.time, &sum.energy}}, blocks, table);
  EXPECT_THAT(table.str(), HasSubstr("2  250.000 uJ  50.0 W  40 to 80 W  75.0 W  1.25e-09 Js  valu 80 %, dram 20 %"));
}

TEST(KernelReports, PowerIsALineForEachSample) {
  std::ostringstream csv;
  write_power_csv_header({"valu", "dram"}, csv);
  write_power_csv("gpu", {.begin = Tick{1000}, .end = Tick{2000}, .watts = {1.5, 2}, .bounds = {2.25, 6}}, csv);
  EXPECT_EQ(csv.str(), "device,begin_ps,end_ps,total_w,low_w,high_w,valu_w,dram_w\ngpu,1000,2000,3.5,2.25,6,1.5,2\n");
}

nlohmann::json json_of(const KernelActivity& activity) {
  std::ostringstream text;
  JsonWriter writer(text);
  write_activity_json(activity, writer);
  writer.flush();
  return nlohmann::json::parse(text.str());
}

TEST(KernelReports, ShowStallCausesAndTheBound) {
  const KernelRecord r = record();
  std::ostringstream text;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, text);
  EXPECT_THAT(text.str(), HasSubstr("relu             25     10      -           -     90"));
  EXPECT_THAT(text.str(),
              HasSubstr("relu  bounded by DRAM bandwidth; then latency of vector memory (90 % of the wavefronts' cycles)\n"));
  EXPECT_THAT(text.str(), HasSubstr("DRAM 240.0 of 256.0 GB/s (94 %)"));
  KernelActivity waits = r.activity;
  waits.used[static_cast<std::size_t>(Resource::dram)] = 64000;
  EXPECT_EQ(bound_of(waits), "latency of vector memory, with 25 % of the wavefront slots in use");
  std::ostringstream waiting;
  write_activity_report({{"relu", r.end - r.start, &waits}}, waiting);
  EXPECT_THAT(waiting.str(),
              HasSubstr("slots in use; then the rate at which instructions issue (10 % of the wavefronts' cycles)\n"));
  EXPECT_EQ(json_of(waits)["wavefront_cycles"]["no_wavefront"], 3000);
  std::ostringstream nothing;
  const KernelActivity functional;
  write_activity_report({{"relu", r.end - r.start, &functional}}, nothing);
  EXPECT_EQ(nothing.str(), "") << "no text without timing";
}

TEST(KernelReports, ShowOutcomesInL2AndDram) {
  KernelRecord r = record();
  std::ostringstream none;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, none);
  EXPECT_THAT(none.str(), Not(HasSubstr("L2 hit rate")));
  r.activity.memory = {4000, 3000, 150'000, 25'000, 75'000};
  std::ostringstream text;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, text);
  EXPECT_THAT(text.str(), HasSubstr("\n      L2 hit rate 75 %, DRAM row hits 60 %, row conflicts 75,000 (30 %)\n"));
  EXPECT_EQ(json_of(r.activity)["memory"]["l2_read_hits"], 3000);
  r.activity.used[static_cast<std::size_t>(Resource::dram)] = 6000;
  std::ostringstream idle;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, idle);
  EXPECT_THAT(idle.str(), HasSubstr("\n      L2 hit rate 75 %\n")) << "bursts of an earlier kernel's writes";
}

// If DRAM's commands allow less than its data buses carry, the reachable rate determines whether DRAM bounds a kernel.
TEST(KernelReports, DramIsBoundedByWhatCanBeReached) {
  KernelRecord r = record();
  const auto dram = static_cast<std::size_t>(Resource::dram);
  r.activity.used[dram] = r.activity.available[dram] * 45 / 100;
  EXPECT_EQ(bound_of(r.activity), "latency of vector memory, with 25 % of the wavefront slots in use");
  r.activity.reachable_dram_bytes = r.activity.available[dram] / 2;
  EXPECT_EQ(bound_of(r.activity), "DRAM bandwidth");
  std::ostringstream text;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, text);
  EXPECT_THAT(text.str(), HasSubstr("of 256.0 GB/s (45 %), of which 128.0 GB/s can be reached\n"));
  EXPECT_EQ(json_of(r.activity)["resources"]["dram"]["reachable"], r.activity.available[dram] / 2);
}

// Every stall cause, and every resource except wavefront slots, has advice on what to change.
TEST(KernelReports, EveryBoundHasARemedy) {
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    const StallText* const text = stall_text(i);
    EXPECT_TRUE(text == nullptr || !text->remedy.empty()) << i;
  }
  for (const ResourceText& resource : kResourceTexts)
    EXPECT_EQ(resource.remedy.empty(), resource.name == "slots") << resource.name;
}

// A share below 1 % must not be shown as 0.
TEST(KernelReports, SmallSharesOfHeldLoadsHaveADecimal) {
  KernelRecord r = record();
  const auto count = [&r](LazyCount what) -> std::uint64_t& {
    return r.activity.extension[lazy_slots().first_count + static_cast<std::size_t>(what)];
  };
  count(LazyCount::loads_held) = 10;
  count(LazyCount::issued) = 996;
  count(LazyCount::zero_block) = 4;
  std::ostringstream text;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, text);
  EXPECT_THAT(text.str(), ContainsRegex("relu +100 +1,000 +100 +0\\.4 +- +-"));
}

// Each kernel with chains has a row: the share of chains that were offloaded, and the most frequent reasons for the others.
TEST(KernelReports, ShowOffloadedChainsAndReasonsForTheOthers) {
  KernelRecord r = record();
  const auto count = [&r](NearDataCount what) -> std::uint64_t& {
    return r.activity.extension[near_data_slots().first_count + static_cast<std::size_t>(what)];
  };
  count(NearDataCount::chains) = 1000;
  count(NearDataCount::address_space) = 1000;
  std::ostringstream none;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, none);
  EXPECT_THAT(none.str(), ContainsRegex("relu +1,000 +- +0 +- +- +100 +100 LDS, private or host memory"));
  count(NearDataCount::offloaded) = 750;
  count(NearDataCount::packets) = 1200;
  count(NearDataCount::packets_llc) = 600;
  count(NearDataCount::bounced) = 120;
  count(NearDataCount::address_space) = 100;
  count(NearDataCount::hit_first) = 300;
  std::ostringstream some;
  write_activity_report({{"relu", r.end - r.start, &r.activity}}, some);
  EXPECT_THAT(some.str(),
              ContainsRegex("relu +1,000 +75 +1,200 +50 +10 +25 +75 L1 hits of first loads, 25 LDS, private or host memory"));
}

// The use of matrix units is shown only for kernels that use them.
TEST(KernelReports, ShowTheUseOfMatrixUnits) {
  KernelRecord r = record();
  std::ostringstream without;
  write_activity_report({{"gemm", r.end - r.start, &r.activity}}, without);
  EXPECT_THAT(without.str(), Not(HasSubstr("matrix")));
  r.activity.used[static_cast<std::size_t>(Resource::matrix)] = 9700;
  r.activity.matrix_passes[1] = 2425;
  std::ostringstream with;
  write_activity_report({{"gemm", r.end - r.start, &r.activity}}, with);
  EXPECT_THAT(with.str(), HasSubstr("bounded by matrix units; then "));
  EXPECT_THAT(with.str(), HasSubstr("compute 4 %, matrix units 97 %, L1 "));
  const nlohmann::json json = json_of(r.activity);
  EXPECT_EQ(json["resources"]["matrix"]["used"], 9700);
  EXPECT_EQ(json["matrix_passes"]["f32"], 2425);
}

std::string activity_report(const KernelActivity& first, const KernelActivity& second) {
  std::ostringstream text;
  write_activity_report({{"first", Tick{1000}, &first}, {"second", Tick{1000}, &second}}, text);
  return text.str();
}

std::uint64_t& lazy_count(KernelActivity& a, LazyCount what) {
  return a.extension[lazy_slots().first_count + static_cast<std::size_t>(what)];
}
std::uint64_t& lazy_cycles(KernelActivity& a, LazyCause cause) {
  return a.wavefront_class(0)
      .cycles[static_cast<std::size_t>(extension_stall(lazy_slots().first_cause + static_cast<std::size_t>(cause)))];
}

// Columns of lazy cores are shown only if a kernel has such causes; columns of causes of every machine are always shown.
TEST(KernelReports, CausesOfLazyCoresAreShownWhenAKernelHasThem) {
  const KernelActivity without = record().activity;
  KernelActivity with = without;
  EXPECT_THAT(activity_report(without, without), Not(HasSubstr("registers")));
  EXPECT_THAT(activity_report(without, without), HasSubstr("sleep"));
  lazy_cycles(with, LazyCause::registers) = 10;
  const std::string text = activity_report(without, with);
  EXPECT_THAT(text, HasSubstr("registers"));
  EXPECT_THAT(text, Not(HasSubstr("mask")));
  lazy_cycles(with, LazyCause::zero_mask) = 10;
  EXPECT_THAT(activity_report(with, without), HasSubstr("mask"));
}

TEST(KernelReports, ShowTheOutcomesOfHeldLoads) {
  const KernelActivity without = record().activity;
  EXPECT_THAT(activity_report(without, without), Not(HasSubstr("% of transactions")));
  KernelActivity a = without;
  lazy_count(a, LazyCount::loads_held) = 30;
  lazy_count(a, LazyCount::loads_eager) = 10;
  lazy_count(a, LazyCount::issued) = 500;
  lazy_count(a, LazyCount::zero_block) = 200;
  lazy_count(a, LazyCount::zero_part) = 50;
  lazy_count(a, LazyCount::otimes) = 250;
  std::string text = activity_report(without, a);
  EXPECT_THAT(text, ContainsRegex("\n% of transactions +held, % +transactions +sent +by zeros +by \\(x\\) +as dead\n"
                                  "second +75 +1,000 +50 +25 +25 +-\n$"));
  lazy_count(a, LazyCount::dead) = 1500;
  lazy_count(a, LazyCount::lanes_changed) = 1234;
  text = activity_report(without, a);
  EXPECT_THAT(text, ContainsRegex("\nsecond +75 +2,500 +20 +10 +10 +60\n"
                                  "warning: second: memory had changed for 1,234 lanes of held loads"));
  EXPECT_THAT(text, Not(HasSubstr("warning: first")));
}

TEST(KernelReports, TableHasUnitsSpeedsAndTotals) {
  KernelRecord failed = record();
  failed.name = "bad";
  failed.failed = true;
  failed.wall_seconds = 0;
  std::ostringstream table;
  write_kernel_table({record(), failed}, table);
  std::vector<std::string> lines;
  std::istringstream stream(table.str());
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], HasSubstr("million wavefront  million thread"));
  EXPECT_THAT(lines[1], HasSubstr("instructions/s  instructions/s"));
  EXPECT_THAT(lines[2], HasSubstr("2.500 us       2,500     4,000,000  2.000 s               2.00          100.00"));
  EXPECT_THAT(lines[3], HasSubstr("bad (failed)"));
  EXPECT_THAT(lines[3], HasSubstr("0.000 s                  -               -"));
  EXPECT_THAT(lines[4],
              HasSubstr("all kernels    5.000 us       5,000     8,000,000  2.000 s               4.00          200.00"));
}

TEST(KernelReports, HashIgnoresWallTimeOnly) {
  const auto hash = [](const KernelRecord& r) {
    RunHash h;
    add_kernels({&r, 1}, h);
    return h.value();
  };
  KernelRecord changed = record();
  changed.wall_seconds = 5;
  EXPECT_EQ(hash(changed), hash(record()));
  changed.end.ps += 1;
  EXPECT_NE(hash(changed), hash(record()));
}

TEST(KernelLog, ListsRunningKernels) {
  KernelLog log;
  EXPECT_EQ(log.running(), "");
  Dispatch first;
  first.index = 3;
  first.kernel = "first";
  Dispatch second;
  second.index = 4;
  second.kernel = "second";
  log.kernel_started(first);
  log.kernel_started(second);
  EXPECT_EQ(log.running(), "second");
  KernelRecord ended = record();
  ended.index = 4;
  log.kernel_ended(ended);
  EXPECT_EQ(log.running(), "first");
  EXPECT_EQ(log.records().size(), 1u);
}

TEST(Formats, KernelNamesAreDemangled) {
  EXPECT_EQ(readable_kernel("vector_add"), "vector_add");
  EXPECT_EQ(readable_kernel("_Z4vaddPKfS0_Pfi"), "vadd");
  EXPECT_EQ(readable_kernel("_Z5scaleIfEvPT_S0_i"), "scale<float>");
  EXPECT_EQ(readable_kernel("_ZN12_GLOBAL__N_14copyEPi"), "(anonymous namespace)::copy");
  EXPECT_EQ(readable_kernel("_ZN4math3addISt4pairIiiEEEvT_"), "math::add<std::pair<int, int> >");
  EXPECT_EQ(readable_kernel("_Znonsense"), "_Znonsense");
  EXPECT_EQ(readable_kernel("CopyAligned (HSA runtime)"), "CopyAligned (HSA runtime)");
}

TEST(Formats, NumbersAreGroupedAndTimesHaveUnits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(readable_time(Tick{999}), "999 ps");
  EXPECT_EQ(readable_time(Tick{1'000}), "1.000 ns");
  EXPECT_EQ(readable_time(Tick{2'500'000'000}), "2.500 ms");
}

TEST(MemoryMapReference, ListsRegionsAndRegisters) {
  std::ostringstream page;
  write_memory_map_reference(page);
  EXPECT_THAT(page.str(), HasSubstr("| RAM | `0x0080000000` | `0x00ffffffff` | host RAM (host.ram_size) |"));
  EXPECT_THAT(page.str(), HasSubstr("| INTERRUPT_STATUS | `0x100` | W1C | `0x0` |"));
}

}  // namespace
}  // namespace lacuna
