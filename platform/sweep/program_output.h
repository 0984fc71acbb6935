// Output of another program, such as sbatch or squeue.
#pragma once

#include <string>
#include <vector>

namespace lacuna {

struct ProgramOutput {
  int exit_code = 0;  ///< 127 if the program cannot be started, 128 + signal if a signal ended the program
  std::string output;
  std::string errors;
};

/// Runs a program, searching PATH like a shell, and waits for its end.
ProgramOutput run_program(const std::vector<std::string>& words);

}  // namespace lacuna
