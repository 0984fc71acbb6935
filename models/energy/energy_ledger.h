// Attribution of a device's energy to kernels, or to idle time.
//
// Between two consecutive starts or ends of kernels, the running kernels share the device's energy in equal parts, static power
// included; energy used while no kernel runs is idle. Shares are stored as numbers of events and as time, so that
//   - the shares of all kernels and of idle time add up to the whole,
//   - a kernel that runs alone has exactly the energy of the counters, regardless of earlier kernels.
// Work for a kernel after its end (write-backs of a release, posted writes that DRAM performs later) is attributed to the
// kernels that run then, or to idle.
#pragma once

#include <cstdint>
#include <vector>

#include "models/energy/energy_meter.h"
#include "models/energy/kernel_energy.h"

namespace lacuna {

/// Events and time attributed to a kernel, to all kernels, to idle time, or to the device.
struct EnergyShare {
  std::vector<double> counts;  ///< counts of events, by index in EnergyMeter::events()
  double picoseconds = 0;

  EnergyShare& operator+=(const EnergyShare& other);
};

class EnergyLedger {
 public:
  /// Create the ledger when the simulation starts. `meter` must have all its events, and must outlive the ledger.
  explicit EnergyLedger(const EnergyMeter& meter);

  // In all functions, events and time are attributed as if an `at` earlier than the latest one passed so far were the latest
  // one.
  void start(std::uint64_t kernel, Tick at);
  /// Numbers of events attributed to a kernel until `at`. Throws std::logic_error if the kernel is not running.
  std::vector<double> counts_of(std::uint64_t kernel, Tick at);
  /// Ends a kernel and returns its energy. Throws std::logic_error if the kernel is not running.
  KernelEnergy end(std::uint64_t kernel, Tick at);
  /// Records the device's power in a completed sampling interval that began at `begin`.
  void note_power(Tick begin, double watts);
  /// Attributes events and time until `at`.
  void settle(Tick at);

  /// Sum of the shares of all kernels that have ended.
  const EnergyShare& kernels() const { return kernels_; }
  const EnergyShare& idle() const { return idle_; }
  /// Events and time of the device from the start until the latest `at`, computed from the counters instead of as a sum of
  /// shares.
  EnergyShare whole() const;
  std::size_t running() const { return running_.size(); }

 private:
  struct Running {
    std::uint64_t kernel;
    Tick start;
    EnergyShare share;
    double peak_watts = 0;
  };

  std::vector<Running>::iterator find(std::uint64_t kernel);

  const EnergyMeter& meter_;
  EnergyMeter::Counts first_;
  EnergyMeter::Counts last_;  // counts at until_
  Tick until_{};
  std::vector<Running> running_;
  EnergyShare kernels_;
  EnergyShare idle_;
};

}  // namespace lacuna
