// The interconnect between the requesters of the GPU (L1 caches, command processor) and its memory (L2 banks, host memory).
//
// A fabric is a set of nodes; send() carries a packet from one node to another on a virtual network. Sources (requesters) and
// destinations (memory) are attached to nodes, several to one node if the parameters place them there. An agent may send from
// any node to any other, so that a response can go to a third node.
//
// One interface for all topologies: requesters bind to `sources`, `destinations` bind to memory, the address selects the
// destination (AddressRoutes) and passes through unchanged. This class implements the protocol; derived classes implement
// transfer().
//
// A transaction is a request packet and a reply packet on separate virtual networks. Flits are `width` bytes:
//   read   request 1 flit                                         reply max(1, ceil((header + length) / width)) flits
//   write  request max(1, ceil((header + length) / width)) flits  reply 1 flit
//   atomic request and reply as long as the request of a write
// With `header` = 0 headers have separate wires. A transaction that spans destinations is split at the bounds of the
// interleave. An address without destination returns TLM_ADDRESS_ERROR_RESPONSE and logs a line that names the nearest range.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/time/retirement.h"
#include "models/common/time/units.h"
#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/payload_pool.h"
#include "models/common/transport/tagged_target_socket.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/noc/address_routes.h"
#include "models/noc/fabric_parameters.h"
#include "models/noc/injection_statistics.h"
#include "models/noc/placement.h"
#include "models/noc/virtual_network.h"

namespace lacuna {

class HostPrefetch;
class NodePorts;
class SteppedNetwork;
namespace detail {
struct FabricPrefetch;
}

/// Traffic of one source or destination.
struct FabricPortStatistics {
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  Tick queueing{};  ///< time that packets waited for links

  FabricPortStatistics& operator+=(const FabricPortStatistics& other) {
    packets += other.packets;
    flits += other.flits;
    queueing += other.queueing;
    return *this;
  }
};

struct FabricStatistics {
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  std::uint64_t hops = 0;           ///< links passed, summed over packets
  std::uint64_t weighted_hops = 0;  ///< flits x links, summed over packets: a measure of the energy of data movement
  std::uint64_t errors = 0;
  Tick queueing{};
  Tick latency{};  ///< time from injection to arrival including queueing, summed over packets
  std::vector<FabricPortStatistics> sources;
  std::vector<FabricPortStatistics> destinations;
  InjectionStatistics injection;  ///< injection queues by sending node and virtual network

  void describe(StatisticsGroup& group) const;
};

/// Per-thread counters of packets that pass one link each; merged by Fabric::count().
struct FabricTally {
  std::vector<FabricPortStatistics> destinations;
  Tick latency{};
};

class Fabric : public sc_core::sc_module {
 public:
  using SourcePort = TaggedTargetSocket<Fabric>;
  using DestinationPort = tlm_utils::simple_initiator_socket_tagged<Fabric>;

  /// Outcome of a packet.
  struct Traversal {
    Tick arrival;        ///< arrival of the last flit
    Tick waiting;        ///< waiting time for links and queues since the packet was ready
    Tick injection{};    ///< part of `waiting` in the injection queue (models/noc/injection_statistics.h)
    unsigned links = 1;  ///< number of links passed
  };

  sc_core::sc_vector<SourcePort> sources;
  sc_core::sc_vector<DestinationPort> destinations;

  const FabricStatistics& statistics() const { return statistics_; }
  virtual void describe(StatisticsGroup& group) const { statistics_.describe(group); }
  /// Registers blocks noc_router and noc_link. The default implementation, for the crossbar, counts one switch per packet;
  /// networks of switches override it.
  virtual void describe_energy(EnergyMeter& meter, const NocEnergy& energy) const;
  const AddressRoutes& routes() const { return routes_; }
  /// Drops packets in flight. Overrides must call the base function.
  virtual void reset();

  static constexpr unsigned kNone = ~0U;
  /// Nodes at the ends of a packet's path, and the source and the destination for which the packet is counted; kNone: none.
  struct Ends {
    unsigned from;
    unsigned to;
    unsigned source = kNone;
    unsigned destination = kNone;
  };

  unsigned nodes() const { return placement_.nodes; }
  unsigned source_node(unsigned source) const { return placement_.sources[source]; }
  unsigned destination_node(unsigned destination) const { return placement_.destinations[destination]; }

  /// Sends a packet whose last flit is ready at `at` from one node to another, and counts it. Throws std::out_of_range if the
  /// fabric has no such node or virtual network.
  Traversal send(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at);
  /// Nodes whose switches a packet passes, both ends included. `alternative`: number of the path, below path_alternatives().
  virtual std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const;
  /// Number of paths between which the routing chooses.
  virtual unsigned path_alternatives() const { return 1; }

  // Steps of b_transport(), for a caller that passes the requests of a time window in order and serves each destination itself.

  /// Writes the destination of an address to `hop`. Returns false if no range contains the address.
  bool route(std::uint64_t address, AddressRoutes::Hop& hop) const { return routes_.find(address, hop); }
  /// Writes the destination that serves all bytes of a range. Returns false if no destination or several destinations serve the
  /// range.
  bool route(std::uint64_t address, unsigned bytes, unsigned& destination) const {
    return routes_.find_one(address, bytes, destination);
  }
  /// Flits of the request packet of a transaction of `length` bytes.
  unsigned request_flits(unsigned length, bool write, bool atomic) const { return write || atomic ? data_flits(length) : 1; }
  /// Flits of the reply packet of a transaction of `length` bytes.
  unsigned reply_flits(unsigned length, bool write, bool atomic) const { return !write || atomic ? data_flits(length) : 1; }
  /// Sends a packet whose last flit is ready at `at` and counts it: on the request network from source to destination, on the
  /// reply network from destination to source.
  Traversal carry(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
    return carry(ends(network, source, destination), network, flits, at);
  }
  /// Sends a packet whose last flit is ready at `at` between any two nodes and counts it.
  Traversal carry(const Ends& ends, VirtualNetwork network, unsigned flits, Tick at);
  /// The nodes between which carry() sends a packet.
  Ends ends(VirtualNetwork network, unsigned source, unsigned destination) const {
    const bool request = network == VirtualNetwork::request;
    const unsigned requester = source_node(source);
    const unsigned memory = destination_node(destination);
    return {request ? requester : memory, request ? memory : requester, source, destination};
  }
  /// As carry(), but counts the packet for the fabric only, not for source and destination.
  Traversal traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at);

  /// The network, if it reports a packet's arrival only after the packet has arrived; otherwise null.
  virtual SteppedNetwork* stepped() { return nullptr; }

  /// The nodes' ports, if packets contend only at the ports of their two nodes; otherwise null.
  virtual NodePorts* ports() { return nullptr; }
  /// Counts packets between a source (kNone: another node) and a destination that have passed the ports() of both. Adds to the
  /// source's counters directly and to all others through `tally`. Thread-safe for different sources, with one tally per
  /// thread.
  void count_passed(unsigned source, unsigned destination, const FabricPortStatistics& passed, Tick latency,
                    FabricTally& tally);
  /// Counts for `node` a packet that has passed its injection port. Thread-safe for different nodes.
  void count_injected(unsigned node, VirtualNetwork network, Tick waited) {
    statistics_.injection.count(node, network, waited);
  }
  /// Adds the counters of `tally` to the statistics and clears `tally`.
  void count(FabricTally& tally);

  /// Announces that SystemC time has advanced to `now`: no further packet departs earlier. Drops past bookings if enough time
  /// has passed since the last drop.
  void advance(Tick now) {
    if (now < next_retire_) return;
    next_retire_ = now + retire_period_;
    retire(retirement_horizon(now));
  }

 protected:
  /// Parameters and errors: see make_fabric().
  Fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
         const FabricGuests& guests);

  /// Carries a packet between two nodes of the fabric, on one of its virtual networks.
  virtual Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) = 0;

  /// Drops bookings that end before `horizon`, the SystemC time; called after SystemC time has advanced.
  virtual void retire(Tick horizon) = 0;

  const FabricParameters& parameters() const { return parameters_; }
  /// Counts a packet of carry() that was ready at `at`.
  void count_carried(const Traversal& traversal, const Ends& ends, VirtualNetwork network, unsigned flits, Tick at);

 private:
  void count(const Traversal& traversal, unsigned from, VirtualNetwork network, unsigned flits, Tick at) {
    count_injected(from, network, traversal.injection);
    ++statistics_.packets;
    statistics_.flits += flits;
    statistics_.hops += traversal.links;
    statistics_.weighted_hops += std::uint64_t{traversal.links} * flits;
    statistics_.queueing += traversal.waiting;
    statistics_.latency += traversal.arrival - at;
  }
  void b_transport(int source, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int source, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int source, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int destination, sc_dt::uint64 begin, sc_dt::uint64 end);
  void transport_whole(unsigned source, unsigned destination, tlm::tlm_generic_payload& payload, Tick now,
                       sc_core::sc_time& delay);
  void transport_split(unsigned source, tlm::tlm_generic_payload& payload, Tick now, sc_core::sc_time& delay);
  unsigned data_flits(unsigned length) const {
    const unsigned bytes = length + parameters_.header;
    return bytes <= parameters_.width       ? 1
           : bytes <= 2 * parameters_.width ? 2
                                            : (bytes + parameters_.width - 1) / parameters_.width;
  }
  void log_unroutable(unsigned source, const tlm::tlm_generic_payload& payload) const;
  friend struct detail::FabricPrefetch;

  const FabricParameters parameters_;
  const AddressRoutes routes_;
  const FabricPlacement placement_;
  const Tick retire_period_;
  PayloadPool payloads_;                       // parts of split transactions
  std::vector<const HostPrefetch*> prefetch_;  // receiver of prefetch hints for each destination, or null
  Tick next_retire_{};
  FabricStatistics statistics_;
};

inline void Fabric::count_passed(unsigned source, unsigned destination, const FabricPortStatistics& passed, Tick latency,
                                 FabricTally& tally) {
  tally.latency += latency;
  if (source != kNone) statistics_.sources[source] += passed;
  tally.destinations[destination] += passed;
}

/// Creates the fabric that the parameters select. Its sources are `source_count` sources, followed by the sources of `guests`.
/// Its destinations are those that the routes name; the last of them belong to `guests`. Throws std::invalid_argument if shape,
/// placement or router parameters are invalid.
std::unique_ptr<Fabric> make_fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters,
                                    unsigned source_count, AddressRoutes routes, const FabricGuests& guests = {});

}  // namespace lacuna
