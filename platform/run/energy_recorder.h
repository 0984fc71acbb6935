// Records the energy of a run's devices: power over time is written to power.csv during the run; totals are available at its
// end.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/gpu/gpu_device.h"
#include "platform/run/output_file.h"

namespace lacuna {

class EnergyRecorder {
 public:
  /// Adds a device; no effect if the device does not account for its energy.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// Names of the devices' blocks; all devices have the same configuration. Empty if there are no devices.
  const std::vector<std::string>& blocks() const;
  /// From now on, writes all samples to this file (power.csv).
  void record_to(std::shared_ptr<OutputFile> csv);
  /// Ends the recording: accounts for the energy used until `at`.
  void finish(Tick at);
  /// Totals by device. Call it after finish().
  nlohmann::ordered_json json() const;

 private:
  struct Device {
    std::string name;
    DeviceEnergy* energy;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
