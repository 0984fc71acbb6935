// Names of a fabric's virtual networks.
#pragma once

namespace lacuna {

/// The named networks carry the sockets' transactions; further networks (VirtualNetwork{2} ...) are for agents that call
/// Fabric::send().
enum class VirtualNetwork : unsigned { request, reply };

}  // namespace lacuna
