// Crossbar: every node reaches every other in one hop.
//
// Unloaded time of a packet of F flits: hop_latency + F cycles. Each node has an injection port and an ejection port, which
// virtual networks share. A port carries one flit a cycle. The head of a packet reaches the ejection port hop_latency after it
// left the injection port (cut-through).
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/slot_calendar.h"
#include "models/common/units.h"
#include "models/noc/fabric.h"

namespace lacuna {

class Crossbar : public Fabric {
 public:
  Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
           const FabricGuests& guests = {});
  Tick carry(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at,
             LatencyBreakdown* latency) override;
  bool meets_at_ports_only() const override { return true; }
  Cycles leave(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) override;
  Traversal arrive(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at,
                   Cycles head) override;
  void reset() override;

 private:
  struct Port {
    SlotCalendar injection;
    SlotCalendar ejection;
  };
  /// What carry() needs of a source or destination.
  struct End {
    Port* port;
    FabricPortStatistics* counts;
  };
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  void retire(Tick horizon) override;
  /// A packet whose last flit takes the ejection port in cycle `last`.
  Traversal traversal(std::uint64_t last, unsigned flits, Tick at) const {
    const Tick arrival = clock_.ticks({last + 1});
    return {arrival, arrival - at - clock_.ticks({hop_ + flits})};
  }
  /// The end of carry().
  Tick count_arrival(const End& from, const End& to, unsigned flits, Tick at, std::uint64_t last, LatencyBreakdown* latency) {
    const Traversal passed = traversal(last, flits, at);
    count_carried(*from.counts, *to.counts, flits, at, passed, latency);
    return passed.arrival;
  }
  // When flits do not get cycles in a row at a port, which the packet reaches in cycle `first`.
  Tick leave_scattered(const End& from, const End& to, unsigned flits, Tick at, std::uint64_t first, LatencyBreakdown* latency);
  Tick arrive_scattered(const End& from, const End& to, unsigned flits, Tick at, std::uint64_t first,
                        LatencyBreakdown* latency);

  const Clock clock_;
  const std::uint64_t hop_;  // cycles
  std::vector<Port> ports_;  // by node
  std::vector<End> source_ends_;
  std::vector<End> destination_ends_;
};

}  // namespace lacuna
