// Who pays for a device's energy: each kernel, or nobody.
//
// Between two neighbouring starts or ends of kernels, those that run share what the device uses in equal parts, static power
// included; what it uses while none runs is idle. Shares are kept as numbers of events and as time, so that
//   - kernels and idle add up to the whole,
//   - a kernel that runs by itself has exactly what the counters say, whatever was before it.
// What a device does for a kernel after its end (write-backs of a release, posted writes that DRAM performs later) belongs to
// who runs then, or to idle.
#pragma once

#include <cstdint>
#include <vector>

#include "models/energy/energy_meter.h"
#include "models/energy/kernel_energy.h"

namespace lacuna {

/// Events and time of which somebody bears the energy.
struct EnergyShare {
  std::vector<double> counts;  ///< of EnergyMeter::events()
  double picoseconds = 0;

  EnergyShare& operator+=(const EnergyShare& other);
};

class EnergyLedger {
 public:
  /// Begins at the simulation's beginning. `meter` has all its events, and outlives the ledger.
  explicit EnergyLedger(const EnergyMeter& meter);

  /// Times of calls never go back: an earlier one counts as the latest.
  void start(std::uint64_t kernel, Tick at);
  /// std::logic_error when it has not been started.
  KernelEnergy end(std::uint64_t kernel, Tick at);
  /// The device took these watts in a sampling interval that began at `begin` and is over.
  void note_power(Tick begin, double watts);
  /// Accounts for the time until `at`.
  void settle(Tick at);

  /// Of all kernels that have ended.
  const EnergyShare& kernels() const { return kernels_; }
  const EnergyShare& idle() const { return idle_; }
  /// Since the beginning, until the last call: measured by itself, not as a sum of shares.
  EnergyShare whole() const;
  std::size_t running() const { return running_.size(); }

 private:
  struct Running {
    std::uint64_t kernel;
    Tick start;
    EnergyShare share;
    double peak_watts = 0;
  };

  const EnergyMeter& meter_;
  EnergyMeter::Counts first_;
  EnergyMeter::Counts last_;  // at until_
  Tick until_{};
  std::vector<Running> running_;
  EnergyShare kernels_;
  EnergyShare idle_;
};

}  // namespace lacuna
