// The energy of a device is divided between kernels and idle time, and the parts add up to the whole.
#include "models/energy/energy_ledger.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <stdexcept>

namespace lacuna::test {
namespace {

constexpr Tick microseconds(std::uint64_t n) { return {n * 1'000'000}; }

/// Two blocks: `a` has events of 1 nJ and a static power of 2 W, `b` has events of 3 nJ and a static power of 1 W.
class EnergyLedgerTest : public testing::Test {
 protected:
  EnergyLedgerTest() {
    meter_.add("a", "event", a_, 1000);
    meter_.add("b", "event", b_, 3000);
    meter_.add_static("a", 2);
    meter_.add_static("b", 1);
  }
  double joules(const EnergyShare& share) const {
    const std::vector<double> blocks = meter_.joules(share.counts, share.picoseconds);
    return std::accumulate(blocks.begin(), blocks.end(), 0.0);
  }

  std::uint64_t a_ = 0;
  std::uint64_t b_ = 0;
  EnergyMeter meter_;
};

TEST_F(EnergyLedgerTest, AKernelIsChargedTheEventsDuringItsTime) {
  EnergyLedger ledger(meter_);
  a_ = 1'000'000;  // idle: 1 mJ and 10 us of 3 W
  ledger.start(0, microseconds(10));
  a_ += 2'000;
  b_ += 500;
  const KernelEnergy energy = ledger.end(0, microseconds(14));
  ASSERT_EQ(energy.joules.size(), 2U);
  EXPECT_DOUBLE_EQ(energy.joules[0], 2e-6 + 8e-6);
  EXPECT_DOUBLE_EQ(energy.joules[1], 1.5e-6 + 4e-6);
  EXPECT_DOUBLE_EQ(energy.peak_watts, energy.total() / 4e-6);
  EXPECT_DOUBLE_EQ(joules(ledger.idle()), 1e-3 + 30e-6);
}

// A kernel's energy is bit-identical to that in a separate ledger, regardless of earlier kernels.
TEST_F(EnergyLedgerTest, SuccessiveKernelsHaveTheEnergyOfSeparateLedgers) {
  const auto run = [this](EnergyLedger& ledger, std::uint64_t kernel, Tick at) {
    ledger.start(kernel, at);
    a_ += 12'345 * (kernel + 1);
    ledger.start(100, at + microseconds(1));
    b_ += 777 + kernel;
    ledger.end(100, at + microseconds(2));
    a_ += 3;
    return ledger.end(kernel, at + microseconds(5 + kernel));
  };
  std::vector<KernelEnergy> apart;
  for (const std::uint64_t kernel : {0, 1}) {
    EnergyLedger ledger(meter_);
    apart.push_back(run(ledger, kernel, {}));
  }
  EnergyLedger ledger(meter_);
  EXPECT_EQ(run(ledger, 0, microseconds(3)).joules, apart[0].joules);
  a_ += 1'000'000'007;
  EXPECT_EQ(run(ledger, 1, microseconds(1000)).joules, apart[1].joules);
}

TEST_F(EnergyLedgerTest, KernelsThatRunTogetherShareInEqualParts) {
  EnergyLedger ledger(meter_);
  ledger.start(0, {});
  a_ += 100;
  ledger.start(1, microseconds(1));
  a_ += 1000;
  const KernelEnergy first = ledger.end(0, microseconds(3));
  a_ += 10;
  const KernelEnergy second = ledger.end(1, microseconds(4));
  EXPECT_DOUBLE_EQ(first.joules[0], 600e-9 + 2 * 2e-6);
  EXPECT_DOUBLE_EQ(second.joules[0], 510e-9 + 2 * 2e-6);
  EXPECT_DOUBLE_EQ(first.total() + second.total(), joules(ledger.whole()));
  EXPECT_DOUBLE_EQ(joules(ledger.idle()), 0);
}

TEST_F(EnergyLedgerTest, KernelsAndIdleTimeSumToTheTotal) {
  std::mt19937 random(1);  // NOLINT: the same numbers in every run
  EnergyLedger ledger(meter_);
  std::vector<std::uint64_t> running;
  double sum = 0;
  Tick at{};
  for (std::uint64_t step = 0; step < 500; ++step) {
    a_ += random() % 10'000;
    b_ += random() % 10'000;
    at += Tick{random() % 5'000'000};
    if (!running.empty() && random() % 2 == 0) {
      const std::size_t which = random() % running.size();
      sum += ledger.end(running[which], at).total();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      running.push_back(step);
      ledger.start(step, at);
    }
  }
  while (!running.empty()) {
    sum += ledger.end(running.back(), at).total();
    running.pop_back();
  }
  a_ += 1;
  ledger.settle(at + microseconds(7));
  const double whole =
      static_cast<double>(a_) * 1e-9 + static_cast<double>(b_) * 3e-9 + static_cast<double>((at + microseconds(7)).ps) * 3e-12;
  EXPECT_NEAR(joules(ledger.whole()), whole, 1e-12 * whole);
  EXPECT_NEAR(sum, joules(ledger.kernels()), 1e-12 * whole);
  EXPECT_NEAR(joules(ledger.kernels()) + joules(ledger.idle()), whole, 1e-12 * whole);
}

TEST_F(EnergyLedgerTest, TimeNeverGoesBack) {
  EnergyLedger ledger(meter_);
  ledger.start(0, microseconds(5));
  ledger.settle(microseconds(8));
  const KernelEnergy energy = ledger.end(0, microseconds(6));  // the end is reported late
  EXPECT_DOUBLE_EQ(energy.total(), 9e-6);
  EXPECT_THROW(ledger.end(0, microseconds(9)), std::logic_error);
}

TEST_F(EnergyLedgerTest, PeakIsThatOfIntervalsWithinTheKernel) {
  EnergyLedger ledger(meter_);
  ledger.start(0, microseconds(5));
  ledger.note_power(microseconds(4), 500);  // this interval began before the kernel
  ledger.note_power(microseconds(5), 40);
  ledger.note_power(microseconds(6), 30);
  EXPECT_DOUBLE_EQ(ledger.end(0, microseconds(20)).peak_watts, 40);
}

}  // namespace
}  // namespace lacuna::test
