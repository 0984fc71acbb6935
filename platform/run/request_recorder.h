// Records the load requests of a run's devices over time: requests.csv, written during the run.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/gpu_device.h"
#include "platform/run/output_file.h"

namespace lacuna {

/// Writes the header of requests.csv. The mean latency is empty in a sample without responses.
void write_requests_csv_header(std::ostream& out);
void write_requests_csv(const std::string& device, const RequestSample& sample, std::ostream& out);

class RequestRecorder {
 public:
  /// Adds a device; no effect if the device does not count its requests over time.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// From now on, writes every sample to this file (requests.csv).
  void record_to(std::shared_ptr<OutputFile> csv);
  /// Writes all samples until `at`.
  void finish(Tick at);

 private:
  struct Device {
    std::string name;
    DeviceRequests* requests;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
