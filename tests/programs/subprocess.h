// Running a command, and a function in a separate process.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lacuna::programs {

struct Outcome {
  int exit_code = 0;  ///< 128 + signal if a signal ended the process, as in a shell
  bool timed_out = false;
  std::string output;  ///< standard output and standard error
};

/// Runs arguments[0], looked up in PATH, in `folder`. Throws std::system_error if no process can be started.
[[nodiscard]] Outcome run_command(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                                  std::chrono::seconds limit);

/// Calls `work` in a copy of this process; changes to memory that is not shared are lost.
[[nodiscard]] Outcome run_isolated(const std::function<void()>& work, std::chrono::seconds limit);

}  // namespace lacuna::programs
