// A user error in a launch: what() states the location and the problem.
#pragma once

#include <stdexcept>

namespace lacuna {

class LaunchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lacuna
