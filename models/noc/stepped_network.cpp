#include "models/noc/stepped_network.h"

#include <algorithm>
#include <utility>

namespace lacuna {

SteppedNetwork::SteppedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                               AddressRoutes routes, const FabricGuests& guests)
    : Network(module_name, parameters, source_count, std::move(routes), guests),
      routers_(topology(), parameters),
      ports_(clock(), Cycles{0}, nodes()) {}

void SteppedNetwork::send_to_routers(unsigned from, unsigned to, VirtualNetwork network, unsigned alternative, unsigned flits,
                                     Tick at, std::uint32_t tag) {
  routers_.send({.from = from,
                 .to = to,
                 .network = static_cast<unsigned>(network),
                 .alternative = alternative,
                 .flits = flits,
                 .cycle = clock().ceil(at).n,
                 .tag = tag});
}

void SteppedNetwork::launch(const Ends& ends, VirtualNetwork network, unsigned flits, Tick at, std::uint32_t tag) {
  send_to_routers(ends.from, ends.to, network, choose_alternative(ends.from), flits, at, tag);
  ++launched_;
}

void SteppedNetwork::step(std::uint64_t until) {
  const std::size_t before = delivered_.size();
  routers_.advance(until, delivered_);
  const auto last = std::remove_if(delivered_.begin() + static_cast<std::ptrdiff_t>(before), delivered_.end(),
                                   [](const Routers::Delivery& delivery) { return delivery.tag == kSynchronous; });
  delivered_.erase(last, delivered_.end());
}

void SteppedNetwork::advance_to(Tick end, std::vector<Arrival>& arrived) {
  step(clock().ceil(end).n);
  for (const Routers::Delivery& d : delivered_) {
    const Tick ready = clock().ticks({d.ready});
    arrived.push_back({d.tag,
                       ready,
                       {.arrival = clock().ticks({d.arrival}),
                        .waiting = clock().ticks({d.waiting}),
                        .injection = clock().ticks({d.injection}),
                        .links = d.links}});
  }
  launched_ -= delivered_.size();
  delivered_.clear();
}

Tick SteppedNetwork::next() const {
  if (launched_ == 0) return lacuna::kNever;
  return delivered_.empty() ? clock().ticks({routers_.next()}) : Tick{};
}

Fabric::Traversal SteppedNetwork::transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) {
  const unsigned alternative = choose_alternative(from);
  const unsigned links = topology().path(from, to, alternative).size() - 1;
  const std::uint64_t idle = unloaded(links, flits);
  send_to_routers(from, to, network, alternative, flits, at, kSynchronous);
  const Cycles departure = ports_.depart(from, flits, at);
  const Tick arrival = ports_.arrive(to, flits, at, departure + Cycles{idle - flits}).at;
  return {.arrival = arrival,
          .waiting = arrival - at - clock().ticks({idle}),
          .injection = ports_.injection_wait(at, departure),
          .links = links};
}

void SteppedNetwork::retire(Tick horizon) {
  step(clock().floor(horizon).n);
  ports_.retire(horizon);
}

void SteppedNetwork::reset() {
  Network::reset();
  routers_.reset();
  ports_.reset();
  delivered_.clear();
  launched_ = 0;
}

}  // namespace lacuna
