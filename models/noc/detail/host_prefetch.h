// Prefetch hints of the interconnect to the host, without simulated effect. Only for models/noc and the device that connects a
// fabric.
//
// Performance notes
//   - A destination's tags do not fit into the host's caches. Fabric::b_transport() announces a request to its destination
//     before the request packet passes the network, which takes long enough for the prefetch to complete.
//   - Fabric::data_flits() divides only data of more than two flits, which are rare: a division would cost as much as all other
//     work for a packet.
//   - AddressRoutes::find() is a linear search: a device has two or three ranges, for which a binary search would cost more.
//   - Topology::find_path() writes into an array of the caller, and a mesh's path takes one addition per switch. Paths are
//     computed for each packet, because storing the paths of all pairs would take gigabytes.
//   - NodePorts drop past bookings of a port when it is booked next: most ports are idle between two calls of retire().
//   - Routers keep the switches with waiting flits in sets: other switches cost no host time, nor do cycles without packets in
//     flight.
#pragma once

#include "models/common/host/host_prefetch.h"
#include "models/noc/fabric.h"

namespace lacuna::detail {

struct FabricPrefetch {
  /// Makes the fabric notify `target` of each request to `destination` before the request arrives. Null: no notifications.
  static void attach(Fabric& fabric, unsigned destination, const HostPrefetch* target) {
    fabric.prefetch_[destination] = target;
  }
};

}  // namespace lacuna::detail
