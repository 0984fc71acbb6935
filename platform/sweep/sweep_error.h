// A user error in a sweep or in a query of its results: what() states the location and the problem.
#pragma once

#include <stdexcept>

namespace lacuna {

class SweepError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lacuna
