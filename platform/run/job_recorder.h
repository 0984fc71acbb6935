// The jobs of a run's sparse dataflow accelerators: jobs.csv, one line per job, job_arrays.csv, the addresses of
// its arrays, and passes.csv, one line per pass; written during the run.
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
  struct Files {
    std::shared_ptr<OutputFile> jobs, arrays, passes;
  };
  /// For each job that ends from now on, writes a line to `jobs` and its arrays to `arrays`; for each pass, a line to `passes`.
  void record_to(const Files& files);

 private:
  struct Device {
    std::string name;
    Accelerator* accelerator;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
