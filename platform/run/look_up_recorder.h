// Events of the load history buffers of a run's devices (duplo.trace): look_ups.csv.gz, written during the run.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "models/duplo/duplo.h"
#include "models/gpu/gpu_device.h"
#include "platform/run/output_file.h"

namespace lacuna {

void write_look_ups_csv_header(std::ostream& out);
/// Writes a line per event. Columns that an event does not have are empty.
void write_look_ups_csv(const std::string& device, unsigned unit, const std::vector<HistoryEvent>& events, std::ostream& out);

class LookUpRecorder {
 public:
  /// Adds a device; no effect without Duplo or without duplo.trace.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// From now on, writes every event to this file (look_ups.csv.gz).
  void record_to(std::shared_ptr<OutputFile> csv);
  /// Writes the events that have not been written yet.
  void finish();

 private:
  struct Device {
    std::string name;
    Duplo* duplo;
  };
  std::vector<Device> devices_;
};

}  // namespace lacuna
