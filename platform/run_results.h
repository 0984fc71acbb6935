// The files of a run's output folder that every kind of run writes.
#pragma once

#include <cstdint>

#include "models/common/statistics.h"
#include "platform/kernel_log.h"
#include "platform/output_folder.h"
#include "platform/run_parameters.h"
#include "platform/run_report.h"

namespace lacuna {

/// Begins effective.cfg, kernels.csv and log.txt. Throws OutputError.
void open_results(const OutputFolder& output, const RunParameters& parameters, KernelLog& kernels);

/// Ends kernels.csv and writes statistics.json. May be called again: the later one counts.
void write_results(const OutputFolder& output, const RunSummary& summary, KernelLog& kernels,
                   const StatisticsGroup& statistics);

/// The largest amount of memory that this process has had so far, bytes; 0 when the host does not tell.
std::uint64_t peak_host_memory();

}  // namespace lacuna
