#include "platform/run/job_recorder.h"

#include <sstream>
#include <utility>

#include "platform/sida/job_arrays_csv.h"
#include "platform/sida/jobs_csv.h"

namespace lacuna {

void JobRecorder::add(GpuDevice& device) {
  if (auto* const sida = device.extension<SidaExtension>()) devices_.push_back({device.basename(), &sida->accelerator()});
}

void JobRecorder::record_to(const Files& files) {
  const auto write = [](OutputFile& file, const auto& text) {
    std::ostringstream lines;
    text(lines);
    file.write(lines.view());
  };
  write(*files.jobs, write_jobs_csv_header);
  write(*files.arrays, write_job_arrays_csv_header);
  write(*files.passes, write_passes_csv_header);
  for (const Device& device : devices_) {
    device.accelerator->observe_jobs([=, name = device.name](const SidaJobRecord& job) {
      write(*files.jobs, [&](std::ostream& out) { write_jobs_csv(name, job, out); });
      write(*files.arrays, [&](std::ostream& out) { write_job_arrays_csv(name, job, out); });
    });
    device.accelerator->observe_passes([=, name = device.name](const SidaPassRecord& pass) {
      write(*files.passes, [&](std::ostream& out) { write_passes_csv(name, pass, out); });
    });
  }
}

}  // namespace lacuna
