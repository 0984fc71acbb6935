// The interconnect between the requesters of the GPU (L1 caches, command processor) and its memory (L2 banks, host memory).
//
// A fabric is a set of nodes; send() takes a packet from one to another on a virtual network. Sources (who ask) and
// destinations (who answer) sit at nodes, several at one if the parameters say so; an agent may send from any node to any
// other, so that an answer can go to a third one.
//
// One interface for all topologies: sources bind to `sources`, destinations are bound by `destinations`, addresses choose the
// destination (AddressRoutes) and pass through unchanged. This class does the protocol; a topology implements transfer() and
// nothing else.
//
// A transaction is a request packet and a reply packet on separate virtual networks. Flits are `width` bytes:
//   read   request 1 flit                                         reply max(1, ceil((header + length) / width)) flits
//   write  request max(1, ceil((header + length) / width)) flits  reply 1 flit
//   atomic both as long as the data
// With `header` = 0 headers travel beside the data. A transaction that spans destinations is split where the interleave says.
// No destination at the address: TLM_ADDRESS_ERROR_RESPONSE and a log line naming the nearest range.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/time/retirement.h"
#include "models/common/time/units.h"
#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/payload_pool.h"
#include "models/common/transport/tagged_target_socket.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/noc/address_routes.h"
#include "models/noc/fabric_parameters.h"
#include "models/noc/placement.h"

namespace lacuna {

class NodePorts;
class SteppedNetwork;

/// The first two carry what passes the sockets; further ones (VirtualNetwork{2} ...) are for agents that send() themselves.
enum class VirtualNetwork : unsigned { request, reply };

/// Traffic of one source or destination.
struct FabricPortStatistics {
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  Tick queueing{};  ///< time that packets waited for links on the way

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
  std::uint64_t weighted_hops = 0;  ///< flits x links: what moving the data costs
  std::uint64_t errors = 0;
  Tick queueing{};
  Tick latency{};  ///< of all packets, queueing included
  std::vector<FabricPortStatistics> sources;
  std::vector<FabricPortStatistics> destinations;

  void describe(StatisticsGroup& group) const;
};

/// What a thread counts of packets that have passed one link each, for Fabric::count().
struct FabricTally {
  std::vector<FabricPortStatistics> destinations;
  Tick latency{};
};

class Fabric : public sc_core::sc_module {
 public:
  using SourcePort = TaggedTargetSocket<Fabric>;
  using DestinationPort = tlm_utils::simple_initiator_socket_tagged<Fabric>;

  /// How a packet fared.
  struct Traversal {
    Tick arrival;  ///< the last flit is there
    Tick waiting;  ///< of the time since injection, for links and queues
    unsigned links = 1;
  };

  sc_core::sc_vector<SourcePort> sources;
  sc_core::sc_vector<DestinationPort> destinations;

  const FabricStatistics& statistics() const { return statistics_; }
  virtual void describe(StatisticsGroup& group) const { statistics_.describe(group); }
  /// Registers blocks noc_router and noc_link. A packet over n links passes one switch, of a crossbar, or what a topology's own
  /// says.
  virtual void describe_energy(EnergyMeter& meter, const NocEnergy& energy) const;
  const AddressRoutes& routes() const { return routes_; }
  /// Tells what is at a destination of the requests on their way there. Null: nobody.
  void attach_prefetch(unsigned destination, const HostPrefetch* target) { prefetch_[destination] = target; }
  /// Forgets what is in flight. A topology's own calls this one.
  virtual void reset();

  unsigned nodes() const { return placement_.nodes; }
  unsigned source_node(unsigned source) const { return placement_.sources[source]; }
  unsigned destination_node(unsigned destination) const { return placement_.destinations[destination]; }
  /// Carries a packet whose last flit is ready to leave at `at` from one node to another and counts it. std::out_of_range when
  /// the fabric has no such node or virtual network.
  Traversal send(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at);
  /// The nodes whose switches a packet passes, both ends included; `alternative` is one of the ways that the routing chooses
  /// from for each packet.
  virtual std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const;
  virtual unsigned path_alternatives() const { return 1; }

  // For a caller that brings the requests of a window of time in order and serves them itself, destination by destination; what
  // b_transport() does, in steps.

  /// Who serves an address. False when no range holds it.
  bool route(std::uint64_t address, AddressRoutes::Hop& hop) const { return routes_.find(address, hop); }
  /// The same of all bytes from there on. False also when several destinations serve them.
  bool route(std::uint64_t address, unsigned bytes, unsigned& destination) const {
    return routes_.find_one(address, bytes, destination);
  }
  /// Flits of the packets of a transaction of `length` bytes.
  unsigned request_flits(unsigned length, bool write, bool atomic) const { return write || atomic ? data_flits(length) : 1; }
  unsigned reply_flits(unsigned length, bool write, bool atomic) const { return !write || atomic ? data_flits(length) : 1; }
  /// Carries a packet whose last flit is ready to leave at `at`, on the request network from source to destination, on the
  /// reply network from destination to source, and counts it.
  Traversal carry(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at);
  /// The same, counted for the fabric but not for source and destination.
  Traversal traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at);

  /// The network when it tells of a packet's arrival no earlier than the packet has arrived; otherwise null.
  virtual SteppedNetwork* stepped() { return nullptr; }

  /// Where packets meet when they meet nowhere but at the ports of their two nodes; otherwise null.
  virtual NodePorts* ports() { return nullptr; }
  /// Counts packets between a source and a destination that have passed the ports() of both: for the source, and in `tally` for
  /// everything else. Thread-safe for different sources, with one tally per thread.
  void count_passed(unsigned source, unsigned destination, const FabricPortStatistics& passed, Tick latency,
                    FabricTally& tally);
  /// Adds what a thread has counted, which is 0 afterwards.
  void count(FabricTally& tally);

  /// The kernel's time is `now`: no later packet leaves before it. Drops what was booked until then, every so often.
  void advance(Tick now) {
    if (now < next_retire_) return;
    next_retire_ = now + retire_period_;
    retire(retirement_horizon(now));
  }

 protected:
  /// As make_fabric().
  Fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
         const FabricGuests& guests);

  /// Carries a packet between two nodes of the fabric, on one of its virtual networks.
  virtual Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) = 0;
  /// Drops bookings that end before `horizon`, the kernel's time; called when that has moved on.
  virtual void retire(Tick horizon) = 0;

  /// Where a packet of carry() goes.
  struct Ends {
    unsigned from;
    unsigned to;
  };
  Ends ends(VirtualNetwork network, unsigned source, unsigned destination) const {
    const bool request = network == VirtualNetwork::request;
    const unsigned asks = source_node(source);
    const unsigned answers = destination_node(destination);
    return {request ? asks : answers, request ? answers : asks};
  }
  const FabricParameters& parameters() const { return parameters_; }
  /// Counts a packet of carry() that was ready at `at`.
  void count_carried(const Traversal& traversal, unsigned source, unsigned destination, unsigned flits, Tick at);

 private:
  void count(const Traversal& traversal, unsigned flits, Tick at) {
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
  /// Most data are one flit or two: a division of the host costs as much as all else here.
  unsigned data_flits(unsigned length) const {
    const unsigned bytes = length + parameters_.header;
    return bytes <= parameters_.width       ? 1
           : bytes <= 2 * parameters_.width ? 2
                                            : (bytes + parameters_.width - 1) / parameters_.width;
  }
  void log_unroutable(unsigned source, const tlm::tlm_generic_payload& payload) const;

  const FabricParameters parameters_;
  const AddressRoutes routes_;
  const FabricPlacement placement_;
  const Tick retire_period_;
  PayloadPool payloads_;                       // parts of split transactions
  std::vector<const HostPrefetch*> prefetch_;  // by destination
  Tick next_retire_{};
  FabricStatistics statistics_;
};

inline void Fabric::count_passed(unsigned source, unsigned destination, const FabricPortStatistics& passed, Tick latency,
                                 FabricTally& tally) {
  tally.latency += latency;
  statistics_.sources[source] += passed;
  tally.destinations[destination] += passed;
}

/// The fabric that the parameters name, with `source_count` sources and one destination for each that the routes name, guests
/// among them: they come last. Of sources, guests come on top of the count. std::invalid_argument when its shape or placement
/// makes no sense.
std::unique_ptr<Fabric> make_fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters,
                                    unsigned source_count, AddressRoutes routes, const FabricGuests& guests = {});

}  // namespace lacuna
