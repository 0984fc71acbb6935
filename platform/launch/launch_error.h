// The user's mistake in a launch: what() says where and what.
#pragma once

#include <stdexcept>

namespace lacuna {

class LaunchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lacuna
