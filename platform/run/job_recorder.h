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
  /// A device without the accelerator is left out.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// From now on each job that ends is a line of this file (jobs.csv).
  void record_to(std::shared_ptr<OutputFile> csv);

 private:
  struct Device {
    std::string name;
    Accelerator* accelerator;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
