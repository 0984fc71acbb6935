// What another program says: sbatch, squeue.
#pragma once

#include <string>
#include <vector>

namespace lacuna {

struct ProgramOutput {
  int exit_code = 0;  ///< 127 when there is no such program, 128 + signal when a signal ended it
  std::string output;
  std::string errors;
};

/// Runs a program that is found as a shell finds it, and waits for its end.
ProgramOutput run_program(const std::vector<std::string>& words);

}  // namespace lacuna
