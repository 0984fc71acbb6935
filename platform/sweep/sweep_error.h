// The user's mistake in a sweep or in what is asked of its results: what() says where and what.
#pragma once

#include <stdexcept>

namespace lacuna {

class SweepError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lacuna
