// What happens to the load history buffers of a run's devices (duplo.trace): look_ups.csv.gz, written while the run goes on.
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
/// A line for each event. Columns that an event does not have are empty.
void write_look_ups_csv(const std::string& device, unsigned unit, const std::vector<HistoryEvent>& events, std::ostream& out);

class LookUpRecorder {
 public:
  /// A device without Duplo, or without duplo.trace, is left out.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }
  /// From now on every event is a line of this file (look_ups.csv.gz).
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
