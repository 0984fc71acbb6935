// Results of a run: statistics.json, kernels.csv and the report at the end of the run.
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
  int exit_code = 0;  ///< exit code of the lacuna process
  Tick simulated{};
  double wall_seconds = 0;
  std::uint64_t peak_host_memory_bytes = 0;  ///< peak memory of this process since its start; 0 = unknown
  std::uint64_t hart_instructions = 0;
  std::vector<GuestMistakeCount> guest_mistakes;
  std::string run_hash;
  std::string output_folder;               ///< empty = none
  const EnergyRecorder* energy = nullptr;  ///< null = energy is not accounted for
  bool energy_table = false;               ///< whether the report has a table of energy
};

/// The run hash, over all results that must not differ between hosts.
std::string run_hash(const RunSummary& summary, const std::string& console, const KernelLog& kernels,
                     const StatisticsGroup& statistics);

/// Writes statistics.json: {"run": …, "kernels": [the first KernelLog::kKept dispatches], "kernel_totals": [by name], "energy":
/// by device when it is accounted for, "statistics": tree of {"value", "unit", "description"}}.
void write_statistics_json(const RunSummary& summary, const KernelLog& kernels, const StatisticsGroup& statistics,
                           std::ostream& out);

/// Writes the report at the end of a run: kernel table if there were kernels, totals, run hash, output folder. The table has a
/// line per dispatch, or per kernel if there are many.
void write_run_report(const RunSummary& summary, const KernelLog& kernels, std::ostream& out);

}  // namespace lacuna
