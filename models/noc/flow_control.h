// Credit-based flow control between switches, common to both kinds of `noc.routers`.
#pragma once

#include <cstdint>

namespace lacuna {

/// Cycles from a flit's departure from a buffer until the upstream switch may send another flit into the same entry: one to
/// send the credit and one on the wire, as in BookSim2's defaults.
inline constexpr std::uint64_t kCreditCycles = 2;

}  // namespace lacuna
