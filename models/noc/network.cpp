#include "models/noc/network.h"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

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
      queues_(std::size_t{topology_.nodes()} * parameters.virtual_networks, PoolCalendar(parameters.injection_queue)),
      chosen_(topology_.alternatives() > 1 ? topology_.nodes() : 0),
      output_flits_(topology_.outputs()) {}

std::vector<unsigned> Network::path_nodes(unsigned from, unsigned to, unsigned alternative) const {
  return topology_.path_nodes(from, to, alternative);
}

unsigned Network::choose_alternative(unsigned from) {
  if (topology_.alternatives() == 1) return 0;
  // SplitMix64's finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014); the seed
  // keeps the nodes' sequences apart.
  std::uint64_t z = (std::uint64_t{from} << 40) + ++chosen_[from] * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return static_cast<unsigned>(z >> 63);
}

Fabric::Traversal Network::transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) {
  PoolCalendar& queue = queues_[std::size_t{from} * parameters().virtual_networks + static_cast<unsigned>(network)];
  const Tick enters = queue.acquire(at);
  const std::uint64_t start = clock_.ceil(enters).n;
  if (arrivals_.size() < flits) arrivals_.resize(flits);
  std::uint64_t* const cycles = arrivals_.data();
  const std::uint64_t hop = router_ + link_;

  topology_.find_path(from, to, choose_alternative(from), path_);
  std::uint64_t left_node = start;
  std::uint64_t first = start;  // of the flits' arrivals at the switch
  std::uint64_t passed = 0;
  bool together = true;  // the flits arrive one a cycle
  for (const SwitchPass& pass : path_) {
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
    if (&pass == &path_.front()) left_node = passed + 1;
  }
  queue.occupy(enters, clock_.ticks({left_node}));

  const auto links = path_.size() - 1;
  const std::uint64_t unloaded = interface_ + path_.size() * router_ + links * link_ + flits - 1;
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
  std::fill(chosen_.begin(), chosen_.end(), 0);
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
