#include "platform/run/job_recorder.h"

#include <sstream>
#include <utility>

#include "platform/sida/jobs_csv.h"

namespace lacuna {

void JobRecorder::add(GpuDevice& device) {
  if (auto* const sida = device.extension<SidaExtension>()) devices_.push_back({device.basename(), &sida->accelerator()});
}

void JobRecorder::record_to(std::shared_ptr<OutputFile> csv) {
  std::ostringstream header;
  write_jobs_csv_header(header);
  csv->write(header.view());
  for (const Device& device : devices_) {
    device.accelerator->observe_jobs([csv, name = device.name](const SidaJobRecord& job) {
      std::ostringstream line;
      write_jobs_csv(name, job, line);
      csv->write(line.view());
    });
  }
}

}  // namespace lacuna
