// What a run leaves behind: statistics.json, kernels.csv and the lines at the end of the run.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "models/common/config/statistics.h"
#include "platform/run/energy_recorder.h"
#include "platform/run/kernel_log.h"
#include "platform/run/run_control.h"

namespace lacuna {

struct RunSummary {
  std::string program;
  RunEnd end = RunEnd::guest;
  int exit_code = 0;  ///< of the lacuna process
  Tick simulated{};
  double wall_seconds = 0;
  std::uint64_t peak_host_memory_bytes = 0;  ///< of this process, whole life; 0 = not known
  std::uint64_t hart_instructions = 0;
  std::vector<GuestMistakeCount> guest_mistakes;
  std::string run_hash;
  std::string output_folder;               ///< empty = none
  const EnergyRecorder* energy = nullptr;  ///< null = energy is not accounted for
  bool energy_table = false;               ///< the report has a table of it
};

/// The hash of everything in a run that must not differ between hosts.
std::string run_hash(const RunSummary& summary, const std::string& console, const KernelLog& kernels,
                     const StatisticsGroup& statistics);

/// statistics.json: {"run": …, "kernels": [the first KernelLog::kKept dispatches], "kernel_totals": [by name], "energy": by
/// device when it is accounted for, "statistics": tree of {"value", "unit", "description"}}.
void write_statistics_json(const RunSummary& summary, const KernelLog& kernels, const StatisticsGroup& statistics,
                           std::ostream& out);

/// The end-of-run report for people: kernel table when there were kernels, totals, run hash, output folder.
/// The table has a line per dispatch, or per kernel when there are many.
void write_run_report(const RunSummary& summary, const KernelLog& kernels, std::ostream& out);

}  // namespace lacuna
