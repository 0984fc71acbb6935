// What ends a workload with a message.
#pragma once

#include <stdexcept>

namespace workload {

/// Something that the user gets to know in one sentence: `NAME: error: ...`, exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// A wrong value of an option, found by the workload itself; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace workload
