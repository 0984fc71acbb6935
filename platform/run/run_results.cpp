#include "platform/run/run_results.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <functional>
#include <string>

#include "platform/run/log.h"

namespace lacuna {

void open_results(OutputFolder& output, const RunParameters& parameters, KernelLog& kernels, RunRecorders& recorders) {
  output.write("effective.cfg", [&](std::ostream& out) { parameters.write(out); });
  kernels.set_energy_blocks(recorders.energy.blocks());
  switch (parameters.values().output.kernels) {
    case KernelTable::dispatches:
      kernels.record_to(output.begin("kernels.csv"));
      break;
    case KernelTable::gzip:
      kernels.record_to(output.begin("kernels.csv.gz", OutputFile::Form::gzip));
      break;
    case KernelTable::totals:
      break;
  }
  if (!recorders.energy.empty()) recorders.energy.record_to(output.begin("power.csv"));
  if (!recorders.requests.empty()) recorders.requests.record_to(output.begin("requests.csv"));
  if (!recorders.look_ups.empty()) recorders.look_ups.record_to(output.begin("look_ups.csv.gz", OutputFile::Form::gzip));
  if (!recorders.jobs.empty())
    recorders.jobs.record_to({output.begin("jobs.csv"), output.begin("job_arrays.csv"), output.begin("passes.csv")});
  log_to_file(output.begin("log.txt"));
}

void write_results(const OutputFolder& output, const RunParameters& parameters, const RunSummary& summary,
                   const KernelLog& kernels, const LinkRecorder& links, const StatisticsGroup& statistics) {
  // A failure of one file must not prevent writing the others.
  std::string lost;
  const auto attempt = [&](const std::function<void()>& write) {
    try {
      write();
    } catch (const WriteError& e) {
      if (lost.empty()) lost = e.what();
    }
  };
  attempt([&] { output.flush(); });
  if (parameters.values().output.kernels == KernelTable::totals)
    attempt([&] {
      output.write("kernel_totals.csv",
                   [&](std::ostream& out) { write_kernel_totals_csv(kernels.summaries(), out, kernels.energy_blocks()); });
    });
  if (!links.empty()) {
    attempt([&] { output.write("links.csv", [&](std::ostream& out) { links.write_csv(out); }); });
    for (const LinkRecorder::Picture& picture : links.pictures())
      attempt([&] { output.write(picture.file, [&](std::ostream& out) { out << picture.svg; }); });
  }
  attempt([&] {
    output.write("statistics.json", [&](std::ostream& out) { write_statistics_json(summary, kernels, statistics, out); });
  });
  if (!lost.empty()) throw WriteError(lost);
}

void warn_of_missing_lock(const OutputFolder& output) {
  if (output.lock().missing().empty()) return;
  spdlog::warn(
      "{}: its file system has no locks ({}): another run that writes there is not noticed, and the files of both get mixed",
      output.path().string(), output.lock().missing());
}

std::uint64_t peak_host_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;  // Linux counts KiB
}

}  // namespace lacuna
