// `lacuna sida run --machine device`: runs a program of the accelerator as a job of a GPU through a user-mode queue, without
// firmware or runtime.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/sida/machine/machine_parameters.h"
#include "platform/command_line.h"
#include "platform/sida/application_image.h"
#include "platform/sida/timed_run.h"

namespace lacuna {

/// A job that was not completed: the reason, and the exit code of the process (platform/run/exit_codes.h).
class JobError : public std::runtime_error {
 public:
  JobError(int code, const std::string& why) : std::runtime_error(why), exit_code(code) {}
  const int exit_code;
};

struct DeviceRunResult {
  ApplicationImage::Result result;
  std::optional<ApplicationImage::Result> reference;  ///< only if requested
  std::uint64_t products = 0, fused = 0;              ///< see SidaRun
  SidaTotals totals;  ///< cycles: from the start of the packet to its completion, in cycles of sida.clock
  sida::MachineParameters machine;
  std::vector<std::pair<std::string, double>> energy;  ///< joules of the GPU by block; empty without energies
};

/// Runs the application on the GPU of a configuration; with `folder`, writes the same result files as `lacuna run`, except
/// console.txt. With `addresses`, a job_arrays.csv, the arrays have the addresses of the first job in it. Throws
/// ConfigurationError, also if the GPU has no accelerator or too little memory; sida::MatrixError; JobError; OutputError,
/// WriteError. After a JobError the files in the folder are complete.
/// Without a reference, frees `matrix` as soon as it is in the GPU's memory.
DeviceRunResult run_on_device(const lacuna_sida_application& application, sida::SparseMatrix& matrix,
                              const ApplicationOptions& options, const std::vector<ConfigurationSource>& configuration,
                              const std::optional<std::string>& folder, const std::optional<std::string>& addresses,
                              bool with_reference);

}  // namespace lacuna
