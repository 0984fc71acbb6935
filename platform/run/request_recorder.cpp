#include "platform/run/request_recorder.h"

#include <ostream>
#include <sstream>

namespace lacuna {

void write_requests_csv_header(std::ostream& out) {
  out << "device,begin_ps,end_ps,started,answered,in_flight,mean_latency_ps\n";
}

void write_requests_csv(const std::string& device, const RequestSample& sample, std::ostream& out) {
  const RequestCounts& counts = sample.counts;
  out << device << ',' << sample.begin.ps << ',' << sample.end.ps << ',' << counts.started << ',' << counts.answered << ','
      << sample.in_flight << ',';
  if (counts.answered != 0) out << (counts.latency.ps + counts.answered / 2) / counts.answered;
  out << '\n';
}

void RequestRecorder::add(GpuDevice& device) {
  if (device.requests() != nullptr) devices_.push_back({device.basename(), device.requests()});
}

void RequestRecorder::record_to(std::shared_ptr<OutputFile> csv) {
  std::ostringstream header;
  write_requests_csv_header(header);
  csv->write(header.view());
  for (const Device& device : devices_) {
    device.requests->record_to([csv, name = device.name](const RequestSample& sample) {
      std::ostringstream line;
      write_requests_csv(name, sample, line);
      csv->write(line.view());
    });
  }
}

void RequestRecorder::finish(Tick at) {
  for (const Device& device : devices_) device.requests->finish(at);
}

}  // namespace lacuna
