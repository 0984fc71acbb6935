// What the environment says of the virtual GPUs; `lacuna exec` sets it.
//
//   LACUNA_CONFIG  configuration files and section.name=value assignments, separated by ';', later wins
//   LACUNA_SET     assignments, separated by ';', after those
//   LACUNA_OUT     output folder; "none" = write nothing; default lacuna-out/run-NNNN
//   LACUNA_RUN     the run that the process is of: those of one share an output folder
//   LACUNA_REPORT  1 = the table of kernels to stderr at the end, and a notice when the simulation takes long
#pragma once

#include <string>
#include <vector>

#include "platform/command_line.h"

namespace lacuna::rocm {

struct Settings {
  std::vector<ConfigurationSource> configuration;
  std::string output_folder;
  std::string run;  ///< OutputFolder::claim
  bool write_results = true;
  bool report = false;

  static Settings from_environment();
};

}  // namespace lacuna::rocm
