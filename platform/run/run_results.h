// The files of a run's output folder that every kind of run writes.
#pragma once

#include <cstdint>

#include "models/common/config/statistics.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_recorders.h"
#include "platform/run/run_report.h"

namespace lacuna {

/// Writes effective.cfg, begins kernels.csv (or kernels.csv.gz, by output.kernels), log.txt, and a file for each recorder that
/// has a device: power.csv, requests.csv, look_ups.csv.gz. Throws WriteError.
void open_results(OutputFolder& output, const RunParameters& parameters, KernelLog& kernels, RunRecorders& recorders);

/// Writes what is left of the files that grow, kernel_totals.csv when that is wanted, links.csv and links.svg when there are
/// links, and, last, statistics.json. May be called again: the later one counts. Throws WriteError, also when one of those
/// files failed before.
void write_results(const OutputFolder& output, const RunParameters& parameters, const RunSummary& summary,
                   const KernelLog& kernels, const LinkRecorder& links, const StatisticsGroup& statistics);

/// When the file system of the folder has no locks: other runs that write there are not noticed, and the log says so.
void warn_of_missing_lock(const OutputFolder& output);

/// The largest amount of memory that this process has had so far, bytes; 0 when the host does not tell.
std::uint64_t peak_host_memory();

}  // namespace lacuna
