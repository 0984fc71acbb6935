#include "platform/run/energy_recorder.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/run/energy_report.h"

namespace lacuna {

void EnergyRecorder::add(GpuDevice& device) {
  if (device.energy() != nullptr) devices_.push_back({device.basename(), device.energy()});
}

const std::vector<std::string>& EnergyRecorder::blocks() const {
  static const std::vector<std::string> kNone;
  return devices_.empty() ? kNone : devices_.front().energy->meter().blocks();
}

void EnergyRecorder::record_to(std::shared_ptr<OutputFile> csv) {
  std::ostringstream header;
  write_power_csv_header(blocks(), header);
  csv->write(header.view());
  for (const Device& device : devices_) {
    device.energy->record_to([csv, name = device.name](const PowerSample& sample) {
      std::ostringstream line;
      write_power_csv(name, sample, line);
      csv->write(line.view());
    });
  }
}

void EnergyRecorder::finish(Tick at) {
  for (const Device& device : devices_) {
    if (device.energy->begun()) device.energy->finish(at);
  }
}

nlohmann::ordered_json EnergyRecorder::json() const {
  nlohmann::ordered_json json;
  for (const Device& device : devices_) {
    if (!device.energy->begun()) continue;
    json[device.name] = device_energy_json(device.energy->meter(), device.energy->ledger());
  }
  return json;
}

}  // namespace lacuna
