// Network that books a packet's path when the packet is sent: packets sent earlier take precedence at every switch, and no
// packet sent later delays them. The arrival time is known immediately, and host time per packet is proportional to the number
// of switches.
//
// Flits of a packet stay in order; flits of different packets may interleave on a link, as with virtual channels.
//
// Lost throughput: a separable switch allocator grants an input to one of its virtual channels before the output is granted,
// and its round-robin arbiters move on only after a grant. A flit whose output is busy therefore keeps bidding, and costs its
// input cycles in which another packet could have moved (as in BookSim2's separable input-first allocator, and in iSLIP:
// McKeown 1999). The model charges these lost bids to the input. Virtual networks have separate packet queues at the injecting
// node and share the links.
//
// With four or more virtual channels for each virtual network (and each order of O1TURN), neither their number nor their
// buffers change a mesh's throughput by more than 4 %, and the model omits them. With fewer:
//   buffers      a flit passes a switch when the buffer at the end of the link has room; an entry is free two cycles after its
//                flit has left. A full buffer stalls the upstream switch, whose buffers then fill in turn
//   one channel  belongs to a packet from its allocation, one cycle before the head passes the switch, until the last flit has
//                left: a cycle is lost between packets, no other packet interleaves on the link, and all packets behind it at
//                the input wait, whatever their path
#pragma once

#include <vector>

#include "models/common/time/calendar.h"
#include "models/common/time/slot_calendars.h"
#include "models/noc/network.h"

namespace lacuna {

class BookedNetwork : public Network {
 public:
  /// Throws std::invalid_argument if shape or placement is invalid, or if a parameter of stepped routers is set.
  BookedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                AddressRoutes routes, const FabricGuests& guests = {});
  void reset() override;
  const OutputFlits& output(unsigned output) const override { return outputs_[output]; }

  /// Public for benchmarks that load the network without a device.
  void retire(Tick horizon) override;

 private:
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  /// Cycles in which the last flit of a packet passes the first and the last switch of its path.
  struct Passage {
    std::uint64_t first_switch;
    std::uint64_t last_switch;
  };

  /// Books path_ for a packet that is ready in cycle `start`, if there are many virtual channels. `replies`: number of flits if
  /// the packet is on VirtualNetwork::reply, else 0.
  Passage pass_freely(std::uint64_t start, unsigned flits, unsigned replies);
  /// Books path_ for a packet that is ready in cycle `start`, if there are few virtual channels.
  Passage pass_channels(std::uint64_t start, unsigned flits, unsigned replies, unsigned kind);
  void count_output(unsigned output, unsigned flits, unsigned replies) {
    outputs_[output].all += flits;
    outputs_[output].replies += replies;
  }

  const std::uint64_t router_;        // router latency in cycles
  const std::uint64_t link_;          // link latency in cycles
  const std::uint64_t interface_;     // interface latency in cycles
  SlotCalendars ports_;               // ports of the switches: inputs, then outputs
  std::vector<PoolCalendar> queues_;  // injection queues, by node * virtual networks + virtual network
  std::vector<OutputFlits> outputs_;
  // State for few virtual channels. Each kind of traffic (virtual network and alternative of the routing) has separate
  // channels.
  std::vector<SlotCalendars> channels_;  // channel calendars by kind: inputs, then outputs; one cycle later than in ports_
  std::vector<PoolCalendar> buffers_;    // occupied buffer entries by kind and input; times are cycles
  // Scratch state of the packet that is being sent.
  SwitchPath path_;
  std::vector<std::uint64_t> ready_;     // cycle in which the head is at the front of its channel, by switch
  std::vector<std::uint64_t> departs_;   // cycle in which the head passes, by switch
  std::vector<std::uint64_t> passed_;    // cycle in which the latest booked flit passes, by switch
  std::vector<std::uint64_t> arrivals_;  // cycle of each flit at the current switch, if not consecutive
};

}  // namespace lacuna
