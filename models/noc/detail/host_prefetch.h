// Hints of the interconnect to the host. No simulated effect. For models/noc and the device that connects a fabric only.
//
// Performance notes
//   - A destination's tags do not fit into the host's caches. Fabric::b_transport() announces a request to its destination
//     before the request packet passes the network, which takes long enough for the prefetch to complete.
//   - Fabric::data_flits(): most data are one flit or two, and a division costs as much as all else in a look at a packet.
//   - AddressRoutes::find() is a linear search: a device has two or three ranges, a binary search would cost more.
//   - Topology::find_path() writes into an array of the caller, and a mesh's path takes one addition per switch: paths are
//     computed for each packet, storing those of all pairs would take gigabytes.
//   - NodePorts drop past bookings when they are booked next: most ports are idle between two calls of retire().
//   - Routers keep the switches with waiting flits in sets: only these cost time in a cycle, and cycles without packets in
//     flight cost none.
#pragma once

#include "models/common/host/host_prefetch.h"
#include "models/noc/fabric.h"

namespace lacuna::detail {

struct FabricPrefetch {
  /// Announces the requests to a destination to `target`, early. Null: none.
  static void attach(Fabric& fabric, unsigned destination, const HostPrefetch* target) {
    fabric.prefetch_[destination] = target;
  }
};

}  // namespace lacuna::detail
