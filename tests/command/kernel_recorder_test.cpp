// Tests kernel records: sources of their fields, and the order of notifications.
#include "models/command/kernel_recorder.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

class RecorderBench : public sc_core::sc_module {
 public:
  explicit RecorderBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  Dispatcher dispatcher{"dispatcher", DispatcherParameters{}, Clock(Frequency{}), Cycles{0}};
};

LACUNA_TEST_BENCH(RecorderBench)

std::vector<std::string> calls;

struct Observer : KernelObserver {
  std::vector<KernelRecord> records;
  void kernel_started(const Dispatch&) override { calls.emplace_back("observer started"); }
  void kernel_ended(const KernelRecord& record) override {
    calls.emplace_back("observer ended");
    records.push_back(record);
  }
};

struct Energy : KernelEnergyMeter {
  void kernel_started(std::uint64_t kernel, Tick at) override {
    EXPECT_EQ(kernel, 3U);
    EXPECT_EQ(at, Tick{1'000});
    calls.emplace_back("energy started");
  }
  KernelEnergy kernel_ended(std::uint64_t, Tick, const UntimedWork&) override {
    calls.emplace_back("energy ended");
    KernelEnergy energy;
    energy.peak_watts = 5;
    return energy;
  }
};

/// Resource meter: the test sets the use of each resource, of which 100 units are available.
struct Resources : ResourceMeter {
  std::uint64_t uses = 0;
  ResourceAmounts used() const override {
    ResourceAmounts amounts{};
    amounts.fill(uses);
    return amounts;
  }
  ResourceAmounts available(Cycles) const override {
    ResourceAmounts amounts{};
    amounts.fill(100);
    return amounts;
  }
  std::uint64_t reachable_dram_bytes(Cycles cycles) const override { return 6 * cycles.n; }
  MemoryCounts memory_counts() const override {
    MemoryCounts counts{};
    counts.fill(2 * uses);
    return counts;
  }
};

class KernelRecorderTest : public testing::Test {
 protected:
  KernelRecorderTest() {
    calls.clear();
    packet_.dispatch = std::make_unique<Dispatch>();
    Dispatch& d = *packet_.dispatch;
    d.index = 3;
    d.kernel = "kernel";
    d.start = Tick{1'000};
    d.end = Tick{11'500};
    recorder_.add_observer(observer_);
  }
  Observer observer_;
  KernelRecorder recorder_{Clock(Frequency{1'000'000'000}), bench<RecorderBench>().dispatcher};
  InFlightPacket packet_;
};

TEST_F(KernelRecorderTest, CyclesAreRoundedUp) {
  recorder_.started(*packet_.dispatch);
  recorder_.ended(packet_, KernelRecorder::End::done);
  ASSERT_EQ(observer_.records.size(), 1U);
  const KernelRecord& record = observer_.records[0];
  EXPECT_EQ(record.name, "kernel");
  EXPECT_EQ(record.index, 3U);
  EXPECT_EQ(record.cycles, 11U);
  EXPECT_FALSE(record.failed || record.unfinished);
  EXPECT_FALSE(record.energy.measured());
}

TEST_F(KernelRecorderTest, UnfinishedKernelsEndNow) {
  wait_for(Tick{50'000});
  recorder_.ended(packet_, KernelRecorder::End::unfinished);
  recorder_.ended(packet_, KernelRecorder::End::failed);
  ASSERT_EQ(observer_.records.size(), 2U);
  EXPECT_TRUE(observer_.records[0].unfinished);
  EXPECT_EQ(observer_.records[0].end, now());
  EXPECT_TRUE(observer_.records[1].failed);
  EXPECT_EQ(observer_.records[1].end, Tick{11'500});
}

// The energy meter is called before the observers, at the start and at the end of a kernel.
TEST_F(KernelRecorderTest, EnergyIsMeasuredBeforeObserversAreNotified) {
  Energy energy;
  recorder_.set_energy_meter(energy);
  recorder_.started(*packet_.dispatch);
  recorder_.ended(packet_, KernelRecorder::End::done);
  EXPECT_EQ(calls, (std::vector<std::string>{"energy started", "observer started", "energy ended", "observer ended"}));
  EXPECT_EQ(observer_.records[0].energy.peak_watts, 5);
}

TEST_F(KernelRecorderTest, ResourcesCountFromTheStartUpToWhatIsAvailable) {
  Resources resources;
  recorder_.set_resource_meter(resources);
  constexpr auto kDram = static_cast<std::size_t>(Resource::dram);
  constexpr auto kSlots = static_cast<std::size_t>(Resource::slots);
  resources.uses = 40;
  recorder_.started(*packet_.dispatch);
  resources.uses = 65;
  recorder_.ended(packet_, KernelRecorder::End::done);
  EXPECT_EQ(observer_.records[0].activity.used[kDram], 25U);
  EXPECT_EQ(observer_.records[0].activity.available[kDram], 100U);
  EXPECT_EQ(observer_.records[0].activity.used[kSlots], 0U) << "no wavefront was resident";
  EXPECT_EQ(observer_.records[0].activity.reachable_dram_bytes, 6U * 11);
  EXPECT_EQ(observer_.records[0].activity.memory[static_cast<std::size_t>(MemoryCount::dram_row_conflicts)], 50U);
  resources.uses = 1'000;
  recorder_.ended(packet_, KernelRecorder::End::done);
  EXPECT_EQ(observer_.records[1].activity.used[kDram], 100U);
}

}  // namespace
}  // namespace lacuna::test
