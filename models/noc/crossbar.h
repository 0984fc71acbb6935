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
  Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
           AddressRoutes routes);
  void reset() override;

 private:
  struct Port {
    SlotCalendar injection;
    SlotCalendar ejection;
  };
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  void retire(Tick horizon) override;

  const Clock clock_;
  const std::uint64_t hop_;  // cycles
  std::vector<Port> ports_;  // by node
};

}  // namespace lacuna
