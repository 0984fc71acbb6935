// Time, bytes and energy of a job on one of the accelerator's machines.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/device/job_record.h"
#include "models/sida/machine/cpu.h"
#include "models/sida/machine/energy_counts.h"
#include "models/sida/machine/machine_parameters.h"
#include "models/sida/machine/roofline.h"
#include "models/sida/pipeline/pass_counts.h"
#include "platform/sida/application_job.h"
#include "platform/sida/run_application.h"

namespace lacuna {

struct SidaTotals {
  double cycles = 0;
  std::uint64_t passes = 0, bytes = 0;
  sida::PassCounts sums;         ///< counters of machine sida: sums over all passes, and maxima of peaks
  std::uint64_t sub_tensor = 0;  ///< columns of a sub-tensor
  sida::EnergyCounts energy;
  std::vector<SidaPassRecord> by_pass;  ///< passes of machine sida, if requested
  std::vector<sida::Work> operators;    ///< roofline: operators of one iteration; oracle: passes of the program
  // Steps of the longest pass, if a trace was requested.
  std::vector<sida::StepTrace> trace;
  sida::Time longest = 0;
  std::uint32_t traced = 0;  ///< number of the longest pass in the program
};

struct SidaMachines {
  const sida::MachineParameters& accelerator;  ///< also determines bandwidth and PEs of roofline and oracle
  const sida::CpuParameters& cpu;
};

/// Optional parts of SidaTotals.
struct SidaDetails {
  bool trace = false;   ///< steps of the longest pass
  bool passes = false;  ///< by_pass
};

/// Runs the job. Times of all machines are in cycles of the accelerator. Throws sida::PassError, sida::ProgramError.
SidaTotals time_application(ApplicationJob& job, const sida::SparseMatrix& by_columns, SidaMachine which,
                            const SidaMachines& machines, const SidaDetails& details);

}  // namespace lacuna
