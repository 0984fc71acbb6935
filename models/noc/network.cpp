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
      inputs_(topology_.inputs()),
      outputs_(topology_.outputs()),
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
  arrivals_[0] = start;
  bool together = true;  // the flits follow each other without a gap, from arrivals_[0] on

  const auto path = topology_.path(from, to);
  std::uint64_t left_node = start;
  std::uint64_t passed = 0;
  for (const SwitchPass& pass : path) {
    SlotCalendar& input = inputs_[pass.input];
    SlotCalendar& output = outputs_[pass.output];
    const std::uint64_t first_arrival = arrivals_[0];
    if (together && SlotCalendar::reserve_run(input, output, arrivals_[0], flits)) {
      passed = arrivals_[0] + flits - 1;
      arrivals_[0] += router_ + link_;
    } else {
      std::uint64_t next = 0;
      for (unsigned f = 0; f < flits; ++f) {
        const std::uint64_t arrives = together && f > 0 ? first_arrival + f : arrivals_[f];
        passed = SlotCalendar::reserve_both(input, output, std::max(arrives, next));
        arrivals_[f] = passed + router_ + link_;
        next = passed + 1;
      }
      together = arrivals_[flits - 1] - arrivals_[0] == flits - 1;
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
  const std::uint64_t cycle = clock_.floor(horizon).n;
  for (SlotCalendar& input : inputs_) input.retire(cycle);
  for (SlotCalendar& output : outputs_) output.retire(cycle);
  for (PoolCalendar& queue : queues_) queue.retire(horizon);
}

void Network::reset() {
  Fabric::reset();
  for (SlotCalendar& input : inputs_) input.reset();
  for (SlotCalendar& output : outputs_) output.reset();
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
