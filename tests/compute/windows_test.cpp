// Tests windows of simulated time, with units that only record the calls.
#include "models/compute/windows.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/compute/deferred_work.h"
#include "models/compute/wavefront_pool.h"
#include "models/compute/windowed_unit.h"
#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

using Log = std::vector<std::string>;

/// Deferred work whose items have given times.
struct RecordingWork : DeferredWork {
  RecordingWork(Log& to, std::string with_name) : log(to), name(std::move(with_name)) {}
  void add(Tick at) {
    times.push_back(at);
    added();
  }
  unsigned count() const override { return static_cast<unsigned>(times.size()); }
  Tick at(unsigned number) const override { return times[number]; }
  void perform(unsigned number) override { log.push_back(name + std::to_string(times[number].ps / 1000)); }
  void clear() override { times.clear(); }

  Log& log;
  std::string name;
  std::vector<Tick> times;
};

/// A unit that runs in given cycles, and defers an access and a report in each.
struct RecordingUnit : WindowedUnit {
  RecordingUnit(Log& log, const std::string& name) : accesses_(log, name + " access "), reports_(log, name + " report ") {}

  void attach(Windows& to, const WindowGroup& of) override {
    windows = &to;
    group = of;
  }
  void start(ResidentWorkgroup&, Cycles at) override { cycles.insert(cycles.begin(), at); }
  void run(Cycles limit) override {
    limits.push_back(limit);
    while (!cycles.empty() && cycles.front() < limit) {
      accesses_.add(Tick{cycles.front().n * 1000});
      reports_.add(Tick{cycles.front().n * 1000});
      cycles.erase(cycles.begin());
    }
  }
  Cycles earliest() const override { return cycles.empty() ? kNeverCycles : cycles.front(); }
  bool idle() const override { return cycles.empty(); }
  void retire() override { ++retired; }
  DeferredWork& accesses() override { return accesses_; }
  DeferredWork& reports() override { return reports_; }

  Windows* windows = nullptr;
  WindowGroup group;
  std::vector<Cycles> cycles;
  std::vector<Cycles> limits;
  unsigned retired = 0;
  RecordingWork accesses_;
  RecordingWork reports_;
};

struct WindowsBench : sc_core::sc_module {
  explicit WindowsBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    windows.add_group({&a, &b});
    windows.add_group({&c});
  }
  Log log;
  RecordingUnit a{log, "a"};
  RecordingUnit b{log, "b"};
  RecordingUnit c{log, "c"};
  Windows windows{"windows", Clock(Frequency{1'000'000'000}), TimingMode::loose, Cycles{20}};
  ResidentWorkgroup workgroup;
};

LACUNA_TEST_BENCH(WindowsBench)

TEST(Windows, UnitsKnowTheirGroups) {
  auto& t = bench<WindowsBench>();
  for (RecordingUnit* unit : {&t.a, &t.b, &t.c}) {
    EXPECT_EQ(unit->windows, &t.windows);
    EXPECT_EQ(unit->group.number, unit == &t.c ? 1U : 0U);
    EXPECT_NE(unit->group.stores, nullptr);
    EXPECT_NE(unit->group.performer, nullptr);
  }
  EXPECT_EQ(t.a.group.stores, t.b.group.stores);
  EXPECT_NE(t.a.group.stores, t.c.group.stores);
}

TEST(Windows, DeferredWorkIsPerformedInOrderOfTimeThenOfUnits) {
  auto& t = bench<WindowsBench>();
  const std::uint64_t before = t.windows.count();
  t.a.cycles = {Cycles{13}};
  t.b.cycles = {Cycles{11}};
  t.c.cycles = {Cycles{12}};
  t.windows.launched(0, t.a, t.workgroup, Cycles{10});
  t.windows.launched(1, t.c, t.workgroup, Cycles{11});
  wait_for(Tick{100'000});
  EXPECT_EQ(t.windows.count(), before + 1);
  EXPECT_EQ(t.log, (Log{"a access 10", "b access 11", "c access 11", "c access 12", "a access 13",  //
                        "a report 10", "b report 11", "c report 11", "c report 12", "a report 13"}));
}

TEST(Windows, WindowsRunOnlyWhenAUnitCanIssue) {
  auto& t = bench<WindowsBench>();
  const std::uint64_t before = t.windows.count();
  const std::uint64_t start = now().ps / 1000;
  t.c.cycles = {Cycles{start + 1000}};
  t.windows.launched(1, t.c, t.workgroup, Cycles{start + 10});
  wait_for(Tick{2'000'000});
  EXPECT_EQ(t.windows.count(), before + 2) << "one for each of the cycles, none between them";
}

TEST(Windows, UnitsThatShareCachesAlternate) {
  auto& t = bench<WindowsBench>();
  const std::uint64_t start = now().ps / 1000;
  t.a.limits.clear();
  t.c.limits.clear();
  for (std::uint64_t i = 1; i < 20; i += 2) {
    t.a.cycles.push_back(Cycles{start + i});
    t.c.cycles.push_back(Cycles{start + i});
  }
  t.windows.launched(0, t.a, t.workgroup, Cycles{start});
  t.windows.launched(1, t.c, t.workgroup, Cycles{start});
  wait_for(Tick{100'000});
  EXPECT_EQ(t.a.limits, (std::vector<Cycles>{Cycles{start + 8}, Cycles{start + 16}, Cycles{start + 20}}));
  EXPECT_EQ(t.c.limits, std::vector<Cycles>{Cycles{start + 20}}) << "a unit alone in its group runs to the end";
}

TEST(Windows, StartLaunchedStartsPendingWorkgroupsOfTheGroup) {
  auto& t = bench<WindowsBench>();
  const std::uint64_t start = now().ps / 1000;
  t.windows.launched(0, t.b, t.workgroup, Cycles{start + 10});
  EXPECT_TRUE(t.b.idle());
  t.windows.start_launched(1);
  EXPECT_TRUE(t.b.idle());
  t.windows.start_launched(0);
  EXPECT_EQ(t.b.earliest(), Cycles{start + 10});
  wait_for(Tick{100'000});
  EXPECT_TRUE(t.b.idle());
}

}  // namespace
}  // namespace lacuna::test
