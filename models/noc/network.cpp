#include "models/noc/network.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace lacuna {
namespace {

constexpr unsigned kVirtualNetworks = 2;

Topology make_topology(const FabricParameters& parameters) {
  if (parameters.topology == FabricTopology::butterfly) return Topology::butterfly(parameters.radix, parameters.stages);
  return Topology::mesh(parameters.columns, parameters.rows, parameters.routing);
}

}  // namespace

Network::Network(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                 AddressRoutes routes)
    : Fabric(module_name, parameters, source_count, std::move(routes)),
      topology_(make_topology(parameters)),
      clock_(parameters.clock),
      router_(parameters.router_latency.n),
      link_(parameters.link_latency.n),
      interface_(parameters.interface_latency.n),
      ports_(std::size_t{topology_.inputs()} + topology_.outputs()),
      queues_(std::size_t{topology_.nodes()} * kVirtualNetworks, PoolCalendar(parameters.injection_queue)),
      output_flits_(topology_.outputs()) {
  place(source_count, static_cast<unsigned>(destinations.size()));
}

void Network::place(unsigned source_count, unsigned destination_count) {
  const FabricParameters& p = parameters();
  const unsigned nodes = topology_.nodes();
  std::vector<unsigned> places;
  if (!p.placement.empty()) {
    if (p.topology != FabricTopology::mesh) throw std::invalid_argument("noc.placement names nodes of a mesh");
    for (const MeshNode& node : parse_placement(p.placement, p.columns, p.rows)) places.push_back(node.x + node.y * p.columns);
  } else {
    const unsigned count = std::min(destination_count, nodes);
    for (unsigned i = 0; i < count; ++i) places.push_back((2 * i + 1) * nodes / (2 * count));
  }
  std::vector<unsigned> others;
  for (unsigned node = 0; node < nodes; ++node) {
    if (std::find(places.begin(), places.end(), node) == places.end()) others.push_back(node);
  }
  // Destinations on every node: sources share them.
  if (others.empty()) {
    others.resize(nodes);
    std::iota(others.begin(), others.end(), 0U);
  }
  for (unsigned i = 0; i < destination_count; ++i) destination_nodes_.push_back(places[i % places.size()]);
  for (unsigned i = 0; i < source_count; ++i) source_nodes_.push_back(others[i % others.size()]);
}

Fabric::Traversal Network::traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
  const bool request = network == VirtualNetwork::request;
  const unsigned from = request ? source_nodes_[source] : destination_nodes_[destination];
  const unsigned to = request ? destination_nodes_[destination] : source_nodes_[source];
  PoolCalendar& queue = queues_[std::size_t{from} * kVirtualNetworks + static_cast<unsigned>(network)];
  const Tick enters = queue.acquire(at);
  const std::uint64_t start = clock_.ceil(enters).n;
  if (arrivals_.size() < flits) arrivals_.resize(flits);
  std::uint64_t* const cycles = arrivals_.data();
  const std::uint64_t hop = router_ + link_;

  const auto path = topology_.path(from, to);
  std::uint64_t left_node = start;
  std::uint64_t first = start;  // of the flits' arrivals at the switch
  std::uint64_t passed = 0;
  bool together = true;  // the flits arrive one a cycle
  for (const SwitchPass& pass : path) {
    const std::size_t output = topology_.inputs() + pass.output;
    if (together) {
      const auto passage = ports_.reserve_both(pass.input, output, first, flits, cycles);
      first = passage.first + hop;
      passed = passage.last;
      together = passed - passage.first == flits - 1;
    } else {
      std::uint64_t next = 0;
      for (unsigned f = 0; f < flits; ++f) {
        std::uint64_t own = 0;
        passed = ports_.reserve_both(pass.input, output, std::max(cycles[f] + hop, next), 1, &own).first;
        cycles[f] = passed;
        next = passed + 1;
      }
      first = cycles[0] + hop;
      together = passed - cycles[0] == flits - 1;
    }
    output_flits_[pass.output] += flits;
    if (&pass == &path.front()) left_node = passed + 1;
  }
  queue.occupy(enters, clock_.ticks({left_node}));

  const auto links = static_cast<unsigned>(path.size()) - 1;
  const std::uint64_t unloaded = interface_ + path.size() * router_ + links * link_ + flits - 1;
  const Tick arrival = clock_.ticks({passed + router_ + interface_});
  return {arrival, arrival - at - clock_.ticks({unloaded}), links};
}

void Network::retire(Tick horizon) {
  if (!ports_.retire(clock_.floor(horizon).n)) return;
  for (PoolCalendar& queue : queues_) queue.retire(horizon);
}

void Network::reset() {
  Fabric::reset();
  ports_.reset();
  for (PoolCalendar& queue : queues_) queue.reset();
}

void Network::describe(StatisticsGroup& group) const {
  Fabric::describe(group);
  StatisticsGroup& links = group.group("links");
  StatisticsGroup& ejection = group.group("ejection");
  for (unsigned output = 0; output < topology_.outputs(); ++output) {
    (topology_.is_link(output) ? links : ejection)
        .add(topology_.output_name(output), output_flits_[output], "flits carried", "flits");
  }
}

}  // namespace lacuna
