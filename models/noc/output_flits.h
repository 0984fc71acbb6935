// Flits that an output of a switch has carried.
#pragma once

#include <cstdint>

namespace lacuna {

struct OutputFlits {
  std::uint64_t all = 0;
  std::uint64_t replies = 0;  ///< flits of VirtualNetwork::reply, included in `all`
};

}  // namespace lacuna
