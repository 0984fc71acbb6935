// Network whose packets' ways are booked when they are sent: nothing that comes later delays a packet, the oldest is first
// everywhere. An answer's time is known at once, and a packet costs the host no more than its switches.
//
// Flits of a packet keep their order; those of different packets share a link cycle by cycle, as virtual channels let them.
//
// Where the throughput goes: a separable switch allocator grants an input to one of its virtual channels before it knows
// whether the output will be granted too, and its round-robin arbiters move on only after a grant. A flit whose output is taken
// therefore keeps bidding, and costs its input cycles in which another packet could have moved (BookSim2's separable
// input-first allocator, and iSLIP: McKeown 1999, do the same). The model charges these lost bids to the input. Virtual
// networks have their own queue of packets at the injecting node and share the links.
//
// With four virtual channels and more for each virtual network (and each order of O1TURN), neither their number nor their
// buffers change what is carried, and the model does without them. With fewer:
//   buffers      a flit passes a switch when it has a place behind the link, which is free again two cycles after the flit
//                before has left it: a full buffer stops the switch before, and so on backwards
//   one channel  is a packet's from the cycle of its allocation, one before the switch is passed, until its last flit has left:
//                a cycle is lost between packets, none interleaves with it on the link, those behind it at the input wait
//                whatever their way
#pragma once

#include <vector>

#include "models/common/time/calendar.h"
#include "models/common/time/slot_calendars.h"
#include "models/noc/network.h"

namespace lacuna {

class BookedNetwork : public Network {
 public:
  /// std::invalid_argument when shape or placement makes no sense.
  BookedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                AddressRoutes routes, const FabricGuests& guests = {});
  void reset() override;
  const std::uint64_t& output_flits(unsigned output) const override { return output_flits_[output]; }

  /// Public for those who load the network alone.
  void retire(Tick horizon) override;

 private:
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  /// Cycles in which the last flit of a packet passes the first and the last switch of its way.
  struct Passage {
    std::uint64_t first_switch;
    std::uint64_t last_switch;
  };
  // Both book path_ for a packet that is ready in cycle `start`: with many virtual channels, and with few.
  Passage pass_freely(std::uint64_t start, unsigned flits);
  Passage pass_channels(std::uint64_t start, unsigned flits, unsigned kind);

  const std::uint64_t router_;  // cycles
  const std::uint64_t link_;
  const std::uint64_t interface_;
  SlotCalendars ports_;               // of switches: inputs, then outputs
  std::vector<PoolCalendar> queues_;  // by node * virtual networks + virtual network
  std::vector<std::uint64_t> output_flits_;
  // Of few virtual channels. Kinds of traffic (virtual network and alternative of the routing) have channels of their own.
  std::vector<SlotCalendars> channels_;  // by kind, when it has one channel: inputs, then outputs; a cycle later than ports_
  std::vector<PoolCalendar> buffers_;    // by kind and input: flits of their channels, in cycles
  // Of the packet on its way.
  SwitchPath path_;
  std::vector<std::uint64_t> ready_;     // its head, by switch
  std::vector<std::uint64_t> leaves_;    // its head, by switch
  std::vector<std::uint64_t> passed_;    // its last flit so far, by switch
  std::vector<std::uint64_t> arrivals_;  // of its flits, when they are scattered
};

}  // namespace lacuna
