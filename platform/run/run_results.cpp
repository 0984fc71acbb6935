#include "platform/run/run_results.h"

#include <sys/resource.h>

#include "platform/run/log.h"

namespace lacuna {

void open_results(OutputFolder& output, const RunParameters& parameters, KernelLog& kernels, EnergyRecorder& energy,
                  RequestRecorder& requests) {
  output.write("effective.cfg", [&](std::ostream& out) { parameters.write(out); });
  kernels.set_energy_blocks(energy.blocks());
  kernels.record_to(output.begin("kernels.csv"));
  if (!energy.empty()) energy.record_to(output.begin("power.csv"));
  if (!requests.empty()) requests.record_to(output.begin("requests.csv"));
  log_to_file(output.begin("log.txt"));
}

void write_results(const OutputFolder& output, const RunSummary& summary, const KernelLog& kernels,
                   const StatisticsGroup& statistics) {
  output.write("statistics.json", [&](std::ostream& out) { write_statistics_json(summary, kernels, statistics, out); });
  output.flush();
}

std::uint64_t peak_host_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;  // Linux counts KiB
}

}  // namespace lacuna
