// Credit-based flow control between switches: what both kinds of `noc.routers` assume of it.
#pragma once

#include <cstdint>

namespace lacuna {

/// Cycles from the one in which a flit leaves a buffer until the upstream switch may send another into its place: one to send
/// the credit and one on the wire, as BookSim2 has by default.
inline constexpr std::uint64_t kCreditCycles = 2;

}  // namespace lacuna
