// The jobs of a run's sparse dataflow accelerators: jobs.csv, one line per job, written during the run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/gpu/gpu_device.h"
#include "models/sida/device/sida_extension.h"
#include "platform/run/output_file.h"

namespace lacuna {

class JobRecorder {
 public:
  /// Adds a device; no effect if the device has no accelerator.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// Writes a line to this file (jobs.csv) for each job that ends from now on.
  void record_to(std::shared_ptr<OutputFile> csv);

 private:
  struct Device {
    std::string name;
    Accelerator* accelerator;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
