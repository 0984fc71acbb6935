// Errors in the command line.
#pragma once

#include <stdexcept>
#include <string>

namespace lacuna {

/// The command line is invalid; what() states the problem and how to get help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws UsageError with the message and the command that prints the help. `command`: empty for the general help.
[[noreturn]] inline void usage_error(const std::string& message, const std::string& command = {}) {
  throw UsageError(message + (message.back() == '?' ? " See" : "; see") + " lacuna " + (command.empty() ? "" : command + ' ') +
                   "--help");
}

}  // namespace lacuna
