// Follows the load requests of a run's devices over time: requests.csv, written while the run goes on.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/gpu_device.h"
#include "platform/run/output_file.h"

namespace lacuna {

/// A line for each sample; without answers it has no mean latency.
void write_requests_csv_header(std::ostream& out);
void write_requests_csv(const std::string& device, const RequestSample& sample, std::ostream& out);

class RequestRecorder {
 public:
  /// A device that does not count its requests over time is left out.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// From now on every sample is a line of this file (requests.csv).
  void record_to(std::shared_ptr<OutputFile> csv);
  /// Writes what has happened until `at`.
  void finish(Tick at);

 private:
  struct Device {
    std::string name;
    DeviceRequests* requests;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
