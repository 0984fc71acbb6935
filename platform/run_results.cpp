#include "platform/run_results.h"

#include <sys/resource.h>
#include <fstream>

#include "platform/log.h"

namespace lacuna {

void open_results(const OutputFolder& output, const RunParameters& parameters, KernelLog& kernels) {
  std::ofstream effective = output.create("effective.cfg");
  parameters.write(effective);
  kernels.record_to(output.create("kernels.csv"));
  log_to_file(output.path() / "log.txt");
}

void write_results(const OutputFolder& output, const RunSummary& summary, KernelLog& kernels,
                   const StatisticsGroup& statistics) {
  kernels.flush();
  std::ofstream file = output.create("statistics.json");
  write_statistics_json(summary, kernels, statistics, file);
}

std::uint64_t peak_host_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;  // Linux counts KiB
}

}  // namespace lacuna
