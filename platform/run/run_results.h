// The files of a run's output folder that all kinds of run write.
#pragma once

#include <cstdint>

#include "models/common/config/statistics.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_recorders.h"
#include "platform/run/run_report.h"

namespace lacuna {

/// Writes effective.cfg, and creates kernels.csv (kernels.csv.gz if output.kernels selects it), log.txt, and one file for each
/// recorder in use: power.csv, requests.csv, look_ups.csv.gz, jobs.csv, job_arrays.csv and passes.csv. Throws WriteError.
void open_results(OutputFolder& output, const RunParameters& parameters, KernelLog& kernels, RunRecorders& recorders);

/// Writes the remaining text of the growing files, kernel_totals.csv if requested, links.csv and links.svg if links are
/// recorded, and finally statistics.json. A later call replaces the files of an earlier one. Throws WriteError, also if one of
/// these files failed before.
void write_results(const OutputFolder& output, const RunParameters& parameters, const RunSummary& summary,
                   const KernelLog& kernels, const LinkRecorder& links, const StatisticsGroup& statistics);

/// Logs a warning if the file system of the folder has no locks, in which case other runs in the folder are not detected.
void warn_of_missing_lock(const OutputFolder& output);

/// Maximum memory of this process so far, in bytes; 0 if the host does not report it.
std::uint64_t peak_host_memory();

}  // namespace lacuna
