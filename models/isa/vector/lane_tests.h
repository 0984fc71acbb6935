// Lanes whose register bits pass a test, for models of hardware that detects values written by instructions and loads.
#pragma once

#include <cstdint>

#include "models/isa/vector/valu_execute.h"

namespace lacuna::isa {

/// Lanes for which `holds(low, high)` is true. `low`: the lane's word of the register at `first`; `high`: that of the next
/// register if `wide`, otherwise 0.
template <class Holds>
std::uint64_t lanes_where(const std::uint32_t* first, bool wide, Holds holds) {
  constexpr std::uint32_t kYes = ~std::uint32_t{0};
  Planes<1> found;
  if (wide) {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) found.words[lane] = holds(first[lane], first[kLanes + lane]) ? kYes : 0;
  } else {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) found.words[lane] = holds(first[lane], std::uint32_t{0}) ? kYes : 0;
  }
  return pack_mask(found.words);
}

/// Lanes in which a register is zero.
inline std::uint64_t zero_lanes(const std::uint32_t* plane) {
  return lanes_where(plane, false, [](std::uint32_t word, std::uint32_t) { return word == 0; });
}

}  // namespace lacuna::isa
