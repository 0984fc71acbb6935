// Follows the energy of a run's devices: what they take over time goes to power.csv while the run goes on, totals are there at
// its end.
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
  /// A device that does not account for its energy is left out.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// Of all devices: they are of one configuration. Empty when there are none.
  const std::vector<std::string>& blocks() const;
  /// From now on every sample is a line of this file (power.csv).
  void record_to(std::shared_ptr<OutputFile> csv);
  /// Accounts for what has been used until `at`.
  void finish(Tick at);
  /// By device. After finish().
  nlohmann::ordered_json json() const;

 private:
  struct Device {
    std::string name;
    DeviceEnergy* energy;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
