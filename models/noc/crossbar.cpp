#include "models/noc/crossbar.h"

#include <utility>

namespace lacuna {

Crossbar::Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                   AddressRoutes routes, const FabricGuests& guests)
    : Fabric(module_name, parameters, source_count, std::move(routes), guests),
      clock_(parameters.clock),
      hop_(parameters.hop_latency.n),
      ports_(nodes()) {
  for (unsigned i = 0; i < sources.size(); ++i) source_ends_.push_back({&ports_[source_node(i)], &source_counts(i)});
  for (unsigned i = 0; i < destinations.size(); ++i) {
    destination_ends_.push_back({&ports_[destination_node(i)], &destination_counts(i)});
  }
}

Fabric::Traversal Crossbar::transfer(unsigned from, unsigned to, VirtualNetwork, unsigned flits, Tick at) {
  // When the head leaves, and the last flit is there.
  const std::uint64_t leaves = ports_[from].injection.take(clock_.ceil(at).n, flits) - (flits - 1);
  return traversal(ports_[to].ejection.take(leaves + hop_, flits), flits, at);
}

Tick Crossbar::carry(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at,
                     LatencyBreakdown* latency) {
  // Mostly both ports have cycles in a row. No call then: saving registers for it would cost as much as a port.
  const bool request = network == VirtualNetwork::request;
  const End& asks = source_ends_[source];
  const End& answers = destination_ends_[destination];
  const End& from = request ? asks : answers;
  const End& to = request ? answers : asks;
  SlotCalendar::Run run;
  const std::uint64_t ready = clock_.ceil(at).n;
  if (!from.port->injection.find(ready, flits, run)) [[unlikely]]
    return leave_scattered(from, to, flits, at, ready, latency);
  SlotCalendar::book(run);
  const std::uint64_t there = run.first + hop_;
  if (!to.port->ejection.find(there, flits, run)) [[unlikely]]
    return arrive_scattered(from, to, flits, at, there, latency);
  SlotCalendar::book(run);
  return count_arrival(from, to, flits, at, run.first + flits - 1, latency);
}

Cycles Crossbar::leave(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
  const End& from = network == VirtualNetwork::request ? source_ends_[source] : destination_ends_[destination];
  return {from.port->injection.take(clock_.ceil(at).n, flits) - (flits - 1) + hop_};
}

Fabric::Traversal Crossbar::arrive(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at,
                                   Cycles head) {
  const End& to = network == VirtualNetwork::request ? destination_ends_[destination] : source_ends_[source];
  return traversal(to.port->ejection.take(head.n, flits), flits, at);
}

[[gnu::noinline]] Tick Crossbar::leave_scattered(const End& from, const End& to, unsigned flits, Tick at, std::uint64_t first,
                                                 LatencyBreakdown* latency) {
  const std::uint64_t leaves = from.port->injection.take(first, flits) - (flits - 1);
  return arrive_scattered(from, to, flits, at, leaves + hop_, latency);
}

[[gnu::noinline]] Tick Crossbar::arrive_scattered(const End& from, const End& to, unsigned flits, Tick at, std::uint64_t first,
                                                  LatencyBreakdown* latency) {
  return count_arrival(from, to, flits, at, to.port->ejection.take(first, flits), latency);
}

void Crossbar::retire(Tick horizon) {
  const std::uint64_t cycle = clock_.floor(horizon).n;
  for (Port& port : ports_) {
    port.injection.retire(cycle);
    port.ejection.retire(cycle);
  }
}

void Crossbar::reset() {
  Fabric::reset();
  for (Port& port : ports_) {
    port.injection.reset();
    port.ejection.reset();
  }
}

}  // namespace lacuna
