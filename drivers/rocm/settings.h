// Settings of the virtual GPUs from environment variables; `lacuna exec` sets these.
//
//   LACUNA_CONFIG  configuration files and section.name=value assignments, separated by ';' and applied from left to right
//   LACUNA_SET     assignments, separated by ';', applied after LACUNA_CONFIG
//   LACUNA_OUT     output folder; "none" = write nothing; default lacuna-out/run-NNNN
//   LACUNA_RUN     identifies the run to which the process belongs: all processes of a run share an output folder
//   LACUNA_REPORT  1 = print the table of kernels to stderr at the end, and a notice if the simulation takes long
#pragma once

#include <string>
#include <vector>

#include "platform/command_line.h"

namespace lacuna::rocm {

struct Settings {
  std::vector<ConfigurationSource> configuration;
  std::string output_folder;
  std::string run;  ///< the run's identifier, for OutputFolder::claim()
  bool write_results = true;
  bool report = false;

  static Settings from_environment();
};

}  // namespace lacuna::rocm
