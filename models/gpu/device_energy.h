// Energy of a device: the meter that its blocks register with, the ledger of its kernels, and its power over time.
//
// Counters are read at window boundaries, where no compute unit runs, and when kernels start and end. Energy accounting needs
// no process or event of the simulation: behaviour and timing of a run are the same with and without it.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "models/compute/windows.h"
#include "models/energy/energy_ledger.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/energy/power_trace.h"

namespace lacuna {

class DeviceEnergy : public KernelEnergyMeter, public WindowBarrier {
 public:
  /// `barrier`: the barrier at the ends of the compute units' windows, to which all calls are passed on.
  DeviceEnergy(Tick interval, WindowBarrier& barrier) : interval_(interval), barrier_(barrier) {}

  /// Registers blocks and their energies with a meter. Called several times, with different energies for the same events.
  using Describe = std::function<void(EnergyMeter&, const EnergyParameters&)>;
  /// Registers blocks, after set_energies() and before begin(): with the configured energies, and with both ends of their
  /// intervals.
  void describe(const Describe& blocks);
  /// `configured`: energies of the reference machine. `of_machine`: converts energies of the reference machine to this
  /// machine's clocks and sizes.
  void set_energies(const EnergyParameters& configured,
                    const std::function<EnergyParameters(const EnergyParameters&)>& of_machine);

  /// The meter that blocks register with, before begin().
  EnergyMeter& meter() { return meter_; }
  const EnergyMeter& meter() const { return meter_; }
  /// Call it at the start of the simulation, when all blocks have registered.
  void begin();
  bool begun() const { return ledger_.has_value(); }
  /// Sets the receiver of samples. Without a receiver there is no power trace.
  void record_to(PowerTrace::Sink sink) { sink_ = std::move(sink); }
  /// Accounts for the energy used until `at`. Call it before reports.
  void finish(Tick at);
  const EnergyLedger& ledger() const { return *ledger_; }

  void kernel_started(std::uint64_t kernel, Tick at) override;
  KernelEnergy kernel_ended(std::uint64_t kernel, Tick at, const UntimedWork& work) override;
  void group_finished(unsigned group, unsigned thread, Tick end) override { barrier_.group_finished(group, thread, end); }
  void begin(Tick far) override { barrier_.begin(far); }
  void resolve(Tick end) override;
  Tick next() const override { return barrier_.next(); }
  void retire(Tick horizon) override { barrier_.retire(horizon); }

 private:
  void sampled(const PowerSample& sample);
  double add_untimed(std::uint64_t kernel, Tick at, const UntimedWork& work);

  /// Events and instructions of the timed part of the latest launch of a kind.
  struct LikeLaunch {
    std::vector<double> counts;
    double instructions = 0;
  };

  const Tick interval_;
  WindowBarrier& barrier_;
  EnergyMeter meter_;
  /// Meters without counts, for the bounds of meter_.
  EnergyMeter low_;
  EnergyMeter high_;
  EnergyParameters energies_;
  EnergyParameters low_energies_;
  EnergyParameters high_energies_;
  std::map<std::uint64_t, LikeLaunch> launches_;  ///< launches by UntimedWork::kind
  std::optional<EnergyLedger> ledger_;
  std::optional<PowerTrace> trace_;
  PowerTrace::Sink sink_;
};

}  // namespace lacuna
