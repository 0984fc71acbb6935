// Tests the energy measurement of a device: counters are read at window boundaries and when kernels start and end, without any
// effect on the run.
#include "models/gpu/device_energy.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna::test {
namespace {

constexpr Tick microseconds(std::uint64_t n) { return {n * 1'000'000}; }

struct Edge : WindowBarrier {
  std::uint64_t served = 0;
  std::vector<unsigned> worked_groups;
  std::vector<Tick> settled;
  Tick retired{};
  void group_finished(unsigned group, unsigned, Tick) override { worked_groups.push_back(group); }
  void resolve(Tick end) override {
    settled.push_back(end);
    served += 1000;
  }
  Tick next() const override { return microseconds(77); }
  void retire(Tick horizon) override { retired = horizon; }
};

class DeviceEnergyTest : public testing::Test {
 protected:
  DeviceEnergyTest() {
    energy_.meter().add("l2", "read", edge_.served, 1000);  // 1 nJ per read, 1 uJ per window
    energy_.meter().add_static("board", 10);
    energy_.record_to([this](const PowerSample& s) { samples_.push_back(s); });
    EXPECT_FALSE(energy_.begun());
    energy_.begin();
    EXPECT_TRUE(energy_.begun());
  }

  Edge edge_;
  DeviceEnergy energy_{microseconds(1), edge_};
  std::vector<PowerSample> samples_;
};

TEST_F(DeviceEnergyTest, RecordingDoesNotChangeTiming) {
  energy_.group_finished(5, 1, microseconds(1));
  energy_.resolve(microseconds(1));
  energy_.retire(microseconds(3));
  EXPECT_EQ(edge_.worked_groups, std::vector<unsigned>{5});
  EXPECT_EQ(edge_.settled, (std::vector<Tick>{microseconds(1)}));
  EXPECT_EQ(edge_.retired, microseconds(3));
  EXPECT_EQ(energy_.next(), microseconds(77));
}

// Blocks register with three meters: for the configured energies, and for both ends of their intervals. Only the first meter
// reads counters.
TEST(DeviceEnergyBounds, KernelsHaveTheLowAndTheHighEndOfTheirEnergy) {
  Edge edge;
  DeviceEnergy energy(microseconds(1), edge);
  EnergyParameters configured;
  configured.l2 = {.read = 1000, .leakage = 4, .law = {}};
  configured.published = "l2_read";
  configured.spread_published = 2;
  configured.spread_estimated = 4;
  configured.voltage = 2;  // twice the reference of 1 V: four times the energy, twice the leakage
  energy.set_energies(configured, [](const EnergyParameters& e) {
    EnergyParameters machine = e;
    machine.l2.leakage *= 10;
    return machine;
  });
  energy.describe([&edge](EnergyMeter& meter, const EnergyParameters& e) {
    meter.add("l2", "read", edge.served, e.l2.read);
    meter.add_static("l2", e.l2.leakage);
  });
  energy.begin();
  energy.kernel_started(1, {});
  edge.served += 1000;
  const KernelEnergy kernel = energy.kernel_ended(1, microseconds(1), {});
  EXPECT_DOUBLE_EQ(kernel.total(), 4e-6 + 80e-6);
  EXPECT_DOUBLE_EQ(kernel.total_bounds().low, 2e-6 + 20e-6);
  EXPECT_DOUBLE_EQ(kernel.total_bounds().high, 8e-6 + 320e-6);
}

// Requests served at the end of a window belong to that window.
TEST_F(DeviceEnergyTest, KernelsAndSamplesFollowTheWindows) {
  energy_.kernel_started(5, microseconds(1));
  for (std::uint64_t end = 2; end <= 4; ++end) energy_.resolve(microseconds(end));
  edge_.served += 9000;
  energy_.resolve(microseconds(5));
  const KernelEnergy kernel = energy_.kernel_ended(5, microseconds(6), {});
  ASSERT_EQ(kernel.joules.size(), 2U);
  EXPECT_DOUBLE_EQ(kernel.joules[0], 13e-6);
  EXPECT_DOUBLE_EQ(kernel.joules[1], 50e-6);
  EXPECT_DOUBLE_EQ(kernel.peak_watts, 20);  // 10 uJ between 4 us and 5 us, plus 10 W static
  energy_.finish(microseconds(8));
  ASSERT_FALSE(samples_.empty());
  EXPECT_EQ(samples_.front().begin, Tick{});
  EXPECT_EQ(samples_.back().end, microseconds(8));
  EXPECT_DOUBLE_EQ(samples_.back().total(), 10);
  EXPECT_DOUBLE_EQ(energy_.ledger().idle().picoseconds, 3e6);
  EXPECT_DOUBLE_EQ(energy_.ledger().whole().picoseconds, 8e6);
}

// A quarter of the kernel's instructions has been timed. The other three quarters are charged three times the events of the
// timed quarter. The kernel takes 2 us, of which 1.5 +- 0.3 us are an estimate.
TEST_F(DeviceEnergyTest, EventsOfUntimedWorkAreEstimated) {
  energy_.kernel_started(1, microseconds(1));
  edge_.served += 50;
  const UntimedWork work{.kind = 1, .instructions = 1000, .untimed = 750, .half_width = 0.3e6, .half_width_share = 0.2};
  const KernelEnergy kernel = energy_.kernel_ended(1, microseconds(3), work);
  EXPECT_DOUBLE_EQ(kernel.joules[0], 200e-9);
  EXPECT_DOUBLE_EQ(kernel.joules[1], 20e-6);
  EXPECT_DOUBLE_EQ(kernel.half_width, 0.2 * 150e-9 + 0.3e-6 * 10);

  // The next launch of this kind runs entirely without timing, with twice the instructions.
  energy_.kernel_started(2, microseconds(3));
  const KernelEnergy next = energy_.kernel_ended(
      2, microseconds(7), {.kind = 1, .instructions = 2000, .untimed = 2000, .half_width = 0, .half_width_share = 0});
  EXPECT_DOUBLE_EQ(next.joules[0], 400e-9);
  EXPECT_DOUBLE_EQ(next.joules[1], 40e-6);

  // The energies of kernels and idle time add up to the total, which is also the integral of power over time.
  energy_.finish(microseconds(8));
  const EnergyLedger& ledger = energy_.ledger();
  EXPECT_DOUBLE_EQ(ledger.whole().counts[0], 600);
  EXPECT_DOUBLE_EQ(ledger.kernels().counts[0], 600);
  double joules = 0;
  for (const PowerSample& s : samples_) joules += s.total() * static_cast<double>((s.end - s.begin).ps) * 1e-12;
  EXPECT_NEAR(joules, 600e-9 + 80e-6, 1e-12);
}

// Without a timed launch of the kind there is nothing to estimate from.
TEST_F(DeviceEnergyTest, UnknownWorkHasNoEvents) {
  energy_.kernel_started(1, microseconds(1));
  const KernelEnergy kernel = energy_.kernel_ended(
      1, microseconds(2), {.kind = 7, .instructions = 10, .untimed = 10, .half_width = 0, .half_width_share = 0});
  EXPECT_DOUBLE_EQ(kernel.joules[0], 0);
}

}  // namespace
}  // namespace lacuna::test
