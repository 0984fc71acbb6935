// A command line that is wrong.
#pragma once

#include <stdexcept>
#include <string>

namespace lacuna {

/// The command line is wrong; what() says what and how to get help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws UsageError: the message, and which help has more. `command`: empty for that of all commands.
[[noreturn]] inline void usage_error(const std::string& message, const std::string& command = {}) {
  throw UsageError(message + (message.back() == '?' ? " See" : "; see") + " lacuna " + (command.empty() ? "" : command + ' ') +
                   "--help");
}

}  // namespace lacuna
