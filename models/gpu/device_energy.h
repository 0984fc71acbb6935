// Energy of a device: its meter, whose blocks' registrations are, the ledger of its kernels and its power over time.
//
// Counters are read at the edges of windows, where no compute unit is at work, and when kernels start and end. No process and
// no event of the simulation is there for it: what a run does, and when, is the same with it and without.
#pragma once

#include <optional>

#include "models/compute/windows.h"
#include "models/energy/energy_ledger.h"
#include "models/energy/energy_meter.h"
#include "models/energy/power_trace.h"

namespace lacuna {

class DeviceEnergy : public KernelEnergyMeter, public WindowBarrier {
 public:
  /// `edge`: what compute units have behind their windows.
  DeviceEnergy(Tick interval, WindowBarrier& edge) : interval_(interval), barrier_(edge) {}

  /// For blocks to register with, before begin().
  EnergyMeter& meter() { return meter_; }
  const EnergyMeter& meter() const { return meter_; }
  /// All blocks have registered, and the simulation begins.
  void begin();
  bool begun() const { return ledger_.has_value(); }
  /// Where samples go; none: nowhere.
  void record_to(PowerTrace::Sink sink) { sink_ = std::move(sink); }
  /// Accounts for what has been used until `at`, for reports.
  void finish(Tick at);
  const EnergyLedger& ledger() const { return *ledger_; }

  void kernel_started(std::uint64_t kernel, Tick at) override;
  KernelEnergy kernel_ended(std::uint64_t kernel, Tick at) override;
  void group_finished(unsigned group, unsigned thread, Tick end) override { barrier_.group_finished(group, thread, end); }
  void begin(Tick far) override { barrier_.begin(far); }
  void resolve(Tick end) override;
  Tick next() const override { return barrier_.next(); }
  void retire(Tick horizon) override { barrier_.retire(horizon); }

 private:
  void sampled(const PowerSample& sample);

  const Tick interval_;
  WindowBarrier& barrier_;
  EnergyMeter meter_;
  std::optional<EnergyLedger> ledger_;
  std::optional<PowerTrace> trace_;
  PowerTrace::Sink sink_;
};

}  // namespace lacuna
