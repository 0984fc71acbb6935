// Errors that end a workload with a message.
#pragma once

#include <stdexcept>

namespace workload {

/// An error reported to the user in one sentence: `NAME: error: ...`, exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// An invalid value of an option, detected by the workload; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace workload
